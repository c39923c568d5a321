#!/usr/bin/python3
"""How soon a crawl has the important pages, in each order of the frontier.

    ranking_bench.py [--gannet build/release/gannet] [--orders opic,breadth-first,random]
                     [--graph FILE] [--width-share 0.01]

The web is a recorded one: the links of cnr-2000 (325,557 pages; data/graph) served by the
fake web, crawled over HTTP by whole rounds of 1 % of the pages until 40 % are fetched. The
figure is the share of all PageRank (the fake web's ground truth, over all pages that can be
reached) that the first 10, 20 and 40 % of the fetched pages have. Fails if OPIC collects
less than breadth-first. The last line is one JSON object.

Every new page is let in at once (update.new_pages), because deferred URLs wait in the order
of their cash, which would help breadth-first.
"""

import argparse
import contextlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
BUILD = ROOT / "build" / "release"
SHARES = (0.1, 0.2, 0.4)
CONFIG = """\
archive: {{min_free: 0}}
crawl: {{order: {order}}}
update: {{new_pages: 100000000}}
"""


def default_graph() -> pathlib.Path:
    data = os.environ.get("GANNET_TEST_DATA", ROOT.parent / "shared" / "data")
    return pathlib.Path(data) / "graph" / "cnr-2000-edges.txt.zst"


@contextlib.contextmanager
def serve(arguments):
    """Serves the graph, and yields the port."""
    process = subprocess.Popen(
        [arguments.fakeweb, "serve", "--graph", arguments.graph, "--port", "0", "--json"],
        stdout=subprocess.PIPE, text=True)
    try:
        yield json.loads(process.stdout.readline())["port"]
    finally:
        process.terminate()
        process.wait()


def fakeweb(arguments, *command: str) -> list[str]:
    return subprocess.run([arguments.fakeweb, *command, "--graph", arguments.graph], check=True,
                          capture_output=True, text=True).stdout.splitlines()


def crawl(arguments, order: str, port: int, width: int, pages: int, folder: pathlib.Path,
          seeds: pathlib.Path) -> tuple[list[str], dict]:
    """The URLs in the order in which they were fetched, and the crawl's own report."""
    data, config = folder / order, folder / f"{order}.yaml"
    config.write_text(CONFIG.format(order=order))
    site = ["--data", str(data), "--config", str(config)]
    # The first rounds are narrow: they have only the pages that the seeds link to.
    report, fetched = {}, 0
    while fetched < pages:
        rounds = max(1, (pages - fetched) // width)
        printed = subprocess.run(
            [arguments.gannet, "crawl", str(seeds), *site, "--scope", "any", "--width", str(width),
             "--per-host", "1000000", "--delay", "0", "--wait", "0", "--rounds", str(rounds),
             "--connect-to", f"127.0.0.1:{port}", "--quiet", "--json"],
            check=True, capture_output=True, text=True, timeout=arguments.timeout).stdout
        report = json.loads(printed.splitlines()[-1])
        if report["fetched"] == 0:
            raise RuntimeError(f"{order}: nothing left after {fetched} pages: {report}")
        fetched += report["fetched"]
    lines = subprocess.run([arguments.gannet, "export", "fetches", *site], check=True,
                           capture_output=True, text=True).stdout.splitlines()
    shutil.rmtree(data)
    visits = sorted((row[3], row[0]) for row in (line.split("\t") for line in lines)
                    if row[1] == "fetched")
    return [url for _, url in visits], report


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--gannet", type=pathlib.Path, default=BUILD / "gannet")
    parser.add_argument("--fakeweb", type=pathlib.Path, default=BUILD / "gannet-fakeweb")
    parser.add_argument("--graph", type=pathlib.Path, default=default_graph())
    parser.add_argument("--orders", default="opic,breadth-first,random")
    parser.add_argument("--width-share", type=float, default=0.01, help="the share of all pages in a round")
    parser.add_argument("--timeout", type=float, default=900, help="seconds per crawl")
    arguments = parser.parse_args()
    if not arguments.graph.is_file():
        print(f"skipped: no {arguments.graph}")
        return 77

    ranks = {url: float(rank) for url, rank in
             (line.split("\t") for line in fakeweb(arguments, "truth", "pagerank"))}
    total = sum(ranks.values())
    width = max(1, round(arguments.width_share * len(ranks)))
    collected: dict = {}
    print(f"{len(ranks)} pages, rounds of {width}; share of PageRank after "
          + ", ".join(f"{share:.0%}" for share in SHARES) + " of the pages:")
    with tempfile.TemporaryDirectory(prefix="gannet-ranking-") as name, serve(arguments) as port:
        folder = pathlib.Path(name)
        seeds = folder / "seeds.txt"
        seeds.write_text("\n".join(fakeweb(arguments, "seeds")) + "\n")
        for order in arguments.orders.split(","):
            start = time.monotonic()
            urls, _ = crawl(arguments, order, port, width, round(SHARES[-1] * len(ranks)), folder, seeds)
            shares = [sum(ranks.get(url, 0) for url in urls[:round(share * len(ranks))]) / total
                      for share in SHARES]
            collected[order] = [round(share, 4) for share in shares]
            print(f"{order:>14}  " + "  ".join(f"{share:6.1%}" for share in shares)
                  + f"   ({time.monotonic() - start:.0f} s)", flush=True)
    worse = []
    if {"opic", "breadth-first"} <= collected.keys():
        worse = [f"{share:.0%}" for share, opic, breadth in
                 zip(SHARES, collected["opic"], collected["breadth-first"]) if opic < breadth]
    if worse:
        print(f"missed: OPIC collects less than breadth-first after {', '.join(worse)}")
    print(json.dumps({"pages": len(ranks), "width": width, "shares": SHARES,
                      "collected": collected, "ok": not worse}))
    return 1 if worse else 0


if __name__ == "__main__":
    sys.exit(main())

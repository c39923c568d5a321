#!/usr/bin/python3
"""How much of a crawl's quality is lost when several sites share it, by what they exchange.

    quality_bench.py [--gannet build/release/gannet] [--seeds 1,2,3] [--sites 3] [--graph FILE]
                     [--hosts 10000] [--width-share 0.005] [--continuous] [--most-points 2]

The web is a recorded one: the links of cnr-2000 (325,557 pages; data/graph) served by the fake
web. It is crawled by one site, and by several that exchange `urls` or `cash`, all with the same
total width: rounds of 0.5 % of the pages, divided by the number of sites. The figure is the
share of all PageRank (the fake web's ground truth) that the first 10, 20 and 40 % of the pages
have, in the order in which the server answered them, whichever site asked. It also prints what
the exchange cost: URLs and bytes of packed batches, over all pairs of sites.

Each seed gives the hosts other names and sizes; which domains go to which site is new in each
run, as in each federation. Fails if several sites with `cash` are more than 2 percentage points
below the one site, after any of the three shares (medians over the seeds). The last line is one
JSON object.

Rounds go in step: all sites begin a round together, and the next when all have ended it and what
they found for each other has arrived. A real federation behaves much like this: there a round
takes minutes, because of politeness, and the exchange seconds. Here a round of some hundred
pages takes less than a second, and sites that share two cores with the server would drift apart
as they never do in reality; --continuous shows the effect.

tests/bench/README.md says why there are so many hosts, and why rounds are so narrow.
"""

import argparse
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
BUILD = ROOT / "build" / "release"
sys.path.insert(0, str(ROOT / "tests" / "federation" / "lab"))
from federation_lab import PLACES, Lab, Member  # noqa: E402

SHARES = (0.1, 0.2, 0.4)
SITE_YAML = """\
site: {{name: {name}}}
crawl: {{schedule: {schedule}, width: {width}, per_host: 1000000}}
fetch: {{delay: 0, connect_to: "127.0.0.1:{web_port}"}}
archive: {{min_free: 0}}
listen: {{peers: "127.0.0.1:{port}", http: ""}}
federation: {{map: registrar, join: "{join}", address: "{address}", exchange: {exchange}{more}}}
"""


def default_graph() -> pathlib.Path:
    data = os.environ.get("GANNET_TEST_DATA", ROOT.parent / "shared" / "data")
    return pathlib.Path(data) / "graph" / "cnr-2000-edges.txt.zst"


class RecordedWebSite(Member):
    """A site that crawls as fast as the web answers."""

    def __init__(self, program: str, folder: pathlib.Path, name: str, web_port: int, join: str,
                 **settings: object) -> None:
        self.settings = {"web_port": web_port, **settings}
        super().__init__(program, folder, name, web_port, join=join)

    def write_yaml(self) -> None:
        (self.folder / "site.yaml").write_text(SITE_YAML.format(
            name=self.name, port=self.port, join=self.join, address=self.address, **self.settings))


class RecordedWebLab(Lab):
    def make(self, name: str, **settings: object) -> Member:
        return RecordedWebSite(self.gannet, self.folder / name, name, self.web.port,
                               self.first.address if self.sites else "",
                               **{**self.settings, **settings})

    def fetched(self) -> int:
        return sum(site.status()["pages"].get("fetched", 0) for site in self.sites.values())

    def neighbours(self) -> list[dict]:
        """What each site says of every other."""
        return [other for site in self.sites.values() for other in site.federation()["sites"]
                if not other.get("is_self")]

    def sent(self, what: str) -> int:
        return sum(other.get(f"sent_{what}", 0) for other in self.neighbours())

    def deliver(self, seconds: float = 120) -> None:
        """Waits until what a round put into outboxes has arrived. The outboxes may not get empty:
        what known URLs gained is kept back for some rounds (federation.gain_every). The pumps check
        their outboxes five times a second."""
        until = time.monotonic() + seconds
        before = None
        while time.monotonic() < until:
            others = self.neighbours()
            now = [(other.get("outbox", 0), other.get("sent_urls", 0)) for other in others]
            arrived = sum(other.get("received_urls", 0) for other in others)
            if now == before and arrived == sum(sent for _, sent in now):
                return
            before = now
            time.sleep(0.3)
        raise RuntimeError(f"not delivered after {seconds} s: {now}")

    def round_in_step(self) -> int:
        """Runs one round at every site that has work. Returns how many pages they fetched."""
        asked = [site.start("round", "--rounds", "1", "--wait", "0", "--quiet", "--json")
                 for site in self.sites.values()]
        fetched = 0
        for process in asked:
            out, error = process.communicate(timeout=600)
            if process.returncode != 0:
                raise RuntimeError(f"a round failed: {error}{out}")
            fetched += json.loads(out.splitlines()[-1])["fetched"]
        if len(asked) > 1:
            self.deliver()
        return fetched


def answered(log: pathlib.Path) -> list[str]:
    """The URLs of pages in the order of their (first) answers. REQUIRES: the server has ended."""
    ended: dict[str, int] = {}
    with open(log, encoding="utf-8") as lines:
        for line in lines:
            fields = line.rstrip("\n").split("\t")
            if line.startswith("#") or fields[0] == "arrival_ns" or fields[5] == "/robots.txt":
                continue
            if fields[6] == "200" and fields[9] == "whole":
                ended.setdefault(f"http://{fields[2]}{fields[5]}", int(fields[1]))
    return sorted(ended, key=ended.__getitem__)


def crawl(arguments, seed: int, sites: int, exchange: str, pages: int, width: int) -> dict:
    """Crawls once. Returns `urls` in the order of their answers, and what the exchange cost."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="quality-bench-"))
    start = time.monotonic()
    lab = RecordedWebLab(str(arguments.gannet), str(arguments.fakeweb), folder, [],
                         {"graph": arguments.graph, "hosts": arguments.hosts, "seed": seed},
                         schedule="continuous" if arguments.continuous else "by-hand",
                         width=max(1, round(width / sites)), exchange=exchange,
                         more=arguments.federation)
    try:
        for name in list(PLACES)[:sites]:
            lab.add(name)
        lab.inject(lab.web.seeds())
        rounds, fetched = 0, 0
        if sites > 1:
            lab.deliver()
        if arguments.continuous:
            while fetched < pages:
                time.sleep(0.2)
                fetched = lab.fetched()
                if time.monotonic() > start + arguments.timeout:
                    raise RuntimeError(f"{fetched} pages after {arguments.timeout} s")
        while fetched < pages:
            got = lab.round_in_step()
            fetched += got
            rounds += 1
            if got == 0:
                raise RuntimeError(f"nothing left after {fetched} pages")
        cost = {"sent_urls": lab.sent("urls"), "bytes": lab.sent("bytes")}
        known = {name: site.status()["pages"].get("fetched", 0) for name, site in lab.sites.items()}
        lab.stop()
        return {"urls": answered(lab.web.log), "rounds": rounds, "by_site": known, **cost,
                "seconds": round(time.monotonic() - start)}
    finally:
        for site in lab.sites.values():
            site.kill()
        lab.web.server.kill()
        shutil.rmtree(folder, ignore_errors=True)


def pagerank(arguments, seed: int) -> dict[str, float]:
    lines = subprocess.run([arguments.fakeweb, "truth", "pagerank", "--graph", arguments.graph,
                            "--hosts", str(arguments.hosts), "--seed", str(seed)], check=True, capture_output=True, text=True)
    return {url: float(rank) for url, rank in
            (line.split("\t") for line in lines.stdout.splitlines())}


def measure(arguments, seed: int, sites: int, exchange: str, ranks: dict[str, float]) -> dict:
    width = max(1, round(arguments.width_share * len(ranks)))
    result = crawl(arguments, seed, sites, exchange, round(SHARES[-1] * len(ranks)), width)
    urls, total = result.pop("urls"), sum(ranks.values())
    strange = [url for url in urls if url not in ranks]
    if strange:
        raise RuntimeError(f"{len(strange)} pages that PageRank does not know, as {strange[0]}")
    result["collected"] = [sum(ranks[url] for url in urls[:round(share * len(ranks))]) / total
                           for share in SHARES]
    return result


def row(name: str, seed: str, collected: list[float], result: dict) -> str:
    return (f"{name:>14} {seed:>7}  " + "  ".join(f"{share:6.1%}" for share in collected)
            + f"  {result['sent_urls']:>9}  {result['bytes'] / 1e6:6.2f} MB")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--gannet", type=pathlib.Path, default=BUILD / "gannet")
    parser.add_argument("--fakeweb", type=pathlib.Path, default=BUILD / "gannet-fakeweb")
    parser.add_argument("--graph", type=pathlib.Path, default=default_graph())
    parser.add_argument("--hosts", type=int, default=10_000, help="number of hosts that the pages are divided into")
    parser.add_argument("--seeds", default="1,2,3")
    parser.add_argument("--sites", type=int, default=3)
    parser.add_argument("--exchanges", default="urls,cash")
    parser.add_argument("--federation", default="", help="more settings of federation:, such as ', gain_every: 1'")
    parser.add_argument("--width-share", type=float, default=0.005,
                        help="the share of all pages in a round, over all sites")
    parser.add_argument("--continuous", action="store_true", help="rounds are not in step")
    parser.add_argument("--most-points", type=float, default=2, help="percentage points that `cash` may lose")
    parser.add_argument("--timeout", type=float, default=900, help="seconds per continuous crawl")
    arguments = parser.parse_args()
    if not arguments.graph.is_file():
        print(f"skipped: no {arguments.graph}")
        return 77

    seeds = [int(seed) for seed in arguments.seeds.split(",")]
    # One site exchanges nothing, so both modes are the same crawl.
    one = "1 site"
    ways = {one: (1, "urls")} | {f"{arguments.sites} sites, {exchange}":
                                 (arguments.sites, exchange)
                                 for exchange in arguments.exchanges.split(",")}
    results: dict[str, list[dict]] = {name: [] for name in ways}
    print("share of PageRank after " + ", ".join(f"{share:.0%}" for share in SHARES)
          + " of the pages, URLs sent, bytes on the wire:")
    for seed in seeds:
        ranks = pagerank(arguments, seed)
        for name, (sites, exchange) in ways.items():
            result = measure(arguments, seed, sites, exchange, ranks)
            results[name].append(result)
            by_site = "/".join(str(pages) for pages in result["by_site"].values())
            print(row(name, f"seed {seed}", result["collected"], result)
                  + f"   ({result['rounds']} rounds, {result['seconds']} s, {by_site})", flush=True)

    medians = {}
    for name, of_seeds in results.items():
        medians[name] = {
            "collected": [round(statistics.median(shares), 4) for shares in
                          zip(*(result["collected"] for result in of_seeds))],
            **{key: int(statistics.median(result[key] for result in of_seeds))
               for key in ("sent_urls", "bytes")}}
        print(row(name, "median", medians[name]["collected"], medians[name]))
    missed = [f"{name}: {100 * (alone - together):.1f} points less after {share:.0%}"
              for name, median in medians.items() if name.endswith(" cash")
              for share, alone, together in
              zip(SHARES, medians[one]["collected"], median["collected"])
              if alone - together > arguments.most_points / 100]
    if missed:
        print("missed: " + "; ".join(missed))
    print(json.dumps({"pages": len(ranks), "seeds": seeds, "shares": SHARES, "medians": medians,
                      "ok": not missed}))
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())

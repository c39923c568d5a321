#!/usr/bin/python3
"""Crawlers race over the same web: Gannet against a bare libcurl loop (the limit), wget2
and Scrapy. The web is web.py's: nginx with the PostgreSQL manual (1,169 pages) under N
host names.

    crawl_bench.py [--gannet build/release/gannet] [--hosts 20] [--runs 3] [--only curl,wget2]

Each runs as it comes, one after the other, --runs times in turn; the best run of each
counts. Absolute figures are noise on shared machines: look at the ratios, and where
others use the cores meanwhile, at those of CPU time. The last line is one JSON object.

How each gets to the web, where no name resolves:
- curl_loop: CURLOPT_CONNECT_TO. It knows all URLs from the start and parses nothing.
- gannet: --connect-to.
- wget2: nginx as its HTTP proxy. (It takes a request for http://host/path as one for
  that host. A private /etc/hosts by unshare and a bind mount works too, but needs root.)
  It writes the files to a folder; ten connections would be its default, one per host is
  what it gets here.
- Scrapy: a resolver of its own (scrapy_spider.py). It is slow, so it stops after
  --scrapy-pages.
"""

import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

import web

HERE = pathlib.Path(__file__).resolve().parent
BUILD = HERE.parents[2] / "build" / "release"
PEERS = ["curl", "wget2", "scrapy", "gannet"]
TICK = os.sysconf("SC_CLK_TCK")


def missing_packages(peers: list[str]) -> list[str]:
    missing = web.missing_packages()
    if "wget2" in peers and not shutil.which("wget2"):
        missing.append("wget2")
    # Debian's Python has Debian's Scrapy; another one in the PATH may not.
    if "scrapy" in peers and subprocess.run(["/usr/bin/python3", "-c", "import scrapy"],
                                            stderr=subprocess.DEVNULL).returncode != 0:
        missing.append("python3-scrapy")
    return missing


def cpu_of(pids: list[int]) -> float:
    """CPU seconds so far; utime and stime are fields 14 and 15 of proc(5)."""
    total = 0
    for pid in pids:
        fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
        total += int(fields[11]) + int(fields[12])
    return total / TICK


def measure(command: list[str], server: list[int], timeout: float) -> tuple[dict, str]:
    """Runs it; what it cost it and the server, and what it printed."""
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        server_before, start = cpu_of(server), time.monotonic()
        process = subprocess.Popen(command, stdout=out, stderr=err, stdin=subprocess.DEVNULL)
        timed_out = False
        while True:
            pid, status, usage = os.wait4(process.pid, os.WNOHANG)
            if pid:
                break
            if time.monotonic() - start > timeout and not timed_out:
                timed_out = True
                process.kill()
            time.sleep(0.002)
        process.returncode = os.waitstatus_to_exitcode(status)
        seconds = time.monotonic() - start
        out.seek(0)
        err.seek(0)
        printed = out.read()
        # wget2: 8 means that the server said 404 to something, as it should.
        if process.returncode not in (0, 8):
            why = f"stopped after {timeout:.0f} s" if timed_out else f"exit code {process.returncode}"
            raise RuntimeError(f"{command[0]}: {why}\n{printed[-2000:]}{err.read()[-2000:]}")
        return {"seconds": round(seconds, 3),
                "cpu_seconds": round(usage.ru_utime + usage.ru_stime, 3),
                "server_cpu_seconds": round(cpu_of(server) - server_before, 3),
                "peak_rss_mib": round(usage.ru_maxrss / 1024, 1)}, printed


class Race:
    def __init__(self, arguments, port: int, server: list[int], folder: pathlib.Path):
        self.arguments, self.port, self.server, self.folder = arguments, port, server, folder
        self.hosts = [f"h{i}.example" for i in range(arguments.hosts)]
        self.urls = folder / "urls.txt"
        self.urls.write_text("".join(f"http://{host}{page}\n"
                                     for page in web.pages() for host in self.hosts))

    def run(self, peer: str) -> dict:
        data = self.folder / f"{peer}-data"
        shutil.rmtree(data, ignore_errors=True)
        costs, pages = getattr(self, peer)(data)
        shutil.rmtree(data, ignore_errors=True)
        return {"pages": pages, "pages_per_second": round(pages / costs["seconds"]),
                "pages_per_cpu_second": round(pages / max(costs["cpu_seconds"], 0.001)), **costs}

    def measure(self, command: list[str]) -> tuple[dict, str]:
        return measure(command, self.server, self.arguments.timeout)

    def curl(self, data):
        costs, printed = self.measure([str(self.arguments.curl_loop), "--urls", str(self.urls),
                                       "--connect-to", f"127.0.0.1:{self.port}"])
        return costs, json.loads(printed)["pages"]

    def wget2(self, data):
        costs, _ = self.measure(
            ["wget2", "--quiet", "--recursive", "--level=0", f"--max-threads={len(self.hosts)}",
             f"--http-proxy=http://127.0.0.1:{self.port}", f"--directory-prefix={data}"]
            + [f"http://{host}/index.html" for host in self.hosts])
        return costs, sum(1 for _ in data.rglob("*.html"))

    def scrapy(self, data):
        costs, printed = self.measure(
            ["/usr/bin/python3", str(HERE / "scrapy_spider.py"), f"--port={self.port}",
             f"--hosts={len(self.hosts)}", f"--pages={self.arguments.scrapy_pages}"])
        return costs, json.loads(printed.splitlines()[-1])["pages"]

    def gannet(self, data):
        costs, printed = self.measure(
            [str(self.arguments.gannet), "crawl"]
            + [f"http://{host}/index.html" for host in self.hosts]
            + ["--data", str(data), "--delay", "0", "--per-host", "1000000",
               "--width", str(self.arguments.width),
               "--connect-to", f"127.0.0.1:{self.port}", "--json"])
        report = json.loads(printed.splitlines()[-1])
        costs["phase_seconds"] = report.get("phase_seconds")
        return costs, report["fetched"]


def table(best: dict) -> str:
    columns = ["pages", "seconds", "pages_per_second", "cpu_seconds", "pages_per_cpu_second",
               "server_cpu_seconds", "peak_rss_mib"]
    rows = [["", *[column.replace("_", " ") for column in columns]]]
    rows += [[peer, *[str(best[peer][column]) for column in columns]] for peer in best]
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return "\n".join("  ".join(cell.rjust(width) for cell, width in zip(row, widths)) for row in rows)


def ratios_of(best: dict, key: str) -> dict:
    pairs = [(one, other) for one in best for other in best
             if PEERS.index(one) > PEERS.index(other)]
    return {f"{one}/{other}": round(best[one][key] / max(best[other][key], 1), 3)
            for one, other in pairs}


def has_crawl(gannet: pathlib.Path) -> bool:
    return gannet.is_file() and subprocess.run([gannet, "crawl", "--help"], timeout=20,
                                               capture_output=True).returncode == 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--gannet", type=pathlib.Path, default=BUILD / "gannet")
    parser.add_argument("--curl-loop", type=pathlib.Path,
                        default=BUILD / "tests/bench/crawl/curl_loop")
    parser.add_argument("--hosts", type=int, default=20)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--width", type=int, default=100_000, help="gannet's --width")
    parser.add_argument("--scrapy-pages", type=int, default=1000)
    parser.add_argument("--timeout", type=float, default=300, help="seconds per run")
    parser.add_argument("--only", default=",".join(PEERS), help="a list of " + ",".join(PEERS))
    arguments = parser.parse_args()
    peers = [peer for peer in arguments.only.split(",") if peer]
    if unknown := set(peers) - set(PEERS):
        parser.error(f"--only knows {', '.join(PEERS)}, not {', '.join(sorted(unknown))}")
    if missing := missing_packages(peers):
        print(f"error: missing packages; run: apt-get install {' '.join(missing)}", file=sys.stderr)
        return 2
    if "curl" in peers and not arguments.curl_loop.is_file():
        print(f"error: no {arguments.curl_loop}; run: cmake --build --preset release "
              "--target curl_loop", file=sys.stderr)
        return 2
    if "gannet" in peers and not has_crawl(arguments.gannet):
        print(f"note: {arguments.gannet} has no crawl command; only the others race")
        peers.remove("gannet")

    best: dict = {}
    port = web.free_port()
    with tempfile.TemporaryDirectory(prefix="gannet-crawl-bench-") as folder, \
            web.serve(port) as server:
        race = Race(arguments, port, server, pathlib.Path(folder))
        for run in range(arguments.runs):
            for peer in peers:
                result = race.run(peer)
                print(f"run {run + 1} {peer}: {result['pages_per_second']} pages/s", flush=True)
                if result["pages_per_second"] > best.get(peer, {}).get("pages_per_second", -1):
                    best[peer] = result
    print(table(best))
    ratios, cpu_ratios = (ratios_of(best, key) for key in ("pages_per_second", "pages_per_cpu_second"))
    for what, some in (("pages/s", ratios), ("pages per CPU second", cpu_ratios)):
        print(f"ratios of {what}: " + ", ".join(f"{name} {ratio}" for name, ratio in some.items()))
    print(json.dumps({"hosts": arguments.hosts, "cores": len(os.sched_getaffinity(0)),
                      "best": best, "ratios": ratios, "cpu_ratios": cpu_ratios}))
    return 0


if __name__ == "__main__":
    sys.exit(main())

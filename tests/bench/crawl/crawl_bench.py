#!/usr/bin/python3
"""Crawlers race over the same web: Gannet against a bare libcurl loop (the limit), wget2
and Scrapy.

    crawl_bench.py [--gannet build/release/gannet] [--races manual-20,manual-1000,fake-web]
                   [--runs 3] [--only curl,gannet] [--profile]

Gannet runs whole rounds: robots.txt, archive, crawl DB and update included, no delay and
no bound per host. Three races:
- manual-20: nginx serves the PostgreSQL manual (1,169 pages) under 20 host names; curl,
  wget2 and Gannet get all of it.
- manual-1000: under 1,000 names; Gannet stops after four rounds (some 60,000 pages), the
  libcurl loop gets as many, Scrapy stops after --scrapy-pages.
- fake-web: tests/fake_web, 500 hosts, 20,000 pages; curl gets the URLs of its ground truth.

One after the other, --runs times in turn; the best run of each counts. Absolute figures
are noise on shared machines: look at the ratios. Fails below 25 times Scrapy or 0.7
times wget2, by wall clock; those of CPU time stand beside it, for where others use the
cores meanwhile. The last line is one JSON object.

How each gets to the web, where no name resolves:
- curl_loop: CURLOPT_CONNECT_TO. It knows all URLs from the start and parses nothing.
- gannet: --connect-to.
- wget2: nginx as its HTTP proxy. (It takes a request for http://host/path as one for
  that host. A private /etc/hosts by unshare and a bind mount works too, but needs root.)
  It writes the files to a folder; ten connections would be its default, one per host is
  what it gets here.
- Scrapy: a resolver of its own (scrapy_spider.py). It is slow, so it runs once.
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

import measure
import web

HERE = pathlib.Path(__file__).resolve().parent
BUILD = HERE.parents[2] / "build" / "release"
PEERS = ["curl", "wget2", "scrapy", "gannet"]
# What Gannet is to reach: name of the ratio, and the least of it.
TARGETS = {"gannet/wget2": 0.7, "gannet/scrapy": 25}

CONFIG = """\
archive: {{min_free: 0}}
fetch: {{connections: {connections}}}
urls: {{allow: {{domains: [{domains}]}}}}
"""


def missing_packages(peers: list[str]) -> list[str]:
    missing = web.missing_packages()
    if "wget2" in peers and not shutil.which("wget2"):
        missing.append("wget2")
    # Debian's Python has Debian's Scrapy; another one in the PATH may not.
    if "scrapy" in peers and subprocess.run(["/usr/bin/python3", "-c", "import scrapy"],
                                            stderr=subprocess.DEVNULL).returncode != 0:
        missing.append("python3-scrapy")
    return missing


class Race:
    """One web and who runs on it. `urls` is what the libcurl loop gets, `seeds` where the
    others begin; `rounds` bounds Gannet (None: until nothing is left)."""

    def __init__(self, name, arguments, folder, peers, seeds, urls, domains, rounds=None):
        self.name, self.arguments, self.folder = name, arguments, folder
        self.peers = [peer for peer in peers if peer in arguments.peers]
        self.seeds, self.rounds = seeds, rounds
        self.urls = folder / f"{name}-urls.txt"
        self.urls.write_text("".join(f"{url}\n" for url in urls))
        self.config = folder / f"{name}.yaml"
        self.config.write_text(CONFIG.format(connections=arguments.connections,
                                             domains=", ".join(domains)))
        self.port, self.server = 0, []

    def run(self, peer: str) -> dict:
        data = self.folder / f"{peer}-data"
        shutil.rmtree(data, ignore_errors=True)
        costs, pages = getattr(self, peer)(data)
        shutil.rmtree(data, ignore_errors=True)
        return {"pages": pages, "pages_per_second": round(pages / costs["seconds"]),
                "pages_per_cpu_second": round(pages / max(costs["cpu_seconds"], 0.001)), **costs}

    def measure(self, command: list[str]) -> tuple[dict, str]:
        return measure.run(command, self.server, self.arguments.timeout)

    def curl(self, data):
        costs, printed = self.measure([str(self.arguments.curl_loop), "--urls", str(self.urls),
                                       "--connections", str(self.arguments.connections),
                                       "--connect-to", f"127.0.0.1:{self.port}"])
        return costs, json.loads(printed)["pages"]

    def wget2(self, data):
        costs, _ = self.measure(
            ["wget2", "--quiet", "--recursive", "--level=0", f"--max-threads={len(self.seeds)}",
             f"--http-proxy=http://127.0.0.1:{self.port}", f"--directory-prefix={data}", *self.seeds])
        return costs, sum(1 for _ in data.rglob("*.html"))

    def scrapy(self, data):
        costs, printed = self.measure(
            ["/usr/bin/python3", str(HERE / "scrapy_spider.py"), f"--port={self.port}",
             f"--hosts={len(self.seeds)}", f"--pages={self.arguments.scrapy_pages}"])
        return costs, json.loads(printed.splitlines()[-1])["pages"]

    def gannet_command(self, data) -> list[str]:
        seeds = self.folder / f"{self.name}-seeds.txt"
        seeds.write_text("".join(f"{seed}\n" for seed in self.seeds))
        bound = ["--rounds", str(self.rounds)] if self.rounds else []
        return [str(self.arguments.gannet), "crawl", str(seeds), "--data", str(data),
                "--config", str(self.config), "--delay", "0", "--per-host", "1000000",
                "--width", str(self.arguments.width), "--wait", "0",
                "--connect-to", f"127.0.0.1:{self.port}", "--quiet", "--json", *bound]

    def gannet(self, data):
        costs, printed = self.measure(self.gannet_command(data))
        report = json.loads(printed.splitlines()[-1])
        if report["failed"]:
            raise RuntimeError(f"gannet: {report['failed']} pages failed: {report}")
        costs["phase_seconds"] = report["phase_seconds"]
        costs["rounds"], costs["known"] = report["rounds"], report["known"]
        disk = sum(f.stat().st_size for f in pathlib.Path(data).rglob("*") if f.is_file())
        costs["disk_mib"] = round(disk / 2**20, 1)
        return costs, report["fetched"]

    def profile(self) -> list[str]:
        data = self.folder / "profile-data"
        shutil.rmtree(data, ignore_errors=True)
        lines = measure.profile(self.gannet_command(data), self.arguments.timeout, most=40)
        shutil.rmtree(data, ignore_errors=True)
        return lines


def manual_race(name, arguments, folder, hosts, peers, pages_per_host=None, rounds=None):
    names = [f"h{i}.example" for i in range(hosts)]
    urls = (f"http://{host}{page}" for page in web.pages()[:pages_per_host] for host in names)
    return Race(name, arguments, folder, peers, [f"http://{host}/index.html" for host in names],
                urls, names, rounds)


@contextlib.contextmanager
def fake_web(fakeweb: pathlib.Path, flags: list[str]):
    """Yields port and process id."""
    process = subprocess.Popen([fakeweb, "serve", "--json", "--port", "0", *flags],
                               stdout=subprocess.PIPE, text=True)
    try:
        yield json.loads(process.stdout.readline())["port"], process.pid
    finally:
        process.terminate()
        process.wait()


def fake_race(arguments, folder, flags):
    truth = subprocess.run([arguments.fakeweb, "truth", "reachable", *flags],
                           capture_output=True, text=True, check=True).stdout
    urls = [line.split("\t")[0] for line in truth.splitlines() if "\tfetched\t" in line]
    return Race("fake-web", arguments, folder, ["curl", "gannet"], urls[:1], urls, [])


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


def where_the_time_goes(gannet: dict) -> str:
    lines = ["where Gannet's time goes:"]
    for what, key in (("seconds by phase", "phase_seconds"), ("CPU by thread", "thread_seconds")):
        shares = gannet[key]
        lines.append(f"  {what}: " + ", ".join(f"{name} {seconds:.2f}"
                                               for name, seconds in shares.items() if seconds))
    lines.append(f"  {gannet['rounds']} rounds, {gannet['known']} known URLs, "
                 f"{gannet['disk_mib']} MiB on disk")
    return "\n".join(lines)


def run_race(race: Race) -> dict:
    best: dict = {}
    for run in range(race.arguments.runs):
        for peer in race.peers:
            if peer == "scrapy" and run > 0:
                continue
            result = race.run(peer)
            print(f"{race.name}, run {run + 1}, {peer}: {result['pages_per_second']} pages/s, "
                  f"{result['pages_per_cpu_second']} a CPU second", flush=True)
            if result["pages_per_second"] > best.get(peer, {}).get("pages_per_second", -1):
                best[peer] = result
    result = {"best": best, "ratios": ratios_of(best, "pages_per_second"),
              "cpu_ratios": ratios_of(best, "pages_per_cpu_second")}
    print(table(best))
    for what, key in (("pages/s", "ratios"), ("pages per CPU second", "cpu_ratios")):
        print(f"ratios of {what}: " + ", ".join(f"{name} {ratio}" for name, ratio in result[key].items()))
    if "gannet" in best:
        print(where_the_time_goes(best["gannet"]))
        if race.arguments.profile:
            result["profile"] = race.profile()
            print("  by function (perf):", *result["profile"], sep="\n    ")
    print(flush=True)
    return result


def missed_targets(results: dict) -> list[str]:
    missed = []
    for name, result in results.items():
        for ratio, least in TARGETS.items():
            if ratio not in result["ratios"]:
                continue
            wall, cpu = result["ratios"][ratio], result["cpu_ratios"][ratio]
            if wall < least:
                missed.append(f"{name}: {ratio} is {wall} (by CPU {cpu}), to be at least {least}")
    return missed


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--gannet", type=pathlib.Path, default=BUILD / "gannet")
    parser.add_argument("--fakeweb", type=pathlib.Path, default=BUILD / "gannet-fakeweb")
    parser.add_argument("--curl-loop", type=pathlib.Path,
                        default=BUILD / "tests/bench/crawl/curl_loop")
    parser.add_argument("--races", default="manual-20,manual-1000,fake-web")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--width", type=int, default=20_000, help="gannet's --width")
    parser.add_argument("--connections", type=int, default=500)
    parser.add_argument("--scrapy-pages", type=int, default=3000)
    parser.add_argument("--timeout", type=float, default=300, help="seconds per run")
    parser.add_argument("--only", default=",".join(PEERS), help="a list of " + ",".join(PEERS))
    parser.add_argument("--profile", action="store_true",
                        help="run Gannet once more under perf(1) and show its functions")
    arguments = parser.parse_args()
    arguments.peers = [peer for peer in arguments.only.split(",") if peer]
    if unknown := set(arguments.peers) - set(PEERS):
        parser.error(f"--only knows {', '.join(PEERS)}, not {', '.join(sorted(unknown))}")
    if missing := missing_packages(arguments.peers):
        print(f"error: missing packages; run: apt-get install {' '.join(missing)}", file=sys.stderr)
        return 2
    for target in (arguments.gannet, arguments.fakeweb, arguments.curl_loop):
        if not target.is_file():
            print(f"error: no {target}; run: cmake --build --preset release --target {target.name}",
                  file=sys.stderr)
            return 2
    if arguments.profile and not shutil.which("perf"):
        print("note: no perf; apt-get install linux-perf shows functions too")
        arguments.profile = False

    results: dict = {}
    flags = ["--hosts", "500", "--pages", "20000"]
    with tempfile.TemporaryDirectory(prefix="gannet-crawl-bench-") as name:
        folder = pathlib.Path(name)
        for race_name in arguments.races.split(","):
            if race_name == "manual-20":
                race = manual_race(race_name, arguments, folder, 20, ["curl", "wget2", "gannet"])
            elif race_name == "manual-1000":
                race = manual_race(race_name, arguments, folder, 1000, ["curl", "scrapy", "gannet"],
                                   pages_per_host=60, rounds=4)
            elif race_name == "fake-web":
                race = fake_race(arguments, folder, flags)
            else:
                parser.error(f"no race {race_name}")
            if race_name == "fake-web":
                with fake_web(arguments.fakeweb, flags) as (race.port, pid):
                    race.server = [pid]
                    results[race_name] = run_race(race)
            else:
                race.port = web.free_port()
                with web.serve(race.port) as served:
                    race.server = served.pids
                    results[race_name] = run_race(race)
    missed = missed_targets(results)
    for line in missed:
        print(f"missed: {line}")
    print(json.dumps({"cores": len(os.sched_getaffinity(0)), "races": results, "missed": missed}))
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())

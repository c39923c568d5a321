#!/usr/bin/python3
"""Crawlers race over the same web: Gannet against a bare libcurl loop (which is the upper limit),
wget2 and Scrapy.

    crawl_bench.py [--gannet build/release/gannet] [--races manual-20,hosts-2000]
                   [--runs 3] [--only curl,gannet] [--profile]

Gannet runs whole rounds: robots.txt, archive, crawl DB and update included, no delay and
no bound per host. The races:
- manual-20: nginx serves the PostgreSQL manual (1,169 pages) under 20 host names; curl,
  wget2 and Gannet get all of it.
- manual-1000: under 1,000 names; Gannet stops after four rounds (some 60,000 pages), the
  libcurl loop gets as many, Scrapy stops after --scrapy-pages.
- fake-web: tests/fake_web, 500 hosts, 20,000 pages; curl gets the URLs of its ground truth.
- hosts-2000, hosts-2000-addresses, manual-20-tls: plain HTTP against TLS (tls_races.py).

The crawlers run one after the other, --runs times in turn; the best run of each counts. Absolute
figures are noise on shared machines: look at the ratios. Fails below 25 times Scrapy or 0.7
times wget2, by wall clock; the ratios of CPU time are printed too, for machines whose cores are
used by others. With TLS, Gannet must reach 0.5 of plain HTTP's pages/s on 2,000 hosts and 0.75
on 20, with all pages and no failure, and use at most 1.3 times the libcurl loop's CPU time for
a new connection. The last line is one JSON object.

How each reaches the web, although its host names do not resolve:
- curl_loop: CURLOPT_CONNECT_TO. It knows all URLs from the start and parses nothing.
- gannet: --connect-to.
- wget2: nginx as its HTTP proxy. (nginx takes a request for http://host/path as one for
  that host. A private /etc/hosts by unshare and a bind mount works too, but needs root.)
  It writes the files to a folder, and has one connection per host instead of its default
  of ten in all.
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

import tls_races
import web
from race import Race

HERE = pathlib.Path(__file__).resolve().parent
BUILD = HERE.parents[2] / "build" / "release"
PEERS = ["curl", "wget2", "scrapy", "gannet"]
# What Gannet must reach: name of the ratio, and its least value.
TARGETS = {"gannet/wget2": 0.7, "gannet/scrapy": 25}


def missing_packages(peers: list[str], races: list[str]) -> list[str]:
    missing = web.missing_packages(tls=any(race in tls_races.RACES for race in races))
    if "wget2" in peers and not shutil.which("wget2"):
        missing.append("wget2")
    # Debian's Python has Debian's Scrapy; another one in the PATH may not.
    if "scrapy" in peers and subprocess.run(["/usr/bin/python3", "-c", "import scrapy"],
                                            stderr=subprocess.DEVNULL).returncode != 0:
        missing.append("python3-scrapy")
    return missing


def manual_race(name, arguments, folder, hosts, peers, pages_per_host=None, rounds=None):
    names = [f"h{i}.example" for i in range(hosts)]
    urls = (f"http://{host}{page}" for page in web.pages()[:pages_per_host] for host in names)
    return Race(name, arguments, folder, peers, [f"http://{host}/index.html" for host in names],
                urls, {"domains": names}, rounds)


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
    return Race("fake-web", arguments, folder, ["curl", "gannet"], urls[:1], urls, {})


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
        missed += [f"{name}: {line}" for line in result.get("missed", [])]
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
    parser.add_argument("--races", default=",".join(["manual-20", "manual-1000", "fake-web", *tls_races.RACES]))
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
    if missing := missing_packages(arguments.peers, arguments.races.split(",")):
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
            if race_name in tls_races.RACES:
                results[race_name] = tls_races.run(race_name, arguments, folder)
                continue
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

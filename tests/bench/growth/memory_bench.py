#!/usr/bin/python3
"""What a crawl needs with five million known URLs: memory of the process, disk per URL.

    memory_bench.py [--gannet build/release/gannet] [--urls 5000000] [--width 20000]

growth_bench --fill makes the crawl DB; then `gannet round` runs one whole round over pages of
thousands of hosts, which nginx serves (the PostgreSQL manual, tests/bench/crawl). Fails above
600 MiB of peak resident memory. Without --urls there are five million in a long run
(GANNET_TEST_LONG), else 500,000. The last line is one JSON object.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
BUILD = HERE.parents[2] / "build" / "release"
sys.path.insert(0, str(HERE.parent / "crawl"))
import measure  # noqa: E402
import web  # noqa: E402

MOST_MIB = 600


def disk(folder: pathlib.Path, pattern: str) -> int:
    return sum(file.stat().st_size for file in folder.rglob(pattern) if file.is_file())


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--gannet", type=pathlib.Path, default=BUILD / "gannet")
    parser.add_argument("--growth-bench", type=pathlib.Path,
                        default=BUILD / "tests/bench/growth/growth_bench")
    parser.add_argument("--urls", type=int,
                        default=5_000_000 if os.environ.get("GANNET_TEST_LONG") else 500_000)
    parser.add_argument("--width", type=int, default=20_000)
    arguments = parser.parse_args()
    if missing := web.missing_packages():
        print(f"error: missing packages; run: apt-get install {' '.join(missing)}", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory(prefix="gannet-memory-") as name:
        folder = pathlib.Path(name)
        data = folder / "data"
        data.mkdir()
        (data / "site.yaml").write_text("archive: {min_free: 0}\n")
        subprocess.run([arguments.growth_bench, "--fill", data / "crawl_db",
                        "--sizes", str(arguments.urls)], check=True)
        tables = disk(data / "crawl_db", "*.sst")
        port = web.free_port()
        with web.serve(port) as server:
            costs, printed = measure.run(
                [str(arguments.gannet), "round", "--rounds", "1", "--data", str(data), "--delay", "0",
                 "--width", str(arguments.width), "--connect-to", f"127.0.0.1:{port}",
                 "--quiet", "--json"], server, timeout=900)
    report = json.loads(printed.splitlines()[-1])
    result = {"known": report["known"], "fetched": report["fetched"], "failed": report["failed"],
              "peak_rss_mib": costs["peak_rss_mib"], "seconds": costs["seconds"],
              "phase_seconds": report["phase_seconds"],
              "table_bytes_per_known_url": round(tables / arguments.urls)}
    ok = costs["peak_rss_mib"] <= MOST_MIB and report["fetched"] > 0
    print(f"{report['known']} known URLs, {report['fetched']} fetched in a round of "
          f"{costs['seconds']:.1f} s: peak memory {costs['peak_rss_mib']} MiB (at most {MOST_MIB}), "
          f"{result['table_bytes_per_known_url']} bytes of disk per known URL")
    print(json.dumps({**result, "ok": ok}))
    return 0 if ok else 1


if __name__ == "__main__":
    sys.exit(main())

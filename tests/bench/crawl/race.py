"""One race of crawl_bench.py: a web, and how each crawler is run on it."""

import json
import pathlib
import shutil

import measure

HERE = pathlib.Path(__file__).resolve().parent

CONFIG = """\
archive: {{min_free: 0}}
fetch: {{connections: {connections}}}
urls: {{allow: {allow}}}
"""


class Race:
    """One web and the crawlers that race on it. `urls` is what the libcurl loop gets, `seeds` where
    the others begin; `allow` is Gannet's urls.allow, `rounds` its limit (None: until nothing is
    left). The caller sets `connect_to`, `server` and, for https URLs, `ca_file` before run()."""

    def __init__(self, name, arguments, folder, peers, seeds, urls, allow, rounds=None):
        self.name, self.arguments, self.folder = name, arguments, folder
        self.peers = [peer for peer in peers if peer in arguments.peers]
        self.seeds, self.rounds = seeds, rounds
        self.urls = folder / f"{name}-urls.txt"
        self.urls.write_text("".join(f"{url}\n" for url in urls))
        self.config = folder / f"{name}.yaml"
        self.config.write_text(CONFIG.format(connections=arguments.connections,
                                             allow=json.dumps(allow)))
        self.port, self.server = 0, []
        self.connect_to, self.ca_file = "", None

    def run(self, peer: str) -> dict:
        data = self.folder / f"{peer}-data"
        shutil.rmtree(data, ignore_errors=True)
        costs, pages = getattr(self, peer)(data)
        shutil.rmtree(data, ignore_errors=True)
        return {"pages": pages, "pages_per_second": round(pages / costs["seconds"]),
                "pages_per_cpu_second": round(pages / max(costs["cpu_seconds"], 0.001)), **costs}

    def measure(self, command: list[str]) -> tuple[dict, str]:
        return measure.run(command, self.server, self.arguments.timeout)

    def to_the_web(self) -> list[str]:
        """Flags that curl_loop and gannet share."""
        ca = ["--ca-file", str(self.ca_file)] if self.ca_file else []
        return ["--connect-to", self.connect_to or f"127.0.0.1:{self.port}", *ca]

    def curl(self, data):
        costs, printed = self.measure([str(self.arguments.curl_loop), "--urls", str(self.urls),
                                       "--connections", str(self.arguments.connections),
                                       *self.to_the_web()])
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
        return [str(self.arguments.gannet), "crawl", str(seeds), "--scope", "any", "--data", str(data),
                "--config", str(self.config), "--delay", "0", "--per-host", "1000000",
                "--width", str(self.arguments.width), "--wait", "0",
                *self.to_the_web(), "--quiet", "--json", *bound]

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

"""A fake web that is served while a test runs, and crawled by the real binary.

Usage of each test: NAME_test.py GANNET MAKE_CRAWLED_SITE FAKEWEB
"""

import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile

from console import ConsoleTest, GANNET

# This share of a web's hosts is on https (tests/run.sh --https).
HTTPS = os.environ.get("GANNET_TEST_HTTPS", "0.5")
FAKEWEB = os.path.abspath(sys.argv[3])


class FakeWeb:
    """Served until stop(). `flags` make the web: --hosts, --pages, --nasty, ..."""

    def __init__(self, *flags: str, serve: tuple = ()):
        self.flags = flags if "--https" in flags else ("--https", HTTPS, *flags)
        with tempfile.NamedTemporaryFile(suffix=".pem") as ca:
            self.process = subprocess.Popen(
                [FAKEWEB, "serve", "--json", "--tls-port", "0", "--ca-out", ca.name, *self.flags,
                 *serve], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
            first = json.loads(self.process.stdout.readline())
            self.ca = pathlib.Path(ca.name).read_text()
        self.port, self.seed = first["port"], first["seed"]
        self.ports = f"{self.port},{first['tls_port']}"

    def stop(self):
        self.process.send_signal(signal.SIGINT)
        self.process.communicate(timeout=30)

    def ask(self, *command: str) -> list[list[str]]:
        out = subprocess.run([FAKEWEB, *command, *self.flags], capture_output=True, text=True,
                             check=True, timeout=60).stdout
        return [line.split("\t") for line in out.splitlines()]

    def truth(self, *limits: str) -> list[list[str]]:
        """[url, outcome, kind] of each page that a polite crawler knows at the end."""
        return self.ask("truth", "reachable", *limits)


class FakeWebTest(ConsoleTest):
    def serve(self, *flags: str, serve: tuple = ()) -> FakeWeb:
        web = FakeWeb(*flags, serve=serve)
        self.addCleanup(web.stop)
        return web

    def site(self, web: FakeWeb, fetch: str = "", more: str = "") -> str:
        """Writes a site.yaml for that web, with short waits for loopback. Returns the folder."""
        if "connect_timeout" not in fetch:
            fetch += ", connect_timeout: 2s"
        if "urls:" not in more:
            more += "\nurls: {scope: any}"
        # Outside the site's folder, because a backup of the site is restored elsewhere.
        ca_file = self.folder / self.write("web-ca.pem", web.ca)
        self.write("site/site.yaml",
                   f'fetch: {{delay: 20ms, retry_delay: 200ms, '
                   f'connect_to: "127.0.0.0/8:{web.ports}", ca_file: {ca_file}{fetch}}}\n'
                   f'archive: {{min_free: 0}}\n{more}\n')
        return "site"

    def start(self, *arguments: str) -> subprocess.Popen:
        return subprocess.Popen([GANNET, *map(str, arguments)], cwd=self.folder,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def fetched(self, site: str) -> list[str]:
        return self.gannet("export", "urls", "--state", "fetched", "--data", site).lines

    def page(self, url: str, site: str = "site"):
        return self.gannet("page", url, "--json", "--data", site).json

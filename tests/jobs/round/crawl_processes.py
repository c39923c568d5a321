"""A crawl of a fake web with the real programs: gannet-fakeweb serves, gannet crawls.

For tests that kill processes, or that check a crawl with the web's own truth and judge.
"""

import atexit
import collections
import json
import os
import pathlib
import signal
import subprocess
import typing

IS_LONG = os.environ.get("GANNET_TEST_LONG") == "1"

# This share of the web's hosts is on https (tests/run.sh --https).
HTTPS = os.environ.get("GANNET_TEST_HTTPS", "0.5")

# The crawl's only limits are on URLs: they end the traps, and the truth applies them too.
LIMITS = {"max_path_depth": 12, "max_query_parameters": 6}


def url_of(fields: list[str]) -> str:
    """The URL that a line of the server's log is about."""
    return f"{fields[10].strip()}://{fields[2]}{fields[5]}"


class Reached(typing.NamedTuple):
    """How a site reaches a web."""
    connect_to: str
    ca_file: pathlib.Path


class FakeWeb:
    """A fake web: its server, and the truth about what it serves."""

    def __init__(self, program: str, folder: pathlib.Path, **options: object) -> None:
        self.program = program
        options = {"https": HTTPS, **options}
        self.flags = [f"--{key.replace('_', '-')}={value}" for key, value in options.items()]
        self.log = folder / "asked.tsv"
        self.ca_file = folder / "web-ca.pem"
        self.server = subprocess.Popen(
            [program, "serve", *self.flags, "--tls-port", "0", "--ca-out", str(self.ca_file),
             "--log", str(self.log), "--json"],
            stdout=subprocess.PIPE, text=True)
        atexit.register(self.server.kill)  # Also if the test fails.
        ports = json.loads(self.server.stdout.readline())
        self.connect_to = f"127.0.0.0/8:{ports['port']},{ports['tls_port']}"

    def run(self, *arguments: str) -> str:
        return subprocess.run([self.program, *arguments], check=True, text=True,
                              stdout=subprocess.PIPE).stdout

    def seeds(self) -> list[str]:
        return self.run("seeds", *self.flags).split()

    def truth(self) -> dict[str, str]:
        """URL to outcome, for all that a polite crawler finds."""
        limits = [f"--{key.replace('_', '-')}={value}" for key, value in LIMITS.items()]
        lines = self.run("truth", "reachable", *self.flags, *limits).splitlines()
        return dict(line.split("\t")[:2] for line in lines)

    def stop(self) -> None:
        self.server.send_signal(signal.SIGINT)
        self.server.communicate(timeout=60)

    def judge(self, delay: str) -> dict:
        """REQUIRES: stopped."""
        result = subprocess.run([self.program, "judge", str(self.log), "--delay", delay, "--json",
                                 "--most-listed", "1000000"],
                                text=True, stdout=subprocess.PIPE, check=False)
        return json.loads(result.stdout)

    def asked(self) -> collections.Counter[str]:
        """How often each URL was asked for so far, whatever the answer; robots.txt is left out.
        The server writes its log every second."""
        times: collections.Counter[str] = collections.Counter()
        with open(self.log, encoding="utf-8", errors="replace") as lines:
            for line in lines:
                fields = line.split("\t")
                # A line that is only half written has no kind yet; it is left out.
                if len(fields) > 10 and fields[5] != "/robots.txt":
                    times[url_of(fields)] += 1
        return times


# How many times slower programs are here (sanitizers): timeouts are longer by that.
SLOW = int(os.environ.get("GANNET_TEST_SLOW", "1"))


class Site:
    """A data folder, and gannet's commands on it."""

    def __init__(self, program: str, folder: pathlib.Path, web: "FakeWeb | Reached",
                 **fetch: object) -> None:
        self.program = program
        self.folder = folder
        settings = {"delay": "20ms", "connect_to": f'"{web.connect_to}"', "ca_file": web.ca_file,
                    "retry_delay": "200ms", "connect_timeout": f"{SLOW}s",
                    "first_byte_timeout": f"{2 * SLOW}s", "timeout": f"{3 * SLOW}s",
                    "min_speed": 100,
                    "max_bytes": "4MiB", "max_decoded_bytes": "8MiB", **fetch}
        folder.mkdir()
        (folder / "site.yaml").write_text(
            "crawl: {width: 4000, per_host: 400}\n"
            f"fetch: {{{', '.join(f'{key}: {value}' for key, value in settings.items())}}}\n"
            f"urls: {{{', '.join(f'{key}: {value}' for key, value in LIMITS.items())}}}\n"
            "archive: {min_free: 100MiB}\n", encoding="utf-8")

    def start(self, *arguments: str) -> subprocess.Popen:
        return subprocess.Popen([self.program, *arguments, "--data", str(self.folder)], text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def run(self, *arguments: str, timeout: float = 3600) -> str:
        process = self.start(*arguments)
        out, error = process.communicate(timeout=timeout)
        if process.returncode != 0:
            raise AssertionError(f"gannet {' '.join(arguments)}: exit code {process.returncode}\n"
                                 f"{error[-3000:]}{out[-3000:]}")
        return out

    def states(self) -> dict[str, str]:
        return {url: state for url, (state, _) in self.visits().items()}

    def visits(self) -> dict[str, tuple[str, str]]:
        """URL to its state, and when it was visited last ("2026-01-31T23:59:59.000Z")."""
        rows = (line.split("\t") for line in self.run("export", "fetches").splitlines())
        return {row[0]: (row[1], row[3]) for row in rows}

    def status(self) -> dict:
        return json.loads(self.run("status", "--json"))

    def verify(self, full: bool = False) -> None:
        self.run("verify", *(["--full"] if full else []))


def differences(got: dict[str, str], truth: dict[str, str]) -> list[str]:
    """What a crawl got wrong, for a failing test's message; at most 20."""
    found = [f"{url}: {got.get(url, 'unknown')}, not {state}"
             for url, state in truth.items() if got.get(url) != state]
    found += [f"{url}: {state}, not to be found" for url, state in got.items() if url not in truth]
    return found[:20]

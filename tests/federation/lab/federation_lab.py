"""Federations of real processes on one machine, over a fake web.

Each site is a `gannet serve` with a data folder of its own; they talk over loopback. Tests kill
them, stop them or cut them off; afterwards the same pages must be there, each fetched once.
"""

import atexit
import contextlib
import json
import os
import pathlib
import signal
import socket
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "jobs" / "round"))
from crawl_processes import IS_LONG, LIMITS, SLOW, FakeWeb, Site, differences, url_of  # noqa: E402,F401

PLACES = {"tokyo": (35.7, 139.7), "zurich": (47.4, 8.5), "lima": (-12.0, -77.0),
          "nairobi": (-1.3, 36.8), "boston": (42.4, -71.1)}

# For webs without pages that stall, where each page must be asked for exactly once: on a busy machine
# an answer may reach the site so late that shorter timeouts would give it up.
PATIENT = {"first_byte_timeout": "60s", "timeout": "120s"}


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Member(Site):
    """A site of a federation: its folder, and its agent while it runs."""

    def __init__(self, program: str, folder: pathlib.Path, name: str, web: FakeWeb,
                 join: str = "", federation: str = "", address: str = "",
                 extra: str = "", **fetch: object) -> None:
        self.name = name
        self.port = free_port()
        self.address = address or f"127.0.0.1:{self.port}"
        self.agent: subprocess.Popen | None = None
        self.join = join
        super().__init__(program, folder, web, retry_delay="500ms", **fetch)
        place = PLACES.get(name, (0, 0))
        self.extra_federation = federation
        self.extra = extra
        self.yaml = (self.folder / "site.yaml").read_text()
        self.place = place
        self.write_yaml()

    def write_yaml(self) -> None:
        text = self.yaml.replace("crawl: {", "crawl: {schedule: continuous, ")
        text += (f"site: {{name: {self.name}, location: [{self.place[0]}, {self.place[1]}]}}\n"
                 f'listen: {{peers: "127.0.0.1:{self.port}", http: ""}}\n'
                 f'federation: {{map: registrar, join: "{self.join}", '
                 f'address: "{self.address}"{self.extra_federation}}}\n'
                 f"{self.extra}")
        (self.folder / "site.yaml").write_text(text)

    def starts(self) -> int:
        log = self.folder / "agent.log"
        return log.read_text(errors="replace").count(" agent_started ") if log.exists() else 0

    def serve(self, *prefix: str) -> None:
        before = self.starts()
        with open(self.folder / "agent.log", "ab") as log:
            self.agent = subprocess.Popen(
                [*prefix, self.program, "serve", "--data", str(self.folder)],
                stdout=log, stderr=log, start_new_session=True)
        atexit.register(self.kill)
        # Commands wait for the agent: without one, a command would open the data folder itself.
        until = time.monotonic() + 60 * SLOW
        while self.starts() == before:
            assert self.agent.poll() is None, f"{self.name} ended: {self.log()[-3000:]}"
            assert time.monotonic() < until, f"{self.name} does not start: {self.log()[-3000:]}"
            time.sleep(0.02)
        self.wait_for(lambda: self.federation() is not None, 60, "the agent")

    def kill(self) -> None:
        if self.agent is None:
            return
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.agent.pid, signal.SIGKILL)
        self.agent.wait()
        self.agent = None

    def stop(self) -> None:
        assert self.agent is not None
        self.agent.send_signal(signal.SIGTERM)
        code = self.agent.wait(timeout=10 * SLOW)  # The guide promises 10 s.
        self.agent = None
        assert code == 0, f"{self.name} ended with {code}: {self.log()[-2000:]}"

    def peak_memory(self) -> int:
        """The most memory that the agent has had, in bytes. REQUIRES: it runs."""
        assert self.agent is not None
        for line in pathlib.Path(f"/proc/{self.agent.pid}/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
        raise AssertionError(f"{self.name}: /proc does not say how much memory it had")

    def log(self) -> str:
        return (self.folder / "agent.log").read_text(errors="replace")

    def federation(self) -> dict | None:
        """Its `federation status`; None while it cannot be asked."""
        process = self.start("federation", "status", "--json")
        out, _ = process.communicate(timeout=60)
        return json.loads(out)["federation"] if process.returncode == 0 else None

    def says(self) -> dict:
        """Its `federation status`, asked for until it answers."""
        answers: list[dict] = []

        def has_answered() -> bool:
            if (answer := self.federation()) is not None:
                answers.append(answer)
            return bool(answers)

        self.wait_for(has_answered, 60, "an answer")
        return answers[0]

    def says_of(self, name: str) -> dict:
        """What its `federation status` says of one site of the map."""
        [site] = [site for site in self.says()["sites"] if site["name"] == name]
        return site

    def run_without_folder(self, *arguments: str) -> None:
        """Runs a command that makes the folder."""
        subprocess.run([self.program, *arguments], check=True, stdout=subprocess.DEVNULL)

    def refused(self, *arguments: str) -> str:
        """What a command that must fail says."""
        process = self.start(*arguments)
        out, error = process.communicate(timeout=60)
        assert process.returncode != 0, f"{arguments} succeeded: {out}"
        return error

    def wait_for(self, condition, seconds: float, what: str) -> None:
        until = time.monotonic() + seconds * SLOW
        while not condition():
            if self.agent is not None and self.agent.poll() is not None:
                raise AssertionError(f"{self.name} ended: {self.log()[-3000:]}")
            if time.monotonic() > until:
                raise AssertionError(f"{self.name}: waited {seconds} s for {what}; it says "
                                     f"{json.dumps(self.federation())}\n{self.log()[-3000:]}")
            time.sleep(0.1)


class Lab:
    """A fake web and the sites that crawl it together."""

    def __init__(self, gannet: str, fake_web: str, folder: pathlib.Path, names: list[str],
                 web: dict, **settings: object) -> None:
        self.gannet, self.folder = gannet, folder
        self.web = FakeWeb(fake_web, folder, **web)
        self.settings = settings
        self.sites: dict[str, Member] = {}
        for name in names:
            self.add(name)

    @property
    def first(self) -> Member:
        return next(iter(self.sites.values()))

    def make(self, name: str, **settings: object) -> Member:
        """A site that does not run yet."""
        join = self.first.address if self.sites else ""
        return Member(self.gannet, self.folder / name, name, self.web, join=join,
                      **{**self.settings, **settings})

    def add(self, name: str, **settings: object) -> Member:
        site = self.make(name, **settings)
        if self.sites:
            self.first.run("federation", "invite", name)
        site.serve()
        self.sites[name] = site
        self.settle()
        return site

    def members(self, of: Member) -> list[str]:
        state = of.federation()
        return [s["name"] for s in state["sites"] if s["state"] == "member"] if state else []

    def settle(self, seconds: float = 60) -> None:
        """Waits until all running sites have one map and know each other, and no channels move."""
        running = [site for site in self.sites.values() if site.agent is not None]

        def is_settled() -> bool:
            states = [site.federation() for site in running]
            return (None not in states and len({state["epoch"] for state in states}) == 1 and all(
                not state["handing_off"] and state["self"] and all(
                    s["alive"] or s["state"] == "invited" or
                    s["name"] not in [site.name for site in running] for s in state["sites"])
                for state in states))

        running[0].wait_for(is_settled, seconds, "all to agree on a map")

    def inject(self, urls: list[str], into: Member | None = None) -> None:
        seeds = self.folder / "seeds.txt"
        seeds.write_text("\n".join(urls))
        (into or self.first).run("inject", str(seeds))

    def wait_quiet(self, seconds: float = 300) -> None:
        process = self.first.start("federation", "status", "--wait", f"{int(seconds * SLOW)}s",
                                   "--json")
        out, error = process.communicate()
        assert process.returncode == 0, (
            f"not quiet: {error} {out}\n" +
            "\n".join(f"{site.name}: {site.log()[-1500:]}" for site in self.sites.values()))

    def verify(self, full: bool = True) -> None:
        self.first.run("federation", "verify", *(["--full"] if full else []))

    def cost(self) -> str:
        """What the crawl has cost so far, for people. REQUIRES: all sites run."""
        sites = self.sites.values()
        rounds = [site.status()["round"] for site in sites]
        memory = [site.peak_memory() / 2**20 for site in sites]
        others = [other for site in sites for other in site.says()["sites"]]
        urls, size = (sum(other.get(f"sent_{what}", 0) for other in others)
                      for what in ("urls", "bytes"))
        return (f"{min(rounds)} to {max(rounds)} rounds, {min(memory):.0f} to {max(memory):.0f} MiB "
                f"a site, {sum(memory):.0f} MiB in all, {urls} URLs and {size} bytes exchanged")

    def stop(self) -> None:
        for site in self.sites.values():
            if site.agent is not None:
                site.stop()
        self.web.stop()

    def owners(self) -> dict[str, str]:
        """URL to the site that has the page, visited or not; fails if two have it."""
        owners: dict[str, str] = {}
        for name, site in self.sites.items():
            for url in site.run("export", "urls").split():
                assert url not in owners, f"{url} is known to {owners[url]} and {name}"
                owners[url] = name
        return owners

    def states(self) -> dict[str, str]:
        """URL to state, over all sites; fails if two sites have a page."""
        all_states: dict[str, str] = {}
        for site in self.sites.values():
            for url, state in site.states().items():
                assert url not in all_states, f"{url} is known to two sites"
                all_states[url] = state
        return all_states

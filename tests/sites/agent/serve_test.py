"""`gannet serve` as an operator runs it, against a fake web.

Usage: serve_test.py GANNET MAKE_CRAWLED_SITE FAKEWEB
"""

import itertools
import json
import os
import pathlib
import queue
import signal
import socket
import subprocess
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "console"))

import console
from console import GANNET
from fakeweb import FakeWebTest


class Agent:
    """A running `gannet serve`, and what it logs, event by event."""

    def __init__(self, folder, *flags: str, environment=None, prefix: tuple = ()):
        self.process = subprocess.Popen(
            [*prefix, GANNET, "serve", "--data", "site", "--http", "off", *flags], cwd=folder,
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
            env={**os.environ, **(environment or {})})
        self.events, self.lines = queue.Queue(), []
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in self.process.stderr:
            self.lines.append(line)
            try:
                self.events.put(json.loads(line))
            except ValueError:
                self.events.put({"event": "not JSON", "line": line})
        self.events.put(None)

    def wait_for(self, event: str, timeout: float = 60, **fields) -> dict:
        deadline = time.monotonic() + timeout
        while True:
            try:
                got = self.events.get(timeout=max(0.0, deadline - time.monotonic()))
            except queue.Empty:
                got = None
            if got is None:
                raise AssertionError(f"no {event} {fields}; the log is\n{''.join(self.lines)}")
            if got["event"] == event and fields.items() <= got.items():
                return got

    def end(self, signal_number=signal.SIGTERM) -> float:
        """Ends the agent by a signal. Returns how many seconds that took."""
        started = time.monotonic()
        self.process.send_signal(signal_number)
        self.process.wait(timeout=30)
        return time.monotonic() - started

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.process.stderr.close()


class ServeTest(FakeWebTest):
    def setUp(self):
        super().setUp()
        self.web = self.serve_web()
        self.configure()
        self.gannet("inject", self.web.seed, "--data", "site")

    def serve_web(self):
        return super().serve("--hosts", "10", "--pages", "200", "--largest-host", "40")

    def configure(self, crawl: str = "width: 40", more: str = ""):
        self.site(self.web, more=f"crawl: {{{crawl}}}\nlog: {{format: json}}\n{more}")

    def agent(self, *flags: str, **more) -> Agent:
        agent = Agent(self.folder, *flags, **more)
        self.addCleanup(agent.kill)
        agent.wait_for("agent_started")
        return agent

    def true_pages(self):
        return sorted(url for url, outcome, _ in self.web.truth() if outcome == "fetched")

    def check_rounds(self):
        """Each round begins after the one before has ended."""
        reports = self.gannet("rounds", "1000", "--json", "--data", "site").json
        self.assertEqual([r["round"] for r in reports], list(range(1, len(reports) + 1)))
        for before, after in zip(reports, reports[1:]):
            ended = time.mktime(time.strptime(before["started"][:19], "%Y-%m-%dT%H:%M:%S"))
            started = time.mktime(time.strptime(after["started"][:19], "%Y-%m-%dT%H:%M:%S"))
            self.assertGreaterEqual(started + 1, ended + before["seconds"])
        return reports

    def await_all_pages(self, agent: Agent, most_rounds: int = 100):
        """Waits until rounds fetch nothing more."""
        fetched = len(self.true_pages())
        total = 0
        for _ in range(most_rounds):
            total += agent.wait_for("round_ended")["fetched"]
            if total >= fetched:
                return
        self.fail(f"{total} of {fetched} pages: {agent.lines}")

    def test_it_crawls_by_itself_until_all_is_there(self):
        agent = self.agent()
        self.await_all_pages(agent)
        self.assertLess(agent.end(), 10)
        self.assertEqual(agent.process.returncode, 0)
        self.assertFalse((self.folder / "site" / "agent.sock").exists())
        self.assertEqual(sorted(self.fetched("site")), self.true_pages())
        self.assertGreater(len(self.check_rounds()), 3)
        self.check_invariants("site")

    def test_it_says_when_connections_are_cut_to_the_limit_of_open_files(self):
        self.site(self.web, fetch=", connections: 500", more="log: {format: json}")
        few = Agent(self.folder, prefix=("bash", "-c", 'ulimit -n 400; exec "$@"', "--"))
        self.addCleanup(few.kill)
        notice = few.wait_for("settings_notice")["reason"]
        self.assertIn("fetch.connections is 500", notice)
        self.assertIn("only 400 files", notice)
        self.assertIn("it uses 200 connections", notice)
        self.assertIn("LimitNOFILE=", notice)
        few.wait_for("round_ended")
        # It says so again after a reload; an agent with enough files says nothing.
        few.process.send_signal(signal.SIGHUP)
        few.wait_for("settings_notice", reason=notice)
        few.wait_for("reloaded")
        few.end()
        enough = self.agent()
        enough.end()
        self.assertNotIn("settings_notice", "".join(enough.lines))

    def test_a_ca_file_that_breaks_is_reported_once_per_round(self):
        agent = self.agent()
        agent.wait_for("round_ended")
        (self.folder / "web-ca.pem").write_text("half of a certif")
        notice = agent.wait_for("settings_notice")["reason"]
        self.assertIn("web-ca.pem' has no certificates that can be read", notice)
        self.assertEqual(agent.wait_for("round_ended")["failed"], 0)

    def test_stopped_in_mid_round_it_ends_in_time_and_the_next_goes_on(self):
        self.configure("width: 1000")
        seeds = self.write("seeds.txt", "".join(u + "\n" for u, _, _ in self.web.truth()))
        self.gannet("inject", seeds, "--data", "site")
        agent = self.agent("--delay", "100ms")
        deadline = time.monotonic() + 30
        while not any(f.stat().st_size > 50_000
                      for f in (self.folder / "site" / "archive").glob("*.open")):
            self.assertLess(time.monotonic(), deadline, agent.lines)
            time.sleep(0.02)
        self.assertLess(agent.end(), 10)
        self.assertEqual(agent.process.returncode, 0)
        self.assertIn("round_stopped", "".join(agent.lines))
        self.check_invariants("site")
        before = self.gannet("status", "--json", "--data", "site").json
        self.assertEqual((before["round"], before["phase"]), (1, "fetch"))
        agent = self.agent()
        self.assertEqual(agent.wait_for("round_ended")["round"], 1)
        agent.end()
        self.assertEqual(sorted(self.fetched("site")), self.true_pages())

    def test_a_second_signal_ends_it_at_once_and_nothing_is_lost(self):
        agent = self.agent("--delay", "1s")
        agent.process.send_signal(signal.SIGTERM)
        self.assertLess(agent.end(signal.SIGINT), 5)
        self.assertIn(agent.process.returncode, (0, 130))
        self.check_invariants("site")

    def test_a_killed_agent_leaves_a_socket_that_does_not_prevent_the_next_start(self):
        agent = self.agent()
        agent.wait_for("round_ended")
        agent.process.kill()
        agent.process.wait()
        self.assertTrue((self.folder / "site" / "agent.sock").exists())
        self.check_invariants("site")
        agent = self.agent()
        agent.wait_for("round_ended")
        agent.end()
        self.check_rounds()

    def test_a_second_agent_is_refused_and_the_first_goes_on(self):
        agent = self.agent()
        self.gannet("serve", "--data", "site", "--http", "off", code=4)
        self.assertTrue((self.folder / "site" / "agent.sock").exists())
        agent.wait_for("round_ended")
        agent.end()

    def test_sighup_takes_up_what_it_can_and_says_what_it_cannot(self):
        self.configure("width: 1, schedule: 'continuous, pause 1s'")
        agent = self.agent()
        agent.wait_for("round_ended", fetched=1)
        self.configure("width: 30, schedule: continuous", more="site: {name: other}")
        agent.process.send_signal(signal.SIGHUP)
        reloaded = agent.wait_for("reloaded")
        self.assertEqual(reloaded["changed"], "crawl.schedule crawl.width")
        self.assertEqual(reloaded["needs_restart"], "site.name")
        for _ in range(20):
            if agent.wait_for("round_ended")["fetched"] > 1:
                break
        else:
            self.fail("the new width is not in force")
        agent.end()

    def test_sighup_with_a_bad_file_changes_nothing_and_names_line_and_column(self):
        agent = self.agent()
        self.write("site/site.yaml", "crawl:\n  width: lots\n")
        agent.process.send_signal(signal.SIGHUP)
        refused = agent.wait_for("reload_refused")
        self.assertIn("site.yaml:2:10: crawl.width: found 'lots'", refused["error"])
        self.await_all_pages(agent)
        self.configure()
        agent.end()

    def test_every_2s_begins_rounds_at_even_seconds(self):
        self.configure("width: 20, schedule: every 2s")
        agent = self.agent()
        for _ in range(4):
            agent.wait_for("round_ended")
        agent.end()
        # The first round begins at once, and so does one that is late because the one before took
        # too long.
        in_time = []
        for before, report in itertools.pairwise(self.check_rounds()):
            if self.second(before) % 2 == 0 and before["seconds"] < 1:
                in_time.append(report)
        self.assertGreater(len(in_time), 0)
        for report in in_time:
            self.assertEqual(self.second(report) % 2, 0, report["started"])

    @staticmethod
    def second(report: dict) -> int:
        return int(report["started"][17:19])

    def test_systemd_hears_of_its_life(self):
        path = str(self.folder / "notify")
        server = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.addCleanup(server.close)
        server.bind(path)
        server.settimeout(20)
        heard = []

        def wait_for(line: str):
            """Waits for `line`, and forgets it and what came before it."""
            deadline = time.monotonic() + 20
            while not any(h.startswith(line) for h in heard):
                self.assertLess(time.monotonic(), deadline, f"no {line}: {heard}")
                heard.extend(server.recv(4096).decode().split("\n"))
            del heard[:next(i for i, h in enumerate(heard) if h.startswith(line)) + 1]

        agent = self.agent(environment={"NOTIFY_SOCKET": path, "WATCHDOG_USEC": "400000"})
        wait_for("READY=1")
        wait_for("STATUS=")
        for _ in range(5):
            wait_for("WATCHDOG=1")
        agent.process.send_signal(signal.SIGHUP)
        wait_for("RELOADING=1")
        wait_for("MONOTONIC_USEC=")
        wait_for("READY=1")
        agent.process.send_signal(signal.SIGTERM)
        wait_for("STOPPING=1")
        agent.process.wait(timeout=20)

    def test_without_a_contact_the_real_web_is_not_crawled(self):
        self.write("site/site.yaml", "")
        error = self.gannet("serve", "--data", "site", code=2).err
        self.assertIn("--contact", error)


if __name__ == "__main__":
    console.main()

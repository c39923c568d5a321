"""An agent that is told to end in the middle of something that cannot be cancelled, or that lasts as
long as a client reads it: it ends in the time that the guide and the unit for systemd promise, and
the site is unharmed.

Usage: ending_test.py GANNET MAKE_CRAWLED_SITE FAKEWEB SLOW_DISK
"""

import os
import pathlib
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "console"))

import console
from console import ConsoleTest, GANNET

SLOW_DISK = os.path.abspath(sys.argv[4])
MOST_SECONDS = 10
SEEDS = 5000
READ = 1 << 16  # What a slow reader takes before it stops.


class Site:
    """A site with its agent, and a client that has asked it for something."""

    def __init__(self, test: ConsoleTest, name: str):
        self.test, self.name = test, name
        self.folder = test.folder / name
        self.log = test.folder / f"{name}.log"
        test.crawled_site(name)
        test.write(f"{name}/site.yaml", "user_agent: {contact: me@example.org}\n"
                                        "crawl: {schedule: by-hand}\narchive: {min_free: 0}\n"
                                        "log: {format: json}\n")

    def start(self, slow: str = "") -> "Site":
        """Starts the agent. `slow` is the folder on a disk that does not answer."""
        entered = self.test.folder / f"{self.name}.entered"
        environment = {"LD_PRELOAD": SLOW_DISK, "SLOW_DISK_FOLDER": str(self.test.folder / slow),
                       "SLOW_DISK_ENTERED": str(entered)} if slow else {}
        with open(self.log, "w") as out:
            self.agent = subprocess.Popen(
                [GANNET, "serve", "--data", self.name, "--http", "off"], cwd=self.test.folder,
                stdout=subprocess.DEVNULL, stderr=out, env={**os.environ, **environment})
        self.test.addCleanup(self.agent.kill)
        self.wait(lambda: '"event":"agent_started"' in self.log.read_text())
        self.is_entered = entered.exists
        return self

    def wait(self, happens):
        deadline = time.monotonic() + 30
        while not happens():
            self.test.assertIsNone(self.agent.poll(), self.log.read_text())
            self.test.assertLess(time.monotonic(), deadline, self.log.read_text())
            time.sleep(0.02)

    def ask(self, *command: str):
        self.client = subprocess.Popen([GANNET, *command, "--data", self.name],
                                       cwd=self.test.folder, stdout=subprocess.PIPE,
                                       stderr=subprocess.PIPE)
        self.test.addCleanup(self.client.communicate)
        self.test.addCleanup(self.client.kill)

    def check_agent_ended(self, began: float):
        log = self.log.read_text
        code = self.agent.wait(timeout=30)
        self.test.assertLess(time.monotonic() - began, MOST_SECONDS, log())
        self.test.assertEqual(code, 0, log())
        self.test.assertRegex(log(), "agent_stopped|agent_ended_while_stopping")

    def check_client_knows(self):
        """The client says that its answer is incomplete."""
        _, error = self.client.communicate(timeout=30)
        self.test.assertNotEqual(self.client.returncode, 0)
        self.test.assertTrue(error)


class EndingTest(ConsoleTest):
    def test_it_ends_in_time_whatever_it_is_asked_and_the_next_one_works(self):
        # Three sites at the same time, because most of the test is waiting.
        verify = Site(self, "verified").start(slow="verified/archive")
        verify.ask("verify", "--full")
        verify.wait(verify.is_entered)

        backup = Site(self, "backed_up").start(slow="backup")
        backup.ask("backup", "--to", "backup")
        backup.wait(backup.is_entered)

        export = Site(self, "exported").start()
        seeds = "".join(f"http://a.example/{'long' * 400}/{i}\n" for i in range(SEEDS))
        self.gannet("inject", self.write("seeds.txt", seeds), "--data", "exported")
        export.ask("export", "urls", "--state", "new", "--host", "a.example")
        self.assertEqual(len(export.client.stdout.read(READ)), READ)

        sites = (verify, backup, export)
        self.assertEqual([site.client.poll() for site in sites], [None] * 3, "all are at it")
        began = time.monotonic()
        for site in sites:
            site.agent.terminate()
        for site in sites:
            site.check_agent_ended(began)
        for site in sites:
            site.check_client_knows()

        for site in sites:
            site.start()
            self.check_invariants(site.name)
        self.gannet("backup", "--to", "backup", "--data", "backed_up")
        self.gannet("restore", "backup", "--data", "restored")
        self.check_invariants("restored")


if __name__ == "__main__":
    console.main()

"""Ctrl-C, and disks that are nearly or quite full."""

import ctypes
import os
import signal
import subprocess
import time
import unittest

import console
from fakeweb import FakeWebTest

CLONE_NEWNS = 0x00020000


def small_disk(folder: str, size: str) -> bool:
    """A tmpfs there, seen by this process and its children only."""
    libc = ctypes.CDLL(None, use_errno=True)
    return (libc.unshare(CLONE_NEWNS) == 0
            and subprocess.run(["mount", "--make-rprivate", "/"]).returncode == 0
            and subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "none",
                                folder]).returncode == 0)


class CtrlC(FakeWebTest):
    def setUp(self):
        super().setUp()
        # All pages are seeds, so that one round has them all: 20 hosts, and 40 ms between two
        # requests make some four seconds at least.
        self.web = self.serve("--hosts", "20", "--pages", "600", "--largest-host", "100")
        self.site(self.web)
        self.write("seeds.txt", "".join(url + "\n" for url, _, _ in self.web.truth()))
        self.gannet("inject", "seeds.txt", "--data", "site")

    def crawl_until_some_pages_are_there(self) -> subprocess.Popen:
        crawl = self.start("round", "--data", "site", "--delay", "40ms", "--quiet")
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline and crawl.poll() is None:
            files = list((self.folder / "site" / "archive").glob("*.open"))
            if files and files[0].stat().st_size > 100_000:
                return crawl
            time.sleep(0.02)
        self.fail(f"no pages came: {crawl.communicate()}")

    def check_that_it_can_go_on(self):
        self.check_invariants("site")
        status = self.gannet("status", "--json", "--data", "site").json
        self.assertEqual((status["round"], status["phase"]), (1, "fetch"))
        self.assertGreater(status["in_round"], 0)
        ended = self.gannet("round", "--rounds", "1", "--json", "--quiet", "--data", "site",
                            "--delay", "5ms")
        self.assertEqual(ended.json["rounds"], 1)
        self.assertEqual(self.gannet("status", "--json", "--data", "site").json["phase"], "none")
        [report] = self.gannet("rounds", "--json", "--data", "site").json
        self.assertEqual(report["round"], 1)
        self.gannet("round", "--rounds", "100", "--quiet", "--data", "site", "--delay", "5ms",
                    "--wait", "0")
        self.assertEqual(sorted(self.fetched("site")),
                         sorted(url for url, outcome, _ in self.web.truth()
                                if outcome == "fetched"))
        self.check_invariants("site")

    def test_once_ends_what_is_under_way_and_the_round_can_go_on(self):
        crawl = self.crawl_until_some_pages_are_there()
        crawl.send_signal(signal.SIGINT)
        _, err = crawl.communicate(timeout=20)
        self.assertEqual(crawl.returncode, 130, err)
        self.assertIn("stopping: requests under way may end (Ctrl-C again: at once)", err)
        self.check_that_it_can_go_on()

    def test_twice_ends_at_once_and_nothing_is_lost(self):
        crawl = self.crawl_until_some_pages_are_there()
        crawl.send_signal(signal.SIGINT)
        time.sleep(0.002)
        crawl.send_signal(signal.SIGINT)
        _, err = crawl.communicate(timeout=20)
        self.assertEqual(crawl.returncode, 130, err)
        self.check_that_it_can_go_on()


class Disk(FakeWebTest):
    def test_with_less_than_min_free_no_round_begins(self):
        web = self.serve("--hosts", "5", "--pages", "20")
        self.write("site/site.yaml", "archive: {min_free: 1000TiB}\n")
        answer = self.gannet("crawl", web.seed, "--data", "site", "--quiet", "--connect-to",
                             f"127.0.0.1:{web.port}", code=3)
        self.assertIn("archive.min_free", answer.err)
        status = self.gannet("status", "--json", "--data", "site").json
        self.assertEqual((status["phase"], status["frontier"]), ("none", 1))
        self.assertEqual(self.gannet("rounds", "--json", "--data", "site").json, [])

    def test_a_disk_that_fills_up_stops_the_crawl_which_goes_on_when_there_is_space(self):
        if not small_disk(str(self.folder), "200M"):
            raise unittest.SkipTest("needs root")
        self.addCleanup(subprocess.run, ["umount", "--lazy", self.folder], check=True)
        web = self.serve("--hosts", "20", "--pages", "600", "--largest-host", "100")
        self.site(web)
        self.gannet("inject", web.seed, "--data", "site")
        ballast = self.folder / "ballast"
        room = os.statvfs(self.folder)
        with open(ballast, "wb") as file:
            file.write(b"x" * (room.f_bavail * room.f_frsize - 1_500_000))
        answer = self.gannet("round", "--rounds", "100", "--quiet", "--data", "site", "--delay",
                             "5ms", "--wait", "0", code=3)
        self.assertRegex(answer.err, "(?i)no space|disk is full")
        ballast.unlink()
        self.check_invariants("site")
        self.gannet("round", "--rounds", "100", "--quiet", "--data", "site", "--delay", "5ms",
                    "--wait", "0")
        self.assertEqual(sorted(self.fetched("site")),
                         sorted(url for url, outcome, _ in web.truth() if outcome == "fetched"))
        self.check_invariants("site")


console.main()

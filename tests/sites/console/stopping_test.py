"""How a crawl stops: nothing left, Ctrl-C, and disks that are nearly or completely full."""

import ctypes
import fcntl
import os
import re
import select
import signal
import struct
import subprocess
import termios
import threading
import time
import unittest

import console
from fakeweb import FakeWebTest
from small_web import SmallWebTest, page

CLONE_NEWNS = 0x00020000


def small_disk(folder: str, size: str) -> bool:
    """Mounts a tmpfs that only this process and its children see. False if that is not allowed."""
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


class Screen:
    """What a terminal shows after these bytes; it knows the escape codes that our display uses."""

    CODE = re.compile(rb"\x1b\[\??(\d*)([A-Za-z])|[\r\n]|[^\x1b\r\n]+")

    def __init__(self, data: bytes):
        self.lines, self.row, self.cursor_shown = [""], 0, True
        column = 0
        for code in self.CODE.finditer(data):
            text, number, letter = code[0].decode(), int(code[1] or 1), code[2]
            if letter == b"A":
                self.row = max(0, self.row - number)
            elif letter in (b"K", b"J"):
                self.lines[self.row] = self.lines[self.row][:column]
                if letter == b"J":
                    del self.lines[self.row + 1:]
            elif letter in (b"l", b"h"):
                self.cursor_shown = letter == b"h"
            elif text == "\r":
                column = 0
            elif text == "\n":
                self.row += 1
                if self.row == len(self.lines):
                    self.lines.append("")
            elif letter is None:
                line = self.lines[self.row]
                self.lines[self.row] = line[:column] + text + line[column + len(text):]
                column += len(text)


class CtrlCOnATerminal(SmallWebTest):
    STOPPING = b"stopping: requests under way may end (Ctrl-C again: at once)"

    def start(self, seconds: float):
        """Starts a crawl, on a terminal, of one page that takes `seconds`."""
        asked = threading.Event()

        def answer(connection):
            asked.set()
            time.sleep(seconds)
            page("x")(connection)
        server = self.serve({"/": answer})
        self.configure(server)
        controller, terminal = os.openpty()
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 100, 0, 0))
        self.addCleanup(os.close, controller)
        self.process = subprocess.Popen(
            [console.GANNET, "crawl", "http://a.example/", "--data", "site"], cwd=self.folder,
            stdout=subprocess.DEVNULL, stderr=terminal, env={**os.environ, "TERM": "xterm"})
        os.close(terminal)
        self.addCleanup(self.process.wait)
        self.addCleanup(self.process.kill)
        self.controller, self.seen = controller, b""
        self.assertTrue(asked.wait(20))
        self.read_until(b"round 1")

    def read_until(self, text: bytes, seconds: float = 10):
        deadline = time.monotonic() + seconds
        before = len(self.seen)
        while text not in self.seen[before:]:
            ready = select.select([self.controller], [], [], deadline - time.monotonic())[0]
            self.assertTrue(ready, f"{text} did not come: {self.seen}")
            self.seen += os.read(self.controller, 4096)

    def read_to_the_end(self):
        while True:
            try:
                piece = os.read(self.controller, 4096)
            except OSError:  # The other end is closed.
                return
            self.seen += piece

    def test_the_line_that_says_so_stays_and_the_display_goes_on_below_it(self):
        self.start(seconds=1.5)
        self.process.send_signal(signal.SIGINT)
        self.read_until(self.STOPPING)
        for _ in range(3):
            self.read_until(b"round 1")
        lines = Screen(self.seen).lines
        self.assertRegex(lines[0], "^scope: ")
        self.assertEqual(lines[1], self.STOPPING.decode())
        self.assertIn("round 1", lines[2])
        self.assertEqual(self.process.wait(20), 130)
        self.read_to_the_end()
        screen = Screen(self.seen)
        self.assertEqual(screen.lines[1], self.STOPPING.decode())
        self.assertTrue(screen.cursor_shown)
        self.assertEqual(self.seen.count(self.STOPPING), 1)

    def test_twice_gives_the_cursor_back(self):
        self.start(seconds=30)
        self.process.send_signal(signal.SIGINT)
        self.read_until(self.STOPPING)
        self.assertFalse(Screen(self.seen).cursor_shown)
        self.process.send_signal(signal.SIGINT)
        self.assertEqual(self.process.wait(5), 130)
        self.read_to_the_end()
        self.assertTrue(Screen(self.seen).cursor_shown)


class NothingLeft(SmallWebTest):
    def setUp(self):
        super().setUp()
        self.server = self.serve({"/": page("<a href=/a>"), "/a": page("<a href=/b>"),
                                  "/b": page("x"), "/new": page("y")})

    def archive(self, suffix: str):
        return sorted(path.name for path in (self.folder / "site/archive").glob("*" + suffix))

    def check_the_archive(self, files: int):
        self.assertEqual(self.archive(".open"), [])
        self.assertEqual(len(self.archive(".warc.gz")), files)
        self.assertEqual(len(self.archive(".cdxj")), files)
        listed = self.gannet("archive", "list", "--json", "--data", "site").json
        lines = self.gannet("export", "cdxj", "--data", "site").lines
        self.assertEqual(sum(file["captures"] for file in listed), len(lines))
        self.check_invariants("site")

    def test_the_archive_file_is_finished(self):
        self.crawl(self.server, ["/"])
        self.check_the_archive(files=1)
        # Without a new page it stays finished; a new page begins another file.
        self.gannet("round", "--data", "site", "--quiet", "--wait", "0")
        self.check_the_archive(files=1)
        self.crawl(self.server, ["/new"])
        self.check_the_archive(files=2)
        self.assertEqual(self.gannet("page", "http://a.example/new", "--body", "--data",
                                     "site").bytes, b"y")

    def test_with_pages_left_it_is_not(self):
        self.crawl(self.server, ["/"], flags=("--rounds", "1"))
        self.assertEqual(len(self.archive(".open")), 1)
        self.gannet("round", "--rounds", "2", "--data", "site", "--quiet", "--wait", "0")
        self.check_the_archive(files=1)  # After this round nothing was left.


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

"""A site whose machine is in trouble: its disk is full, or its clock is two hours off."""

import contextlib
import ctypes
import os
import pathlib
import re
import shutil
import signal
import subprocess
import time
import unittest

from faults_lab import FaultLab, FaultsTest, Member, main

CLONE_NEWNS = 0x00020000


def mount_small_disk(folder: pathlib.Path) -> str:
    """Mounts a small disk on `folder`, which only this process and its children see. Returns what
    this machine lacks for that; empty: nothing."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(CLONE_NEWNS) != 0:
        return f"a mount namespace: {os.strerror(ctypes.get_errno())}"
    for arguments in (["--make-rprivate", "/"],
                      ["-t", "tmpfs", "-o", "size=200m", "none", str(folder)]):
        done = subprocess.run(["mount", *arguments], check=False, capture_output=True, text=True)
        if done.returncode != 0:
            return done.stderr.strip()
    return ""


class FullDisk(FaultsTest):
    def add_on_small_disk(self, lab: FaultLab, name: str) -> Member:
        site = lab.sites[name] = lab.make(name)
        settings = (site.folder / "site.yaml").read_text()
        if missing := mount_small_disk(site.folder):
            self.skipTest(f"needs a small disk: {missing}")
        self.addCleanup(subprocess.run, ["umount", "-l", str(site.folder)], check=False)
        # Rounds stop early; what other sites send is still stored.
        (site.folder / "site.yaml").write_text(settings.replace("100MiB", "20MiB"))
        lab.first.run("federation", "invite", name)
        site.serve()
        lab.settle()
        return site

    @staticmethod
    def fill(site: Member, leave: int, reserved: bool) -> None:
        """Fills the disk; with `reserved` also the space that RocksDB has reserved in its log, which
        is more than a test writes."""
        filler = site.folder / "filler"
        with FullDisk.asleep(site):
            if reserved:
                for log in (site.folder / "crawl_db").glob("*.log"):
                    os.truncate(log, log.stat().st_size)
            disk = os.statvfs(site.folder)
            left = disk.f_bavail * disk.f_frsize - leave
            with contextlib.suppress(OSError), open(filler, "wb", buffering=0) as file:
                while left > 0:
                    left -= file.write(bytes(min(left, 1 << 20)))

    @staticmethod
    @contextlib.contextmanager
    def asleep(site: Member):
        site.agent.send_signal(signal.SIGSTOP)
        try:
            status = pathlib.Path(f"/proc/{site.agent.pid}/status")
            site.wait_for(lambda: "\nState:\tT" in status.read_text(), 10, "it to sleep")
            yield
        finally:
            site.agent.send_signal(signal.SIGCONT)

    @staticmethod
    def rounds_error(site: Member) -> str:
        """Why the last round failed; empty once one has succeeded. (The log cannot say: it is on the
        full disk.)"""
        return site.status()["agent"]["rounds"]["last_error"]

    @staticmethod
    def is_refused(lab: FaultLab) -> bool:
        zurich = lab.first.says_of("zurich")
        return zurich["outbox"] > 0 and "disk full" in zurich["error"]

    def fill_and_make_room(self, leave: int, reserved: bool = False) -> None:
        lab = self.lab(["tokyo"], delay="60ms")
        zurich = self.add_on_small_disk(lab, "zurich")
        lab.inject(lab.web.seeds())
        lab.wait_fetched(30)
        self.fill(zurich, leave, reserved)
        self.say(f"full at {lab.fetched()} pages")
        time.sleep(4)
        self.assertFalse(lab.first.says()["quiet"])
        if reserved:
            # It refuses what tokyo finds for it: that waits at tokyo, which says why.
            lab.first.wait_for(lambda: self.is_refused(lab), 30, "a batch that is not taken")
        else:
            lab.first.wait_for(lambda: lab.first.says_of("zurich")["outbox"] == 0, 30,
                               "all batches to be taken")
        # Pages whose answers found no room on the disk are asked for again.
        if leave == 0:
            lab.may_repeat_open_pages(zurich)
        zurich.wait_for(lambda: self.rounds_error(zurich), 30, "a round to fail")
        (zurich.folder / "filler").unlink()
        if reserved:
            # After a failed write the crawl DB must be opened again: the agent ends by itself,
            # with the exit code for a full disk, and systemd would start it again.
            self.assertEqual(zurich.agent.wait(timeout=30), 3, zurich.log()[-2000:])
            zurich.agent = None
            zurich.serve()
        # It goes on by itself, within seconds: other failures are tried again after a minute. The
        # crawl DB itself needs up to five seconds.
        zurich.wait_for(lambda: not self.rounds_error(zurich), 20, "the rounds to go on")
        self.say("goes on")
        self.check(lab)

    def test_the_receivers_disk_is_nearly_full_for_a_while(self) -> None:
        self.fill_and_make_room(leave=10 << 20)

    def test_the_receivers_disk_is_quite_full_for_a_while(self) -> None:
        self.fill_and_make_room(leave=0)

    def test_the_receivers_disk_is_so_full_that_batches_are_refused(self) -> None:
        self.fill_and_make_room(leave=0, reserved=True)


@unittest.skipIf(shutil.which("cc") is None, "needs a C compiler")
class Clock(FaultsTest):
    def setUp(self) -> None:
        super().setUp()
        self.shim = self.folder / "clock_off.so"
        subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", str(self.shim),
                        str(pathlib.Path(__file__).with_name("clock_off.c"))], check=True)

    def off(self, hours: int) -> list[str]:
        """Sets off the wall clock only, not the steady one."""
        return ["env", f"LD_PRELOAD={self.shim}", f"CLOCK_OFF={hours * 3600}",
                "ASAN_OPTIONS=verify_asan_link_order=0"]

    def start_off(self, lab: FaultLab, name: str, hours: int) -> Member:
        site = lab.sites[name] = lab.make(name)
        lab.first.run("federation", "invite", name)
        site.serve(*self.off(hours))
        # Its log shows that the clock is off, by the hour of the times in it.
        [_, told] = re.findall(r"T(\d\d):.*agent_started", lab.first.log() + site.log())
        self.assertIn((int(told) - time.gmtime().tm_hour) % 24, [hours % 24, (hours - 1) % 24])
        lab.settle()
        return site

    def test_clocks_that_are_two_hours_off_either_way(self) -> None:
        lab = self.lab(["tokyo"])
        self.start_off(lab, "zurich", 2)
        self.start_off(lab, "lima", -2)
        lab.inject(lab.web.seeds())
        self.check(lab)

    def leave(self, hours: int) -> None:
        lab = self.lab(["tokyo", "zurich"], delay="60ms")
        lima = self.start_off(lab, "lima", hours)
        lab.inject(lab.web.seeds())
        lab.wait_fetched(150)
        lima.run("federation", "leave")

        def is_gone() -> bool:
            return "lima" not in [site["name"] for site in lab.first.says()["sites"]]

        lab.first.wait_for(is_gone, 60, "lima to have left")
        lab.sites.pop("lima").stop()
        self.check(lab)

    def test_what_a_site_with_an_early_clock_hands_over_is_crawled(self) -> None:
        self.leave(2)

    def test_what_a_site_with_a_late_clock_hands_over_is_crawled(self) -> None:
        self.leave(-2)

    def test_a_clock_is_put_right(self) -> None:
        lab = self.lab(["tokyo"], delay="60ms")
        zurich = self.start_off(lab, "zurich", 2)
        lab.inject(lab.web.seeds())
        lab.wait_fetched(100)
        zurich.stop()
        zurich.serve()
        self.check(lab)


if __name__ == "__main__":
    main()

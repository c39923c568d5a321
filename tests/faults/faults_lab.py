"""What the tests of faults share: a small federation, links that break, and the one check at the
end. Whatever happened in between, when all is healed and quiet: the web's pages are all known,
each to one site, each fetched once, and every invariant holds.
"""

import collections
import pathlib
import shutil
import sys
import tempfile
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "federation" / "lab"))
from broken_link import BrokenLink  # noqa: E402
from federation_lab import IS_LONG, PATIENT, SLOW, Lab, Member, differences, url_of  # noqa: E402,F401

GANNET, FAKE_WEB = sys.argv[1:3]
WEB = ({"hosts": 300, "pages": 4000, "largest_host": 150} if IS_LONG else
       {"hosts": 60, "pages": 600, "largest_host": 40})
PLAIN = {**WEB, "nasty": "none"}
NASTY = {**WEB, "nasty": "redirects,not-found,gone,error"}

# What a kill may cost: answers that were not on the disk yet are asked for again
# (tests/jobs/round/kill_test.py).
MOST_REPEATS_OF_A_KILL = 100 + 1024


class FaultLab(Lab):
    """A Lab whose sites may be called through links that break."""

    def __init__(self, folder: pathlib.Path, names: list[str], web: dict, links: bool = False,
                 **settings: object) -> None:
        self.links: dict[str, BrokenLink] | None = {} if links else None
        # Pages that a killed site may have asked for without having committed the answer.
        self.may_repeat: collections.Counter[str] = collections.Counter()
        self.kills = 0
        super().__init__(GANNET, FAKE_WEB, folder, names, dict(web),
                         **{"delay": "5ms", **PATIENT, **settings})

    def make(self, name: str, **settings: object) -> Member:
        if self.links is None:
            return super().make(name, **settings)
        link = self.links[name] = BrokenLink()
        site = super().make(name, address=link.address, **settings)
        link.target = site.port
        return site

    def kill(self, site: Member) -> None:
        """Sends SIGKILL. Pages that it had not committed by then may be asked for once more."""
        site.kill()
        self.may_repeat_open_pages(site)

    def may_repeat_open_pages(self, site: Member) -> None:
        """Counts the open round's pages: their answers may have come, and been lost."""
        committed = {url for url, state in site.states().items()
                     if state in ("fetched", "moved", "gone")}
        is_open = [url for url in site.run("export", "urls").split() if url not in committed]
        self.may_repeat.update(is_open)
        self.kills += 1

    def fetched(self) -> int:
        """How many pages the running sites have together."""
        running = [site for site in self.sites.values() if site.agent is not None]
        return sum(site.status()["pages"].get("fetched", 0) for site in running)

    def wait_fetched(self, pages: int, seconds: float = 60) -> None:
        until = time.monotonic() + seconds * SLOW
        while (now := self.fetched()) < pages:
            assert time.monotonic() < until, f"{now} pages, not {pages}, after {seconds} s"
            time.sleep(0.05)


class FaultsTest(unittest.TestCase):
    def setUp(self) -> None:
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="gannet-test-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.began = time.monotonic()

    def lab(self, names: list[str], web: dict | None = None, **settings: object) -> FaultLab:
        lab = FaultLab(self.folder, names, web or NASTY, **settings)
        self.addCleanup(self.end, lab)
        return lab

    @staticmethod
    def end(lab: FaultLab) -> None:
        for site in lab.sites.values():
            site.kill()
        lab.web.server.kill()

    def say(self, text: str) -> None:
        print(f"{self._testMethodName}: {time.monotonic() - self.began:.1f} s: {text}", flush=True)

    def check(self, lab: FaultLab, may_repeat: collections.Counter[str] | None = None) -> None:
        """Heals the federation and waits until it is quiet; then nothing may be missing or wrong. A
        page may be fetched twice only if a killed site had not committed it (FaultLab.kill), or if
        the test says so in `may_repeat`."""
        self.say("healed")
        lab.settle()
        lab.wait_quiet(900 if IS_LONG else 120)
        self.say("quiet")
        lab.verify()
        truth = lab.web.truth()
        self.assertEqual(differences(lab.states(), truth), [])
        shares = collections.Counter(lab.owners().values())
        self.assertEqual(shares.total(), len(truth))
        lab.stop()
        repeats = {url: times - 1 for url, times in self.answers(lab).items() if times > 1}
        self.say(f"{len(truth)} pages, {dict(shares)}, {len(repeats)} repeats")
        self.assertLessEqual(sum(min(times, lab.may_repeat[url]) for url, times in repeats.items()),
                             MOST_REPEATS_OF_A_KILL * lab.kills)
        allowed = lab.may_repeat + (may_repeat or collections.Counter())
        wrong = {url: times for url, times in repeats.items() if times > allowed[url]}
        self.assertEqual(wrong, {}, f"{len(wrong)} pages were fetched again")

    @staticmethod
    def answers(lab: FaultLab) -> collections.Counter[str]:
        """How often each page was answered with 200. REQUIRES: the server has ended."""
        times: collections.Counter[str] = collections.Counter()
        with open(lab.web.log, encoding="utf-8", errors="replace") as lines:
            for line in lines:
                fields = line.split("\t")
                if len(fields) > 10 and fields[5] != "/robots.txt" and fields[6] == "200":
                    times[url_of(fields)] += 1
        return times


def main() -> None:
    """Arguments: PROGRAMS [TESTS]. Exit code 77 if this machine lacks something that a test needs,
    and says what: a test that did not run has not passed."""
    done = unittest.main(argv=[sys.argv[0], *sys.argv[3:]], verbosity=2, exit=False).result
    for test, why in done.skipped:
        print(f"{test}: Skipped\n{why}")
    sys.exit(1 if not done.wasSuccessful() else 77 if done.skipped else 0)

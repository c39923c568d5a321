"""A crawl that is killed (SIGKILL) at random moments ends with the same pages as another.

`verify` passes after each kill, `verify --full` at the end; no page whose completion was committed
before a kill is asked for again in that round; the repeats of a kill are bounded. Default: 10
kills, long: 50.
"""

import pathlib
import random
import sys
import tempfile
import time
import unittest

from crawl_processes import IS_LONG, SLOW, FakeWeb, Site, differences

GANNET, FAKE_WEB = sys.argv[1:3]
KILLS = 50 if IS_LONG else 10
DELAY_MS = 30
# Its pages alone take this many delays, which is longer than the crawl runs between all kills: so
# it cannot end before it was killed as often as it should be.
LARGEST_HOST = 2000 if IS_LONG else 500
LONGEST_LIFE = 0.9
assert LARGEST_HOST * DELAY_MS / 1000 > KILLS * LONGEST_LIFE

# What a kill may cost. An answer is on its way from its last byte until its group is on the disk:
# waiting for a worker, being read, in the group that collects, or in the one that is being written
# (jobs/fetch/committer.h: a group is due at 512 pages, but takes all that came while the one
# before it was written). The fetcher asks no more while MAX_UNDELIVERED are on their way
# (FetchSettings::max_undelivered), and by then each connection may be in a request. So:
CONNECTIONS = 100
MAX_UNDELIVERED = 1024
MOST_REPEATS = CONNECTIONS + MAX_UNDELIVERED


class KillTest(unittest.TestCase):
    def test_a_crawl_killed_at_random_moments_loses_nothing_and_repeats_little(self) -> None:
        seed = random.randrange(1 << 32)
        chance = random.Random(seed)
        print(f"seed {seed}")
        with tempfile.TemporaryDirectory(prefix="gannet-test-") as folder:
            place = pathlib.Path(folder)
            # Recovering pages count their tries in the server: kills would change their outcome.
            web = FakeWeb(FAKE_WEB, place, hosts=1000 if IS_LONG else 300,
                          pages=40_000 if IS_LONG else 8000, largest_host=LARGEST_HOST,
                          nasty="all,-stall,-slow,-robots-slow,-error-recovers,-busy-503,-busy-429")
            site = Site(GANNET, place / "site", web, connections=CONNECTIONS,
                        delay=f"{DELAY_MS}ms")
            (place / "seeds").write_text("\n".join(web.seeds()))
            site.run("inject", str(place / "seeds"))
            most_repeats = 0
            for kill in range(KILLS):
                process = site.start("round", "--quiet")
                # Some kills come while it begins, which on a busy machine may take longer than
                # a life; the others after it has committed something.
                if kill % 2 == 1:
                    self.await_growth(site)
                time.sleep(chance.uniform(0.05, LONGEST_LIFE))
                self.assertIsNone(process.poll(), f"the crawl ended before kill {kill + 1}")
                process.kill()
                process.communicate()
                time.sleep(1.1)  # The server's log is written every second.
                site.verify()
                most_repeats = max(most_repeats, self.look(site, web))
            site.run("round", "--quiet")
            web.stop()
            print(f"{KILLS} kills, {self.looked_at} times a committed page was looked for again "
                  f"({self.failed_looked_at} of them failed ones); at most {most_repeats} answers "
                  f"had to be asked for again after a kill, allowed {MOST_REPEATS}")
            self.assertLessEqual(most_repeats, MOST_REPEATS)
            # Otherwise the kills came too early to show anything.
            self.assertGreater(self.looked_at, 100 // SLOW)
            self.assertEqual(differences(site.states(), web.truth()), [])
            site.verify(full=True)
            verdict = web.judge(f"{DELAY_MS}ms")
            for key in ("too_early_on_host", "too_early_on_address", "forbidden", "never_linked"):
                self.assertEqual(verdict[key], 0, verdict)

    def setUp(self) -> None:
        # As they were at the last kill:
        self.asked: dict[str, int] = {}
        self.visits: dict[str, tuple[str, str]] = {}
        self.round, self.round_seen_at = 0, ""
        self.looked_at = self.failed_looked_at = 0

    @staticmethod
    def await_growth(site: Site) -> None:
        def size() -> int:
            return sum(file.stat().st_size for file in (site.folder / "archive").glob("*.open"))
        before, until = size(), time.monotonic() + 30 * SLOW
        while size() <= before and time.monotonic() < until:
            time.sleep(0.02)

    def look(self, site: Site, web: FakeWeb) -> int:
        """Checks that pages committed before the last kill were not asked for since. Returns how many
        answers this kill has cost."""
        asked = web.asked()
        visits = site.visits()
        number = site.status()["round"]
        # Fetched, moved and gone pages are not due again while this test runs. A failed one may be
        # tried again, but in another round: what failed since this round was first seen open.
        again = []
        for url, (state, visited) in self.visits.items():
            if state in ("fetched", "moved", "gone"):
                self.looked_at += 1
            elif state == "failed" and number == self.round and visited > self.round_seen_at:
                self.looked_at += 1
                self.failed_looked_at += 1
            else:
                continue
            if asked[url] > self.asked.get(url, 0):
                again.append((url, state))
        self.assertEqual(again[:20], [])
        if number != self.round:
            self.round = number
            self.round_seen_at = max((visited for _, visited in visits.values()), default="")
        # The crawl DB knows only a page's last visit. A page that was asked for and is not completed
        # is a lost answer, and one that had failed before may be one.
        lost = sum(1 for url, times in asked.items()
                   if visits.get(url) == self.visits.get(url) and times > self.asked.get(url, 0))
        self.asked, self.visits = asked, visits
        return lost


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])

"""SIGKILL at random moments is boring: the crawl ends with the same pages.

`verify` passes after each kill, `verify --full` at the end; no page whose completion was committed
before a kill is asked for again in that round; the repeats of a kill are at most the connections
and one group of pages on their way to the disk. Default: 10 kills, long: 50.
"""

import pathlib
import random
import sys
import tempfile
import time
import unittest

from crawl_processes import IS_LONG, FakeWeb, Site, differences

GANNET, FAKE_WEB = sys.argv[1:3]
KILLS = 50 if IS_LONG else 10
CONNECTIONS = 100
GROUP = 1024  # FetchSettings::max_undelivered.


class KillTest(unittest.TestCase):
    def test_a_crawl_killed_at_random_moments_loses_nothing_and_repeats_little(self) -> None:
        seed = random.randrange(1 << 32)
        chance = random.Random(seed)
        print(f"seed {seed}")
        with tempfile.TemporaryDirectory(prefix="gannet-test-") as folder:
            place = pathlib.Path(folder)
            # Recovering pages count their tries in the server: kills would change their outcome.
            web = FakeWeb(FAKE_WEB, place, hosts=1000 if IS_LONG else 300,
                          pages=40_000 if IS_LONG else 8000, largest_host=500,
                          nasty="all,-stall,-slow,-robots-slow,-error-recovers,-busy-503,-busy-429")
            site = Site(GANNET, place / "site", web.port, connections=CONNECTIONS)
            (place / "seeds").write_text("\n".join(web.seeds()))
            site.run("inject", str(place / "seeds"))
            most_repeats = 0
            kills = 0
            while kills < KILLS:
                process = site.start("round", "--quiet")
                time.sleep(chance.uniform(0.05, 1.5))
                if process.poll() is not None:
                    process.communicate()
                    break  # All crawled: the rest of the kills find nothing to kill.
                process.kill()
                process.communicate()
                kills += 1
                site.verify()
                states = site.states()
                committed = {url for url, state in states.items() if state == "fetched"}
                time.sleep(1.1)  # The server's log is written every second.
                asked = web.answered_whole()
                uncommitted = len({url for url in asked
                                   if url not in states and not url.endswith("/robots.txt")})
                most_repeats = max(most_repeats, uncommitted)
                self.check_no_repeat_of(committed, asked)
            site.run("round", "--quiet")
            web.stop()
            print(f"{kills} kills; at most {most_repeats} answers had to be asked for again after "
                  f"one, allowed {CONNECTIONS + GROUP}")
            self.assertLessEqual(most_repeats, CONNECTIONS + GROUP)
            self.assertEqual(differences(site.states(), web.truth()), [])
            site.verify(full=True)
            verdict = web.judge("20ms")
            for key in ("too_early_on_host", "too_early_on_address", "forbidden", "never_linked"):
                self.assertEqual(verdict[key], 0, verdict)

    def setUp(self) -> None:
        self.times_asked: dict[str, int] = {}
        self.committed: set[str] = set()

    def check_no_repeat_of(self, committed: set[str], asked: list[str]) -> None:
        """What was committed at the last kill was not asked for since."""
        times: dict[str, int] = {}
        for url in asked:
            times[url] = times.get(url, 0) + 1
        again = [url for url in self.committed if times.get(url, 0) > self.times_asked.get(url, 0)]
        self.assertEqual(again, [])
        self.committed = committed
        self.times_asked = times


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])

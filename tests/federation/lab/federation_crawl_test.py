"""Many sites crawl what one site would: the same pages, each fetched by one of them, once.

Few: 1, 2 and 3 sites over a small web; long: 1, 2, 3 and 5 over a larger one.
Many: 8 sites over a small web; long: 20 over 20,000 pages.
"""

import pathlib
import subprocess
import sys
import tempfile
import time
import unittest

from federation_lab import IS_LONG, PATIENT, SLOW, Lab, differences

GANNET, FAKE_WEB = sys.argv[1:3]
NASTY = "robots,-robots-slow,-robots-crawl-delay,redirects,errors,pages"
# Slow pages are just slow enough to count as slow.
LIVELY = {"nasty": NASTY, "slow": "200ms", "retry_after": 1}
WEB = ({"hosts": 600, "pages": 12_000, "largest_host": 400, **LIVELY} if IS_LONG else
       {"hosts": 120, "pages": 1500, "largest_host": 60, **LIVELY})
# Far more hosts than sites, so that every site owns some.
WEB_OF_MANY = ({"hosts": 1000, "pages": 20_000, "largest_host": 400, **LIVELY} if IS_LONG else
               {"hosts": 160, "pages": 800, "largest_host": 20, **LIVELY})
NAMES = ["tokyo", "zurich", "lima", "nairobi", "boston", "oslo", "quito", "perth", "delhi", "cairo",
         "seoul", "lagos", "milan", "dakar", "hanoi", "tunis", "sofia", "miami", "accra", "turin"]


class CrawlTest(unittest.TestCase):
    def crawl(self, sites: int, web: dict, exchange: str = "urls", **settings: object) -> None:
        began = time.monotonic()
        with tempfile.TemporaryDirectory(prefix="gannet-test-") as folder:
            lab = Lab(GANNET, FAKE_WEB, pathlib.Path(folder), NAMES[:sites], dict(web),
                      federation=f", exchange: {exchange}", delay="5ms", **PATIENT, **settings)
            print(f"{sites} sites, {exchange}: agree on a map after {time.monotonic() - began:.0f} s",
                  flush=True)
            lab.inject(lab.web.seeds())
            if sites > 1:
                self.verify_while_it_runs(lab)
            lab.wait_quiet(1200 if IS_LONG else 300)
            print(f"quiet after {time.monotonic() - began:.0f} s; {lab.cost()}", flush=True)
            lab.verify(full=False)
            lab.verify()
            truth = lab.web.truth()
            self.assertEqual(differences(lab.states(), truth), [])
            shares = {name: len(site.states()) for name, site in lab.sites.items()}
            print(f"{len(truth)} pages, {shares}")
            if sites > 1:
                self.assertGreater(min(shares.values()), 0)
            lab.stop()
            judged = subprocess.run(
                [FAKE_WEB, "judge", str(lab.web.log), "--delay", "5ms", "--not-per-address",
                 "--no-repeats", "--json"], text=True, stdout=subprocess.PIPE, check=False)
            self.assertEqual(judged.returncode, 0, judged.stdout[-3000:])


    def verify_while_it_runs(self, lab: Lab) -> None:
        """`verify` must pass at any moment, not only when all is quiet."""
        until = time.monotonic() + 300 * SLOW
        seen = 0
        while seen < 3:
            self.assertLess(time.monotonic(), until, f"verified {seen} times while it ran")
            was_at_work = self.is_at_work(lab)
            lab.verify(full=False)
            seen += was_at_work and self.is_at_work(lab)

    @staticmethod
    def is_at_work(lab: Lab) -> bool:
        states = [site.status() for site in lab.sites.values()]
        return any(state["phase"] != "none" or any(state["outbox"].values()) for state in states)


class Few(CrawlTest):
    def test_one_site(self) -> None:
        self.crawl(1, WEB)

    def test_two_sites(self) -> None:
        self.crawl(2, WEB)

    def test_three_sites(self) -> None:
        self.crawl(3, WEB)

    def test_three_sites_that_exchange_cash(self) -> None:
        self.crawl(3, WEB, "cash")

    if IS_LONG:
        def test_five_sites(self) -> None:
            self.crawl(5, WEB)


class Many(CrawlTest):
    def test_many_sites(self) -> None:
        # Twenty caches of the size for millions of pages would fill this machine's memory, and
        # eight sites under a sanitizer take more than two cores.
        sites = 20 if IS_LONG else 8 if SLOW == 1 else 4
        self.crawl(sites, WEB_OF_MANY,
                   extra="crawl_db: {cache: 8MiB, write_buffers: 8MiB}\n")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])

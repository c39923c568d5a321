"""One web, m sites = one web, one site: the same pages, each fetched once over the federation.

Default: 1, 2 and 3 sites over a small web. Long: 1, 2, 3 and 5 over a larger one.
"""

import pathlib
import subprocess
import sys
import tempfile
import unittest

from federation_lab import IS_LONG, Lab, differences

GANNET, FAKE_WEB = sys.argv[1:3]
NAMES = ["tokyo", "zurich", "lima", "nairobi", "boston"]
NASTY = "robots,-robots-slow,-robots-crawl-delay,redirects,errors,pages"
WEB = ({"hosts": 600, "pages": 12_000, "largest_host": 400, "nasty": NASTY} if IS_LONG else
       {"hosts": 120, "pages": 1500, "largest_host": 60, "nasty": NASTY})


class FederationCrawlTest(unittest.TestCase):
    def crawl(self, sites: int, exchange: str = "urls") -> None:
        with tempfile.TemporaryDirectory(prefix="gannet-test-") as folder:
            lab = Lab(GANNET, FAKE_WEB, pathlib.Path(folder), NAMES[:sites], dict(WEB),
                      federation=f", exchange: {exchange}", delay="5ms")
            lab.inject(lab.web.seeds())
            lab.wait_quiet()
            lab.verify()
            truth = lab.web.truth()
            self.assertEqual(differences(lab.states(), truth), [])
            shares = {name: len(site.states()) for name, site in lab.sites.items()}
            print(f"{sites} sites, {exchange}: {len(truth)} pages, {shares}")
            if sites > 1:
                self.assertGreater(min(shares.values()), 0)
            lab.stop()
            judged = subprocess.run(
                [FAKE_WEB, "judge", str(lab.web.log), "--delay", "5ms", "--not-per-address",
                 "--no-repeats", "--json"], text=True, stdout=subprocess.PIPE, check=False)
            self.assertEqual(judged.returncode, 0, judged.stdout[-3000:])

    def test_one_site(self) -> None:
        self.crawl(1)

    def test_two_sites(self) -> None:
        self.crawl(2)

    def test_three_sites(self) -> None:
        self.crawl(3)

    def test_three_sites_that_exchange_cash(self) -> None:
        self.crawl(3, "cash")

    @unittest.skipUnless(IS_LONG, "long")
    def test_five_sites(self) -> None:
        self.crawl(5)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])

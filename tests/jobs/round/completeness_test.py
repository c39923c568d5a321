"""A crawl of a web with everything nasty ends with exactly the pages that the truth names.

None missing, none asked for that robots.txt forbids, never two requests closer than the delay on
one host or address, and no page asked for again once it was had. Default: 500 hosts, 10,000 pages; long: 10,000 hosts, 200,000 pages.
"""

import json
import pathlib
import sys
import tempfile
import unittest

from crawl_processes import IS_LONG, FakeWeb, Site, differences

GANNET, FAKE_WEB = sys.argv[1:3]


class CompletenessTest(unittest.TestCase):
    def test_the_crawl_ends_with_exactly_the_true_pages_and_was_polite(self) -> None:
        with tempfile.TemporaryDirectory(prefix="gannet-test-") as folder:
            place = pathlib.Path(folder)
            web = FakeWeb(FAKE_WEB, place, hosts=10_000 if IS_LONG else 500,
                          pages=200_000 if IS_LONG else 10_000, largest_host=2000, nasty="all",
                          retry_after=2, slow="200ms")
            site = Site(GANNET, place / "site", web)
            (place / "seeds").write_text("\n".join(web.seeds()))
            summary = json.loads(
                site.run("crawl", str(place / "seeds"), "--json", "--quiet").splitlines()[-1])
            web.stop()
            print(f"{summary['known']} pages, {summary['rounds']} rounds, "
                  f"{summary['seconds']:.0f} s, {summary['phase_seconds']}")
            truth = web.truth()
            self.assertEqual(differences(site.states(), truth), [])
            self.assertEqual(summary["frontier"], 0)
            verdict = web.judge("20ms")
            for key in ("too_early_on_host", "too_early_on_address", "forbidden", "never_linked"):
                self.assertEqual(verdict[key], 0, {**verdict, "repeated_urls": "..."})
            # 200 and whole, says the server, and yet a failure for a crawler that knows better (a
            # length that lies, a bomb): only those are tried again.
            self.assertEqual(len(verdict["repeated_urls"]), verdict["repeats"])
            self.assertEqual([url for url in verdict["repeated_urls"] if truth.get(url) != "failed"],
                             [])
            site.verify(full=True)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])

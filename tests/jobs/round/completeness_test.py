"""A crawl of a web with everything nasty ends with exactly the pages that the truth names.

None is missing, none is asked for that robots.txt forbids, two requests to a host or address are
never closer than the delay, and no page is asked for again after it was fetched. Default: 500 hosts,
10,000 pages; long: 10,000 hosts, 200,000 pages.
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
                site.run("crawl", str(place / "seeds"), "--scope", "any", "--json", "--quiet").splitlines()[-1])
            web.stop()
            print(f"{summary['known']} pages, {summary['rounds']} rounds, "
                  f"{summary['seconds']:.0f} s, {summary['phase_seconds']}")
            truth = web.truth()
            self.assertEqual(differences(site.states(), truth), [])
            self.assertEqual(summary["frontier"], 0)
            verdict = web.judge("20ms")
            for key in ("too_early_on_host", "too_early_on_address", "forbidden", "never_linked"):
                self.assertEqual(verdict[key], 0, {**verdict, "repeated_urls": "..."})
            # Some answers are 200 and complete for the server, but failures for the crawler (a wrong
            # Content-Length, a bomb): only those are tried again.
            self.assertEqual(len(verdict["repeated_urls"]), verdict["repeats"])
            self.assertEqual([url for url in verdict["repeated_urls"] if truth.get(url) != "failed"],
                             [])
            site.verify(full=True)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])

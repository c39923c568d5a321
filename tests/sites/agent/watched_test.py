"""A real agent, watched by a real browser and a real Prometheus while it crawls. Exit code
77 if a test was skipped because its program is missing.

Usage: watched_test.py GANNET MAKE_CRAWLED_SITE FAKEWEB SCREENSHOTS
"""

import pathlib
import re
import shutil
import subprocess
import sys
import unittest
import urllib.request

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "console"), str(HERE.parent / "dashboard")]

from prometheus import Prometheus
from served import ServedTest
from webdriver import Browser, programs_are_there

SCREENSHOTS = pathlib.Path(sys.argv[4])


class WatchedTest(ServedTest):
    def start_crawler(self):
        self.web = self.serve("--hosts", "40", "--pages", "600", "--nasty", "script-title")
        self.site(self.web, more="crawl: {schedule: by-hand, width: 200}\nlog: {format: json}")
        self.gannet("inject", self.web.seed, "--data", "site")
        self.start_agent()

    def crawl_all(self) -> dict:
        return self.gannet("round", "--wait", "0", "--json", "--data", "site").json

    @unittest.skipUnless(shutil.which("prometheus") and shutil.which("promtool"),
                         "prometheus is not installed")
    def test_prometheus_sees_what_the_crawl_did(self):
        self.start_crawler()
        port = int(re.search(r":(\d+)/", self.url).group(1))
        with Prometheus(port) as prometheus:
            done = self.crawl_all()
            fetched = done["fetched"]
            self.assertGreater(fetched, 500)
            self.assertEqual(
                prometheus.query(f'gannet_fetches_total{{outcome="fetched"}} == {fetched}'), fetched)
            self.assertEqual(prometheus.query("gannet_known_pages"), done["known"])
        text = urllib.request.urlopen(self.url + "metrics").read().decode()
        checked = subprocess.run(["promtool", "check", "metrics"], input=text, text=True,
                                 capture_output=True, timeout=60)
        self.assertEqual((checked.returncode, checked.stdout, checked.stderr), (0, "", ""))

    @unittest.skipUnless(programs_are_there(), "chromium and chromium-driver are not installed")
    def test_a_person_sees_the_crawl_and_no_script_of_the_web_runs(self):
        self.start_crawler()
        url = next(url for url, _, kind in self.web.truth() if kind == "script-title")
        browser = Browser()
        self.addCleanup(browser.close)
        browser.window(1280, 900)
        browser.go(self.url)
        crawl = self.start("round", "--wait", "0", "--quiet", "--data", "site")
        browser.wait("return /Round [2-9]/.test(document.body.textContent)", "a round is shown")
        crawl.communicate(timeout=120)
        known = self.gannet("status", "--json", "--data", "site").json["known"]
        browser.wait(f"return document.body.textContent.includes('{known:,}')",
                     "the number of pages is shown, without a reload")
        browser.type("#url", url)
        browser.click("#search button")
        browser.wait("return document.querySelector('#detail-body .title')?.textContent"
                     ".includes('<script')", "the title is shown as text")
        browser.screenshot(SCREENSHOTS / "real-page.png", whole_page=False)
        browser.go(self.url)
        browser.wait(f"return document.body.textContent.includes('{known:,}')", "it is filled")
        browser.screenshot(SCREENSHOTS / "real-site.png")
        self.assertEqual(browser.run("return document.querySelectorAll("
                                     "'main script, dialog script').length"), 0)
        self.assertEqual(browser.console(), [])


if __name__ == "__main__":
    # A test that did not run has not passed, and says why.
    done = unittest.main(argv=sys.argv[:1], verbosity=2, exit=False).result
    sys.exit(1 if not done.wasSuccessful() else 77 if done.skipped else 0)

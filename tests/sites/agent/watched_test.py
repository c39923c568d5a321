"""A real agent, watched by a real browser and a real Prometheus while it crawls, and what
watching costs when nobody looks.

Usage: watched_test.py GANNET MAKE_CRAWLED_SITE FAKEWEB SCREENSHOTS
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time
import urllib.request

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "console"), str(HERE.parent / "dashboard")]

import console
from prometheus import Prometheus
from served import ServedTest
from webdriver import Browser

SCREENSHOTS = pathlib.Path(sys.argv[4])


def cpu_seconds(pid: int) -> float:
    """Of all threads that live, to the nanosecond."""
    return sum(int((task / "schedstat").read_text().split()[0])
               for task in pathlib.Path(f"/proc/{pid}/task").iterdir()) / 1e9


def ended_threads_too(pid: int) -> float:
    """CPU seconds of the process, to the tick."""
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class WatchedTest(ServedTest):
    def crawler(self, crawl: str) -> subprocess.Popen:
        self.web = self.serve("--hosts", "40", "--pages", "600", "--nasty", "script-title")
        self.site(self.web, more=f"crawl: {{{crawl}}}\nlog: {{format: json}}")
        self.gannet("inject", self.web.seed, "--data", "site")
        return self.start_agent()

    def crawl_all(self) -> dict:
        return self.gannet("round", "--wait", "0", "--json", "--data", "site").json

    def test_prometheus_sees_what_the_crawl_did(self):
        self.crawler("schedule: by-hand, width: 200")
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

    def test_a_person_sees_the_crawl_and_no_script_of_the_web_runs(self):
        self.crawler("schedule: by-hand, width: 200")
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

    def test_api_and_dashboard_cost_nothing_when_nobody_looks(self):
        agent = self.crawler("schedule: by-hand, width: 600")
        # The whole process, so that nothing is overlooked. Of the windows, each longer than what
        # it does now and then, the least: a busy machine only adds to what it costs.
        idle = min(self.idle_cpu(agent.pid, seconds=5.5) for _ in range(3))
        before = ended_threads_too(agent.pid)
        done = self.crawl_all()
        busy = (ended_threads_too(agent.pid) - before) / done["seconds"]
        self.assertGreater(busy, 0)
        share = idle / busy
        print(f"idle {idle:.5f} of a core, crawling {busy:.3f}: {100 * share:.2f} %")
        self.assertLess(share, 0.005)

    def idle_cpu(self, pid: int, seconds: float) -> float:
        """Of a core, while nothing is to happen; that is the point."""
        before, began = cpu_seconds(pid), time.monotonic()
        time.sleep(seconds)
        return (cpu_seconds(pid) - before) / (time.monotonic() - began)


if __name__ == "__main__":
    for program in ("prometheus", "chromium", "chromedriver"):
        if not shutil.which(program):
            print(f"skipped: {program} is not installed")
            sys.exit(77)
    console.main()

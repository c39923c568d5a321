"""The dashboard as people use it, in a real browser with real clicks.

Usage: browser_test.py DASHBOARD_DEMO FOLDER_FOR_SCREENSHOTS
"""

import json
import os
import pathlib
import re
import sys
import time
import unittest

from demo import Demo
from webdriver import Browser, programs_are_there

DEMO = os.path.abspath(sys.argv[1])
SCREENSHOTS = pathlib.Path(sys.argv[2]).absolute()
ENTER, ESCAPE, LEFT, RIGHT = "\ue007", "\ue00c", "\ue012", "\ue014"

# Seconds until a change must be seen: the page polls every two, and the machine may be
# busy. Less than the fifteen after which the page says that the site does not answer.
LIVE = 14

LOADED = """return document.querySelector('#chart svg') &&
  document.querySelectorAll('#rounds tbody tr').length > 3 &&
  document.querySelectorAll('#hosts tbody tr').length > 3 &&
  document.querySelectorAll('#by-depth li').length > 3 &&
  document.getElementById('pages-rate').textContent !== '–'"""
FEDERATED = "return document.querySelectorAll('#federation:not([hidden]) tbody tr').length === 6"
NASTY_SITE = "<img src=x onerror=hacked=8>"
# Elements that are wider than the window, which would make the page scroll sideways.
TOO_WIDE = """const wide = document.documentElement.clientWidth;
  return [...document.querySelectorAll('body *')].filter((one) =>
    !one.closest('.hidden, .skip, dialog:not([open])') && one.getBoundingClientRect().right > wide + 1)
    .map((one) => one.outerHTML.slice(0, 80))"""
# Visible texts with less contrast than WCAG 2.1, 1.4.3, asks for.
PALE = """
  const parse = (text) => text.match(/[\\d.]+/g).map(Number);
  const light = ([r, g, b]) => [r, g, b].map((c) => c / 255)
    .map((c) => c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
    .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
  const back = (one) => {
    for (; one; one = one.parentElement) {
      const colour = parse(getComputedStyle(one).backgroundColor);
      if (colour.length === 3 || colour[3] > 0.9) return colour;
    }
    return [255, 255, 255];
  };
  const pale = [];
  for (const one of document.querySelectorAll('body *')) {
    const text = [...one.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
    if (!text || !one.checkVisibility() || one.closest('.hidden, .skip, noscript')) continue;
    const style = getComputedStyle(one);
    const colour = one instanceof SVGElement ? style.fill : style.color;
    const [a, b] = [light(parse(colour)), light(back(one))].sort((x, y) => y - x);
    const contrast = (a + 0.05) / (b + 0.05);
    if (contrast < 4.5) pale.push(`${contrast.toFixed(2)} ${one.className} ${one.textContent.slice(0, 40)}`);
  }
  return pale"""


class BrowserTest(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.browser = Browser()

    @classmethod
    def tearDownClass(cls):
        cls.browser.close()

    def setUp(self):
        self.expected_errors = []
        self.servers = []
        self.browser.scheme("light")
        self.browser.window(1280, 800)

    def tearDown(self):
        """Fails if the browser has logged a complaint, above all about the
        Content-Security-Policy; answers of 404 and 503 are complaints, too."""
        complaints = [line for line in self.browser.console()
                      if not any(expected in line for expected in self.expected_errors)
                      and self.is_ours(line)]
        self.browser.go("about:blank")
        self.assertEqual(complaints, [])

    def is_ours(self, complaint: str) -> bool:
        """Whether the complaint is about this test's server, by its port: a page of an earlier test
        may complain late that its server has gone."""
        servers = re.findall(r"http://127\.0\.0\.1:\d+", complaint)
        return not servers or any(server in self.servers for server in servers)

    def open(self, *flags: str, loaded: str = LOADED) -> Demo:
        demo = Demo(DEMO, *flags)
        self.addCleanup(demo.close)
        self.servers.append(demo.url)
        self.browser.go(demo.url + "/")
        self.browser.wait(loaded, "the page is filled")
        return demo

    def shot(self, name: str, whole_page: bool = True):
        self.browser.screenshot(SCREENSHOTS / f"{name}.png", whole_page)

    def wait_for_text(self, selector: str, text: str, seconds: float = 20):
        self.browser.wait(
            f"return document.querySelector({json.dumps(selector)})"
            f"?.textContent.includes({json.dumps(text)})", f"{selector} says {text!r}", seconds)

    def assert_nothing_ran(self):
        self.assertIsNone(self.browser.run("return window.hacked ?? null"))
        self.assertEqual(self.browser.run("return document.querySelectorAll("
                                          "'main img, main script, dialog img, dialog script, "
                                          "dialog [onload], main [onerror]').length"), 0)

    def test_fits_and_is_legible_on_laptop_and_phone_in_light_and_dark(self):
        self.open()
        for scheme in ("light", "dark"):
            self.browser.scheme(scheme)
            for name, width, height in (("laptop", 1280, 800), ("phone", 375, 740)):
                with self.subTest(scheme=scheme, window=name):
                    self.browser.window(width, height, phone=name == "phone")
                    self.browser.wait(f"return innerWidth === {width} && document.querySelector("
                                      "'#chart svg').clientWidth < innerWidth", "the chart fits")
                    self.assertEqual(self.browser.run(TOO_WIDE), [])
                    self.assertEqual(self.browser.run(PALE), [])
                    self.shot(f"{name}-{scheme}")
        colours = set()
        for scheme in ("light", "dark"):
            self.browser.scheme(scheme)
            colours.add(self.browser.run("return getComputedStyle(document.body).backgroundColor"))
        self.assertEqual(len(colours), 2, "light and dark differ")

    def test_shows_what_the_site_says_with_separators(self):
        self.open()
        self.assertEqual(self.browser.text("#site"), "tokyo")
        self.assertEqual(self.browser.text("#version"), "Gannet 0.1.0")
        self.assertEqual(self.browser.text("#state"), "Running")
        self.assertEqual(self.browser.text("#known"), "3,912,345")
        self.assertEqual(self.browser.text("#round-title"), "Round 412")
        self.assertEqual(self.browser.text("#steps [aria-current=step]"), "Fetch")
        self.assertIn("of 20,000 pages", self.browser.text("#progress-text"))
        self.assertIn("left", self.browser.wait(
            "return document.getElementById('time-left').textContent", "an estimate"))
        self.assertEqual(self.browser.run(
            "return [...document.querySelectorAll('#by-depth .label')].map((l) => l.textContent)"),
            ["seeds", "1 link away"] + [f"{n} links away" for n in range(2, 8)])
        self.assertEqual(self.browser.text("#states li:nth-child(2)").split(), ["fetched", "2,312,876"])

    def rows(self, selector: str, cells: str) -> list[list[str]]:
        return self.browser.run(
            f"return [...document.querySelectorAll({json.dumps(selector)})].map((row) => "
            f"[...row.querySelectorAll({json.dumps(cells)})].map((cell) => cell.textContent))")

    def test_outcomes_are_those_of_the_round_and_of_all_rounds(self):
        demo = self.open()
        rows = self.rows("#outcomes tr", "th, td")
        self.assertEqual([row[0] for row in rows],
                         ["fetched", "unchanged", "moved", "gone", "failed", "blocked"])
        # The numbers of these outcomes do not change; the others grow.
        self.assertEqual(rows[3:], [["gone", "188", "140,123"], ["failed", "131", "88,213"],
                                    ["blocked", "11", "60,412"]])
        for (name, *shown), least in zip(rows, ((10890, 7123456), (2140, 1402311), (521, 371245))):
            for text, number in zip(shown, least):
                self.assertGreaterEqual(int(text.replace(",", "")), number, name)
        # Between rounds there are only the numbers of all rounds, and they do not change.
        demo.tell("pause")
        self.wait_for_text("#banners", "Rounds are paused", LIVE)
        all_rounds = json.loads(demo.get("/api/status"))["agent"]["lifetime"]["outcomes"]
        self.assertEqual(self.rows("#outcomes tr", "th, td"),
                         [[row[0], "–", f"{int(all_rounds[row[0]]):,}"] for row in rows])

    def test_the_frontier_by_score_is_bars_as_long_as_their_numbers(self):
        self.open()
        pages = [240123, 391231, 310231, 171230, 70123, 18923, 2712, 298]
        bounds = ["1K", "10K", "100K", "1M", "10M", "100M", "1B", "10B"]
        self.assertEqual(self.rows("#by-score li", ".label, .number"),
                         [[f"from {bound}", f"{count:,}"] for bound, count in zip(bounds, pages)])
        lengths = self.browser.run(
            "return [...document.querySelectorAll('#by-score li')].map((row) => "
            "row.querySelector('.bar').clientWidth / row.querySelector('.track').clientWidth)")
        for length, count in zip(lengths, pages, strict=True):
            self.assertAlmostEqual(length, count / max(pages), delta=0.02)
        self.assertEqual(self.browser.text("#score-note"), "Estimated from 10,000 of 1,204,871 pages.")

    def test_updates_live_when_the_site_changes(self):
        demo = self.open()
        before = self.browser.text("#progress-text")
        self.browser.wait("return document.getElementById('progress-text').textContent !== "
                          + json.dumps(before), "the round goes on", LIVE)
        demo.tell("known 3912399")
        self.wait_for_text("#known", "3,912,399", LIVE)
        demo.tell("update")
        self.wait_for_text("#steps [aria-current=step]", "Update", LIVE)
        self.wait_for_text("#progress-text", "links settled", LIVE)
        demo.tell("end")
        self.wait_for_text("#rounds tbody tr:first-child", "412", LIVE)
        demo.tell("wait")
        self.wait_for_text("#state", "Waiting", LIVE)
        self.wait_for_text("#next", "next round in 4 min", LIVE)
        demo.tell("pause")
        self.wait_for_text("#banners", "Rounds are paused", LIVE)
        self.shot("paused", whole_page=False)
        demo.tell("fail no space left on <b>device</b>")
        self.wait_for_text("#banners", "The last round failed", LIVE)
        self.wait_for_text("#banners", "no space left on <b>device</b>", LIVE)
        demo.tell("run")
        self.browser.wait("return document.getElementById('banners').childElementCount === 0",
                          "the banners go", LIVE)

    def test_says_that_this_machine_is_busy_and_what_went_wrong(self):
        demo = self.open()
        self.assertEqual(self.browser.text("#banners"), "")
        demo.tell("busy")
        self.wait_for_text("#banners", "This machine is busy", LIVE)
        demo.tell("failing")
        self.wait_for_text("#outcomes", "tls expired", LIVE)
        rows = self.rows("#outcomes tr", "th, td")
        names = [row[0] for row in rows]
        # Below the number of all failed pages are the five most frequent kinds.
        self.assertEqual(rows[names.index("failed") + 1:-1],
                         [["connect timeout", "", "41,233"], ["http 5xx", "", "31,204"],
                          ["tls expired", "", "8,412"], ["name not found", "", "5,120"],
                          ["reset", "", "1,207"]])
        # Connections are no longer held back, so the machine is no longer called busy.
        self.browser.wait("return document.getElementById('banners').childElementCount === 0",
                          "the banner goes", LIVE + 10)

    def test_says_when_the_site_does_not_answer_and_comes_back(self):
        self.expected_errors = ["503", "ERR_CONNECTION_REFUSED"]
        demo = self.open()
        demo.tell("unreachable")
        self.wait_for_text("#banners", "Connection lost")
        self.wait_for_text("#banners", "the crawl DB does not answer")
        self.assertEqual(self.browser.text("#state"), "Not reachable")
        self.shot("lost", whole_page=False)
        demo.tell("answer")
        self.wait_for_text("#state", "Running")
        self.assertEqual(self.browser.text("#banners"), "")
        demo.process.stdin.close()
        demo.process.wait(30)
        self.wait_for_text("#banners", "The agent does not answer")

    def test_looks_up_a_typed_url_and_follows_its_links(self):
        self.open()
        self.browser.type("#url", "https://www.example.org/")
        self.browser.click("#search button")
        self.wait_for_text("#detail-body .title", "seabirds of the north")
        detail = self.browser.text("#detail-body")
        for text in ("fetched", "in the schedule", "HTTP 200", "file 41", "81,230,912",
                     "sha1:B2LTWWPUOYAH7UIPQ7ZUPQ4VMBSVC36A", "37 min ago"):
            self.assertIn(text, detail)
        self.shot("page", whole_page=False)
        self.browser.click(".link-list li:nth-child(1) a")
        self.wait_for_text("#detail-body .title", "Northern gannet")
        self.browser.run("history.back()")
        self.wait_for_text("#detail-body .title", "seabirds of the north")
        self.browser.press("#detail-close", ESCAPE)
        self.browser.wait("return !document.getElementById('detail').open", "Escape closes it")

    def test_finds_a_url_typed_without_its_scheme_by_keyboard_alone(self):
        self.expected_errors = ["404"]  # https:// is tried first.
        self.open()
        self.browser.type("#url", "many.example/" + ENTER)
        self.wait_for_text("#detail-body .title", "A page of many links")
        self.assertEqual(self.browser.run("return document.querySelectorAll('.link-list li').length"), 200)
        self.browser.click(".outlinks button")
        self.assertEqual(self.browser.run("return document.querySelectorAll('.link-list li').length"), 1000)
        self.assertEqual(self.browser.run(TOO_WIDE), [])

    def test_says_that_a_page_is_not_known(self):
        self.expected_errors = ["404"]
        self.open()
        self.browser.type("#url", "https://unknown.example/")
        self.browser.press("#url", ENTER)
        self.wait_for_text("#detail-body", "This page is not known")

    def test_scripts_that_the_web_wrote_do_not_run(self):
        demo = self.open()
        self.wait_for_text("#hosts", "<img src=x onerror=hacked=7>.example")
        self.browser.go(demo.url + "/#page=" + "https%3A%2F%2Fwww.example.org%2Fnasty")
        self.wait_for_text("#detail-body .title", "<script>window.hacked = 1</script>")
        self.assertIn("<svg onload=hacked=6>", self.browser.text("#detail-body"))
        for link in self.browser.run("return [...document.querySelectorAll('dialog a')]"
                                     ".map((a) => a.getAttribute('href'))"):
            self.assertRegex(link, "^(#page=|https://www.example.org/nasty$|/api/page)")
        self.shot("nasty", whole_page=False)
        self.assert_nothing_ran()
        self.expected_errors = ["404"]
        self.browser.click(".link-list li:nth-child(2) a")  # javascript:...
        self.wait_for_text("#detail-body", "not known")
        self.assert_nothing_ran()

    def test_the_policy_stops_a_script_that_got_in_all_the_same(self):
        self.expected_errors = ["Content Security Policy"]
        self.open()
        self.browser.run("document.body.insertAdjacentHTML('beforeend', "
                         "'<img src=\"data:,\" onerror=\"window.hacked = 1\">')")
        self.browser.run("const s = document.createElement('script');"
                         "s.textContent = 'window.hacked = 2'; document.body.append(s)")
        end = time.monotonic() + 20
        complaints = []
        while len(complaints) < 2 and time.monotonic() < end:
            complaints += [line for line in self.browser.console() if "Content Security Policy" in line]
            time.sleep(0.05)
        self.assertGreaterEqual(len(complaints), 2)
        self.assertIsNone(self.browser.run("return window.hacked ?? null"))

    def test_a_rounds_row_opens_its_report(self):
        demo = self.open()
        # Clicks a cell, not the link, because the whole row is clickable.
        self.browser.click("#rounds tbody tr:nth-child(2) td:nth-child(4)")
        self.wait_for_text("#detail-title", "Round 410")
        report = json.loads(demo.get("/api/round?number=410"))
        detail = self.browser.text("#detail-body")
        for key in ("fetched", "moved", "failed", "found", "known", "scheduled"):
            self.assertIn(f"{report[key]:,}", detail, key)
        self.assertIn("generate", detail)
        self.assertEqual(self.browser.run("return document.querySelector('.links a').getAttribute('href')"),
                         "/api/round?number=410")
        self.shot("round", whole_page=False)
        self.browser.window(375, 740, phone=True)
        self.assertEqual(self.browser.run(TOO_WIDE), [])
        self.shot("round-phone", whole_page=False)
        self.browser.click("#detail-close")
        self.browser.wait("return location.hash === ''", "the report's address is gone")

    def test_host_tabs_switch_by_click_and_by_arrow_key(self):
        self.open()
        self.wait_for_text("#hosts", "www.gone-fishing.example")
        self.browser.click("#tab-slow")
        self.wait_for_text("#hosts", "far0.antipodes.example")
        self.assertIn("2.3 s", self.browser.text("#hosts tbody tr"))
        self.assertEqual(self.browser.run(
            "return document.getElementById('tab-slow').getAttribute('aria-selected')"), "true")
        self.browser.press("#tab-slow", LEFT)
        self.wait_for_text("#hosts", "www.gone-fishing.example")
        self.assertEqual(self.browser.run("return document.activeElement.id"), "tab-failures")

    def test_the_chart_is_read_by_pointer_and_by_keys(self):
        self.open()
        self.assertEqual(self.browser.run("return document.querySelectorAll('#chart path.line').length"), 2)
        self.browser.ask("POST", "/actions", {"actions": [{
            "type": "pointer", "id": "mouse", "parameters": {"pointerType": "mouse"},
            "actions": [{"type": "pointerMove", "duration": 0, "x": 40, "y": 0, "origin": {
                "element-6066-11e4-a52e-4f735466cecf": self.browser.find("#chart")}}]}]})
        self.wait_for_text("#readout", "pages/s")
        self.shot("chart-hover", whole_page=False)
        first = self.browser.text("#readout")
        self.browser.press("#chart", RIGHT)
        self.assertNotEqual(self.browser.text("#readout"), first)
        self.assertRegex(self.browser.text("#readout"), r"^\d\d:\d\d:\d\d · [\d.,]+ pages/s · [\d.,]+ MB/s$")

    def test_a_new_site_says_what_to_do(self):
        self.open("--fresh", loaded="return document.querySelector('#rounds .empty')")
        self.wait_for_text("#rounds", "No round has ended yet")
        self.wait_for_text("#states", "gannet inject")
        self.wait_for_text("#by-score", "The frontier is empty")
        self.wait_for_text("#hosts", "No host is failing")
        self.assertEqual(self.browser.text("#round-title"), "No round yet")
        self.shot("new-site")

    def test_a_site_for_itself_shows_no_federation(self):
        demo = self.open()
        self.assertFalse(self.browser.run("return document.getElementById('federation').checkVisibility()"))
        demo.tell("federation busy")
        self.browser.wait(FEDERATED, "the panel comes", LIVE)
        demo.tell("federation none")
        self.browser.wait("return document.getElementById('federation').hidden", "the panel goes", LIVE)

    def cell(self, site: str, label: str) -> str:
        return self.browser.run(
            "return [...document.querySelectorAll('#federation-sites tr')].find((row) => row.dataset.site === "
            f"{json.dumps(site)}).querySelector('td[data-label=\"{label}\"]').innerText").replace("\n", " ")

    def test_the_federation_is_shown_in_numbers_and_on_a_map(self):
        self.open("--federation", loaded=FEDERATED)
        self.assertEqual(self.browser.run(
            "return [...document.querySelectorAll('.site-name')].map((name) => name.textContent)"),
            ["tokyo", "zurich", "lima", "nairobi", "sydney", NASTY_SITE])
        self.assertEqual(self.browser.text("#federation-state"), "Working")
        self.assertEqual(self.browser.text("#federation-epoch"),
                         "epoch 7 · term 2 · registrar zurich · exchanges urls")
        self.assertIn("this site", self.browser.text("#federation-sites tr:nth-child(1) th"))
        self.assertEqual(self.browser.text("#federation-sites tr:nth-child(2) th .sub"),
                         "registrar · capacity 2")
        for site, label, text in (
                ("tokyo", "State", "member"), ("nairobi", "State", "leaving"), ("sydney", "State", "away"),
                (NASTY_SITE, "State", "invited"), ("zurich", "Lag", "0"), ("sydney", "Lag", "2"),
                ("sydney", "Epoch", "5"), ("zurich", "Pages", "4,120,331"), ("lima", "Frontier", "801,223"),
                ("sydney", "Outbox", "48,211"), ("lima", "Round trip", "298 ms"),
                ("zurich", "Pages/s", "206"), ("zurich", "Last heard", "now"),
                ("sydney", "Last heard", "12 min 34 s ago"), (NASTY_SITE, "Lag", "–"), (NASTY_SITE, "Sent", "–"), (NASTY_SITE, "Last heard", "never")):
            with self.subTest(site=site, label=label):
                self.assertEqual(self.cell(site, label), text)
        self.assertIn("sydney is away", self.browser.text("#federation-problems"))
        self.assertIn("2 of 5 sites are done (lima, zurich)", self.browser.text("#hand-off-text"))
        self.assertEqual(self.browser.text("#hand-off-left"), "12,043 pages left at all sites")
        # Tokyo is east of Zurich, which is north of Lima.
        spots = self.browser.run(
            "return Object.fromEntries([...document.querySelectorAll('#world .place')].map((place) => "
            "[place.dataset.site, [...place.querySelectorAll('.spot')].map((spot) => "
            "[spot.cx.baseVal.value, spot.cy.baseVal.value])[0]]))")
        self.assertEqual(len(spots), 6)
        self.assertGreater(spots["tokyo"][0], spots["zurich"][0])
        self.assertLess(spots["zurich"][1], spots["lima"][1])
        self.assertEqual(self.browser.run("return document.querySelectorAll('#world .link').length"), 4)
        self.assertEqual(self.browser.run(
            "return [...document.querySelectorAll('#world .place > text')].map((t) => t.textContent).slice(0, 5)"),
            ["tokyo", "zurich", "lima", "nairobi", "sydney"])

    def test_rates_between_sites_are_measured(self):
        demo = self.open("--federation", loaded=FEDERATED)
        self.browser.wait("return document.querySelector('#federation-sites tr:nth-child(2) td[data-label=Sent]')"
                          ".textContent.includes('URLs/s')", "two looks make a rate", LIVE)
        # The rate gets steady after some more polls, since on a busy machine some come late.
        end = time.monotonic() + 40
        while abs(int(self.cell("zurich", "Sent").split()[0]) - 412) > 60:
            self.assertLess(time.monotonic(), end, self.cell("zurich", "Sent"))
            time.sleep(0.2)
        self.assertRegex(self.cell("zurich", "Sent"), r"^\d+ URLs/s [\d.]+ KB/s$")
        self.assertEqual(self.cell("sydney", "Sent"), "0 URLs/s 0 bytes/s")
        self.browser.ask("POST", "/actions", {"actions": [{
            "type": "pointer", "id": "mouse", "parameters": {"pointerType": "mouse"},
            "actions": [{"type": "pointerMove", "duration": 0, "x": 0, "y": 0, "origin": {
                "element-6066-11e4-a52e-4f735466cecf": self.browser.find(
                    "#world .place[data-site=zurich] .spot")}}]}]})
        self.wait_for_text("#world-readout", "zurich: member · to it ")
        self.assertIn("round trip 231 ms", self.browser.text("#world-readout"))
        # Counters fall when a site has restarted; the rate must not become negative.
        demo.tell("federation begun-anew")
        for _ in range(20):
            self.assertNotIn("-", self.cell("zurich", "Sent"))
            time.sleep(0.2)

    def test_the_federation_says_what_is_the_matter(self):
        demo = self.open("--federation", loaded=FEDERATED)
        demo.tell("federation quiet")
        self.wait_for_text("#federation-state", "Quiet", LIVE)
        self.assertFalse(self.browser.run("return document.getElementById('hand-off').checkVisibility()"))
        demo.tell("federation paused")
        self.wait_for_text("#federation-state", "Paused", LIVE)
        demo.tell("federation lost")
        self.wait_for_text("#federation-problems", "The registrar zurich is not reached", LIVE)
        demo.tell("federation fail the maps of <b>two</b> federations")
        self.wait_for_text("#federation-problems", "the maps of <b>two</b> federations", LIVE)
        self.assertEqual(self.browser.run("return document.querySelectorAll('#federation b').length"), 0)

    def test_the_name_of_a_site_stays_text(self):
        self.open("--federation", loaded=FEDERATED)
        self.wait_for_text("#federation-sites", NASTY_SITE)
        self.browser.wait("return [...document.querySelectorAll('#world title')].some((title) => "
                          f"title.textContent.includes({json.dumps(NASTY_SITE)}))", "its tooltip")
        self.assert_nothing_ran()

    def test_the_federation_fits_and_is_legible_on_laptop_and_phone_in_light_and_dark(self):
        self.open("--federation", loaded=FEDERATED + " && " + LOADED.removeprefix("return "))
        self.browser.wait("return document.querySelector('#federation-sites tr:nth-child(2) td[data-label=Sent]')"
                          ".textContent.includes('URLs/s')", "rates", LIVE)
        for scheme in ("light", "dark"):
            self.browser.scheme(scheme)
            for name, width, height in (("laptop", 1280, 800), ("phone", 375, 740)):
                with self.subTest(scheme=scheme, window=name):
                    self.browser.window(width, height, phone=name == "phone")
                    self.browser.wait(f"return innerWidth === {width} && document.querySelector('#world svg')"
                                      ".clientWidth < innerWidth && document.querySelector('#chart svg')"
                                      ".clientWidth < innerWidth", "the map fits")
                    self.assertEqual(self.browser.run(TOO_WIDE), [])
                    self.assertEqual(self.browser.run(PALE), [])
                    self.shot(f"federation-{name}-{scheme}")

    def test_a_hidden_page_asks_nothing(self):
        demo = self.open()

        def requests() -> int:
            lines = demo.get("/metrics").splitlines()
            return sum(int(line.split()[-1]) for line in lines
                       if line.startswith("gannet_http_requests_total"))

        # Opens another tab, which hides the page.
        here = self.browser.ask("GET", "/window")
        other = self.browser.ask("POST", "/window/new", {"type": "tab"})["handle"]
        self.browser.ask("POST", "/window", {"handle": other})
        self.addCleanup(self.browser.ask, "POST", "/window", {"handle": here})
        self.addCleanup(self.browser.ask, "DELETE", "/window")
        requests()
        time.sleep(1)  # Requests that were under way end.
        before = requests()
        time.sleep(5)  # Longer than two polls; there is no event to wait for.
        self.assertEqual(requests() - before, 1, "only this test's own request")


if __name__ == "__main__":
    if not programs_are_there():
        print("skipped: chromium and chromium-driver are not installed")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])

"""Each nasty thing of the fake web, and what the operator sees of it."""

import subprocess

import console
from console import GANNET
from fakeweb import FakeWebTest

WEB = ("--hosts", "60", "--pages", "600", "--seed", "4", "--nasty", "all,-tls",
       "--retry-after", "1", "--slow", "500ms")
LIMITS = ("--max-path-depth", "12", "--max-query-parameters", "6")
REDIRECT = {301, 302, 303, 307, 308}

# kind: state, HTTP statuses, place, how the reason begins
PAGES = {
    "redirect": ("moved", REDIRECT, "schedule", ""),
    "redirect-loop": ("moved", REDIRECT, "schedule", ""),
    "not-found": ("gone", {404}, "finished", "http 404"),
    "gone": ("gone", {410}, "finished", "http 410"),
    "error": ("failed", {500}, "finished", "http 500"),
    "stall": ("failed", {200}, "finished", "timeout"),
    "endless": ("failed", {200}, "finished", "too_large"),
    "gzip-bomb": ("failed", {200}, "finished", "too large when decoded"),
    "short-length": ("failed", {200}, "finished", "cut_short"),
    "reset": ("failed", {0, 200}, "finished", ("reset", "cut_short")),
    "garbage-status": ("failed", {0}, "finished", "garbage"),
    "huge-headers": ("failed", {200}, "finished", "headers_too_large"),
    "forbidden": ("blocked", {0}, "schedule", "Disallow: "),
}
for kind in ("error-recovers busy-503 busy-429 slow long-length calendar growing-path "
             "growing-query session charset broken-html odd-links base non-html mirror "
             "script-title meta-nofollow header-nofollow nofollow-link noindex canonical "
             "redirect-chain").split():
    PAGES[kind] = ("fetched", {200}, "schedule", "")

# kind of the host's robots.txt: state and reason of its pages
HOSTS = {"robots-500": ("blocked", "robots.txt: http 500"),
         "robots-closed": ("blocked", "Disallow: /")}
for kind in ("404 403 redirect huge crawl-delay wildcards groups bom garbage slow empty").split():
    HOSTS["robots-" + kind] = ("fetched", "")


class Nasty(FakeWebTest):
    def setUp(self):
        super().setUp()
        self.web = self.serve(*WEB)
        self.site(self.web, fetch=", timeout: 5s, first_byte_timeout: 4s, min_speed: 0, "
                                  "max_bytes: 4MiB, retries: 2",
                  more="urls: {scope: any, max_path_depth: 12, max_query_parameters: 6}")

    def test_every_kind_ends_as_the_operator_is_told(self):
        done = subprocess.run([GANNET, "crawl", self.web.seed, "--data", "site", "--quiet"],
                              cwd=self.folder, capture_output=True, timeout=200)
        self.assertEqual(done.returncode, 0, done.stderr)
        truth = self.web.truth(*LIMITS)
        by_kind = {}
        for url, outcome, kind in truth:
            expected = PAGES.get(kind)
            if expected and (outcome == expected[0]):
                by_kind.setdefault(kind, url)
        for kind, (state, statuses, place, reason) in PAGES.items():
            with self.subTest(kind=kind):
                page = self.page(by_kind[kind])
                self.assertEqual((page["state"], page["place"]), (state, place), page)
                self.assertIn(page["http_status"], statuses)
                self.assertTrue(page["finished_reason"].startswith(reason) if reason
                                else page["finished_reason"] == "", page["finished_reason"])

        hosts = {}
        for host, _, kind, tls in self.web.ask("hosts"):
            hosts.setdefault(kind, f"{tls}://{host}/")
        known = {url for url, _, _ in truth}
        for kind, (state, reason) in HOSTS.items():
            with self.subTest(kind=kind):
                self.assertIn(hosts[kind], known)
                page = self.page(hosts[kind])
                self.assertEqual((page["state"], page["finished_reason"]), (state, reason))

        # https_test.py tests the kinds of TLS.
        every = {line[0].split()[0] for line in self.web_kinds()
                 if not line[0].strip().startswith("tls")}
        self.assertEqual(every - PAGES.keys() - HOSTS.keys(), {"changes"})

        title = self.page(by_kind["script-title"])["title"]
        self.assertIn("<script", title)
        self.check_invariants("site")

    def web_kinds(self):
        out = subprocess.run([console.sys.argv[3], "kinds"], capture_output=True, text=True).stdout
        return [[line] for line in out.splitlines() if line.startswith("  ")]


console.main()

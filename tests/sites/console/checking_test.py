"""gannet check robots and check page against a fake web; export text and page --body."""

import console
from fakeweb import FakeWebTest


REFUSED = "address_refused: the address may not be connected to (127.0.0.1 is loopback)"


class Checking(FakeWebTest):
    def setUp(self):
        super().setUp()
        self.web = self.serve("--hosts", "8", "--pages", "40", "--nasty",
                              "robots,redirect,not-found,reset,non-html", "--gzip")
        self.site(self.web)

    def kind(self, kind, outcome=None):
        return next(url for url, what, k in self.web.truth()
                    if k == kind and outcome in (None, what))

    def check(self, what, url, *more, **kwargs):
        return self.gannet("check", what, url, "--data", "site", *more, **kwargs)

    def test_robots_come_from_the_network_before_a_crawl_and_from_the_record_after(self):
        url = self.kind("forbidden", "blocked")
        before = self.check("robots", url, "--json").json
        self.assertEqual((before["allowed"], before["source"], before["http_status"]),
                         (False, "network", 200))
        self.assertRegex(before["rule"], "^Disallow: ")
        self.assertGreater(before["line"], 0)
        self.gannet("crawl", self.web.seed, "--data", "site", "--quiet")
        after = self.check("robots", url, "--json").json
        self.assertEqual(after["source"], "host record")
        for key in ("allowed", "rule", "line"):
            self.assertEqual(after[key], before[key])
        self.assertIn("(host record), http 200", self.check("robots", url).out)

    def test_a_page_is_read_as_a_round_would_and_nothing_is_stored(self):
        answer = self.check("page", self.web.seed, "--json").json
        self.assertEqual((answer["outcome"], answer["http_status"], answer["type"],
                          answer["charset"]), ("fetched", 200, "text/html", "utf-8"))
        self.assertRegex(answer["address"], r"^127\.")
        self.assertTrue(answer["robots"]["allowed"])
        links = answer["links"]
        self.assertGreater(links["taken"], 0)
        self.assertEqual(links["found"], links["taken"] + sum(links["not_taken"].values()))
        self.assertFalse((self.folder / "site" / "archive").exists())
        out = self.check("page", self.web.seed).out
        self.assertIn(f"links       {links['found']} found, {links['taken']} taken", out)

    def test_a_forbidden_page_is_not_asked_for(self):
        answer = self.check("page", self.kind("forbidden", "blocked"), "--json").json
        self.assertEqual(answer["outcome"], "blocked")
        self.assertRegex(answer["reason"], "^Disallow: ")
        self.assertNotIn("http_status", answer)

    def test_other_outcomes_are_told_with_their_reason(self):
        answer = self.check("page", self.kind("redirect"), "--json").json
        self.assertEqual(answer["outcome"], "moved")
        self.assertRegex(answer["target"], "^https?://")
        answer = self.check("page", self.kind("not-found"), "--json").json
        self.assertEqual((answer["outcome"], answer["reason"]), ("gone", "http 404"))
        answer = self.check("page", self.kind("reset"), "--json").json
        self.assertEqual((answer["outcome"], answer["reason"], answer["try_again"]),
                         ("failed", "reset: the server closed the connection without an answer", True))

    def test_a_refused_address_is_named_with_its_range(self):
        answer = self.gannet("check", "page", f"http://127.0.0.1:{self.web.port}/", "--json",
                             "--contact", "me@example.org").json
        self.assertEqual((answer["outcome"], answer["reason"]),
                         ("failed", REFUSED))
        self.assertEqual(self.gannet("check", "robots", f"http://127.0.0.1:{self.web.port}/",
                                     "--json", "--contact", "me@example.org").json["problem"],
                         REFUSED)

    def test_without_a_contact_the_flag_to_add_is_named(self):
        for what in ("robots", "page"):
            self.assertIn("--contact", self.gannet(
                "check", what, "http://a.example/", code=2).err)

    def test_text_and_body_are_what_a_reader_sees(self):
        self.gannet("crawl", self.web.seed, "--data", "site", "--quiet")
        body = self.gannet("page", self.web.seed, "--body", "--data", "site")
        self.assertTrue(body.out.lower().startswith("<!doctype html"), body.out[:80])
        self.assertEqual(body.err, "")
        lines = self.gannet("export", "text", "--data", "site").lines
        text = dict(line.split("\t") for line in lines)
        self.assertIn("\\n", text[self.web.seed])
        self.assertNotIn("<p>", text[self.web.seed])
        self.assertFalse([url for url in text if "/non-html/" in url])
        one = [console.json.loads(line)
               for line in self.gannet("export", "text", "--json", "--data", "site").lines]
        self.assertEqual(len(one), len(lines))
        first = next(page for page in one if page["url"] == self.web.seed)
        self.assertEqual(first["title"], self.page(self.web.seed)["title"])
        self.assertEqual(first["text"].replace("\n", "\\n"), text[self.web.seed])


console.main()

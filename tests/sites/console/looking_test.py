"""The commands that look at a site: status, rounds, hosts, page, check."""

import console
from console import ConsoleTest


class Status(ConsoleTest):
    def test_json_has_the_keys_of_the_contract(self):
        status = self.gannet("status", "--json", "--data", self.crawled_site()).json
        self.assertEqual(status["site"], "site")
        self.assertEqual(status["epoch"], 0)
        self.assertEqual((status["round"], status["phase"]), (3, "fetch"))
        self.assertEqual(status["pages"], {"new": 1, "fetched": 3, "moved": 0, "gone": 1,
                                           "failed": 0, "blocked": 0})
        self.assertEqual((status["frontier"], status["in_round"], status["scheduled"],
                          status["finished"], status["deferred"], status["outbox"]),
                         (0, 1, 3, 1, 0, {}))
        self.assertEqual(status["next_due"], "2096-10-02T07:06:40.000Z")
        self.assertEqual(status["archive"]["files"], 2)
        self.assertGreater(status["archive"]["bytes"], 1000)

    def test_people_read_the_same(self):
        out = self.gannet("status", "--data", self.crawled_site()).out
        self.assertIn("round      3, open: fetch, 1 pages to fetch", out)
        self.assertIn("pages      5: 3 fetched, 1 gone, 1 new", out)

    def test_without_flags_the_folder_one_stands_in_is_meant(self):
        self.crawled_site(".")
        self.assertEqual(self.gannet("status", "--json").json["round"], 3)


class Rounds(ConsoleTest):
    def test_a_table_whose_missing_keys_are_empty(self):
        lines = self.gannet("rounds", "--data", self.crawled_site()).lines
        self.assertEqual(lines[0].split()[:4], ["round", "started", "took", "fetched"])
        self.assertEqual(lines[1].split(),
                         ["1", "2023-11-14T22:13:20Z", "1", "min", "16", "s", "2", "0", "0",
                          "1", "0", "0", "0", "1.2", "MB", "5", "2", "0"])
        self.assertEqual(lines[2].split(), ["2"])
        self.assertEqual(len(lines), 3)

    def test_json_is_an_array_oldest_first(self):
        site = self.crawled_site()
        rounds = self.gannet("rounds", "--json", "--data", site).json
        self.assertEqual([r["round"] for r in rounds], [1, 2])
        self.assertEqual(rounds[0]["phase_seconds"], {"fetch": 75})

    def test_only_the_last_are_shown_if_so_asked(self):
        site = self.crawled_site()
        rounds = self.gannet("rounds", "1", "--json", "--data", site).json
        self.assertEqual([r["round"] for r in rounds], [2])
        self.gannet("rounds", "0", "--data", site, code=2)
        self.gannet("rounds", "many", "--data", site, code=2)

    def test_a_new_site_has_none(self):
        self.gannet("init", "site")
        self.gannet("inject", "http://a.example/", "--data", "site")
        self.assertEqual(self.gannet("rounds", "--data", "site").out,
                         "no round has ended yet\n")
        self.assertEqual(self.gannet("rounds", "--json", "--data", "site").json, [])


class Hosts(ConsoleTest):
    def test_the_hosts_with_most_pages_come_first(self):
        site = self.crawled_site()
        hosts = self.gannet("hosts", "--json", "--data", site).json
        self.assertEqual([h["pages"] for h in hosts], [2, 2, 1])
        self.assertEqual(hosts[2]["host"], "gone.example")
        self.assertEqual(len(self.gannet("hosts", "--top", "2", "--data", site).lines), 3)

    def test_they_are_sorted_as_asked(self):
        site = self.crawled_site()
        for by in ("failures", "rest"):
            hosts = self.gannet("hosts", "--json", "--by", by, "--data", site).json
            self.assertEqual(hosts[0]["host"], "b.example")
        self.gannet("hosts", "--by", "colour", "--data", site, code=2)

    def test_one_host_with_all_that_is_known_of_it(self):
        site = self.crawled_site()
        [host] = self.gannet("hosts", "B.Example", "--json", "--data", site).json
        self.assertEqual(host, {
            "host": "b.example", "pages": 2, "delay": 2.5, "crawl_delay_asked": 20,
            "failures": 4, "rest_until": "2096-10-02T07:06:40.000Z", "robots": "rules",
            "origins": [{"origin": "http://b.example:80", "http_status": 200, "bytes": 30,
                         "expires": "2096-10-02T07:06:40.000Z"}],
            "rtt": None, "last_failure": "", "last_failure_kind": ""})
        line = self.gannet("hosts", "b.example", "--data", site).lines[1]
        self.assertRegex(line, r"^b\.example +2 +2\.5 s \(robots\.txt asks for 20 s\) +4 "
                               r"+- +2096-10-02 07:06:40 +rules$")

    def test_a_delay_that_was_not_cut_is_not_explained(self):
        site = self.crawled_site()
        [host] = self.gannet("hosts", "a.example", "--json", "--data", site).json
        self.assertEqual(host["crawl_delay_asked"], None)
        self.assertNotIn("asks for", self.gannet("hosts", "a.example", "--data", site).out)

    def test_a_host_without_a_rest_or_rules_says_so(self):
        site = self.crawled_site()
        [host] = self.gannet("hosts", "a.example", "--json", "--data", site).json
        self.assertEqual((host["rest_until"], host["robots"]), (None, "unknown"))

    def test_an_unknown_or_impossible_host_is_refused(self):
        site = self.crawled_site()
        self.assertIn("no page of c.example is known",
                      self.gannet("hosts", "c.example", "--data", site, code=1).err)
        for name in ("http://a.example/", "a b", "a.example:80", "a/b"):
            self.assertIn("not the name of a host",
                          self.gannet("hosts", name, "--data", site, code=2).err)


class Page(ConsoleTest):
    def page(self, url, *more, **kwargs):
        return self.gannet("page", url, *more, "--data", "site", **kwargs)

    def setUp(self):
        super().setUp()
        self.crawled_site()

    def test_a_fetched_page_has_its_record_title_and_place_in_the_archive(self):
        page = self.page("HTTP://A.example", "--json").json
        self.assertEqual((page["url"], page["state"], page["place"], page["http_status"]),
                         ("http://a.example/", "fetched", "schedule", 200))
        self.assertEqual(page["score"], page["cash"] + page["history"])
        self.assertEqual(page["visited"], "2023-11-14T22:13:20.000Z")
        self.assertEqual(page["due"], "2096-10-02T07:06:40.000Z")
        self.assertRegex(page["digest"], "^sha1:[A-Z2-7]{32}$")
        self.assertEqual(page["archive"]["file"], 1)
        self.assertEqual(page["title"], "Home \x1b[2J page")

    def test_noindex_and_canonical_are_shown_as_they_were_recorded(self):
        page = self.page("http://a.example/next", "--json").json
        self.assertEqual((page["noindex"], page["canonical"]), (True, "http://a.example/n"))
        out = self.page("http://a.example/next").out
        self.assertRegex(out, "(?m)^noindex +true$")
        self.assertRegex(out, "(?m)^canonical +http://a.example/n$")
        page = self.page("http://a.example/", "--json").json
        self.assertEqual((page["noindex"], page["canonical"]), (False, None))
        self.assertNotRegex(self.page("http://a.example/").out, "noindex|canonical")

    def test_a_hostile_title_cannot_reach_the_terminal(self):
        out = self.page("http://a.example/").out
        self.assertNotIn("\x1b", out)
        self.assertIn("Home \\x1b[2J page", out)

    def test_a_page_of_the_open_round_is_said_to_be_there(self):
        page = self.page("http://b.example/two", "--json").json
        self.assertEqual((page["state"], page["place"], page["archive"], page["depth"]),
                         ("new", "open round", None, 1))

    def test_a_finished_page_says_why(self):
        page = self.page("http://gone.example/x", "--json").json
        self.assertEqual((page["place"], page["finished_reason"]), ("finished", "404"))

    def test_the_body_is_the_payload_without_its_chunks(self):
        self.assertEqual(self.page("http://b.example/", "--body").bytes, b"hello")
        self.assertEqual(self.page("http://a.example/next", "--body").bytes, b"<p>next</p>")

    def test_a_page_without_content_has_no_body(self):
        self.assertIn("no archived content",
                      self.page("http://b.example/two", "--body", code=1).err)

    def test_a_page_in_a_released_file_still_has_its_record(self):
        self.gannet("archive", "release", "1", "--delete", "--data", "site")
        page = self.page("http://a.example/", "--json").json
        self.assertIn("released", page["archive"]["problem"])
        self.assertIn("released", self.page("http://a.example/").out)
        self.assertIn("released", self.page("http://a.example/", "--body", code=1).err)

    def test_an_unknown_page_says_what_to_do(self):
        self.assertIn("gannet inject", self.page("http://a.example/no", code=1).err)

    def test_what_is_no_url_is_wrong_usage(self):
        self.assertIn("not an http or https URL", self.page("a.example", code=2).err)

    def test_an_error_that_quotes_escape_codes_does_not_send_them(self):
        answer = self.page("x\x1b[2J", code=2)
        self.assertNotIn("\x1b", answer.err)
        self.assertIn("'x\\x1b[2J'", answer.err)


class CheckUrl(ConsoleTest):
    def test_without_a_site_the_url_is_judged_all_the_same(self):
        answer = self.gannet("check", "url", "HTTP://WWW.Example.co.uk:80/a/../b?utm_id=1#c",
                             "--json").json
        self.assertEqual(answer["url"], "http://www.example.co.uk/b")
        self.assertEqual(answer["key"], "uk,co,example,www,)http/b")
        self.assertEqual(answer["domain"], "example.co.uk")
        self.assertEqual((answer["allowed"], answer["verdict"]), (True, "allowed"))
        self.assertEqual((answer["known"], answer["blocked"]), (None, None))

    def test_with_a_site_it_is_said_whether_the_page_is_known(self):
        site = self.crawled_site()
        answer = self.gannet("check", "url", "http://a.example/", "--json", "--data", site).json
        self.assertEqual((answer["known"], answer["state"]), (True, "fetched"))
        self.assertIn("known      yes, fetched",
                      self.gannet("check", "url", "http://a.example/", "--data", site).out)
        answer = self.gannet("check", "url", "http://a.example/z", "--json", "--data", site).json
        self.assertEqual(answer["known"], False)

    def test_a_filter_that_is_against_it_is_named(self):
        self.write("site.yaml", "urls: {max_path_depth: 2, deny: {hosts: [a.example]}}\n")
        answer = self.gannet("check", "url", "http://a.example/", "--json").json
        self.assertEqual((answer["allowed"], answer["verdict"], answer["reason"]),
                         (False, "denied_host", "urls.deny.hosts has it"))
        self.assertIn("urls.max_path_depth (2)",
                      self.gannet("check", "url", "http://b.example/1/2/3").out)

    def test_a_block_is_named(self):
        site = self.crawled_site()
        self.gannet("block", "a.example", "--data", site)
        answer = self.gannet("check", "url", "http://a.example/q", "--json", "--data", site).json
        self.assertEqual((answer["allowed"], answer["blocked"]), (False, True))

    def test_what_is_no_url_is_wrong_usage(self):
        self.gannet("check", "url", "ftp://a.example/", code=2)
        self.gannet("check", "url", code=2)


class CheckRobots(ConsoleTest):
    ROBOTS = "User-agent: *\nDisallow: /private\nCrawl-delay: 2.5\n\nUser-agent: gannet\nAllow: /\n"

    def check(self, url, *more, **kwargs):
        self.write("robots.txt", self.ROBOTS)
        return self.gannet("check", "robots", url, "--file", "robots.txt", *more, **kwargs)

    def test_the_rule_that_forbids_is_named_with_its_line(self):
        answer = self.check("http://a.example/private/x", "--agent", "otherbot", "--json").json
        self.assertEqual((answer["allowed"], answer["rule"], answer["line"],
                          answer["crawl_delay"]), (False, "Disallow: /private", 2, 2.5))
        self.assertEqual(
            self.check("http://a.example/private/x", "--agent", "otherbot").lines,
            ["forbidden: line 2: Disallow: /private", "crawl-delay: 2.5 s"])

    def test_where_no_rule_applies_all_is_allowed(self):
        answer = self.check("http://a.example/x", "--agent", "otherbot", "--json").json
        self.assertEqual((answer["allowed"], answer["rule"], answer["line"]),
                         (True, None, None))

    def test_the_agent_is_the_sites_own_unless_told(self):
        answer = self.check("http://a.example/private", "--json").json
        self.assertEqual((answer["agent"], answer["allowed"], answer["line"],
                          answer["crawl_delay"]), ("gannet", True, 6, None))

    def test_the_file_may_come_from_standard_input(self):
        answer = self.gannet("check", "robots", "http://a.example/x", "--file", "-", "--json",
                             stdin="User-agent: *\nDisallow: /\n").json
        self.assertFalse(answer["allowed"])

    def test_a_file_that_is_not_there_is_wrong_usage(self):
        for file in ("none.txt", "."):
            self.assertIn("cannot be read", self.gannet(
                "check", "robots", "http://a.example/", "--file", file, code=2).err)

    def test_a_hostile_rule_cannot_reach_the_terminal(self):
        answer = self.gannet("check", "robots", "http://a.example/x", "--file", "-",
                             stdin="User-agent: *\nDisallow: /x*\x1b[2J*\nDisallow: /x\n")
        self.assertNotIn("\x1b", answer.out)


console.main()

"""What a host's robots.txt and failures mean for all its pages, and what the operator sees."""

import time

import console
from small_web import SmallWebTest, not_found, page


def busy(seconds=None, status="503 Service Unavailable"):
    return page("", "" if seconds is None else f"Retry-After: {seconds}\r\n", status)


class Hosts(SmallWebTest):
    def host(self, name="a.example"):
        return self.gannet("hosts", name, "--json", "--data", "site").json[0]

    def test_a_busy_robots_file_closes_the_host_and_lets_it_rest(self):
        for status in ("503 Service Unavailable", "429 Too Many Requests"):
            with self.subTest(status=status):
                name = f"h{status[:3]}.example"
                server = self.serve({"/robots.txt": busy(3600, status), "/": page("x")})
                self.crawl(server, ["/", "/b"], host=name)
                # It was asked for once, and no page was asked for.
                self.assertEqual(server.asked, ["/robots.txt"])
                self.assertTrue(self.host(name)["rest_until"])
                self.check_invariants("site")

    def test_a_short_rest_is_waited_for_within_the_round(self):
        server = self.serve({"/a": busy(1), "/b": busy(1), "/c": page("x")})
        begun = time.monotonic()
        self.crawl(server, ["/a", "/b", "/c"], flags=("--rounds", "1"))
        self.assertGreater(time.monotonic() - begun, 1)
        self.assertEqual(self.reason("/c"), ("fetched", ""))

    def test_a_long_rest_gives_the_other_pages_back(self):
        server = self.serve({f"/{i}": busy(7200) for i in range(5)})
        self.crawl(server, [f"/{i}" for i in range(5)])
        self.assertEqual(len(server.asked), 2)  # robots.txt, and one page.
        self.assertTrue(self.host()["rest_until"])
        self.check_invariants("site")

    def test_a_host_that_leads_to_a_resting_one_for_its_rules_is_not_stuck(self):
        server = self.serve({"/robots.txt": page("", "Location: http://b.example/rules\r\n",
                                                 "301 Moved Permanently"),
                             "/rules": busy(7200), "/": page("x")})
        self.crawl(server, ["/"])
        # Without rules the host is closed, as RFC 9309 says of a server that is down.
        self.assertEqual(self.reason("/")[0], "blocked")
        self.check_invariants("site")

    def test_a_host_has_web_servers_on_a_few_ports_only(self):
        server = self.serve({"/": page("x")})
        self.configure(server)
        urls = [f"http://a.example:{port}/" for port in range(8001, 8013)]
        self.gannet("crawl", *urls, "--data", "site", "--quiet", "--wait", "0")
        states = [self.gannet("page", url, "--json", "--data", "site").json for url in urls]
        self.assertEqual([page["state"] for page in states].count("fetched"), 8)
        self.assertEqual({page["finished_reason"] or page.get("blocked_by", "")
                          for page in states if page["state"] == "blocked"} - {""},
                         {"too many ports of one host"})
        self.assertEqual(server.asked.count("/robots.txt"), 8)

    def test_a_robots_file_that_is_cut_off_again_and_again_fails_the_pages(self):
        server = self.serve({"/robots.txt": lambda connection: connection.close()})
        self.crawl(server, ["/", "/b"])
        self.assertEqual(self.reason("/")[0], "failed")
        self.assertEqual(self.reason("/b")[0], "failed")
        self.assertEqual(set(server.asked), {"/robots.txt"})


class Proxy(SmallWebTest):
    def configure_proxy(self, server, contact=True):
        self.write("site/site.yaml",
                   f'user_agent: {{contact: "{"a@example.org" if contact else ""}"}}\n'
                   f'fetch: {{delay: 1ms, retries: 0, allow_private: {str(not contact).lower()}, '
                   f'proxy: "http://127.0.0.1:{server.port}"}}\narchive: {{min_free: 0}}\n')

    def crawl_by_proxy(self, url, code=0):
        return self.gannet("crawl", url, "--data", "site", "--json", "--quiet", "--wait", "0",
                           code=code)

    def test_pages_come_through_it(self):
        server = self.serve({"http://a.example/robots.txt": not_found,
                             "http://a.example/": page("x")})
        self.configure_proxy(server)
        self.assertEqual(self.crawl_by_proxy("http://a.example/").json["fetched"], 1)

    def test_it_is_not_asked_for_a_private_address(self):
        server = self.serve({})
        self.configure_proxy(server)
        for address in ("10.0.0.1", "127.0.0.1", "[::ffff:192.168.1.1]", "169.254.169.254"):
            with self.subTest(address=address):
                self.crawl_by_proxy(f"http://{address}/")
                page = self.gannet("page", f"http://{address}/", "--json", "--data", "site").json
                self.assertEqual(page["state"], "failed")
                self.assertIn("address_refused", page["finished_reason"])
        self.assertEqual(server.asked, [])

    def test_it_may_lead_anywhere_so_a_contact_is_needed(self):
        self.configure_proxy(self.serve({}), contact=False)
        self.assertIn("--contact", self.crawl_by_proxy("http://a.example/", code=2).err)


class Outage(SmallWebTest):
    def test_if_no_host_can_be_reached_the_pages_stay(self):
        server = self.serve({"/": page("x")})
        self.configure(server)
        self.write("seeds", "".join(f"http://h{i}.example/\n" for i in range(300)))
        server.listener.close()
        said = self.gannet("crawl", "seeds", "--data", "site", "--quiet", code=1).err
        self.assertIn("none of the last 100 hosts could be reached", said)
        status = self.gannet("status", "--json", "--data", "site").json
        self.assertEqual(status["phase"], "fetch")
        self.assertGreaterEqual(status["in_round"], 150)
        self.check_invariants("site")
        # The network is back.
        self.configure(self.serve({"/": page("x")}))
        self.gannet("round", "--data", "site", "--quiet", "--wait", "0")
        pages = self.gannet("status", "--json", "--data", "site").json["pages"]
        self.assertGreaterEqual(pages["fetched"], 150)


class Memory(SmallWebTest):
    def test_a_page_must_fit(self):
        server = self.serve({"/": page("x")})
        self.configure(server, ", memory: 20MB, max_bytes: 11MB")
        answer = self.gannet("crawl", "http://a.example/", "--data", "site", code=2)
        self.assertIn("fetch.memory must be at least twice fetch.max_bytes", answer.err)


console.main()

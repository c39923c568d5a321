#!/usr/bin/env python3
"""How far a crawl goes: scopes, depth, and limits of pages and time, with the real programs. The
fake web's truth is the judge.
Arguments: GANNET MAKE_CRAWLED_SITE FAKEWEB.
"""

import collections
import time
import unittest
from urllib.parse import urlsplit

from console import main
from fakeweb import FakeWebTest


def host(url: str) -> str:
    return urlsplit(url).hostname


def domain(url: str) -> str:
    """Of the fake web's names, whose suffixes are example, test and invalid."""
    return ".".join(host(url).split(".")[-2:])


class ScopeTest(FakeWebTest):
    def setUp(self):
        super().setUp()
        self.web = self.serve("--hosts", "60", "--pages", "1500")
        self.seed = self.web.seed
        self.ends = {url: outcome for url, outcome, _ in self.web.truth()}
        self.links = collections.defaultdict(set)
        for source, target in self.web.ask("truth", "links"):
            self.links[source].add(target)

    def site(self, *arguments, **more):
        more.setdefault("more", "urls: {scope: auto}")
        return super().site(*arguments, **more)

    def crawl(self, *flags: str, seeds: tuple = (), code: int = 0):
        return self.gannet("crawl", *(seeds or [self.seed]), "--data", "site", *flags, code=code)

    def reachable(self, wanted, depth: int = 1000, seeds: tuple = ()) -> set[str]:
        """What a crawl fetches that follows only links to wanted URLs. A redirect is no link."""
        level = found = set()
        further = set(seeds or [self.seed])
        while further and depth >= 0:
            level = set()
            while further:
                level |= further
                further = {to for url in further if self.ends.get(url) == "moved"
                           for to in self.links[url] if wanted(to)} - level - found
            found = found | level
            further = {to for url in level if self.ends.get(url) == "fetched"
                       for to in self.links[url] if wanted(to)} - found
            depth -= 1
        return {url for url in found if self.ends.get(url) == "fetched"}

    def assert_crawled(self, urls: set[str]) -> None:
        self.assertEqual(set(self.fetched("site")), urls)

    def test_a_crawl_keeps_to_the_domain_of_its_seed_and_says_so_first(self):
        self.site(self.web)
        done = self.crawl()
        expected = self.reachable(lambda url: domain(url) == domain(self.seed))
        self.assert_crawled(expected)
        self.assertGreater(len({host(url) for url in expected}), 1)
        self.assertEqual(done.err.splitlines()[0],
                         f"scope: the domain {domain(self.seed)} (--scope, --allow and --deny "
                         "change it)")
        # The scope stays with the data: other commands go on with it.
        self.gannet("round", "--data", "site", "--wait", "0", "--quiet")
        self.assert_crawled(expected)
        self.assertEqual(self.gannet("status", "--json", "--data", "site").json["scope"],
                         f"the domain {domain(self.seed)}")

    def test_any_follows_every_link_also_when_the_next_run_says_nothing(self):
        self.site(self.web)
        self.crawl("--scope", "any", "--max-pages", "30", "--quiet")
        self.crawl("--quiet")
        self.assert_crawled(self.reachable(lambda _: True))

    def test_each_scope_leaves_out_what_is_beyond_it(self):
        self.site(self.web)
        for scope, wanted in (
                ("page", lambda url: False),
                ("prefix", lambda url: url.startswith(self.seed.rsplit("/", 1)[0] + "/")),
                ("host", lambda url: host(url) == host(self.seed))):
            with self.subTest(scope):
                self.site(self.web, more="urls: {scope: auto}\nsite: {data: ./" + scope + "}")
                self.gannet("crawl", self.seed, "--config", "site/site.yaml", "--scope", scope,
                            "--quiet")
                found = self.gannet("export", "urls", "--state", "fetched", "--config",
                                    "site/site.yaml").lines
                self.assertEqual(set(found), self.reachable(wanted))

    def test_a_folder_deep_in_a_host_is_a_prefix_too(self):
        deep = next(url for url in self.reachable(lambda url: host(url) == host(self.seed))
                    if urlsplit(url).path.count("/") > 2)
        folder = deep.rsplit("/", 1)[0] + "/"
        self.site(self.web)
        self.crawl("--scope", "prefix", "--quiet", seeds=(deep,))
        self.assert_crawled(self.reachable(lambda url: url.startswith(folder), seeds=(deep,)))

    def test_allow_adds_a_domain_and_deny_takes_a_host_away(self):
        added, denied = next(
            (name, one) for name in sorted({domain(url) for url in self.ends})
            for one in sorted({host(url) for url in self.ends if domain(url) == name})
            if name != domain(self.seed) and self.reachable(
                lambda url: (host(url) == host(self.seed) or domain(url) == name)
                and host(url) != one) != self.reachable(lambda url: host(url) == host(self.seed))
            and any(host(url) == one for url in self.reachable(
                lambda url: host(url) == host(self.seed) or domain(url) == name)))
        self.site(self.web)
        self.crawl("--scope", "host", "--allow", added, "--deny", denied, "--quiet")
        expected = self.reachable(lambda url: (host(url) == host(self.seed) or domain(url) == added)
                                  and host(url) != denied)
        self.assertTrue(any(domain(url) == added for url in expected))
        self.assert_crawled(expected)

    def test_max_depth_fetches_nothing_deeper(self):
        self.site(self.web)
        self.crawl("--scope", "any", "--max-depth", "2", "--quiet")
        self.assert_crawled(self.reachable(lambda _: True, depth=2))

    def test_max_pages_ends_after_exactly_so_many(self):
        self.site(self.web)
        done = self.crawl("--scope", "any", "--max-pages", "100")
        self.assertEqual(len(self.fetched("site")), 100)
        self.assertIn("100 pages", done.out)
        self.assertIn("--max-pages", done.out)
        # The same command fetches no more; a higher number goes on.
        self.crawl("--scope", "any", "--max-pages", "100", "--quiet")
        self.assertEqual(len(self.fetched("site")), 100)
        self.crawl("--scope", "any", "--max-pages", "130", "--width", "50", "--quiet")
        self.assertEqual(len(self.fetched("site")), 130)
        self.assertTrue(self.gannet("verify", "--full", "--json", "--data", "site").json["ok"])

    def test_max_time_ends_in_time_with_a_state_that_is_safe(self):
        self.site(self.web)
        begun = time.monotonic()
        done = self.crawl("--scope", "any", "--max-time", "2", "--delay", "0.3")
        self.assertLess(time.monotonic() - begun, 10)
        self.assertIn("--max-time", done.out)
        some = set(self.fetched("site"))
        self.assertLess(len(some), 1500)
        self.assertTrue(self.gannet("verify", "--full", "--json", "--data", "site").json["ok"])
        self.crawl("--scope", "any", "--quiet")
        self.assert_crawled(self.reachable(lambda _: True))

    def test_a_scope_of_a_seed_wins_over_that_of_the_site(self):
        other = next(url for url in sorted(self.reachable(lambda _: True))
                     if domain(url) != domain(self.seed) and urlsplit(url).path == "/")
        self.write("seeds", f"{self.seed}   scope=domain max-depth=1\n{other}\n")
        self.site(self.web, more="urls: {scope: page}")
        self.crawl("--quiet", seeds=("seeds",))
        # A link from one seed into the scope of another counts too.
        self.assert_crawled(self.reachable(lambda url: domain(url) == domain(self.seed), depth=1,
                                           seeds=(self.seed, other)))

    def test_what_a_line_says_wrongly_is_named(self):
        self.write("seeds", f"{self.seed} scope=planet\n{self.seed} max-depth=-1\n"
                            f"{self.seed} scope=page\n")
        self.site(self.web)
        done = self.crawl("--quiet", seeds=("seeds",))
        self.assertIn("seeds:1: scope: found 'planet', allowed is page, prefix, host, domain or "
                      "any", done.err)
        self.assertIn("seeds:2: max-depth: found '-1'", done.err)
        self.assert_crawled({self.seed})

    def test_known_pages_that_are_out_of_a_narrower_scope_are_not_fetched(self):
        self.site(self.web)
        self.crawl("--scope", "any", "--max-pages", "30", "--width", "10", "--quiet")
        before = set(self.fetched("site"))
        self.crawl("--scope", "host", "--quiet")
        self.assertEqual({host(url) for url in set(self.fetched("site")) - before} -
                         {host(self.seed)}, set())
        self.assertIn("out_of_scope", self.gannet(
            "page", self.gannet("export", "urls", "--state", "blocked", "--data",
                                "site").lines[0], "--data", "site").out)

    def test_the_scope_is_shown_and_changed(self):
        self.site(self.web)
        self.crawl("--scope", "page", "--quiet")
        self.gannet("scope", "--allow", "cdn.example", "--deny", "ads.cdn.example", "--data",
                    "site")
        shown = self.gannet("scope", "--json", "--data", "site").json
        self.assertEqual([(rule["kind"], rule["name"]) for rule in shown["rules"]],
                         [("page", self.seed), ("allow", "cdn.example"),
                          ("deny", "ads.cdn.example")])
        self.gannet("scope", "--forget", "cdn.example", "--data", "site")
        self.assertNotIn("\nallow", self.gannet("scope", "--data", "site").out)
        self.assertIn("no seed or name",
                      self.gannet("scope", "--forget", "cdn.example", "--data", "site",
                                  code=1).err)
        check = self.gannet("check", "url", "http://elsewhere.example/", "--json", "--data",
                            "site").json
        self.assertEqual((check["allowed"], check["verdict"]), (False, "out_of_scope"))

    def test_a_scope_that_is_none_is_refused_before_anything_is_made(self):
        error = self.gannet("crawl", self.seed, "--data", "new", "--scope", "planet",
                            "--connect-to", "127.0.0.1:9", code=2).err
        self.assertIn("page, prefix, host, domain or any", error)
        self.assertFalse((self.folder / "new").exists())


if __name__ == "__main__":
    main()

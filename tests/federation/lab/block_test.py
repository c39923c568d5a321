"""`gannet block DOMAIN` at one site of a federation whose rounds run: every site stops asking for
that domain, at once, and one that was away as soon as it is back."""

import collections
import time

from commands_lab import CommandsTest, main
from federation_lab import Lab, Member

# Crawling the largest host takes far longer than the test: 90 pages, 300 ms apart.
WEB = {"hosts": 30, "pages": 400, "largest_host": 120, "nasty": "none"}
SLOWLY = {"delay": "300ms"}
WITHIN = 60  # Seconds, as the guide promises.


class Block(CommandsTest):
    def start(self) -> None:
        self.crawl = self.lab(["tokyo", "zurich", "lima"], web=WEB, **SLOWLY)
        self.crawl.inject([url for url in self.crawl.web.truth() if url.split("/", 3)[3] == ""])
        hosts = collections.Counter(url.split("/")[2] for url in self.crawl.web.truth())
        [(self.host, self.pages)] = hosts.most_common(1)
        self.domain = self.host.removeprefix("www.")
        self.assertGreater(self.pages, 50)
        self.wait_asked(3)

    def asked(self) -> int:
        """Requests to all hosts of the domain, not counting robots.txt."""
        return sum(times for url, times in self.crawl.web.asked().items()
                   if url.split("/")[2].endswith(self.domain))

    def wait_asked(self, times: int) -> None:
        self.crawl.first.wait_for(lambda: self.asked() >= times, 60, f"{times} requests")

    def owner(self) -> Member:
        [owner] = [site for site in self.crawl.sites.values()
                   if any(url.split("/")[2] == self.host
                          for url in site.run("export", "urls").split())]
        return owner

    def wait_known(self, lab: Lab) -> None:
        for site in lab.sites.values():
            site.wait_for(lambda: self.domain in site.says()["blocked"], WITHIN, "the block")

    def expect_silence(self) -> None:
        """The server's log, which is written every second, shows no more requests to the domain."""
        time.sleep(2)
        before = self.asked()
        self.assertLess(before, self.pages // 2)  # There was more to ask for.
        time.sleep(4)  # Long enough for a dozen requests if it were not blocked.
        self.assertEqual(self.asked(), before)
        self.crawl.wait_quiet()
        self.crawl.verify()
        time.sleep(2)
        self.assertEqual(self.asked(), before)
        # All others were crawled, except those that only blocked pages link to.
        self.assertGreater(sum(self.crawl.web.asked().values()), before + 200)

    def test_all_sites_stop_asking_while_their_rounds_run(self) -> None:
        self.start()
        owner = self.owner()
        other = next(site for site in self.crawl.sites.values() if site is not owner)
        owner.wait_for(lambda: owner.status()["phase"] == "fetch", 30, "a round")
        other.run("block", self.domain)
        self.wait_known(self.crawl)
        self.expect_silence()

    def test_a_site_that_was_away_stops_when_it_is_back(self) -> None:
        self.start()
        owner = self.owner()
        owner.kill()
        other = next(site for site in self.crawl.sites.values() if site is not owner)
        if other.name != "tokyo" and owner.name == "tokyo":
            other.run("federation", "adopt")  # The registrar is away, and a block changes the map.
        other.run("block", self.domain)
        owner.serve()
        self.wait_known(self.crawl)
        self.expect_silence()

    def blocked(self, site: Member) -> list[str]:
        return site.run("block", "--list").split()

    def test_what_could_not_be_told_to_all_is_said_and_can_be_tried_again(self) -> None:
        lab = self.lab(["tokyo", "zurich"])
        tokyo, zurich = lab.sites.values()
        zurich.stop()
        # Tokyo cannot be told.
        said = zurich.refused("block", "example.net")
        self.assertIn("is blocked at this site", said)
        self.assertIn("gannet serve", said)
        self.assertIn("stays blocked", zurich.refused("block", "--undo", "example.net"))
        self.assertEqual(self.blocked(zurich), ["example.net"])
        zurich.serve()
        lab.settle()
        # After so quick a restart it is first taken for a copy of itself.
        zurich.wait_for(lambda: zurich.says()["registrar_reachable"], 30, "the registrar")
        zurich.run("block", "example.net")
        tokyo.wait_for(lambda: self.blocked(tokyo) == ["example.net"], WITHIN, "the block")

        # The registrar is away: nothing changes, and the error must not say that this agent is.
        tokyo.stop()
        said = zurich.refused("block", "--undo", "example.net")
        self.assertIn("stays blocked", said)
        self.assertNotIn("look whether it runs", said)
        self.assertEqual(self.blocked(zurich), ["example.net"])
        tokyo.serve()
        lab.settle()
        zurich.wait_for(lambda: zurich.says()["registrar_reachable"], 30, "the registrar")
        zurich.run("block", "--undo", "example.net")
        for site in (tokyo, zurich):
            site.wait_for(lambda: self.blocked(site) == [], WITHIN, "the block to end")
        self.assertIn("is not blocked", zurich.refused("block", "--undo", "example.net"))


if __name__ == "__main__":
    main()

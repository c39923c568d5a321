"""The site that keeps the map is away, or lost; two administrators change the map at once; a site
has an old map.
"""

import collections
import shutil
import signal
import time

from faults_lab import PLAIN, FaultLab, FaultsTest, Member, main


class Registrar(FaultsTest):
    def names(self, of: Member) -> dict[str, str]:
        return {site["name"]: site["state"] for site in of.says()["sites"]}

    def invite(self, at: Member, name: str) -> None:
        """Tries again for a while, as the message tells people to: a site that was just away is at
        first not believed, or not called."""
        def is_invited() -> bool:
            process = at.start("federation", "invite", name)
            process.communicate(timeout=60)
            return process.returncode == 0

        at.wait_for(is_invited, 20, f"{name} to be invited")


class Away(Registrar):
    def test_the_others_go_on_and_say_that_it_is_away(self) -> None:
        lab = self.lab(["tokyo", "zurich", "lima"], delay="60ms")
        tokyo, zurich, lima = lab.sites.values()
        lab.inject(lab.web.seeds())
        lab.wait_fetched(30)
        lab.kill(tokyo)
        received = self.received(lima, "zurich")
        said = zurich.refused("federation", "invite", "nairobi")
        self.assertIn("registrar", said)
        self.assertIn("federation adopt", said)
        zurich.wait_for(lambda: not zurich.says().get("registrar_reachable"), 20,
                        "the registrar to be away")
        # A site that does not answer is not reported as broken.
        verify = zurich.start("federation", "verify")
        out, _ = verify.communicate(timeout=60)
        self.assertEqual(verify.returncode, 4, out)
        self.assertRegex(out, "UNKNOWN +tokyo: ")
        self.assertIn("verify again when they do", out)
        self.assertNotIn("backup", out)
        # The others crawl and exchange meanwhile.
        lima.wait_for(lambda: self.received(lima, "zurich") > received, 30, "URLs of zurich")
        tokyo.serve()
        zurich.wait_for(lambda: zurich.says().get("registrar_reachable"), 20,
                        "the registrar to be back")
        # Once zurich says that the registrar is reachable, calls get through.
        zurich.run("federation", "invite", "nairobi")
        self.check(lab)

    @staticmethod
    def received(by: Member, from_site: str) -> int:
        return by.says_of(from_site)["received_urls"]

    def test_its_disk_is_lost_and_the_role_adopted(self) -> None:
        lab = self.lab(["tokyo", "zurich", "lima"], PLAIN, delay="60ms")
        tokyo, zurich, lima = lab.sites.values()
        # Into another site: what only the lost site knew would be lost with it.
        lab.inject(lab.web.seeds(), into=zurich)
        lab.wait_fetched(200)
        tokyo.kill()
        had = set(tokyo.run("export", "urls").split())
        shutil.rmtree(tokyo.folder)
        lab.sites.pop("tokyo")
        zurich.run("federation", "adopt")
        self.assertEqual(zurich.says()["registrar"], "zurich")
        lima.wait_for(lambda: lima.says()["registrar"] == "zurich", 20, "the news")
        zurich.run("federation", "remove", "tokyo")
        # What the lost site had fetched is fetched again, by the site that owns it now.
        self.check(lab, may_repeat=collections.Counter(had))
        self.assertIn(" sent_again ", zurich.log())

    def test_it_comes_back_after_the_role_was_adopted(self) -> None:
        lab = self.lab(["tokyo", "zurich", "lima"], delay="60ms")
        tokyo, zurich, _ = lab.sites.values()
        lab.inject(lab.web.seeds())
        lab.wait_fetched(30)
        lab.kill(tokyo)
        zurich.run("federation", "adopt")
        zurich.run("federation", "invite", "nairobi")
        tokyo.serve()
        tokyo.wait_for(lambda: tokyo.says()["registrar"] == "zurich", 20, "the news")
        self.invite(tokyo, "boston")  # Asks zurich.
        self.assertEqual(zurich.says()["term"], tokyo.says()["term"])
        self.assertLessEqual({"nairobi", "boston"}, set(self.names(zurich)))
        self.check(lab)


class Map(Registrar):
    def test_two_administrators_change_it_at_once(self) -> None:
        lab = self.lab(["tokyo", "zurich", "lima"])
        guests = [f"guest{number}" for number in range(12)]
        sites = list(lab.sites.values())
        epoch = int(lab.first.says()["epoch"])
        for first in range(0, len(guests), 3):
            group = guests[first:first + 3]
            asked = [site.start("federation", "invite", name)
                     for site, name in zip(sites, group, strict=True)]
            for process in asked:
                out, error = process.communicate(timeout=60)
                self.assertEqual(process.returncode, 0, error + out)
        self.assertLessEqual(set(guests), set(self.names(lab.first)))
        self.assertEqual(int(lab.first.says()["epoch"]), epoch + len(guests))
        # Two sites invite the same name: one is told that the map has changed, or that the name is
        # there already.
        asked = [site.start("federation", "invite", "twin") for site in sites[:2]]
        codes = sorted(process.wait(timeout=60) for process in asked)
        for process in asked:
            process.communicate()
        self.assertEqual(codes[0], 0)
        self.assertIn("twin", self.names(lab.first))
        lab.settle()
        for site in sites:
            self.assertEqual(set(self.names(site)), {*lab.sites, *guests, "twin"})
        lab.wait_quiet()
        lab.verify()

    def test_a_site_sleeps_while_the_map_changes(self) -> None:
        lab = self.lab(["tokyo", "zurich", "lima"], delay="60ms")
        tokyo, zurich, lima = lab.sites.values()
        lab.inject(lab.web.seeds())
        lab.wait_fetched(100)
        lima.agent.send_signal(signal.SIGSTOP)
        nairobi = lab.sites["nairobi"] = lab.make("nairobi")
        tokyo.run("federation", "invite", "nairobi")
        nairobi.serve()
        tokyo.wait_for(lambda: "nairobi" in lab.members(tokyo), 30, "nairobi to be in")
        time.sleep(2)
        # Nairobi may not crawl channels of lima's before lima has handed them over.
        self.assertTrue(tokyo.says()["handing_off"])
        lima.agent.send_signal(signal.SIGCONT)
        self.check(lab)

    def test_a_site_is_cut_off_while_the_map_changes(self) -> None:
        lab: FaultLab = self.lab(["tokyo", "zurich", "lima"], links=True, delay="60ms")
        tokyo, zurich, lima = lab.sites.values()
        lab.inject(lab.web.seeds())
        lab.wait_fetched(100)
        # It can be called by no site, and can call none.
        for link in lab.links.values():
            link.cut()
        old = int(lima.says()["epoch"])
        tokyo.run("federation", "invite", "nairobi")
        tokyo.run("federation", "pause")
        tokyo.run("federation", "pause", "--resume")
        self.assertEqual(int(lima.says()["epoch"]), old)
        for link in lab.links.values():
            link.heal()
        tokyo_epoch = int(tokyo.says()["epoch"])
        self.assertEqual(tokyo_epoch, old + 3)
        lima.wait_for(lambda: int(lima.says()["epoch"]) >= tokyo_epoch, 20, "the news")
        self.check(lab)


if __name__ == "__main__":
    main()

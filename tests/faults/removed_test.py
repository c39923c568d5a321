"""Sites that are removed as dead: what they had is found again from the others' archives; if they
return, they are invited again and hand over what they have. And a second change of the map before
the hand-off of the first is over.
"""

import collections
import signal

from faults_lab import PLAIN, FaultLab, FaultsTest, Member, main


class Removed(FaultsTest):
    def lose(self, lab: FaultLab, name: str,
             is_to_return: bool = False) -> tuple[Member, collections.Counter[str]]:
        """Kills a site and removes it from the federation. Returns it, and the URLs that it knew:
        all of these may be fetched once more, because no other site knows what it has fetched. If it
        is to return, it will go on with its open round until it hears that it was removed."""
        site = lab.sites.pop(name)
        if is_to_return:
            lab.kill(site)
        else:
            site.kill()
        had = collections.Counter(site.run("export", "urls").split())
        lab.first.run("federation", "remove", name)
        return site, had


class ForGood(Removed):
    def test_what_it_had_is_found_again_by_the_links_in_the_archives(self) -> None:
        lab = self.lab(["tokyo", "zurich", "lima"], PLAIN, delay="60ms")
        lab.inject(lab.web.seeds())
        lab.wait_fetched(200)
        _, had = self.lose(lab, "lima")
        self.check(lab, may_repeat=had)
        for site in lab.sites.values():
            self.assertIn(" sent_again ", site.log())

    def test_it_dies_when_all_was_quiet(self) -> None:
        # This web has redirects: their targets are found again from the archived answers.
        lab = self.lab(["tokyo", "zurich", "lima"])
        lab.inject(lab.web.seeds())
        lab.wait_quiet()
        _, had = self.lose(lab, "zurich")
        self.assertGreater(len(had), 0)
        self.check(lab, may_repeat=had)


class Returned(Removed):
    def test_it_is_invited_again_and_hands_over_what_it_has(self) -> None:
        lab = self.lab(["tokyo", "zurich", "lima"], delay="60ms")
        lab.inject(lab.web.seeds())
        lab.wait_fetched(200)
        lima, had = self.lose(lab, "lima", is_to_return=True)
        lab.settle()
        # It is not invited, so it asks in vain.
        lima.serve()
        lima.wait_for(lambda: "invite" in lima.says()["error"], 20,
                      "lima to be told that it must be invited")
        self.assertNotIn("lima", lab.members(lab.first))
        lab.first.run("federation", "invite", "lima")
        lab.sites["lima"] = lima
        lab.first.wait_for(lambda: "lima" in lab.members(lab.first), 30, "lima to be back")
        self.check(lab, may_repeat=had)

    def test_it_returns_at_once_with_what_only_it_knew(self) -> None:
        lab = self.lab(["tokyo", "zurich", "lima"])
        lab.inject(lab.web.seeds())
        lab.wait_quiet()
        lima, had = self.lose(lab, "lima", is_to_return=True)
        lab.first.run("federation", "invite", "lima")
        lima.serve()
        lab.sites["lima"] = lima
        lab.first.wait_for(lambda: "lima" in lab.members(lab.first), 30, "lima to be back")
        self.check(lab, may_repeat=had)


class SecondChange(Removed):
    def test_a_site_joins_and_another_is_removed_before_its_hand_off_is_over(self) -> None:
        lab = self.lab(["tokyo", "zurich", "lima"], PLAIN, delay="60ms")
        tokyo, zurich, lima = lab.sites.values()
        lab.inject(lab.web.seeds())
        lab.wait_fetched(200)
        lima.agent.send_signal(signal.SIGSTOP)  # So that the hand-off cannot end.
        nairobi = lab.sites["nairobi"] = lab.make("nairobi")
        tokyo.run("federation", "invite", "nairobi")
        nairobi.serve()
        tokyo.wait_for(lambda: "nairobi" in lab.members(tokyo), 30, "nairobi to be in")
        self.assertTrue(tokyo.says()["handing_off"])
        _, had = self.lose(lab, "lima")
        self.check(lab, may_repeat=had)

    def test_no_other_change_that_moves_channels_is_taken_meanwhile(self) -> None:
        lab = self.lab(["tokyo", "zurich", "lima"], delay="60ms")
        tokyo, zurich, lima = lab.sites.values()
        lab.inject(lab.web.seeds())
        lab.wait_fetched(100)
        lima.agent.send_signal(signal.SIGSTOP)
        nairobi = lab.sites["nairobi"] = lab.make("nairobi")
        tokyo.run("federation", "invite", "nairobi")
        nairobi.serve()
        tokyo.wait_for(lambda: "nairobi" in lab.members(tokyo), 30, "nairobi to be in")
        said = zurich.refused("federation", "leave")
        self.assertIn("channels still move", said)
        lima.agent.send_signal(signal.SIGCONT)
        self.check(lab)


if __name__ == "__main__":
    main()

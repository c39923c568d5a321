"""Sites that are killed (SIGKILL) and started again: during a round, an exchange, a hand-off.

A site that comes back within seconds is refused by its peers for a moment
(federation/member/lives.h); that heals by itself, and these tests wait for it.
"""

import random
import time

from faults_lab import IS_LONG, FaultLab, FaultsTest, Member, main

KILLS = 12 if IS_LONG else 3
ROUNDS = 3 if IS_LONG else 1
# Long rounds, so that something is under way whenever a kill comes.
SLOWLY = {"delay": "60ms"}


class Killed(FaultsTest):
    def setUp(self) -> None:
        super().setUp()
        seed = random.randrange(1 << 32)
        self.chance = random.Random(seed)
        self.say(f"seed {seed}")

    def kill_and_restart(self, lab: FaultLab, name: str) -> None:
        site = lab.sites[name]
        lab.kill(site)
        site.serve()


class DuringARound(Killed):
    def test_any_site_is_killed_during_a_round_or_an_exchange(self) -> None:
        lab = self.lab(["tokyo", "zurich", "lima"], **SLOWLY)
        lab.inject(lab.web.seeds())
        lab.wait_fetched(20)
        names = list(lab.sites)  # All of them, the registrar too.
        for kill in range(KILLS):
            self.kill_and_restart(lab, names[kill % len(names)])
            self.say(f"killed {names[kill % len(names)]} at {lab.fetched()} pages")
            time.sleep(self.chance.uniform(0, 0.5))
        self.check(lab)

    def test_all_sites_are_killed_at_once(self) -> None:
        lab = self.lab(["tokyo", "zurich", "lima"], **SLOWLY)
        lab.inject(lab.web.seeds())
        lab.wait_fetched(100)
        for site in lab.sites.values():
            lab.kill(site)
        for site in lab.sites.values():
            site.serve()
        self.check(lab)

    def test_cash_is_exact_after_kills_too(self) -> None:
        lab = self.lab(["tokyo", "zurich"], federation=", exchange: cash", **SLOWLY)
        lab.inject(lab.web.seeds())
        lab.wait_fetched(50)
        for name in ("zurich", "tokyo"):
            self.kill_and_restart(lab, name)
            time.sleep(self.chance.uniform(0, 0.5))
        self.check(lab)


class DuringAnExchange(Killed):
    def pair(self) -> FaultLab:
        lab = self.lab(["tokyo", "zurich"], links=True)
        self.tokyo, self.zurich = lab.sites.values()
        self.to_zurich = lab.links["zurich"]
        return lab

    def hold_a_batch(self, lab: FaultLab) -> None:
        """Holds a batch between the two: tokyo has cut and sent it, zurich does not get it."""
        self.to_zurich.hold()
        before = self.sent()
        lab.inject(lab.web.seeds())
        self.tokyo.wait_for(lambda: self.sent() > before, 20, "a batch to be sent")
        self.assertGreater(self.outbox(), 0)
        self.assertGreater(self.to_zurich.held_bytes(), 0)
        self.assertEqual(self.zurich.status()["known"], 0)

    def outbox(self) -> int:
        return self.tokyo.says_of("zurich")["outbox"]

    def sent(self) -> int:
        """Bytes of batches to zurich, acknowledged or not: with its seeds, and with links to it."""
        zurich = self.tokyo.says_of("zurich")
        return zurich["sent_bytes"] + zurich["sent_page_bytes"]

    def lose_what_is_held(self) -> None:
        for connection in self.to_zurich.hang_up():
            connection.close()

    def test_the_sender_is_killed_while_a_batch_is_under_way(self) -> None:
        lab = self.pair()
        self.hold_a_batch(lab)
        lab.kill(self.tokyo)
        self.lose_what_is_held()
        self.assertEqual(self.zurich.status()["known"], 0)
        self.tokyo.serve()
        self.check(lab)

    def test_the_receiver_is_killed_while_a_batch_is_under_way(self) -> None:
        lab = self.pair()
        self.hold_a_batch(lab)
        lab.kill(self.zurich)
        self.lose_what_is_held()
        self.assertGreater(self.outbox(), 0)
        self.zurich.serve()
        self.check(lab)

    def test_the_receiver_is_killed_after_it_stored_a_batch_and_before_it_could_say_so(self) -> None:
        lab = self.pair()
        self.to_zurich.loses_answers = True
        lab.inject(lab.web.seeds())
        self.tokyo.wait_for(lambda: self.zurich.status()["known"] > 0, 20, "zurich to have pages")
        lab.kill(self.zurich)
        self.assertGreater(self.outbox(), 0)
        self.to_zurich.heal()
        self.zurich.serve()
        self.check(lab)


class DuringAHandOff(Killed):
    # A hand-off waits for the rounds that were open when it began: one host's pages, one after
    # the other, keep such a round open for seconds.
    SLOWLY = {"delay": "200ms"}

    @staticmethod
    def hand_off(site: Member) -> dict | None:
        return site.says()["handing_off"]

    def kill_during_hand_off(self, lab: FaultLab, victims: list[str]) -> None:
        """Kills each, the first while another site sees the hand-off. That must still run after
        at least one kill, or this would not have tested anything."""
        survivors = 0
        for i, name in enumerate(victims):
            witness = next(site for site in lab.sites.values() if site.name != name)
            if i == 0:
                witness.wait_for(lambda: self.hand_off(witness), 30, "a hand-off")
            else:
                time.sleep(self.chance.uniform(0, 0.4))
            lab.kill(lab.sites[name])
            left = self.hand_off(witness)
            self.say(f"killed {name}; the hand-off after that: {left}")
            survivors += left is not None
            lab.sites[name].serve()
        self.assertGreater(survivors, 0, "no kill met a hand-off")

    def test_a_site_that_joins_is_killed_and_so_is_one_that_hands_over(self) -> None:
        lab = self.lab(["tokyo", "zurich"], **self.SLOWLY)
        lab.inject(lab.web.seeds())
        lab.wait_fetched(200)
        lab.sites["lima"] = lima = lab.make("lima")
        lab.first.run("federation", "invite", "lima")
        lima.serve()
        self.kill_during_hand_off(lab, ["lima", "tokyo", "zurich"] * ROUNDS)
        lab.first.wait_for(lambda: "lima" in lab.members(lab.first), 30, "lima to be in the map")
        self.check(lab)

    def test_a_site_that_leaves_is_killed_and_so_is_one_that_takes_over(self) -> None:
        lab = self.lab(["tokyo", "zurich", "lima"], **self.SLOWLY)
        lab.inject(lab.web.seeds())
        lab.wait_fetched(200)
        lab.sites["lima"].run("federation", "leave")
        self.kill_during_hand_off(lab, ["lima", "zurich", "tokyo"] * ROUNDS)

        def is_gone() -> bool:
            return "lima" not in [site["name"] for site in lab.first.says()["sites"]]

        lab.first.wait_for(is_gone, 60, "lima to have left")
        lima = lab.sites.pop("lima")
        self.assertEqual(len(lima.states()), 0)
        lima.stop()
        self.check(lab)


if __name__ == "__main__":
    main()

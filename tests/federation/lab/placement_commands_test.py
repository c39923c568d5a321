"""`gannet federation plan` and `switch` at a real federation: what the plan says is what moves.

Nothing else changes pages meanwhile: the web is crawled, and nothing is due again."""

import collections
import json

from commands_lab import CommandsTest, main
from federation_lab import Lab, differences


class PlanAndSwitch(CommandsTest):
    @staticmethod
    def owners(lab: Lab) -> dict[str, str]:
        """URL to the site that has it; two that do are a mistake."""
        owners: dict[str, str] = {}
        for name, site in lab.sites.items():
            for url in site.run("export", "urls").split():
                assert url not in owners, f"{url} is known to {owners[url]} and {name}"
                owners[url] = name
        return owners

    @staticmethod
    def moved_by_counters(lab: Lab) -> tuple[int, int]:
        """Pages that sites say they sent to others, and that they got."""
        others = [other for site in lab.sites.values() for other in site.says()["sites"]]
        return (sum(other["sent_pages"] for other in others),
                sum(other["received_pages"] for other in others))

    def check_change(self, lab: Lab, *change: str) -> None:
        before = self.owners(lab)
        counted = self.moved_by_counters(lab)
        plan = json.loads(lab.sites["lima"].run("federation", "plan", *change, "--json"))
        # It changes nothing.
        self.assertEqual(self.owners(lab), before)

        said = lab.first.run("federation", "switch", *change)
        self.assertIn("channels move", said)
        lab.settle()
        lab.wait_quiet()
        after = self.owners(lab)
        self.assertEqual(after.keys(), before.keys())
        moves = collections.Counter((before[url], after[url]) for url in before
                                    if before[url] != after[url])
        self.assertGreater(moves.total(), 10)  # Or the test shows nothing.
        self.assertEqual(plan["pages"], moves.total())
        for site in plan["sites"]:
            name = site["name"]
            self.assertEqual(site["error"], "")
            self.assertEqual(site["pages_now"], list(before.values()).count(name), name)
            self.assertEqual(site["pages_after"], list(after.values()).count(name), name)
            self.assertEqual(site["pages_out"],
                             sum(pages for (who, _), pages in moves.items() if who == name), name)
        # Each page went over the wire once.
        sent, received = self.moved_by_counters(lab)
        self.assertEqual((sent - counted[0], received - counted[1]), (moves.total(),) * 2)
        lab.verify()

    def test_what_the_plan_says_is_what_a_switch_moves(self) -> None:
        lab = self.crawled(["tokyo", "zurich", "lima"])
        self.check_change(lab, "--site", "zurich", "--capacity", "3")
        shares = {site["name"]: site["share"] for site in lab.first.says()["sites"]}
        self.assertEqual(shares, {"tokyo": 0.2, "zurich": 0.6, "lima": 0.2})
        self.check_change(lab, "--virtual-nodes", "7")
        self.assertEqual(lab.sites["zurich"].says()["virtual_nodes"], 7)
        self.assertEqual(differences(lab.states(), lab.web.truth()), [])

    def test_the_wrong_flags_change_nothing(self) -> None:
        lab = self.lab(["tokyo"])
        epoch = lab.first.says()["epoch"]
        for flags in ([], ["--capacity", "2", "--virtual-nodes", "9"], ["--virtual-nodes", "0"]):
            lab.first.refused("federation", "switch", *flags)
        self.assertIn("oslo", lab.first.refused("federation", "switch", "--site", "oslo",
                                                "--capacity", "2"))
        self.assertEqual(lab.first.says()["epoch"], epoch)


if __name__ == "__main__":
    main()

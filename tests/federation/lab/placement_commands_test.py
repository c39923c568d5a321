"""`gannet federation plan` and `switch` at a real federation: what the plan says is what moves.

No round changes pages meanwhile: the whole web is crawled, and no page is due again."""

import collections
import json

from commands_lab import CommandsTest, main
from federation_lab import Lab, differences


class PlanAndSwitch(CommandsTest):
    @staticmethod
    def moved_by_counters(lab: Lab) -> tuple[int, int]:
        """How many pages the sites say that they sent to others, and how many that they got."""
        others = [other for site in lab.sites.values() for other in site.says()["sites"]]
        return (sum(other["sent_pages"] for other in others),
                sum(other["received_pages"] for other in others))

    def plan(self, lab: Lab, *change: str) -> dict:
        """What `plan` says; it must change nothing."""
        before, epoch = lab.owners(), lab.first.says()["epoch"]
        plan = json.loads(lab.sites["zurich"].run("federation", "plan", *change, "--json"))
        self.assertEqual([site["error"] for site in plan["sites"]], [""] * len(plan["sites"]))
        self.assertEqual((lab.owners(), lab.first.says()["epoch"]), (before, epoch))
        return plan

    @staticmethod
    def channel(url: str) -> str:
        """The URL's domain: host names of this web end in .example, .test and .invalid."""
        return ".".join(url.split("/")[2].split(".")[-2:])

    def check_moves(self, plan: dict, before: dict[str, str], after: dict[str, str]) -> int:
        """How many pages moved, by what the sites have; it must be what the plan said."""
        self.assertEqual(after.keys(), before.keys())
        moved = {url for url in before if before[url] != after[url]}
        self.assertGreater(len(moved), 10)  # Or the test shows nothing.

        def count(urls) -> tuple[int, int]:
            urls = list(urls)
            return len({self.channel(url) for url in urls}), len(urls)

        self.assertEqual((plan["channels"], plan["pages"]), count(moved))
        self.assertEqual({site["name"] for site in plan["sites"]},
                         {*before.values(), *after.values()})
        for site in plan["sites"]:
            name = site["name"]
            for when, urls in (("now", (url for url in before if before[url] == name)),
                               ("after", (url for url in after if after[url] == name)),
                               ("out", (url for url in moved if before[url] == name))):
                self.assertEqual((site[f"channels_{when}"], site[f"pages_{when}"]), count(urls),
                                 f"{name}, {when}")
        return len(moved)

    def check_switch(self, lab: Lab, *change: str) -> None:
        before = lab.owners()
        counted = self.moved_by_counters(lab)
        plan = self.plan(lab, *change)
        said = lab.first.run("federation", "switch", *change)
        self.assertIn("channels move", said)
        lab.settle()
        lab.wait_quiet()
        moved = self.check_moves(plan, before, lab.owners())
        # Each page went over the wire once.
        sent, received = self.moved_by_counters(lab)
        self.assertEqual((sent - counted[0], received - counted[1]), (moved, moved))
        lab.verify()

    def test_what_the_plan_says_is_what_a_switch_moves(self) -> None:
        lab = self.crawled(["tokyo", "zurich", "lima"])
        self.check_switch(lab, "--site", "zurich", "--capacity", "3")
        shares = {site["name"]: site["share"] for site in lab.first.says()["sites"]}
        self.assertEqual(shares, {"tokyo": 0.2, "zurich": 0.6, "lima": 0.2})
        self.check_switch(lab, "--virtual-nodes", "7")
        self.assertEqual(lab.sites["zurich"].says()["virtual_nodes"], 7)
        self.assertEqual(differences(lab.states(), lab.web.truth()), [])

    def test_what_the_plan_says_is_what_moves_when_sites_come_and_go(self) -> None:
        lab = self.crawled(["tokyo", "zurich"])
        tokyo, before = lab.first, lab.owners()
        plan = self.plan(lab, "--add", "lima")
        lab.add("lima")
        lab.wait_quiet()
        with_lima = lab.owners()
        self.check_moves(plan, before, with_lima)

        # The result is the same, whether lima hands over itself or is gone.
        leave, remove = (self.plan(lab, flag, "lima") for flag in ("--leave", "--remove"))
        tokyo.run("federation", "leave", "lima")
        tokyo.wait_for(lambda: "lima" not in [site["name"] for site in tokyo.says()["sites"]], 60,
                       "lima to have left")
        lab.sites.pop("lima").stop()
        lab.wait_quiet()
        after = lab.owners()
        self.assertEqual(after, before)
        self.check_moves(leave, with_lima, after)
        self.check_moves(remove, with_lima, after)
        lab.verify()

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

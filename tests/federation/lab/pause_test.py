"""`gannet federation pause`: no site begins a round, and everything else goes on; --resume."""

import time

from commands_lab import CommandsTest, main
from federation_lab import SLOW, Lab, differences


class Pause(CommandsTest):
    @staticmethod
    def rounds(lab: Lab) -> dict[str, int]:
        return {site.name: site.status()["round"] for site in lab.sites.values()}

    def test_no_site_begins_a_round_until_it_is_resumed(self) -> None:
        lab = self.lab(["tokyo", "zurich"])
        # Said at one site, it counts for all.
        lab.sites["zurich"].run("federation", "pause")
        self.wait_all(lab, lambda site: site.says()["paused"], "the pause")
        before = self.rounds(lab)
        lab.inject([url for url in lab.web.truth() if url.split("/", 3)[3] == ""])
        # Seeds that belong to another site are still sent there.
        self.wait_all(lab, lambda site: site.status()["frontier"] > 0, "pages to crawl")
        time.sleep(2)  # Without the pause a site would begin a round within milliseconds.
        self.assertEqual(self.rounds(lab), before)
        self.assertEqual(lab.web.asked().keys() & lab.web.truth().keys(), set())
        self.assertFalse(lab.first.says()["quiet"])  # There is work.
        # `gannet round` is refused, and says how to resume.
        self.assertIn("pause --resume", lab.first.refused("round", "--rounds", "1"))

        lab.first.run("federation", "pause", "--resume")
        lab.wait_quiet()
        for name, number in self.rounds(lab).items():
            self.assertGreater(number, before[name], name)
        self.assertEqual(differences(lab.states(), lab.web.truth()), [])

    def test_a_round_that_runs_ends_first(self) -> None:
        # Each site's first rounds have all pages, so they last for seconds.
        lab = self.lab(["tokyo", "zurich"], delay=f"{300 * SLOW}ms")
        lab.inject(list(lab.web.truth()))
        self.wait_all(lab, lambda site: site.status()["phase"] == "fetch", "rounds to run")
        lab.first.run("federation", "pause")
        self.wait_all(lab, lambda site: site.says()["paused"], "the pause")
        before = self.rounds(lab)
        self.assertIn("fetch", [site.status()["phase"] for site in lab.sites.values()])
        self.wait_all(lab, lambda site: site.status()["phase"] == "none", "open rounds to end")
        self.assertEqual(self.rounds(lab), before)
        time.sleep(2)
        self.assertEqual(self.rounds(lab), before)
        lab.first.run("federation", "pause", "--resume")
        lab.wait_quiet()
        self.assertEqual(differences(lab.states(), lab.web.truth()), [])


if __name__ == "__main__":
    main()

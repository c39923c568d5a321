"""`gannet federation status` as a person reads it."""

import os
import re
import signal

from commands_lab import CommandsTest, main
from federation_lab import Member


class Status(CommandsTest):
    @staticmethod
    def text(site: Member) -> str:
        return site.run("federation", "status")

    def row(self, at: Member, of: str) -> dict[str, str]:
        """A site's line of the table, by heading."""
        table = re.search(r"(?ms)^site .*", self.text(at))[0]
        headings, *lines = [re.split(" {2,}", line) for line in table.splitlines()]
        [cells] = [cells for cells in lines if cells[0] == of and len(cells) == len(headings)]
        return dict(zip(headings, cells, strict=True))

    def test_it_tells_who_is_away_what_moves_and_when_all_is_quiet(self) -> None:
        lab = self.crawled(["tokyo", "zurich"])
        tokyo, zurich = lab.sites.values()
        text = self.text(tokyo)
        self.assertRegex(text, r"^epoch \d+, term \d+; registrar tokyo; placement hash; ")
        self.assertIn("\nquiet: nothing is left to do\n", text)
        self.assertNotIn("AWAY", text)
        self.assertNotIn("channels move", text)
        row = self.row(tokyo, "zurich")
        self.assertEqual((row["state"], row["lag"], row["outbox"]), ("member", "0", "0"))
        self.assertEqual(row["pages"], str(zurich.status()["known"]))
        self.assertEqual(self.row(tokyo, "tokyo")["state"], "member, this site")

        # The map changes while one site sleeps: it lags, and what it has cannot move. A site that
        # is only invited has no map yet, so no lag either.
        os.kill(zurich.agent.pid, signal.SIGSTOP)
        lab.sites["lima"] = lima = lab.make("lima")
        tokyo.run("federation", "invite", "lima")
        self.assertEqual(self.row(tokyo, "zurich")["lag"], "1")
        row = self.row(tokyo, "lima")
        self.assertEqual((row["state"], row["epoch"], row["lag"]), ("invited", "-", "-"))
        lima.serve()
        tokyo.wait_for(lambda: "channels move" in self.text(tokyo), 60, "a hand-off")
        self.assertRegex(self.text(tokyo),
                         r"\nchannels move for epoch \d+: \d+ pages left, 0 of 3 sites are done, not .*zurich")
        self.assertNotIn("quiet:", self.text(tokyo))
        os.kill(zurich.agent.pid, signal.SIGCONT)
        lab.settle()
        lab.wait_quiet()
        self.assertNotIn("channels move", self.text(tokyo))
        self.assertEqual(self.row(tokyo, "zurich")["lag"], "0")

        tokyo.kill()
        zurich.wait_for(lambda: self.row(zurich, "tokyo")["state"] == "member, AWAY", 60,
                        "tokyo to be away")
        self.assertIn("; registrar tokyo (AWAY); ", self.text(zurich))
        self.assertNotIn("quiet:", self.text(zurich))
        self.assertEqual(self.row(zurich, "lima")["state"], "member")


if __name__ == "__main__":
    main()

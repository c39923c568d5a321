"""`gannet federation verify` of a federation that is broken: exit code 1, and what is wrong.

Usage: verify_finds_test.py GANNET FAKE_WEB FORGE_BATCH [TESTS]
"""

import json
import subprocess
import sys

from commands_lab import CommandsTest, main
from federation_lab import Member

FORGE_BATCH = sys.argv[3]


class Verify(CommandsTest):
    @staticmethod
    def verify(site: Member, *flags: str) -> tuple[int, str]:
        process = site.start("federation", "verify", *flags)
        out, _ = process.communicate(timeout=60)
        return process.returncode, out

    def all_answer(self, site: Member) -> bool:
        """Whether all sites answer: one that does not is a failed check with the site's name."""
        checks = json.loads(self.verify(site, "--json")[1])["checks"]
        return not {check["name"] for check in checks} & {"tokyo", "zurich"}

    def test_a_batch_that_nobody_sent_is_found_by_comparing_both_sides(self) -> None:
        lab = self.crawled(["tokyo", "zurich"])
        lab.verify()
        zurich = lab.sites["zurich"]
        zurich.stop()
        subprocess.run([FORGE_BATCH, zurich.folder, "tokyo"], check=True)
        zurich.verify(full=True)  # Checked alone, it is consistent.
        zurich.serve()
        # The command finds it at either site: each asks both, once they have reached each other.
        for site in lab.sites.values():
            site.wait_for(lambda: self.all_answer(site), 30, "both sites to answer")
            code, out = self.verify(site, "--json")
            self.assertEqual(code, 1, out)
            answer = json.loads(out)
            self.assertFalse(answer["ok"])
            self.assertEqual([check["name"] for check in answer["checks"] if not check["ok"]],
                             ["I3: tokyo to zurich"], answer)
            self.assertGreater(len(answer["checks"]), 10)

        code, said = self.verify(lab.first)
        self.assertEqual(code, 1, said)
        [line] = [line for line in said.splitlines() if "I3: tokyo to zurich" in line]
        self.assertFalse(line.startswith("ok"), line)
        # The line shows both numbers, so that a person sees that more came than was sent.
        self.assertRegex(line, r"\d+ batches with \d+ units sent, \d+ with \d+ received")


if __name__ == "__main__":
    main("FORGE_BATCH")

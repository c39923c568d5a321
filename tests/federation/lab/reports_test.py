"""What the reports of rounds say of the exchange, against what the pumps counted."""

import collections
import json

from commands_lab import CommandsTest, main
from federation_lab import Member

# Rounds so long that what they find leaves the outbox before they end.
SLOWLY = {"delay": "60ms"}


class Reports(CommandsTest):
    @staticmethod
    def sums(site: Member) -> collections.Counter[str]:
        """The sums of the reports' numbers over all rounds; nested keys are joined as key.key."""
        sums: collections.Counter[str] = collections.Counter()
        for report in json.loads(site.run("rounds", "100000", "--json")):
            for key, value in report["exchange"].items():
                if isinstance(value, dict):
                    sums.update({f"{key}.{more}": count for more, count in value.items()})
                elif key != "mode":
                    sums[key] += value
        return sums

    @staticmethod
    def other(site: Member) -> dict:
        [other] = [other for other in site.says()["sites"] if not other["is_self"]]
        return other

    def test_in_mode_urls_each_url_is_sent_once_and_later_cash_dropped(self) -> None:
        lab = self.crawled(["tokyo", "zurich"], **SLOWLY)
        for site in lab.sites.values():
            sums, other = self.sums(site), self.other(site)
            self.assertGreater(sums["sent"], 20)
            # Nothing was deferred here, so all that was found for the other site was sent there.
            self.assertEqual(sums[f"sent_to.{other['name']}"], sums["sent"])
            self.assertEqual(other["sent_urls"], sums["sent"])
            self.assertGreater(sums["sent_cash"], 0)
            self.assertGreater(sums["sent_before"], 0)
            self.assertGreater(sums["dropped_cash"], 0)
            self.assertEqual(sums["gained_cash"], 0)
            # No report has what left after the last one.
            self.assertGreater(sums["bytes.urls"], 500)
            self.assertLessEqual(sums["bytes.urls"], other["sent_bytes"])
            self.assertNotIn("bytes.cash", sums)
        # The table that people see.
        table = lab.first.run("rounds", "100").splitlines()
        self.assertIn("sent before", table[0])

    def test_in_mode_cash_later_cash_is_sent_too_and_nothing_is_dropped(self) -> None:
        lab = self.crawled(["tokyo", "zurich"], federation=", exchange: cash", **SLOWLY)
        for site in lab.sites.values():
            sums = self.sums(site)
            self.assertGreater(sums["sent_before"], 0)
            self.assertGreater(sums["gained_cash"], 0)
            self.assertEqual(sums["dropped_cash"], 0)
            self.assertGreater(sums["bytes.cash"], 0)
            self.assertNotIn("bytes.urls", sums)


if __name__ == "__main__":
    main()

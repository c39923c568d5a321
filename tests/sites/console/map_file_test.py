"""A federation whose map is a file: no registrar; commands print the next map, and the
administrator (here the test) puts it in place at every site. Real processes, over a fake web.

Usage: map_file_test.py GANNET GANNET-FAKEWEB
"""

import json
import pathlib
import re
import shutil
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "federation" / "lab"))
from federation_lab import Lab, Member, differences  # noqa: E402

GANNET, FAKE_WEB = sys.argv[1:3]
WEB = {"hosts": 40, "pages": 300, "largest_host": 30, "nasty": "none"}


class FileMember(Member):
    def write_yaml(self) -> None:
        super().write_yaml()
        settings = self.folder / "site.yaml"
        settings.write_text(re.sub(r'map: registrar, join: "[^"]*"', "map: file, file: map.json",
                                   settings.read_text()))

    def put(self, text: str) -> None:
        """Puts a map in place atomically, as an administrator should."""
        (self.folder / "map.new").write_text(text)
        (self.folder / "map.new").rename(self.folder / "map.json")

    def epoch(self) -> int:
        return int(self.says().get("epoch") or 0)

    def error(self) -> str:
        return self.says()["error"]

    def wait_error(self, text: str) -> None:
        self.wait_for(lambda: text in self.error() if text else not self.error(), 20,
                      f"the error '{text}'")


def epoch_of(text: str) -> int:
    return int(json.loads(text)["epoch"])


class MapFileTest(unittest.TestCase):
    def setUp(self) -> None:
        folder = pathlib.Path(tempfile.mkdtemp(prefix="gannet-test-"))
        self.addCleanup(shutil.rmtree, folder, ignore_errors=True)
        self.lab = Lab(GANNET, FAKE_WEB, folder, [], dict(WEB))
        self.addCleanup(self.lab.web.server.kill)
        self.folder = folder

    def start(self, name: str, map_text: str = "") -> FileMember:
        site = self.lab.sites[name] = FileMember(GANNET, self.folder / name, name,
                                                 self.lab.web, delay="5ms")
        if map_text:
            site.put(map_text)
        self.addCleanup(site.kill)
        site.serve()
        return site

    def give(self, text: str) -> None:
        """Puts a map in place at all sites, and waits until they use it."""
        for site in self.lab.sites.values():
            site.put(text)
            site.wait_for(lambda site=site: site.epoch() == epoch_of(text), 20, "the new map")

    def begin(self) -> FileMember:
        tokyo = self.start("tokyo")
        self.assertIn("'gannet federation join' prints the first", tokyo.error())
        first = tokyo.run("federation", "join")
        self.assertEqual(epoch_of(first), 1)
        self.assertEqual(tokyo.epoch(), 0)  # It was only printed.
        self.give(first)
        tokyo.wait_error("")
        return tokyo

    def grow(self, tokyo: FileMember) -> FileMember:
        invited = tokyo.run("federation", "invite", "zurich")
        self.assertEqual((epoch_of(invited), tokyo.epoch()), (2, 1))
        zurich = self.start("zurich", invited)
        zurich.wait_error("is invited")
        self.give(invited)
        # The printed map changes nothing before it is in place.
        joined = zurich.run("federation", "join")
        self.assertEqual(epoch_of(joined), 3)
        self.assertEqual(self.lab.members(tokyo), ["tokyo"])
        self.give(joined)
        zurich.wait_error("")
        return zurich

    def crawl(self) -> None:
        self.lab.wait_quiet(120)
        self.lab.verify()
        self.assertEqual(differences(self.lab.states(), self.lab.web.truth()), [])

    def test_it_begins_grows_crawls_and_shrinks(self) -> None:
        tokyo = self.begin()
        self.lab.inject(self.lab.web.seeds())
        zurich = self.grow(tokyo)
        self.lab.settle()
        self.assertEqual(self.lab.members(zurich), ["tokyo", "zurich"])
        self.assertEqual(zurich.says()["registrar"], "")
        self.crawl()
        self.assertGreater(len(zurich.states()), 0)

        leaving = zurich.run("federation", "leave")
        self.give(leaving)
        self.lab.settle()  # All pages have moved, although no map says so yet.
        self.assertEqual(zurich.states(), {})
        gone = tokyo.run("federation", "join")  # Prints the map in which the move has ended.
        self.assertGreater(epoch_of(gone), epoch_of(leaving))
        self.give(gone)
        self.assertEqual([site["name"] for site in tokyo.says()["sites"]], ["tokyo"])
        zurich.wait_error("it was removed, or it left")

        # It comes back as a new incarnation, because batches are numbered per incarnation.
        self.give(tokyo.run("federation", "invite", "zurich"))
        again = zurich.run("federation", "join")
        self.assertEqual(again, zurich.run("federation", "join"))
        self.assertNotEqual(self.incarnation(again, "zurich"),
                            self.incarnation(leaving, "zurich"))
        self.give(again)
        zurich.wait_error("")
        self.lab.settle()
        self.crawl()
        self.assertGreater(len(zurich.states()), 0)
        self.lab.stop()

    @staticmethod
    def incarnation(text: str, name: str) -> str:
        [site] = [site for site in json.loads(text)["sites"] if site["name"] == name]
        return site["incarnation"]

    def test_what_is_not_the_next_map_is_refused(self) -> None:
        tokyo = self.begin()
        self.grow(tokyo)
        now = (tokyo.folder / "map.json").read_text()
        other = json.loads(now)
        other["paused"] = True  # The same epoch with other content.
        tokyo.put(json.dumps(other))
        tokyo.wait_error("the map of epoch 3 differs from the one of that epoch that this site has")
        self.assertFalse(tokyo.says()["paused"])
        tokyo.put(now[: len(now) // 2])
        tokyo.wait_error("it is not a map")
        other["federation"] = str(int(other["federation"]) ^ 1)
        other["epoch"] = "9"
        tokyo.put(json.dumps(other))
        tokyo.wait_error("the map of another federation")
        self.assertEqual(tokyo.epoch(), 3)
        tokyo.put(now)
        tokyo.wait_error("")

    def test_what_needs_a_registrar_says_so(self) -> None:
        tokyo = self.begin()
        self.assertIn("there is no registrar", tokyo.refused("federation", "adopt"))
        # It is done at this site; the administrator must do it at the others.
        blocked = json.loads(tokyo.run("block", "example.com", "--json"))
        self.assertIn("give the same command to every site", blocked["note"])
        self.assertEqual(tokyo.run("block", "--list").split(), ["example.com"])
        # Each change is made from the map in place, so both have the same epoch.
        self.assertEqual(epoch_of(tokyo.run("federation", "pause")), 2)
        self.assertEqual(epoch_of(tokyo.run("federation", "invite", "oslo")), 2)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)

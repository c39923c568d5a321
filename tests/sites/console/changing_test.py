"""Taking data out, and changing what a site knows: export, block, forget, archive."""

import random
import shutil
import subprocess
import time

import console
from console import ConsoleTest


class Export(ConsoleTest):
    def setUp(self):
        super().setUp()
        self.crawled_site()

    def export(self, *what, **kwargs):
        return self.gannet("export", *what, "--data", "site", **kwargs)

    def test_urls_are_one_a_line_a_domain_together(self):
        lines = self.export("urls").lines
        self.assertEqual(sorted(lines),
                         ["http://a.example/", "http://a.example/next", "http://b.example/",
                          "http://b.example/two", "http://gone.example/x"])
        self.assertEqual(lines.index("http://a.example/") + 1,
                         lines.index("http://a.example/next"))

    def test_urls_by_state_host_and_time(self):
        self.assertEqual(self.export("urls", "--state", "gone").lines, ["http://gone.example/x"])
        self.assertEqual(self.export("urls", "--state", "new").lines, ["http://b.example/two"])
        self.assertEqual(self.export("urls", "--host", "B.example").lines,
                         ["http://b.example/", "http://b.example/two"])
        self.assertEqual(self.export("urls", "--since", "2023-11-14T23:00:00Z").lines,
                         ["http://a.example/next"])
        self.assertEqual(self.export("urls", "--since", "24h").lines, [])
        self.assertEqual(self.export("urls", "--host", "c.example").lines, [])

    def test_wrong_choices_are_refused(self):
        self.assertIn("state: found 'old'", self.export("urls", "--state", "old", code=2).err)
        self.assertIn("'yesterday' is not a time",
                      self.export("urls", "--since", "yesterday", code=2).err)
        self.assertIn("not the name of a host",
                      self.export("urls", "--host", "a b", code=2).err)
        self.assertIn("--state does not go with cdxj",
                      self.export("cdxj", "--state", "new", code=2).err)
        self.gannet("export", "--data", "site", code=2)
        self.gannet("export", "everything", code=2)

    def test_links_are_from_and_to(self):
        self.assertEqual(sorted(self.export("links").lines),
                         ["http://a.example/\thttp://a.example/next",
                          "http://a.example/\thttp://b.example/two",
                          "http://a.example/next\thttp://a.example/"])

    def test_links_of_a_released_file_are_left_out(self):
        self.gannet("archive", "release", "1", "--delete", "--data", "site")
        self.assertEqual(self.export("links").lines,
                         ["http://a.example/next\thttp://a.example/"])

    def test_fetches_tell_what_became_of_each_page(self):
        rows = {line.split("\t")[0]: line.split("\t")[1:] for line in
                self.export("fetches").lines}
        self.assertNotIn("http://b.example/two", rows)
        self.assertEqual(rows["http://gone.example/x"],
                         ["gone", "404", "2023-11-14T22:13:20.000Z", "", "", ""])
        self.assertEqual(rows["http://a.example/next"][-1], "noindex")
        state, status, visited, digest, position, noindex = rows["http://a.example/"]
        self.assertEqual(noindex, "")
        self.assertEqual((state, status, digest[:5]), ("fetched", "200", "sha1:"))
        self.assertRegex(position, r"^1:\d+:\d+$")

    def test_cdxj_is_sorted_over_finished_and_open_files(self):
        self.assertEqual(len(list((self.folder / "site/archive").glob("*.open"))), 1)
        lines = self.export("cdxj").lines
        self.assertEqual([line.split(" ")[0] for line in lines],
                         ["example,a)/", "example,a)/next", "example,b)/"])
        self.assertEqual(lines, sorted(lines))
        self.assertEqual(self.export("cdxj", "--host", "b.example").lines, lines[2:])
        self.assertEqual(self.export("cdxj", "--since", "2023-11-14T23:00:00Z").lines,
                         lines[1:2])


class Block(ConsoleTest):
    def setUp(self):
        super().setUp()
        self.crawled_site()

    def block(self, *what, **kwargs):
        return self.gannet("block", *what, "--data", "site", **kwargs)

    def test_pages_leave_schedule_and_open_round_and_seeds_are_refused(self):
        self.assertEqual(self.block("B.Example", "--json").json,
                         {"is_public_suffix": False, "domain": "b.example", "blocked": True, "pages": 2,
                          "note": ""})
        status = self.gannet("status", "--json", "--data", "site").json
        self.assertEqual((status["in_round"], status["scheduled"], status["pages"]["blocked"],
                          status["blocked_domains"]), (0, 2, 2, 1))
        page = self.gannet("page", "http://b.example/two", "--json", "--data", "site").json
        self.assertEqual((page["state"], page["finished_reason"]),
                         ("blocked", "blocked by operator"))
        self.check_invariants("site")

    def test_a_blocked_seed_is_counted_and_said(self):
        self.block("b.example")
        done = self.gannet("inject", "http://www.b.example/", "--json", "--data", "site", code=1)
        self.assertEqual(done.json, {"added": 0, "known": 0, "blocked": 1, "bad": 0})

    def test_undo_puts_the_pages_back(self):
        self.block("b.example")
        self.assertEqual(self.block("b.example", "--undo", "--json").json,
                         {"is_public_suffix": False, "domain": "b.example", "blocked": False, "pages": 2,
                          "note": ""})
        status = self.gannet("status", "--json", "--data", "site").json
        self.assertEqual((status["frontier"], status["scheduled"], status["blocked_domains"]),
                         (1, 3, 0))
        self.check_invariants("site")

    def test_the_list_is_remembered(self):
        self.block("b.example")
        self.block("a.example")
        self.assertEqual(self.block("--list").lines, ["a.example", "b.example"])
        self.assertEqual(self.block("--list", "--json").json,
                         {"blocked": ["a.example", "b.example"]})

    def test_what_is_not_blocked_cannot_be_undone(self):
        self.assertIn("--list", self.block("c.example", "--undo", code=1).err)

    def test_of_a_public_suffix_only_the_host_is_blocked_and_it_is_said(self):
        self.assertIn("urls.deny.domains", self.block("co.uk").err)
        self.assertEqual(self.block("127.0.0.1").err, "")

    def test_wrong_usage(self):
        self.block(code=2)
        self.block("a.example", "--list", code=2)
        self.block("--list", "--undo", code=2)
        self.assertIn("not the name of a host", self.block("http://a.example/", code=2).err)


class Forget(ConsoleTest):
    def test_a_page_is_no_longer_known_and_the_ledger_is_right(self):
        site = self.crawled_site()
        for url in ("http://a.example/", "http://b.example/two", "http://gone.example/x"):
            self.assertEqual(self.gannet("forget", url, "--json", "--data", site).json,
                             {"forgotten": url})
            self.gannet("page", url, "--data", site, code=1)
        self.check_invariants(site)

    def test_an_unknown_page_cannot_be_forgotten(self):
        site = self.crawled_site()
        self.assertIn("is not known",
                      self.gannet("forget", "http://c.example/", "--data", site, code=1).err)
        self.gannet("forget", "c", "--data", site, code=2)


class Archive(ConsoleTest):
    def setUp(self):
        super().setUp()
        self.crawled_site()

    def archive(self, *what, **kwargs):
        return self.gannet("archive", *what, "--data", "site", **kwargs)

    def test_the_list_shows_finished_files(self):
        [file] = self.archive("list", "--json").json
        self.assertEqual((file["number"], file["captures"], file["released"]), (1, 2, False))
        self.assertRegex(file["file"], r"^GANNET-\d{14}-00001-site\.warc\.gz$")
        self.assertEqual((file["first"], file["last"]), ("20231114221320",) * 2)
        self.assertIn(file["file"], self.archive("list").lines[1])

    def test_a_released_file_is_moved_and_remembered(self):
        (self.folder / "out").mkdir()
        [file] = self.archive("list", "--json").json
        self.archive("release", file["file"], "--to", "out")
        self.assertTrue((self.folder / "out" / file["file"]).exists())
        [after] = self.archive("list", "--json").json
        self.assertTrue(after["released"])
        self.assertIn("was released before",
                      self.archive("release", "1", "--to", "out", code=1).err)
        self.check_invariants("site")

    def test_a_file_may_be_named_by_its_path_or_number(self):
        [file] = self.archive("list", "--json").json
        self.assertEqual(self.archive("release", "site/archive/" + file["file"], "--delete",
                                      "--json").json, {"released": file["file"], "to": ""})

    def test_nothing_is_deleted_by_a_slip(self):
        self.assertIn("--to DIR, or --delete", self.archive("release", "1", code=2).err)
        self.assertIn("is not a folder", self.archive("release", "1", "--to", "no", code=2).err)
        self.archive("release", "1", "--to", ".", "--delete", code=2)
        self.assertFalse(self.archive("list", "--json").json[0]["released"])

    def test_an_open_or_unknown_file_cannot_be_released(self):
        [open_file] = (self.folder / "site/archive").glob("*.open")
        for name in (open_file.name, "2", "77", "x.warc.gz"):
            err = self.archive("release", name, "--delete", code=1).err
            self.assertIn("no finished archive file", err)
            self.assertIn("gannet archive finish", err)

    def test_the_open_file_is_finished_on_demand_and_can_be_taken_away(self):
        cdxj = self.gannet("export", "cdxj", "--data", "site").lines
        [name] = self.archive("finish", "--json").json["finished"]
        self.assertRegex(name, r"^GANNET-\d{14}-00002-site\.warc\.gz$")
        self.assertEqual(list((self.folder / "site/archive").glob("*.open")), [])
        self.assertEqual([(file["number"], file["captures"]) for file in
                          self.archive("list", "--json").json], [(1, 2), (2, 1)])
        self.assertEqual(self.gannet("export", "cdxj", "--data", "site").lines, cdxj)
        self.check_invariants("site")
        self.archive("release", name, "--delete")
        self.check_invariants("site")
        self.assertEqual(self.archive("finish", "--json").json, {"finished": []})
        self.assertIn("no archive file is being written", self.archive("finish").out)

    def test_it_may_be_killed_at_any_moment_of_finishing(self):
        cdxj = self.gannet("export", "cdxj", "--data", "site").lines
        chance = random.Random(7)
        shutil.copytree(self.folder / "site", self.folder / "whole")
        begun = time.monotonic()
        self.gannet("archive", "finish", "--data", "whole")
        whole = time.monotonic() - begun
        for _ in range(15):
            shutil.rmtree(self.folder / "copy", ignore_errors=True)
            shutil.copytree(self.folder / "site", self.folder / "copy")
            process = subprocess.Popen([console.GANNET, "archive", "finish", "--data", "copy"],
                                       cwd=self.folder, stdout=subprocess.DEVNULL)
            time.sleep(chance.uniform(0, whole))
            process.kill()
            process.wait()
            self.check_invariants("copy")
            self.gannet("archive", "finish", "--data", "copy")
            self.assertEqual(self.gannet("export", "cdxj", "--data", "copy").lines, cdxj)
            self.assertEqual(len(list((self.folder / "copy/archive").glob("*.warc.gz"))), 2)
            self.assertEqual(len(list((self.folder / "copy/archive").glob("*.cdxj"))), 2)
            self.check_invariants("copy")


console.main()

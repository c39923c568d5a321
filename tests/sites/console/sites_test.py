"""Making a site and giving it seeds: init, inject, shared flags."""

import os
import subprocess
import time
import unittest

import console
from console import ConsoleTest


class EveryCommand(ConsoleTest):
    def commands(self):
        return [["init"], ["inject"], ["status"], ["rounds"], ["hosts"], ["page"],
                ["export"], ["export", "urls"], ["export", "fetches"], ["export", "links"],
                ["export", "cdxj"], ["check"], ["check", "url"], ["check", "robots"],
                ["block"], ["forget"], ["archive"], ["archive", "list"],
                ["archive", "finish"], ["archive", "release"], ["verify"]]

    def test_help_has_an_example_and_json_is_offered(self):
        for command in self.commands():
            with self.subTest(command):
                answer = self.gannet(*command, "--help")
                self.assertIn("Example:\n  gannet " + " ".join(command[:1]), answer.out)
                if command not in (["export"], ["check"], ["archive"]):
                    self.assertIn("--json", answer.out)

    def test_a_wrong_flag_is_wrong_usage(self):
        for command in self.commands():
            with self.subTest(command):
                self.gannet(*command, "--no-such-flag", code=2)

    def test_where_no_site_is_they_say_how_to_make_one(self):
        for command in (["status"], ["rounds"], ["hosts"], ["page", "http://a.example/"],
                        ["export", "urls"], ["export", "cdxj"], ["block", "a.example"],
                        ["forget", "http://a.example/"], ["archive", "list"], ["verify"],
                        ["inject", "http://a.example/"]):
            with self.subTest(command):
                answer = self.gannet(*command, "--data", "nowhere", code=2)
                self.assertIn("there is no site in nowhere", answer.err)
                self.assertIn("gannet init nowhere", answer.err)
        self.assertFalse((self.folder / "nowhere").exists())

    def test_a_bad_configuration_is_refused_with_its_place(self):
        self.write("site/site.yaml", "crawl:\n  widht: 3\n")
        answer = self.gannet("status", "--data", "site", code=2)
        self.assertIn("error: site/site.yaml:2:3: crawl.widht: unknown key; "
                      "did you mean 'width'?", answer.err)

    def test_a_configuration_that_is_not_there_is_named(self):
        answer = self.gannet("status", "--config", "no.yaml", code=2)
        self.assertIn("there is no file no.yaml", answer.err)

    def hold(self, site: str) -> subprocess.Popen:
        """Starts a process that keeps the site open until the end of its standard input."""
        holder = subprocess.Popen([console.GANNET, "inject", "-", "--data", site],
                                  cwd=self.folder, stdin=subprocess.PIPE,
                                  stdout=subprocess.DEVNULL)
        lock = self.folder / site / "crawl_db" / "IN_USE"
        while lock.read_text() != str(holder.pid):
            self.assertIsNone(holder.poll())
            time.sleep(0.01)
        return holder

    def test_a_site_in_use_is_named_with_the_pid_that_holds_it(self):
        site = self.crawled_site()
        self.gannet("verify", "--data", site)
        holder = self.hold(site)
        try:
            answer = self.gannet("block", "a.example", "--data", site, code=4)
            self.assertIn(f"(pid {holder.pid}); wait for it, or stop it", answer.err)
            # A command that needs no site still works.
            answer = self.gannet("check", "url", "http://a.example/", "--data", site)
            self.assertIn("cannot say", answer.out)
        finally:
            holder.communicate(b"", timeout=30)

    def test_a_command_waits_for_one_that_is_soon_done(self):
        site = self.crawled_site()
        self.gannet("verify", "--data", site)
        holder = self.hold(site)
        with subprocess.Popen([console.GANNET, "block", "a.example", "--data", site],
                              cwd=self.folder, stdout=subprocess.DEVNULL) as waiting:
            time.sleep(0.3)
            self.assertIsNone(waiting.poll())
            holder.communicate(b"", timeout=30)
            self.assertEqual(waiting.wait(timeout=30), 0)


class Init(ConsoleTest):
    def test_writes_a_file_that_every_command_takes(self):
        answer = self.gannet("init", "a/tokyo")
        self.assertIn("gannet inject", answer.out)
        self.assertIn('name: "tokyo"', (self.folder / "a/tokyo/site.yaml").read_text())
        self.gannet("inject", "http://a.example/", "--data", "a/tokyo")
        self.assertEqual(self.gannet("status", "--json", "--data", "a/tokyo").json["site"],
                         "tokyo")

    def test_never_overwrites(self):
        self.write("tokyo/site.yaml", "# mine\n")
        answer = self.gannet("init", "tokyo", code=1)
        self.assertIn("tokyo/site.yaml exists already", answer.err)
        self.assertEqual((self.folder / "tokyo/site.yaml").read_text(), "# mine\n")

    def test_a_folder_whose_name_no_site_can_have_gives_it_the_default_one(self):
        self.assertEqual(self.gannet("init", "a b", "--json").json,
                         {"file": "a b/site.yaml", "site": "site"})

    def test_a_name_that_no_site_can_have_is_refused(self):
        self.assertIn("--name", self.gannet("init", "x", "--name", "a/b", code=2).err)
        self.assertFalse((self.folder / "x").exists())

    def test_a_file_in_the_way_is_named(self):
        self.write("x", "")
        self.assertIn("cannot make x/y", self.gannet("init", "x/y", code=1).err)

    def test_the_configuration_of_another_site_is_refused(self):
        self.gannet("init", "tokyo")
        self.gannet("inject", "http://a.example/", "--data", "tokyo")
        self.write("kyoto.yaml", "site: {name: kyoto, data: tokyo}\n")
        answer = self.gannet("status", "--config", "kyoto.yaml", code=2)
        self.assertIn("belongs to the site 'tokyo'", answer.err)

    def test_data_elsewhere_is_found_by_the_file_and_not_mixed_up(self):
        self.write("x/site.yaml", "site: {data: ../disk}\n")
        self.gannet("inject", "http://a.example/", "--config", "x/site.yaml")
        self.assertTrue((self.folder / "disk/crawl_db").exists())
        answer = self.gannet("status", "--data", "x", code=2)
        self.assertIn("use --config x/site.yaml", answer.err)


class Inject(ConsoleTest):
    def setUp(self):
        super().setUp()
        self.gannet("init", "site")

    def inject(self, *what: str, **more):
        return self.gannet("inject", *what, "--json", "--data", "site", **more)

    def test_urls_and_files_may_be_mixed(self):
        self.write("seeds.txt", "\ufeff# mine\n\n http://b.example/ \r\nHTTP://C.example\n")
        self.assertEqual(self.inject("http://a.example/", "seeds.txt").json,
                         {"added": 3, "known": 0, "blocked": 0, "bad": 0})
        self.assertEqual(sorted(self.gannet("export", "urls", "--data", "site").lines),
                         ["http://a.example/", "http://b.example/", "http://c.example/"])

    def test_what_is_known_is_counted_as_known(self):
        self.inject("http://a.example/")
        self.assertEqual(self.inject("http://a.example/#x", "http://a.example/y").json,
                         {"added": 1, "known": 1, "blocked": 0, "bad": 0})

    def test_a_bad_line_is_named_counted_and_skipped(self):
        self.write("seeds.txt", "http://a.example/\nnot a url\n\nmailto:x@y\n")
        answer = self.inject("seeds.txt")
        self.assertEqual(answer.json, {"added": 1, "known": 0, "blocked": 0, "bad": 2})
        self.assertEqual(answer.err.splitlines(),
                         ["seeds.txt:2: 'not a url' is not an http or https URL (no_base)",
                          "seeds.txt:4: 'mailto:x@y' is not an http or https URL (other_scheme)"])

    def test_nothing_but_bad_lines_is_a_failure(self):
        self.assertEqual(self.inject("-", stdin="x\ny\n", code=1).json["bad"], 2)
        self.assertIn("-:2: 'y'", self.inject("-", stdin="x\ny\n", code=1).err)

    def test_an_empty_list_is_none(self):
        self.assertEqual(self.inject("-", stdin="# nothing\n").json["added"], 0)

    def test_the_filters_of_the_site_apply(self):
        self.write("site/site.yaml", "urls: {deny: {domains: [b.example]}}\n")
        answer = self.inject("http://a.example/", "http://www.b.example/")
        self.assertEqual((answer.json["added"], answer.json["bad"]), (1, 1))
        self.assertIn("denied_domain", answer.err)

    def test_a_file_that_is_not_there_is_wrong_usage(self):
        self.assertIn("neither a file nor a URL", self.inject("seeds.txt", code=2).err)
        self.assertIn("cannot be read", self.inject(".", code=2).err)
        self.gannet("inject", code=2)

    def test_a_hostile_line_cannot_reach_the_terminal(self):
        answer = self.inject("-", stdin="\x1b[2J\n", code=1)
        self.assertNotIn("\x1b", answer.err)
        self.assertIn("\\x1b[2J", answer.err)

    def test_a_file_of_another_kind_does_not_fill_the_screen(self):
        answer = self.inject("-", stdin="x\n" * 5000, code=1)
        self.assertEqual(len(answer.err.splitlines()), 22)
        self.assertIn("4980 more", answer.err)

    def test_many_seeds_go_in_in_batches(self):
        lines = "".join(f"http://h{i}.example/\n" for i in range(25_000))
        self.assertEqual(self.inject("-", stdin=lines).json["added"], 25_000)
        self.check_invariants("site")


class Crawl(ConsoleTest):
    def crawl(self, *what: str, **more):
        return self.gannet("crawl", *what, "--data", "new", "--connect-to", "127.0.0.1:1",
                           "--wait", "0", "--quiet", **more)

    def test_a_typo_leaves_no_folder(self):
        self.write("bad.txt", "not a url\n# nor this\n")
        for sources, error in ((["nosuch.txt"], "neither a file nor a URL"),
                               (["http://a.example/", "nosuch.txt"], "neither a file nor a URL"),
                               (["."], "cannot be read"),
                               (["ftp://a.example/"], "other_scheme"),
                               (["bad.txt"], "bad.txt:1: 'not a url'"),
                               (["bad.txt"], "no URL to begin with")):
            with self.subTest(sources):
                self.assertIn(error, self.crawl(*sources, code=2).err)
                self.assertFalse((self.folder / "new").exists())

    def test_a_bad_one_among_good_ones_is_named_once(self):
        self.write("seeds.txt", "http://a.example/\nnot a url\n")
        answer = self.crawl("seeds.txt", "mailto:x@y://")
        self.assertEqual(answer.err.count("not a url"), 1)
        self.assertTrue((self.folder / "new/crawl_db").exists())

    def test_what_comes_through_a_pipe_is_read_once(self):
        self.crawl("-", stdin="http://a.example/\n")
        self.assertEqual(self.gannet("export", "urls", "--data", "new").lines,
                         ["http://a.example/"])

    def test_a_delay_as_long_as_a_round_is_refused(self):
        answer = self.crawl("http://a.example/", "--delay", "30m", code=2)
        self.assertIn("--delay: found '30m', allowed is less than crawl.time_limit", answer.err)


class ClosedOutput(ConsoleTest):
    def test_a_reader_that_goes_away_ends_an_export_quietly(self):
        self.gannet("init", "site")
        lines = "".join(f"http://h{i}.example/{'x' * 100}\n" for i in range(5_000))
        self.gannet("inject", "-", "--data", "site", stdin=lines)
        export = subprocess.Popen([console.GANNET, "export", "urls", "--data", "site"],
                                  cwd=self.folder, stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE)
        export.stdout.readline()
        export.stdout.close()
        with export.stderr:
            self.assertEqual(export.stderr.read(), b"")
        self.assertEqual(export.wait(30), 0)

    @unittest.skipUnless(os.path.exists("/dev/full"), "no /dev/full")
    def test_a_full_disk_is_said_and_has_its_exit_code(self):
        self.gannet("init", "site")
        self.gannet("inject", "http://a.example/", "--data", "site")
        for command in (["export", "urls"], ["status"], ["verify"]):
            with self.subTest(command), open("/dev/full", "w") as full:
                done = subprocess.run([console.GANNET, *command, "--data", "site"],
                                      cwd=self.folder, stdout=full,
                                      stderr=subprocess.PIPE, timeout=30)
                self.assertEqual(done.returncode, 3)
                self.assertIn(b"No space left", done.stderr)


console.main()

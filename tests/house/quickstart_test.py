"""deploy/quickstart.sh without its build: it runs again and again from any folder, and deletes
nothing that it did not make.

Usage: quickstart_test.py GANNET FAKEWEB
"""

import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

GANNET, FAKEWEB = (pathlib.Path(path).resolve() for path in sys.argv[1:3])
DEPLOY = pathlib.Path(__file__).resolve().parents[2] / "deploy"
URL = "https://example.org/"


class Quickstart(unittest.TestCase):
    """A project of its own in a temporary folder: its build/quickstart is nobody's."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="gannet-quickstart-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.project = self.folder / "project"
        shutil.copytree(DEPLOY, self.project / "deploy")
        self.elsewhere = self.folder / "elsewhere"
        self.elsewhere.mkdir()
        self.programs = self.folder / "programs"
        self.programs.mkdir()
        (self.programs / "gannet").symlink_to(GANNET)
        (self.programs / "gannet-fakeweb").symlink_to(FAKEWEB)

    def quickstart(self, *arguments, code=0):
        done = subprocess.run([self.project / "deploy/quickstart.sh", "--programs", self.programs,
                               "--pages", "60", *arguments], cwd=self.elsewhere, timeout=200,
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done

    def pretend_to_crawl(self):
        """The real web is not asked: this gannet only says how it was called."""
        (self.programs / "gannet").unlink()
        (self.programs / "gannet").write_text('#!/bin/sh\necho "called: $*"\n')
        (self.programs / "gannet").chmod(0o755)

    def gannet(self, *arguments):
        return subprocess.run([GANNET, *arguments], check=True, capture_output=True,
                              text=True).stdout

    def test_it_crawls_a_fake_web_and_does_so_again(self):
        data = self.project / "build/quickstart/fake"
        for _ in range(2):
            self.quickstart()
            status = json.loads(self.gannet("status", "--json", "--data", data))
            self.assertGreater(status["pages"]["fetched"], 60)
            self.assertEqual((status["frontier"], status["phase"]), (0, "none"))
        # One crawl's worth, not two: the second began anew.
        self.assertEqual(len(list((data / "archive").glob("*.warc.gz"))), 1)
        self.assertEqual(len(list((data / "archive").glob("*.cdxj"))), 1)

    def test_a_relative_folder_is_the_callers_and_other_files_in_it_stay(self):
        self.quickstart("--data", "mine")
        (self.elsewhere / "mine/notes.txt").write_text("keep")
        self.quickstart("--data", "mine")
        self.assertEqual((self.elsewhere / "mine/notes.txt").read_text(), "keep")

    def test_a_folder_that_it_did_not_make_is_refused_and_left_alone(self):
        warc = self.elsewhere / "real/archive/X.warc.gz"
        warc.parent.mkdir(parents=True)
        warc.write_text("months of work")
        self.assertIn("is left alone", self.quickstart("--data", "real", code=2).stderr)
        self.assertEqual(warc.read_text(), "months of work")

    def test_the_fake_web_and_real_urls_have_folders_of_their_own(self):
        self.quickstart()
        self.pretend_to_crawl()
        out = self.quickstart("--contact", "me@example.org", URL).stdout
        self.assertIn(f"called: crawl {URL} --data {self.project}/build/quickstart/web "
                      "--contact me@example.org --rounds 2", out)

    def test_real_urls_never_go_to_a_fake_web(self):
        self.quickstart("--data", "fake")
        self.pretend_to_crawl()
        crawl = ("--contact", "me@example.org", URL, "--data")
        self.assertIn("name another folder", self.quickstart(*crawl, "fake", code=2).stderr)
        for name, yaml, code in (("a", 'fetch: {delay: 1s, connect_to: "h:80"}\n', 2),
                                 ("b", "fetch:\n  connect_to: h:80\n", 2),
                                 ("c", 'fetch:\n  connect_to: ""   # None.\n', 0),
                                 ("d", "# connect_to: h:80\n", 0)):
            with self.subTest(yaml):
                (self.elsewhere / name).mkdir()
                (self.elsewhere / name / "site.yaml").write_text(yaml)
                self.quickstart(*crawl, name, code=code)

    def test_real_urls_need_a_contact(self):
        self.assertIn("--contact", self.quickstart(URL, code=2).stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])

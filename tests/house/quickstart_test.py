"""deploy/quickstart.sh without its build: it runs again and again from any folder, and deletes
nothing that it did not make.

Usage: quickstart_test.py GANNET FAKEWEB
"""

import json
import os
import pathlib
import pty
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest
import urllib.request

GANNET, FAKEWEB = (pathlib.Path(path).resolve() for path in sys.argv[1:3])
DEPLOY = pathlib.Path(__file__).resolve().parents[2] / "deploy"
URL = "https://example.org/"
# This share of the web's hosts is on https (tests/run.sh --https).
HTTPS = os.environ.get("GANNET_TEST_HTTPS", "0.5")
SITES = ("tokyo", "zurich", "lima")


class Quickstart(unittest.TestCase):
    """Runs in a project of its own in a temporary folder: no real build/quickstart is touched."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="gannet-quickstart-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.project = self.folder / "project"
        shutil.copytree(DEPLOY, self.project / "deploy")
        script = self.project / "deploy/quickstart.sh"
        told = script.read_text()
        self.assertIn("--https 0.5 ", told)
        script.write_text(told.replace("--https 0.5 ", f"--https {HTTPS} "))
        self.elsewhere = self.folder / "elsewhere"
        self.elsewhere.mkdir()
        self.programs = self.folder / "programs"
        self.programs.mkdir()
        (self.programs / "gannet").symlink_to(GANNET)
        (self.programs / "gannet-fakeweb").symlink_to(FAKEWEB)

    def command(self, *arguments):
        return [self.project / "deploy/quickstart.sh", "--programs", self.programs, *arguments]

    def quickstart(self, *arguments, code=0, sites=("--sites", "1")):
        done = subprocess.run(self.command("--pages", "60", *sites, *arguments),
                              cwd=self.elsewhere, timeout=300, capture_output=True, text=True)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done

    def on_a_terminal(self, *arguments):
        """Starts quickstart.sh on a terminal; said() reads what it prints."""
        self.terminal, its_end = pty.openpty()
        self.addCleanup(os.close, self.terminal)
        self.output = ""
        process = subprocess.Popen(self.command(*arguments), cwd=self.elsewhere, stdin=its_end,
                                   stdout=its_end, stderr=its_end, start_new_session=True,
                                   preexec_fn=lambda: os.close(os.open(os.ttyname(1), os.O_RDWR)))
        os.close(its_end)
        self.addCleanup(process.kill)
        return process

    def said(self, text):
        while text not in self.output:
            try:
                self.output += os.read(self.terminal, 4096).decode()
            except OSError:  # It has ended.
                self.fail(f"'{text}' is not in {self.output}")
        return self.output

    def assert_no_process_left(self):
        left = subprocess.run(["pgrep", "-af", str(self.folder)], capture_output=True,
                              text=True).stdout
        self.assertEqual([line for line in left.splitlines() if "serve" in line], [])

    def pretend_to_crawl(self):
        """Puts a gannet in place that only says how it was called, so that no real web is asked."""
        (self.programs / "gannet").unlink()
        (self.programs / "gannet").write_text('#!/bin/sh\necho "called: $*"\n')
        (self.programs / "gannet").chmod(0o755)

    def gannet(self, *arguments):
        return subprocess.run([GANNET, *arguments], check=True, capture_output=True,
                              text=True).stdout

    def test_one_site_crawls_a_fake_web_and_does_so_again(self):
        data = self.project / "build/quickstart/fake"
        for _ in range(2):
            self.quickstart()
            status = json.loads(self.gannet("status", "--json", "--data", data))
            self.assertGreater(status["pages"]["fetched"], 60)
            self.assertEqual((status["frontier"], status["phase"]), (0, "none"))
        # The archive is of one crawl, not two: the second began anew.
        self.assertEqual(len(list((data / "archive").glob("*.warc.gz"))), 1)
        self.assertEqual(len(list((data / "archive").glob("*.cdxj"))), 1)

    def test_three_sites_crawl_a_fake_web_and_do_so_again(self):
        data = self.project / "build/quickstart/fake"
        truth = subprocess.run([FAKEWEB, "truth", "reachable", "--hosts", "30", "--pages", "450",
                                "--https", HTTPS, "--nasty", "all,-stall,-tls-stall",
                                "--max-path-depth", "12",
                                "--max-query-parameters", "6"],
                               check=True, capture_output=True, text=True).stdout
        for _ in range(2):
            out = self.quickstart("--pages", "450", sites=()).stdout
            self.assertRegex(out, r"tokyo \d+, zurich \d+, lima \d+ pages; \d+ to fetch")
            self.assertNotIn("\r", out)
            self.assertIn("all invariants hold\n", out)
            self.assert_no_process_left()
            known = [json.loads(self.gannet("status", "--json", "--data", data / name))["known"]
                     for name in SITES]
            self.assertEqual(sum(known), len(truth.splitlines()), known)
            self.assertGreater(sum(pages > 0 for pages in known), 1, known)
        for command in re.search(r"Three commands.*\n((?:  .*\n){3})", out).group(1).splitlines():
            subprocess.run(command, shell=True, check=True, capture_output=True)
        # A crawl by one site may follow in the folder that three sites have used.
        self.quickstart()
        self.assertFalse((data / "tokyo").exists())
        self.assertTrue((data / "crawl_db").exists())

    def test_on_a_terminal_dashboards_can_be_looked_at_until_ctrl_c(self):
        process = self.on_a_terminal("--pages", "60", "--data", "three")
        self.said("lima     http")
        urls = re.findall(r"(?:tokyo|zurich|lima) +(http://127\.0\.0\.1:\d+/)", self.output)
        self.assertEqual(len(urls), 3, self.output)
        for name, url in zip(SITES, urls):
            page = json.load(urllib.request.urlopen(f"{url}api/federation"))
            self.assertEqual(page["federation"]["self"], name)
        for command in re.search(r"Three commands.*\n((?:  .*\n){3})",
                                 self.output.replace("\r", "")).group(1).splitlines():
            subprocess.run(command, shell=True, check=True, capture_output=True)
        # Another run must not delete what they use.
        refused = self.quickstart("--data", "three", code=2)
        self.assertIn("another quickstart", refused.stderr)
        os.write(self.terminal, b"\x03")
        self.said("== stopping")
        self.assertEqual(process.wait(timeout=60), 0)
        self.assert_no_process_left()
        self.assertIn("agent_stopped", (self.elsewhere / "three/lima/agent.log").read_text())

    def test_a_crawl_that_is_interrupted_stops_all_sites(self):
        process = subprocess.Popen(self.command("--pages", "3000", "--data", "three"),
                                   cwd=self.elsewhere, stdout=subprocess.PIPE, text=True)
        self.addCleanup(process.stdout.close)
        for line in process.stdout:
            if line.startswith("== crawling"):
                break
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(timeout=60), 130)
        self.assert_no_process_left()
        for name in SITES:
            self.assertIn("agent_stopped", (self.elsewhere / "three" / name / "agent.log").read_text())

    def test_a_number_of_sites_that_makes_no_sense_is_refused(self):
        for sites in ("0", "6", "many"):
            self.assertIn("1 to 5", self.quickstart(sites=("--sites", sites), code=2).stderr)
        refused = self.quickstart("--contact", "me@example.org", URL, sites=("--sites", "2"), code=2)
        self.assertIn("for the fake web", refused.stderr)

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

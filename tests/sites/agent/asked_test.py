"""Commands that ask an agent print the same as without one.

Usage: asked_test.py GANNET MAKE_CRAWLED_SITE FAKEWEB
"""

import json
import pathlib
import re
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "console"))

import console
from console import GANNET
from served import ServedTest


class AskedTest(ServedTest):
    def serve_site(self, site: str) -> subprocess.Popen:
        """Starts an agent that runs no rounds by itself."""
        self.write(f"{site}/site.yaml",
                   "crawl: {schedule: by-hand}\nfetch: {allow_private: true, delay: 20ms}\n"
                   "archive: {min_free: 0}\nlog: {format: json}\n")
        return self.start_agent(site)

    def get(self, path: str):
        with urllib.request.urlopen(self.url + path, timeout=30) as answer:
            return answer.read().decode()

    def asked(self, command: str, site: str):
        answer = self.gannet(*command.split(), "--data", site)
        # Some commands print JSON lines, some one document.
        return answer.out

    LOOKING = ["rounds --json", "rounds", "hosts --json", "hosts b.example", "block --list --json",
               "page http://a.example/ --json", "page http://a.example/ --links",
               "page http://a.example/ --body", "export urls", "export urls --state fetched",
               "export fetches", "export links", "export text", "export text --json",
               "export cdxj", "check url http://a.example/ --json", "archive list --json",
               "verify --full"]

    def test_an_agent_answers_as_the_folder_does(self):
        site = self.crawled_site()
        here = {command: self.asked(command, site) for command in self.LOOKING}
        self.serve_site(site)
        for command in self.LOOKING:
            with self.subTest(command):
                self.assertEqual(self.asked(command, site), here[command])
        status = self.gannet("status", "--json", "--data", site).json
        self.assertEqual(status["agent"]["rounds"]["schedule"], "by-hand")
        self.assertIn("agent      pid", self.gannet("status", "--data", site).out)

    def test_errors_have_the_same_exit_codes(self):
        site = self.crawled_site()
        agent = self.serve_site(site)
        for command, code in (("page http://unknown.example/", 1), ("page nonsense", 2),
                              ("hosts unknown.example", 1), ("export urls --state old", 2),
                              ("block --undo never.example", 1), ("archive release 99 --delete", 1),
                              ("forget http://unknown.example/", 1), ("round --width 3", 2)):
            with self.subTest(command):
                self.gannet(*command.split(), "--data", site, code=code)
        # A stopped agent holds the site and does not answer.
        agent.send_signal(signal.SIGSTOP)
        answer = self.gannet("status", "--data", site, code=4)
        self.assertRegex(answer.err, "has not answered within 5s")

    def test_what_is_changed_through_an_agent_is_changed(self):
        site = self.crawled_site()
        self.serve_site(site)
        self.assertEqual(self.gannet("inject", "http://127.0.0.1/new", "--json", "--data", site).json,
                         {"added": 1, "known": 0, "blocked": 0, "bad": 0})
        self.assertEqual(self.gannet("block", "b.example", "--json", "--data", site).json["pages"], 2)
        self.gannet("block", "b.example", "--undo", "--data", site)
        self.gannet("forget", "http://127.0.0.1/new", "--data", site)
        self.gannet("backup", "--to", "backup", "--data", site)
        self.gannet("restore", "backup", "--data", "restored")
        self.check_invariants("restored")
        self.check_invariants(site)
        self.assertIn("schedule: \"by-hand\"", self.gannet("config", "--data", site).out)
        self.assertIn("paused", self.gannet("round", "--pause", "--data", site).out)
        self.gannet("round", "--resume", "--data", site)
        self.write(f"{site}/site.yaml", (self.folder / site / "site.yaml").read_text() +
                   "recrawl: {interval: 3d}\n")
        self.assertIn("recrawl.interval: in force", self.gannet("round", "--reload", "--data", site).out)

    def certificate(self, name: str, unit: str, extra: str = ""):
        """Makes NAME.pem and NAME.key as the guide does; the first call makes the CA too."""
        key = "-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes"
        if not (self.folder / "ca.pem").exists():
            self.openssl(f"req -x509 {key} -days 2 -keyout ca.key -out ca.pem -subj /CN=CA")
        self.openssl(f"req {key} -keyout {name}.key -out {name}.csr -subj /CN={name}/OU={unit}")
        self.write(f"{name}.ext", extra)
        self.openssl(f"x509 -req -in {name}.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 2"
                     f" -extfile {name}.ext -out {name}.pem")

    def openssl(self, arguments: str):
        subprocess.run(["openssl", *arguments.split()], cwd=self.folder, check=True,
                       capture_output=True)

    def test_an_administrator_asks_from_far_away(self):
        site = self.crawled_site()
        here = {command: self.asked(command, site) for command in ("hosts --json", "export urls")}
        self.certificate("tokyo", "sites", "subjectAltName=DNS:localhost,IP:127.0.0.1")
        self.certificate("alice", "administrators")
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self.write(f"{site}/site.yaml",
                   "crawl: {schedule: by-hand}\nfetch: {allow_private: true}\n"
                   "archive: {min_free: 0}\nlog: {format: json}\n"
                   f"listen: {{admin: '127.0.0.1:{port}'}}\n"
                   "tls: {ca: ../ca.pem, cert: ../tokyo.pem, key: ../tokyo.key}\n")
        self.start_agent(site)
        self.write("alice.yaml", "tls: {ca: ca.pem, cert: alice.pem, key: alice.key}\n")
        self.write("eve.yaml", "tls: {ca: ca.pem, cert: tokyo.pem, key: tokyo.key}\n")
        there = ("--admin", f"localhost:{port}", "--config")
        for command, answer in here.items():
            with self.subTest(command):
                self.assertEqual(self.gannet(*command.split(), *there, "alice.yaml").out, answer)
        self.gannet("block", "c.example", *there, "alice.yaml")
        self.assertIn("c.example", self.gannet("block", "--list", "--data", site).out)
        answer = self.gannet("status", *there, "eve.yaml", code=1)
        self.assertIn("OU=administrators", answer.err)
        answer = self.gannet("status", "--admin", f"localhost:{port}", code=2)
        self.assertIn("tls: {ca: ca.pem", answer.err)
        answer = self.gannet("status", "--admin", "127.0.0.0/8:1", code=2)
        self.assertIn("--admin", answer.err)
        self.gannet("status", "--admin", "localhost:1", "--config", "alice.yaml", code=4)

    def test_rounds_asked_for_are_run_by_the_agent(self):
        web = self.serve("--hosts", "5", "--pages", "60")
        self.site(web, more="crawl: {schedule: by-hand, width: 10}\nlog: {format: json}")
        self.gannet("inject", web.seed, "--data", "site")
        self.start_agent()
        done = self.gannet("round", "--rounds", "2", "--json", "--data", "site").json
        self.assertEqual(done["rounds"], 2)
        self.assertGreater(done["fetched"], 1)
        done = self.gannet("crawl", web.seed, "--wait", "0", "--json", "--data", "site").json
        truth = sorted(url for url, outcome, _ in web.truth() if outcome == "fetched")
        self.assertEqual(sorted(self.fetched("site")), truth)
        self.assertGreater(done["phase_seconds"]["fetch"], 0)

    def test_a_killed_agents_socket_does_not_prevent_the_next_start(self):
        site = self.crawled_site()
        agent = self.serve_site(site)
        agent.kill()
        agent.wait()
        self.assertTrue((self.folder / site / "agent.sock").exists())
        self.assertIsNone(self.gannet("status", "--json", "--data", site).json["agent"])
        self.serve_site(site)
        self.assertIsNotNone(self.gannet("status", "--json", "--data", site).json["agent"])

    def test_a_crawl_in_the_foreground_answers_too(self):
        web = self.serve("--hosts", "5", "--pages", "2000")
        self.site(web)
        crawl = self.start("crawl", web.seed, "--quiet", "--data", "site")
        self.addCleanup(crawl.wait)
        status = {"agent": None}
        while status["agent"] is None or status["known"] < 10:
            self.assertIsNone(crawl.poll(), "it should last a while")
            done = subprocess.run([GANNET, "status", "--json", "--data", "site"], cwd=self.folder,
                                  capture_output=True, text=True, timeout=60)
            if done.returncode == 0:
                status = json.loads(done.stdout)
        self.assertEqual(status["agent"]["pid"], crawl.pid)
        host = re.match(r"https?://([^/:]+)", web.seed).group(1)
        self.gannet("block", host, "--data", "site")
        self.assertIn("stopping", self.gannet("round", "--stop", "--data", "site").out)
        out, err = crawl.communicate(timeout=60)
        self.assertEqual(crawl.returncode, 130, err)
        self.check_invariants("site")

    def test_the_dashboard_shows_a_real_site(self):
        site = self.crawled_site()
        self.serve_site(site)
        self.assertIn("<html", self.get(""))
        self.assertEqual(self.get("healthz").strip(), "ok")
        for path, key in (("status", "known"), ("rates", "points"), ("frontier", "by_depth"),
                          ("rounds?most=5", "rounds"), ("page?url=http://a.example/", "outlinks")):
            with self.subTest(path):
                self.assertIn(key, json.loads(self.get("api/" + path)))
        for by in ("failures", "slow"):
            hosts = {}
            while "hosts" not in hosts:  # "pending": the hosts are being looked through.
                hosts = json.loads(self.get(f"api/hosts?by={by}"))
            self.assertGreater(len(hosts["hosts"]), 0)
        with self.assertRaises(urllib.error.HTTPError):
            self.get("api/page?url=http://unknown.example/")
        metrics = self.get("metrics")
        self.assertRegex(metrics, r"(?m)^gannet_known_pages [1-9]")


if __name__ == "__main__":
    console.main()

"""What the operator is told of failures of HTTPS and of the network; and a machine that is too busy
or has too few file handles, for which no page may fail."""

import os
import pathlib
import re
import signal
import socket
import subprocess
import threading
import time
import unittest

import console
import small_web
from console import GANNET
from fakeweb import FakeWebTest

WEB = ("--hosts", "120", "--pages", "600", "--https", "1", "--nasty", "tls")

# For each TLS kind of the fake web: what its pages fail with, and the words that the operator sees.
KINDS = {
    "tls-expired": ("tls_expired", "the certificate has expired"),
    "tls-self-signed": ("tls_self_signed", "signed by itself"),
    "tls-wrong-name": ("tls_wrong_name", "for another name"),
    "tls-unknown-issuer": ("tls_unknown_issuer", "issuer is not trusted"),
    "tls-stall": ("tls_timeout", "handshake took too long"),
    "tls-old-protocol": ("tls_old_protocol", "only old versions of TLS"),
    "tls-plain-http": ("tls_not_tls", "does not speak TLS"),
}


class NoSuchName(threading.Thread):
    """A DNS server that knows no name."""
    # The DNS flags: an answer, with recursion, NXDOMAIN.
    flags = b"\x81\x83"
    answers = b""

    def __init__(self):
        super().__init__(daemon=True)
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind(("127.0.0.1", 0))
        self.address = "127.0.0.1:%d" % self.socket.getsockname()[1]
        self.start()

    def run(self):
        while True:
            query, asker = self.socket.recvfrom(512)
            question = query[12:query.index(b"\0", 12) + 5]
            count = bool(self.answers).to_bytes(2, "big")
            self.socket.sendto(query[:2] + self.flags + query[4:6] + count + bytes(4) + question +
                               self.answers, asker)


class EveryName(NoSuchName):
    """A DNS server that answers 127.0.0.1 to every name."""
    flags = b"\x81\x80"
    answers = b"\xc0\x0c" + b"\0\1\0\1" + b"\0\0\1\0" + b"\0\4" + socket.inet_aton("127.0.0.1")


class Https(FakeWebTest):
    def test_each_nasty_kind_of_tls_is_named_to_the_operator(self):
        web = self.serve(*WEB)
        self.site(web, fetch=", connect_timeout: 1s, retries: 0")
        of_kind = {}
        for host, _, _, kind in web.ask("hosts"):
            of_kind.setdefault(kind, host)
        self.write("seeds", "".join(f"https://{of_kind[kind]}/\n" for kind in KINDS))
        done = self.gannet("crawl", "seeds", "--data", "site", "--wait", "0", "--json",
                           "--quiet").json
        self.assertEqual((done["failed"], done["fetched"]), (len(KINDS), 0))
        self.assertEqual(done["failures"], {name: 1 for name, _ in KINDS.values()})
        report = self.gannet("rounds", "--json", "--data", "site").json[-1]
        self.assertEqual(report["failures"], done["failures"])
        for kind, (name, words) in KINDS.items():
            with self.subTest(kind=kind):
                url = f"https://{of_kind[kind]}/"
                reason = self.page(url)["finished_reason"]
                self.assertTrue(reason.startswith(name + ": "), reason)
                self.assertIn(words, reason)
                self.assertIn(words, self.gannet("hosts", of_kind[kind], "--data", "site").out)
                [asked] = self.gannet("hosts", of_kind[kind], "--json", "--data", "site").json
                self.assertEqual(asked["last_failure_kind"], name)
                self.assertIn(words, asked["last_failure"])
                checked = self.gannet("check", "page", url, "--json", "--data", "site").json
                self.assertIn(words, str(checked))

    def test_the_summary_says_in_words_what_failed(self):
        web = self.serve(*WEB)
        self.site(web, fetch=", retries: 0")
        host = next(host for host, _, _, kind in web.ask("hosts") if kind == "tls-expired")
        out = self.gannet("crawl", f"https://{host}/", "--data", "site", "--wait", "0", "--quiet").out
        self.assertRegex(out, r"1 failed: the certificate has expired.* \(tls_expired\)")

    def crawl_one(self, url: str, fetch: str) -> str:
        self.write("site/site.yaml", f"fetch: {{delay: 1ms, retries: 0, {fetch}}}\n"
                                     "archive: {min_free: 0}\n")
        self.gannet("crawl", url, "--data", "site", "--wait", "0", "--quiet")
        return self.page(url)["finished_reason"]

    def test_a_name_that_does_not_exist_is_told_from_a_server_that_does_not_answer(self):
        dns = NoSuchName()
        nobody = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        nobody.bind(("127.0.0.1", 0))
        silent = "127.0.0.1:%d" % nobody.getsockname()[1]
        nobody.close()  # From here on the system refuses what is sent to its port.
        settings = "allow_private: true, resolver: {{servers: ['{}']}}"
        self.assertRegex(self.crawl_one("http://a.example/", settings.format(dns.address)),
                         "^name_not_found: the name does not exist")
        self.assertRegex(self.crawl_one("http://b.example/", settings.format(silent)),
                         "^name_no_answer: no DNS server answered")

    def test_a_refused_connection_is_told_from_one_that_times_out(self):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            closed = probe.getsockname()[1]
        self.assertRegex(self.crawl_one("http://a.example/", f'connect_to: "127.0.0.1:{closed}"'),
                         "^connect_refused: the server refuses connections")
        # A listener whose queue is full drops new connections.
        with socket.socket() as full:
            full.bind(("127.0.0.1", 0))
            full.listen(0)
            waiting = []
            for _ in range(4):
                one = socket.socket()
                one.setblocking(False)
                one.connect_ex(full.getsockname())
                waiting.append(one)
            self.assertRegex(
                self.crawl_one("http://b.example/", "connect_timeout: 500ms, "
                               f'connect_to: "127.0.0.1:{full.getsockname()[1]}"'),
                "^connect_timeout: connecting took too long")
            for one in waiting:
                one.close()

    @unittest.skipIf(subprocess.run(["unshare", "-rn", "true"], capture_output=True).returncode,
                     "no network namespaces here")
    def test_a_server_without_a_route_is_told(self):
        self.write("site/site.yaml", 'fetch: {delay: 1ms, retries: 0, connect_to: "192.0.2.1:80"}\n'
                                     "archive: {min_free: 0}\n")
        # Runs in a network namespace without any interface.
        crawl = subprocess.run(
            ["unshare", "-rn", GANNET, "crawl", "http://a.example/", "--data", "site", "--wait", "0",
             "--json", "--quiet"], cwd=self.folder, capture_output=True, text=True, timeout=60)
        self.assertEqual(crawl.returncode, 0, crawl.stderr)
        self.assertEqual(console.json.loads(crawl.stdout)["failures"], {"connect_unreachable": 1})
        self.assertRegex(self.page("http://a.example/")["finished_reason"],
                         "^connect_unreachable: there is no route to the server")

    def test_a_ca_file_that_is_none_is_refused_before_anything_is_fetched(self):
        self.write("ca.pem", "not a certificate\n")
        error = self.gannet("crawl", "https://a.example/", "--connect-to", "127.0.0.1:9", "--ca-file",
                            "ca.pem", "--data", "site", code=2).err
        self.assertIn("no certificates that can be read", error)
        self.assertIn("fetch.ca_file", error)
        self.assertFalse((self.folder / "site").exists())


class BusyMachine(FakeWebTest):
    def crawl(self, web, *prefix: str) -> subprocess.Popen:
        return subprocess.Popen(
            [*prefix, GANNET, "crawl", web.seed, "--data", "site", "--wait", "0", "--json",
             "--quiet"], cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def finish(self, crawl: subprocess.Popen, web):
        out, error = crawl.communicate(timeout=120)
        self.assertEqual(crawl.returncode, 0, error)
        fetched = {url for url, outcome, _ in web.truth() if outcome == "fetched"}
        self.assertEqual(set(self.fetched("site")), fetched)
        done = console.json.loads(out)
        self.assertEqual((done["failed"], done["failures"]), (0, {}))
        return done, error

    def wait_until_it_fetches(self, crawl: subprocess.Popen) -> None:
        """A process that is stopped as it begins is late for nothing."""
        def size() -> int:
            return sum(file.stat().st_size for file in (self.folder / "site/archive").glob("*.open"))
        before = size()
        while crawl.poll() is None and size() <= before:
            time.sleep(0.01)

    def test_no_page_fails_because_the_process_got_no_time(self):
        web = self.serve("--hosts", "60", "--pages", "1500", "--https", "0.5", "--latency", "100ms")
        # All time limits are shorter than the time for which the process is stopped.
        self.site(web, fetch=", connect_timeout: 500ms, first_byte_timeout: 700ms, timeout: 900ms, "
                             "min_speed_time: 1s, retries: 0")
        crawl = self.crawl(web)
        for _ in range(3):
            self.wait_until_it_fetches(crawl)
            if crawl.poll() is None:
                crawl.send_signal(signal.SIGSTOP)
                time.sleep(1.5)
                crawl.send_signal(signal.SIGCONT)
        self.finish(crawl, web)
        reports = self.gannet("rounds", "--json", "--data", "site").json
        self.assertGreater(max(report["network"]["max_lag_seconds"] for report in reports), 1)
        busy = [r["round"] for r in reports if r["network"]["held_back_seconds"] >= 1]
        told = self.gannet("rounds", "--data", "site").out
        self.assertEqual(re.findall(r"^round (\d+): new connections were held back", told, re.M),
                         [str(number) for number in busy])

    def test_connections_are_cut_to_what_the_limit_of_open_files_allows(self):
        web = self.serve("--hosts", "150", "--pages", "900", "--https", "0.5", "--latency", "100ms")
        self.site(web, fetch=", connections: 500, retries: 0")
        crawl = self.crawl(web, "bash", "-c", 'ulimit -n 256; exec "$@"', "--")
        _, error = self.finish(crawl, web)
        self.assertRegex(error, "note: fetch.connections is 500, but .* only 256 files .* 56 "
                                "connections.*ulimit -n")

    def few_sockets(self) -> str:
        shim = self.folder / "few_sockets.so"
        subprocess.run(["cc", "-shared", "-fPIC", "-o", shim,
                        pathlib.Path(__file__).with_name("few_sockets.c")], check=True)
        return f"LD_PRELOAD={shim}"

    @unittest.skipIf(os.environ.get("GANNET_TEST_SLOW"), "sanitizers are preloaded first")
    def test_no_page_fails_because_a_socket_was_not_to_be_had(self):
        web = self.serve("--hosts", "100", "--pages", "600", "--https", "0.5")
        self.site(web, fetch=", retries: 0")
        self.finish(self.crawl(web, "env", self.few_sockets()), web)

    @unittest.skipIf(os.environ.get("GANNET_TEST_SLOW"), "sanitizers are preloaded first")
    def test_no_page_fails_because_there_was_no_socket_to_resolve_its_name(self):
        dns = EveryName()
        server = small_web.Server({"/": small_web.page("x")})
        self.addCleanup(server.listener.close)
        self.write("site/site.yaml",
                   "fetch: {delay: 20ms, retries: 0, allow_private: true, "
                   f"resolver: {{servers: ['{dns.address}']}}}}\narchive: {{min_free: 0}}\n")
        self.write("seeds", "".join(f"http://h{i}.example:{server.port}/\n" for i in range(5)))
        crawl = subprocess.run(
            ["env", self.few_sockets(), "GANNET_TEST_NO_SOCKETS=15", GANNET, "crawl", "seeds",
             "--data", "site", "--wait", "0", "--json", "--quiet"],
            cwd=self.folder, capture_output=True, text=True, timeout=120)
        self.assertEqual(crawl.returncode, 0, crawl.stderr)
        done = console.json.loads(crawl.stdout)
        self.assertEqual((done["fetched"], done["failed"], done["failures"]), (5, 0, {}))


if __name__ == "__main__":
    console.main()

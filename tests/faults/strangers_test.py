"""Strangers who call the sites of a federation that uses TLS: refused, told why, and counted.

A caller without a certificate of the federation's CA is refused in the TLS handshake: it is counted
in refused_handshakes, and the site's log says why; a caller that does not even speak TLS is not
counted. A caller that has such a certificate but is not a member is refused by the site, with an
error message, and counted in refused_calls. Forged calls on an open connection:
tests/federation/member/strangers_test.cc.
"""

import pathlib
import ssl
import socket
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "federation" / "lab"))
from federation_lab import Lab, Member, differences  # noqa: E402

GANNET, FAKE_WEB = sys.argv[1:3]
WEB = {"hosts": 40, "pages": 300, "largest_host": 30, "nasty": "redirects,errors"}


class StrangersTest(unittest.TestCase):
    """All tests share one federation, which no stranger may have changed at the end."""

    @classmethod
    def setUpClass(cls) -> None:
        folder = tempfile.TemporaryDirectory(prefix="gannet-test-")
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        cls.make_certs("certs", "tokyo", "zurich", "lima", "oslo")
        cls.make_certs("other", "tokyo", "zurich", "lima", "oslo")
        cls.lab = Lab(GANNET, FAKE_WEB, cls.folder, [], dict(WEB), delay="5ms")
        cls.addClassCleanup(cls.lab.web.stop)
        for name in ("tokyo", "zurich"):
            site = cls.lab.add(name, extra=cls.tls(name))
            cls.addClassCleanup(site.kill)
        cls.tokyo, cls.zurich = cls.lab.sites.values()
        cls.lab.inject(cls.lab.web.seeds())
        cls.lab.wait_quiet()

    @classmethod
    def make_certs(cls, folder: str, *names: str) -> None:
        sites = [word for name in names for word in ("--site", f"{name}=127.0.0.1")]
        subprocess.run([GANNET, "federation", "certs", "--out", cls.folder / folder, *sites],
                       check=True, capture_output=True)

    @classmethod
    def tls(cls, name: str, authority: str = "certs", key: str = "") -> str:
        folder = cls.folder / authority
        return f"tls: {{ca: {folder}/ca.pem, cert: {folder}/{name}.pem, key: {folder}/{key or name}.key}}\n"

    def tearDown(self) -> None:
        """The federation is as it was, whatever strangers tried."""
        self.lab.settle()
        self.assertEqual(self.lab.members(self.tokyo), ["tokyo", "zurich"])
        self.lab.wait_quiet()
        self.lab.verify()
        self.assertEqual(differences(self.lab.states(), self.lab.web.truth()), [])

    def stranger(self, name: str, extra: str, port: int = 0) -> Member:
        folder = self.folder / f"stranger-{self._testMethodName[5:25]}"
        site = Member(GANNET, folder, name, self.lab.web, join=self.tokyo.address,
                      extra=extra, delay="5ms")
        if port:
            site.port, site.address = port, f"127.0.0.1:{port}"
            site.write_yaml()
        self.addCleanup(site.kill)
        return site

    def refused_calls(self) -> int:
        return self.tokyo.says()["refused_calls"]

    def refused_handshakes(self) -> int:
        return self.tokyo.says()["refused_handshakes"]

    def error_of(self, stranger: Member) -> str:
        """What the stranger's own status says; it crawls nothing meanwhile."""
        stranger.serve()
        stranger.wait_for(lambda: stranger.says()["error"], 30, "an error")
        state = stranger.says()
        self.assertEqual(state["sites"], [])
        self.assertIn("federation_error", stranger.log())
        return state["error"]

    def invite(self, name: str) -> None:
        self.tokyo.run("federation", "invite", name)
        self.addCleanup(self.tokyo.run, "federation", "remove", name)

    def test_a_site_without_a_certificate_is_refused_by_tls(self) -> None:
        self.invite("lima")
        before = self.refused_calls()
        self.assertIn("cannot be reached", self.error_of(self.stranger("lima", "")))
        self.assertEqual(self.refused_calls(), before)

    def test_a_client_without_a_certificate_is_refused_by_tls(self) -> None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.load_verify_locations(self.folder / "certs/ca.pem")
        context.check_hostname = False
        context.set_alpn_protocols(["h2"])
        before = self.refused_handshakes()
        with socket.create_connection(("127.0.0.1", self.tokyo.port), timeout=20) as line:
            with self.assertRaises((ssl.SSLError, ConnectionError)):
                # In TLS 1.3 the client hears of the refusal with its first read.
                with context.wrap_socket(line) as secured:
                    secured.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
                    if secured.recv(100) == b"":
                        raise ConnectionError("closed")
        self.assertEqual(self.refused_handshakes(), before + 1)

    def test_the_certificate_of_another_authority_is_refused_by_tls(self) -> None:
        self.invite("lima")
        calls, handshakes = self.refused_calls(), self.refused_handshakes()
        # With its own authority alone it would refuse tokyo, and never show its certificate.
        mixed = self.folder / "mixed.pem"
        mixed.write_text("".join((self.folder / folder / "ca.pem").read_text()
                                 for folder in ("other", "certs")))
        tls = self.tls("lima", "other").replace(f"{self.folder}/other/ca.pem", str(mixed))
        stranger = self.stranger("lima", tls)
        self.assertIn("cannot be reached", self.error_of(stranger))
        self.tokyo.wait_for(lambda: self.refused_handshakes() > handshakes, 30, "it to be counted")
        self.assertEqual(self.refused_calls(), calls)
        self.assertRegex(self.tokyo.log(), "stranger_refused .*(no certificate|not one of this)")

    def test_a_certificate_for_another_name_may_not_join(self) -> None:
        self.invite("lima")
        before = self.refused_calls()
        stranger = self.stranger("lima", self.tls("oslo"))
        self.assertIn("'lima' wants to join, with the certificate of 'oslo'",
                      self.error_of(stranger))
        self.assertGreater(self.refused_calls(), before)

    def test_a_site_that_was_not_invited_may_not_join(self) -> None:
        before = self.refused_calls()
        stranger = self.stranger("lima", self.tls("lima"))
        self.assertIn("not invited", self.error_of(stranger))
        self.assertGreater(self.refused_calls(), before)
        self.assertIn("not invited", stranger.refused("federation", "join"))

    def test_a_site_with_other_rules_may_not_join(self) -> None:
        self.invite("lima")
        before = self.refused_calls()
        stranger = self.stranger("lima", self.tls("lima"))
        text = (stranger.folder / "site.yaml").read_text()
        (stranger.folder / "site.yaml").write_text(
            text.replace("urls: {", "urls: {deny: {domains: [example.org]}, "))
        self.assertIn("filters", self.error_of(stranger))
        self.assertGreater(self.refused_calls(), before)

    def test_who_answers_at_a_sites_address_must_be_that_site(self) -> None:
        self.zurich.stop()
        stranger = self.stranger("oslo", self.tls("oslo"), port=self.zurich.port)
        stranger.serve()
        try:
            self.tokyo.wait_for(
                lambda: "'oslo' answers there" in self.tokyo.says_of("zurich")["error"], 60,
                "it to look")
        finally:
            stranger.kill()
            self.zurich.serve()


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])

"""Certificates of sites that are renewed while the sites run: served on the peers' port within
seconds, without a restart, and the exchange goes on with them."""

import socket
import ssl
import subprocess

from commands_lab import GANNET, CommandsTest, main
from federation_lab import Member, differences


class Renewal(CommandsTest):
    def certs(self, *more: str) -> None:
        subprocess.run([GANNET, "federation", "certs", "--out", self.folder / "certs",
                        "--site", "tokyo=127.0.0.1", "--site", "zurich=127.0.0.1", *more],
                       check=True, capture_output=True)

    def on_disk(self, name: str) -> bytes:
        text = (self.folder / f"certs/{name}.pem").read_text()
        return ssl.PEM_cert_to_DER_cert(text[:text.index("-----END CERTIFICATE-----") + 25] + "\n")

    def served(self, site: Member) -> bytes:
        """The certificate that a caller sees on the peers' port."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.load_verify_locations(self.folder / "certs/ca.pem")
        context.load_cert_chain(self.folder / "certs/zurich.pem", self.folder / "certs/zurich.key")
        context.check_hostname = False
        context.set_alpn_protocols(["h2"])
        with socket.create_connection(("127.0.0.1", site.port), timeout=20) as line:
            with context.wrap_socket(line) as secured:
                return secured.getpeercert(binary_form=True)

    def test_renewed_certificates_are_taken_up_without_a_restart(self) -> None:
        self.certs()
        lab = self.lab([])
        for name in ("tokyo", "zurich"):
            folder = self.folder / "certs"
            lab.add(name, extra=f"tls: {{ca: {folder}/ca.pem, cert: {folder}/{name}.pem, "
                                f"key: {folder}/{name}.key}}\n")
        before = {name: self.on_disk(name) for name in lab.sites}
        processes = {name: site.agent.pid for name, site in lab.sites.items()}
        for name, site in lab.sites.items():
            self.assertEqual(self.served(site), before[name])

        self.certs("--renew")
        for name, site in lab.sites.items():
            renewed = self.on_disk(name)
            self.assertNotEqual(renewed, before[name])
            site.wait_for(lambda: self.served(site) == renewed, 30, "the renewed certificate")
        # The sites still reach each other.
        lab.inject(lab.web.seeds())
        lab.wait_quiet()
        self.assertEqual(differences(lab.states(), lab.web.truth()), [])
        self.assertEqual({name: site.agent.pid for name, site in lab.sites.items()}, processes)
        self.assertEqual([site.agent.poll() for site in lab.sites.values()], [None, None])


if __name__ == "__main__":
    main()

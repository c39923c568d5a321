"""gannet federation certs, judged by OpenSSL's own program."""

import os
import re
import stat
import subprocess

import console


class Certs(console.ConsoleTest):
    def certs(self, *more, **kwargs) -> console.Answer:
        return self.gannet("federation", "certs", "--out", "certs", *more, **kwargs)

    def openssl(self, *arguments) -> str:
        done = subprocess.run(["openssl", *map(str, arguments)], cwd=self.folder, timeout=60,
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def shown(self, name: str) -> str:
        return self.openssl("x509", "-in", f"certs/{name}.pem", "-noout", "-text")

    def files(self) -> dict[str, bytes]:
        return {path.name: path.read_bytes() for path in (self.folder / "certs").iterdir()}

    def test_the_chain_is_good_for_what_it_is_for(self):
        self.certs("--site", "tokyo=tokyo.example,192.0.2.7,2001:db8::1", "--site", "lima",
                   "--admin", "ann")
        verify = ["verify", "-x509_strict", "-CAfile", "certs/ca.pem"]
        for purpose in ("sslserver", "sslclient"):
            self.openssl(*verify, "-purpose", purpose, "certs/tokyo.pem", "certs/lima.pem")
        self.openssl(*verify, "-verify_hostname", "tokyo.example", "certs/tokyo.pem")
        self.openssl(*verify, "-verify_hostname", "localhost", "certs/lima.pem")
        for address in ("192.0.2.7", "2001:db8::1", "127.0.0.1", "::1"):
            self.openssl(*verify, "-verify_ip", address, "certs/tokyo.pem")
        self.openssl(*verify, "-purpose", "sslclient", "certs/ann.pem")
        with self.assertRaises(AssertionError):
            self.openssl(*verify, "-purpose", "sslserver", "certs/ann.pem")
        with self.assertRaises(AssertionError):
            self.openssl(*verify, "-verify_hostname", "tokyo.example", "certs/lima.pem")
        self.assertIn("URI:gannet:site:tokyo", self.shown("tokyo"))
        self.assertRegex(self.shown("ann"), "OU = administrators")
        self.assertIn("URI:gannet:administrator", self.shown("ann"))
        self.assertIn("prime256v1", self.shown("tokyo"))

    def test_keys_are_their_owners_and_so_is_the_folder(self):
        self.certs("--site", "tokyo", "--admin", "ann")
        modes = {path.name: stat.S_IMODE(path.stat().st_mode)
                 for path in (self.folder / "certs").iterdir()}
        self.assertEqual({name for name in modes if name.endswith(".key")},
                         {"ca.key", "tokyo.key", "ann.key"})
        self.assertEqual({mode for name, mode in modes.items() if name.endswith(".key")}, {0o600})
        self.assertEqual(stat.S_IMODE((self.folder / "certs").stat().st_mode), 0o700)

    def test_a_second_run_keeps_the_authority(self):
        self.assertTrue(self.certs("--site", "tokyo", "--json").json["ca"]["new"])
        first = self.files()
        answer = self.certs("--site", "lima", "--json").json
        self.assertFalse(answer["ca"]["new"])
        self.assertEqual({name: self.files()[name] for name in first}, first)
        self.openssl("verify", "-CAfile", "certs/ca.pem", "certs/tokyo.pem", "certs/lima.pem")

    def test_no_key_is_overwritten_and_nothing_is_written_beside_it(self):
        self.certs("--site", "tokyo")
        first = self.files()
        answer = self.certs("--site", "lima", "--site", "tokyo", code=1)
        self.assertIn("certs/tokyo.key exists already, and nothing was written", answer.err)
        self.assertEqual(self.files(), first)

    def test_a_renewal_keeps_the_key_and_changes_the_certificate(self):
        self.certs("--site", "tokyo", "--days", "1")
        first = self.files()
        self.certs("--site", "tokyo=tokyo.example", "--renew")
        second = self.files()
        self.assertEqual(set(second), set(first))
        self.assertEqual(second["tokyo.key"], first["tokyo.key"])
        self.assertEqual(second["ca.pem"], first["ca.pem"])
        self.assertNotEqual(second["tokyo.pem"], first["tokyo.pem"])
        self.openssl("verify", "-CAfile", "certs/ca.pem", "-verify_hostname", "tokyo.example",
                     "certs/tokyo.pem")
        public = self.openssl("pkey", "-in", "certs/tokyo.key", "-pubout")
        self.assertEqual(public, self.openssl("x509", "-in", "certs/tokyo.pem", "-noout", "-pubkey"))
        self.assertIn("--renew is for keys that are there",
                      self.certs("--site", "oslo", "--renew", code=1).err)

    def test_the_authority_may_be_elsewhere(self):
        self.certs("--site", "tokyo", "--ca", "safe")
        self.assertEqual(set(self.files()), {"ca.pem", "tokyo.pem", "tokyo.key"})
        self.assertEqual({path.name for path in (self.folder / "safe").iterdir()},
                         {"ca.pem", "ca.key"})
        self.openssl("verify", "-CAfile", "certs/ca.pem", "certs/tokyo.pem")
        answer = self.certs("--site", "lima", "--ca", "other", code=1)
        self.assertIn("certs/ca.pem is not the certificate of other/ca.pem", answer.err)
        self.assertFalse((self.folder / "other").exists())

    def test_half_an_authority_is_refused(self):
        self.certs("--site", "tokyo")
        os.remove(self.folder / "certs/ca.key")
        answer = self.certs("--site", "lima", code=1)
        self.assertIn("certs/ca.pem is there, but certs/ca.key is not", answer.err)

    def test_wrong_names_are_refused_and_leave_nothing(self):
        for arguments in (["--site", "to kyo"], ["--site", "../tokyo"], ["--admin", "a/b"],
                          ["--site", "ca"], ["--admin", "ca"], ["--site", "=tokyo.example"],
                          ["--site", "tokyo", "--admin", "tokyo"],
                          ["--site", "tokyo", "--site", "tokyo=b"],
                          ["--site", "tokyo=a.example,URI:gannet:administrator"],
                          ["--site", "tokyo=a.example:7701"], ["--site", "tokyo=a,,b"],
                          ["--site", "tokyo", "--days", "0"], ["--site", "tokyo", "--days", "3651"],
                          []):
            with self.subTest(arguments):
                self.certs(*arguments, code=2)
                self.assertFalse((self.folder / "certs").exists())

    def test_people_are_told_what_goes_where(self):
        out = self.certs("--site", "tokyo=tokyo.example", "--admin", "ann").out
        self.assertRegex(out, r"wrote certs/ca.pem and certs/ca.key: the authority, good until 20")
        self.assertRegex(out, r"wrote certs/tokyo.pem and certs/tokyo.key: site tokyo, reached as "
                              r"tokyo.example, localhost, 127.0.0.1, ::1; good until 20")
        self.assertIn("to the machine of tokyo: ca.pem tokyo.pem tokyo.key\n", out)
        self.assertIn("to the computer of ann: ca.pem ann.pem ann.key\n", out)
        self.assertIn("Keep certs/ca.key OFF the sites", out)

    def test_machines_are_told_too(self):
        answer = self.certs("--site", "tokyo=tokyo.example", "--admin", "ann", "--json").json
        self.assertEqual(answer["ca"]["key"], "certs/ca.key")
        (site,) = answer["sites"]
        self.assertEqual((site["name"], site["cert"], site["key"], site["hosts"]),
                         ("tokyo", "certs/tokyo.pem", "certs/tokyo.key",
                          ["tokyo.example", "localhost", "127.0.0.1", "::1"]))
        (here,) = self.certs("--site", "lima=127.0.0.1", "--json").json["sites"]
        self.assertEqual(here["hosts"], ["127.0.0.1", "localhost", "::1"])  # Each once.
        self.assertTrue(re.fullmatch(r"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ", site["expires"]))
        self.assertEqual([admin["name"] for admin in answer["administrators"]], ["ann"])

    def test_a_file_in_place_of_the_folder_is_said(self):
        (self.folder / "certs").write_text("not a folder")
        self.certs("--site", "tokyo", code=1)


if __name__ == "__main__":
    console.main()

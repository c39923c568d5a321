"""deploy/systemd, without installing anything: the units are correct, and as hardened as before.

Usage: units_test.py GANNET
"""

import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

GANNET = pathlib.Path(sys.argv[1]).resolve()
UNITS = pathlib.Path(__file__).resolve().parents[2] / "deploy/systemd"
# The most that `systemd-analyze security` may give a unit, of 100. All have 14 now; 0 would be a unit
# that can do nothing, but a crawler needs the network.
MOST_EXPOSED = 15


def settings(name: str) -> dict[str, list[str]]:
    found = {}
    for key, value in re.findall(r"(?m)^(\w+)=(.*)$", (UNITS / name).read_text()):
        found.setdefault(key, []).append(value)
    return found


class Units(unittest.TestCase):
    def test_systemd_finds_nothing_to_say(self):
        with tempfile.TemporaryDirectory() as folder:
            for path in (*UNITS.glob("*.service"), *UNITS.glob("*.timer")):
                text = path.read_text().replace("/usr/bin/gannet", str(GANNET))
                (pathlib.Path(folder) / path.name).write_text(text)
            files = sorted(pathlib.Path(folder).iterdir())
            self.assertEqual(len(files), 4)
            done = subprocess.run(["systemd-analyze", "verify", "--man=no", *files],
                                  capture_output=True, text=True, timeout=60)
            self.assertEqual((done.returncode, done.stdout + done.stderr), (0, ""))

    def test_they_stay_as_hardened_as_they_are(self):
        for name in ("gannet.service", "gannet@.service", "gannet-round.service"):
            done = subprocess.run(["systemd-analyze", "security", "--offline=yes",
                                   f"--threshold={MOST_EXPOSED}", UNITS / name],
                                  capture_output=True, text=True, timeout=60)
            print(done.stdout.splitlines()[-1])
            self.assertEqual(done.returncode, 0, done.stdout)

    def test_the_round_is_as_hardened_as_the_service(self):
        service, one_round = settings("gannet.service"), settings("gannet-round.service")
        theirs = {"Description", "Documentation", "Type", "ExecStart", "ExecReload", "After",
                  "Wants", "Restart", "RestartSec", "RestartPreventExitStatus", "WatchdogSec",
                  "TimeoutStartSec", "StartLimitIntervalSec", "SuccessExitStatus", "WantedBy"}
        self.assertEqual({k: v for k, v in service.items() if k not in theirs},
                         {k: v for k, v in one_round.items() if k not in theirs})

    def test_a_site_among_several_differs_in_names_only(self):
        service, instance = settings("gannet.service"), settings("gannet@.service")
        self.assertEqual(instance["ExecStart"], ["/usr/bin/gannet serve --data /var/lib/gannet/%i "
                                                 "--config /etc/gannet/%i.yaml"])
        self.assertEqual(instance["StateDirectory"], ["gannet/%i"])
        theirs = {"Description", "ExecStart", "StateDirectory", "After"}
        self.assertEqual({k: v for k, v in service.items() if k not in theirs},
                         {k: v for k, v in instance.items() if k not in theirs})

    def test_the_service_is_what_the_agent_expects(self):
        service = settings("gannet.service")
        self.assertEqual(service["Type"], ["notify"])
        self.assertEqual(service["ExecStart"], ["/usr/bin/gannet serve --data /var/lib/gannet "
                                                "--config /etc/gannet/site.yaml"])
        self.assertIn("WatchdogSec", service)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])

"""The life of the package on a machine: installed, used, upgraded, removed, purged. Runs as root in
the machine of machine.sh, under a real systemd; /in has gannet.deb, gannet-fakeweb and the guide. The
tests run in order, because each needs the one before."""

import json
import os
import pathlib
import pwd
import re
import shutil
import subprocess
import textwrap
import time
import unittest
import urllib.request

DATA = "/var/lib/gannet"
YAML = pathlib.Path("/etc/gannet/site.yaml")
WEB_CA = "/run/web-ca.pem"
# Files that dpkg, the journal and man-db keep of any package; and the user, which stays by design.
BOOKKEEPING = re.compile(r"/var/lib/dpkg/|/var/log/|/var/cache/|/var/lib/systemd/|/etc/\.pwd\.lock"
                         r"|/etc/(passwd|group|shadow|gshadow|subuid|subgid)-?$"
                         r"|/var/tmp/systemd-private-|.*/__pycache__")


def run(*command: str, code: int = 0) -> str:
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    if done.returncode != code:
        raise AssertionError(f"{command} ended with {done.returncode}: {done.stdout}{done.stderr}")
    return done.stdout + done.stderr


def as_gannet(*command: str) -> str:
    return run("runuser", "-u", "gannet", "--", *command)


def state(unit: str, name: str) -> str:
    return run("systemctl", "show", unit, "--property", name, "--value").strip()


def files() -> set[str]:
    return set(run("find", "/etc", "/usr", "/var", "/opt", "/srv", "-xdev").splitlines())


def changed(before: set[str], after: set[str]) -> list[str]:
    """What is only in `after` and was written by this machine. (On the machine below, of which this
    one is a copy, packages may be installed meanwhile.) /upper has what was written or deleted
    here."""
    return sorted(path for path in after - before
                  if os.path.lexists(f"/upper{path}") and not BOOKKEEPING.match(path))


def told(section: str) -> list[str]:
    """The blocks of commands in that section of the operator's guide, word for word."""
    guide = pathlib.Path("/in/guide.md").read_text()
    text = re.search(rf"(?ms)^## {section}$(.*?)^## ", guide).group(1)
    return [textwrap.dedent(block) for block in re.findall(r"(?ms)^ *```\n(.*?)^ *```$", text)]


def type_in(commands: str) -> str:
    """Runs the commands as root would type them, line by line, up to the first that fails."""
    tools = pathlib.Path("/tmp/tools")
    if not shutil.which("sudo"):  # Commands run as root anyway.
        tools.mkdir(exist_ok=True)
        (tools / "sudo").write_text('#!/bin/sh\nuser=$2; shift 2; exec runuser -u "$user" -- "$@"\n')
        (tools / "sudo").chmod(0o755)
    return run("env", f"PATH={tools}:{os.environ['PATH']}", "bash", "-e", "-c", commands)


class Story(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        # man-db would index all pages of the machine after each step.
        pathlib.Path("/var/lib/man-db/auto-update").unlink(missing_ok=True)
        # Container images forbid packages to start or restart anything.
        pathlib.Path("/usr/sbin/policy-rc.d").unlink(missing_ok=True)
        cls.before = files()
        # tests/run.sh --https sets the share of its hosts that are on https.
        cls.web = subprocess.Popen(["/in/gannet-fakeweb", "serve", "--json", "--hosts", "3",
                                    "--pages", "30", "--https", pathlib.Path("/in/https").read_text(),
                                    "--tls-port", "0", "--ca-out", WEB_CA], stdout=subprocess.PIPE)
        first = json.loads(cls.web.stdout.readline())
        os.chmod(WEB_CA, 0o644)
        cls.seed, cls.web_at = first["seed"], f"127.0.0.0/8:{first['port']},{first['tls_port']}"

    @classmethod
    def tearDownClass(cls):
        cls.web.terminate()
        cls.web.communicate()

    def known(self) -> dict:
        return json.loads(as_gannet("gannet", "status", "--json", "--data", DATA))["pages"]

    def test_01_it_installs_and_starts_nothing(self):
        said = run("dpkg", "-i", "/in/gannet.deb")
        self.assertIn("whom webmasters can write to", said)
        user = pwd.getpwnam("gannet")
        self.assertEqual((user.pw_dir, user.pw_shell), (DATA, "/usr/sbin/nologin"))
        self.assertLess(user.pw_uid, 1000)
        data = os.stat(DATA)
        self.assertEqual((data.st_uid, data.st_mode & 0o777), (user.pw_uid, 0o750))
        for unit in ("gannet.service", "gannet-round.timer"):
            self.assertEqual(state(unit, "LoadState"), "loaded")
            self.assertEqual(state(unit, "ActiveState"), "inactive")
            self.assertEqual(state(unit, "UnitFileState"), "disabled")
        self.assertIn("gannet 0.", run("gannet", "--version"))
        self.assertEqual(run("dpkg", "--verify", "gannet"), "")

    def test_02_systemd_accepts_the_installed_units(self):
        units = [f"/lib/systemd/system/{name}" for name in
                 ("gannet.service", "gannet@.service", "gannet-round.service", "gannet-round.timer")]
        self.assertEqual(run("systemd-analyze", "verify", *units), "")

    def test_03_every_command_has_its_page(self):
        commands = re.findall(r"(?m)^  ([a-z]+)  ", run("gannet", "--help").partition(
            "Subcommands:")[2])
        self.assertIn("verify", commands)
        for page in ["gannet", *(f"gannet-{command}" for command in commands)]:
            self.assertIn("SYNOPSIS", run("man", page))

    def test_04_without_a_contact_the_real_web_is_left_alone(self):
        as_gannet("gannet", "inject", self.seed, "--data", DATA)
        run("systemctl", "start", "gannet-round.service", code=1)
        self.assertEqual(state("gannet-round.service", "ExecMainStatus"), "2")
        run("systemctl", "reset-failed", "gannet-round.service")

    def test_05_a_round_runs_in_the_hardened_unit(self):
        text = YAML.read_text()
        for before, after in (('connect_to: ""', f'connect_to: "{self.web_at}"'),
                              ('ca_file: ""', f'ca_file: "{WEB_CA}"'),
                              ("delay: 1s ", "delay: 20ms "), ("min_free: 5GiB", "min_free: 0"),
                              ("low_priority: false", "low_priority: true")):
            self.assertIn(before, text)
            text = text.replace(before, after)
        YAML.write_text(text)
        run("systemctl", "start", "gannet-round.service")
        self.assertEqual(state("gannet-round.service", "Result"), "success")
        self.assertEqual(self.known()["fetched"], 1)
        self.assertIn("1 fetched", run("journalctl", "--unit", "gannet-round", "--no-pager"))

    def test_06_the_timer_runs_it_again(self):
        run("systemctl", "enable", "--now", "gannet-round.timer")
        self.assertRegex(run("systemctl", "list-timers", "gannet-round.timer"), "left|min")
        run("systemctl", "start", "gannet-round.service")  # What the timer does.
        self.assertGreater(self.known()["fetched"], 1)
        run("systemctl", "disable", "--now", "gannet-round.timer")

    def test_07_a_crawl_by_hand_ends_and_verifies(self):
        run("gannet", "crawl", self.seed, "--data", "/tmp/crawl", "--connect-to", self.web_at,
            "--ca-file", WEB_CA, "--delay", "0.02", "--wait", "0", "--quiet")
        self.assertTrue(json.loads(run("gannet", "verify", "--full", "--json", "--data",
                                       "/tmp/crawl"))["ok"])

    def test_08_the_service_says_when_it_is_ready_reloads_and_stops(self):
        run("systemctl", "enable", "--now", "gannet")  # Returns when READY=1 came.
        self.assertEqual(state("gannet", "ActiveState"), "active")
        pid = state("gannet", "MainPID")
        status = pathlib.Path(f"/proc/{pid}/status").read_text()
        for line in ("NoNewPrivs:\t1", "Seccomp:\t2", "CapBnd:\t0000000000000000"):
            self.assertIn(line, status)
        metrics = urllib.request.urlopen("http://127.0.0.1:7781/metrics").read().decode()
        self.assertIn("gannet_build_info", metrics)
        self.assertRegex(metrics, r"(?m)^process_start_time_seconds [1-9]")
        self.assertIn("agent", json.loads(as_gannet("gannet", "status", "--json", "--data", DATA)))
        run("systemctl", "reload", "gannet")
        for _ in range(100):  # A reload is over when the agent says so.
            if state("gannet", "ActiveState") == "active":
                break
            time.sleep(0.1)
        self.assertEqual(state("gannet", "MainPID"), pid)
        began = time.monotonic()
        run("systemctl", "stop", "gannet")
        self.assertLess(time.monotonic() - began, 15)
        self.assertEqual(state("gannet", "Result"), "success")

    def test_09_the_guides_commands_back_up_and_restore(self):
        [back_up, _, nightly, restore, try_it] = told("Backup and restore")
        run("systemctl", "start", "gannet")
        before = self.known()["fetched"]
        type_in(back_up)
        # What cron makes of its line: five fields of time, the user, and \% is %.
        fields = nightly.replace("\\%", "%").split(maxsplit=6)
        self.assertEqual(fields[5], "gannet")
        as_gannet("sh", "-c", fields[6])
        self.assertEqual(len(os.listdir("/var/backups/gannet")), 2)

        type_in(restore)
        self.assertEqual(state("gannet", "ActiveState"), "active")
        self.assertGreaterEqual(self.known()["fetched"], before)
        self.assertEqual(os.readlink(f"{DATA}/site.yaml"), str(YAML))
        type_in(try_it)
        run("systemctl", "stop", "gannet")
        run("rm", "-r", f"{DATA}.old")

    def test_10_several_sites_run_beside_each_other(self):
        # As the guide tells it: settings of their own, and the unit's template.
        for i, name in enumerate(("tokyo", "lima")):
            (YAML.parent / f"{name}.yaml").write_text(
                f"site: {{name: {name}, data: /var/lib/gannet/{name}}}\n"
                f"listen: {{http: '127.0.0.1:{7801 + i}'}}\n"
                f"fetch: {{connect_to: '{self.web_at}', ca_file: {WEB_CA}}}\narchive: {{min_free: 0}}\n")
        run("systemctl", "enable", "--now", "gannet@tokyo", "gannet@lima")
        for i, name in enumerate(("tokyo", "lima")):
            metrics = urllib.request.urlopen(f"http://127.0.0.1:{7801 + i}/metrics").read().decode()
            self.assertIn("gannet_build_info", metrics)
            status = json.loads(as_gannet("gannet", "status", "--json", "--config",
                                          f"/etc/gannet/{name}.yaml"))
            self.assertEqual(status["site"], name)
            self.assertTrue(os.path.isdir(f"{DATA}/{name}/crawl_db"))
        run("systemctl", "stop", "gannet@lima")

    def test_11_an_upgrade_keeps_the_configuration_and_restarts_what_ran(self):
        tokyo = state("gannet@tokyo", "MainPID")
        run("systemctl", "start", "gannet")
        before = state("gannet", "MainPID")
        mine = YAML.read_text()
        run("dpkg", "-i", "/in/gannet.deb")
        self.assertEqual(YAML.read_text(), mine)
        self.assertEqual(state("gannet", "ActiveState"), "active")
        self.assertNotEqual(state("gannet", "MainPID"), before)
        self.assertEqual(state("gannet@tokyo", "ActiveState"), "active")
        self.assertNotEqual(state("gannet@tokyo", "MainPID"), tokyo)
        self.assertEqual(state("gannet@lima", "ActiveState"), "inactive")

    def test_12_removed_it_is_stopped_and_keeps_configuration_and_crawl(self):
        run("dpkg", "-r", "gannet")
        self.assertFalse(os.path.exists("/usr/bin/gannet"))
        for unit in ("gannet", "gannet@tokyo"):
            self.assertNotEqual(state(unit, "ActiveState"), "active")
        self.assertTrue(YAML.exists())
        self.assertTrue(os.path.isdir(f"{DATA}/crawl_db"))

    def test_13_purged_it_keeps_only_the_crawl_and_says_so(self):
        self.assertIn(f"{DATA} is not empty and was kept", run("dpkg", "-P", "gannet"))
        self.assertFalse(YAML.exists())
        for name in ("tokyo", "lima"):  # The operator wrote them.
            (YAML.parent / f"{name}.yaml").unlink()
        YAML.parent.rmdir()
        self.assertTrue(os.path.isdir(f"{DATA}/crawl_db"))
        self.assertFalse(os.path.lexists(f"{DATA}/site.yaml"))
        run("rm", "-r", DATA)
        subprocess.run(["rm", "-rf", "/var/backups/gannet"], check=True)
        self.assertEqual(changed(self.before, files()), [])

    def test_14_installed_and_purged_nothing_is_left(self):
        run("dpkg", "-i", "/in/gannet.deb")
        self.assertTrue(YAML.exists() and os.path.isdir(DATA))
        run("dpkg", "-P", "gannet")
        now = files()
        self.assertEqual((changed(self.before, now), changed(now, self.before)), ([], []))


if __name__ == "__main__":
    unittest.main(verbosity=2, failfast=True)

"""`docker compose up` without an engine: the commands of deploy/docker/compose.yaml, run here in the
order that its depends_on asks for, on loopback, with the settings and certificates of its sites.
What comes out must be a federation of three.

Usage: compose_up_test.py GANNET
Exit code 77: skipped, and why.
"""

import json
import os
import pathlib
import re
import socket
import subprocess
import sys
import tempfile
import time
import unittest

try:
    import yaml
except ImportError:
    print("Skipped\nPython has no module yaml (Debian: python3-yaml)")
    sys.exit(77)

GANNET = pathlib.Path(sys.argv[1]).resolve()
DOCKER = pathlib.Path(__file__).resolve().parents[2] / "deploy/docker"
SERVICES = yaml.safe_load((DOCKER / "compose.yaml").read_text())["services"]
SITES = ("tokyo", "zurich", "lima")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def order(wanted: list[str]) -> list[str]:
    """Services, each after those that it waits for."""
    done: list[str] = []

    def visit(name: str, path: tuple[str, ...] = ()):
        assert name not in path, f"{name} waits for itself: {path}"
        for needed in SERVICES[name].get("depends_on", {}):
            visit(needed, (*path, name))
        if name not in done:
            done.append(name)

    for name in wanted:
        visit(name)
    return done


class ComposeUp(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="gannet-compose-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.ports = {name: free_port() for name in SITES}
        self.agents: dict[str, subprocess.Popen] = {}
        (self.folder / "bin").mkdir()
        (self.folder / "bin/gannet").symlink_to(GANNET)

    def mounts(self, service: str) -> dict[str, pathlib.Path]:
        """Where the container's folders are here."""
        places = {}
        for volume in SERVICES[service].get("volumes", []):
            source, target = volume.split(":")[:2]
            if source.startswith("."):
                place = self.folder / "settings" / pathlib.Path(source).name
                place.parent.mkdir(exist_ok=True)
                place.write_text(self.on_loopback((DOCKER / source).read_text()))
            else:
                place = self.folder / "volumes" / source
                place.mkdir(parents=True, exist_ok=True)
            places[target] = place
        return places

    def on_loopback(self, settings: str) -> str:
        """A site's settings, with containers' names and ports replaced by loopback's. Certificates
        stay as they are."""
        for name, port in self.ports.items():
            settings = settings.replace(f"{name}:7701", f"127.0.0.1:{port}")
        own = self.ports[yaml.safe_load(settings)["site"]["name"]]
        settings = settings.replace("0.0.0.0:7701", f"127.0.0.1:{own}")
        settings = re.sub(r"0\.0\.0\.0:778\d", "127.0.0.1:0", settings)
        # In the container the certificates are in /etc/gannet/certs, beside the settings.
        name = yaml.safe_load(settings)["site"]["name"]
        return settings.replace(" certs/", f" {self.folder}/volumes/{name}-certs/")

    def here(self, service: str, word: str) -> str:
        for target, place in sorted(self.mounts(service).items(), reverse=True):
            word = re.sub(rf"(?<![\w/]){re.escape(target)}\b", str(place), word)
        # The script of the service certs names folders above the volumes, and a user that this
        # machine does not have.
        if service == "certs":
            for name in (*SITES, "operator"):
                (self.folder / "certs").mkdir(exist_ok=True)
                link = self.folder / "certs" / name
                if not link.exists():
                    link.symlink_to(self.folder / "volumes" / f"{name}-certs")
            word = re.sub(r"(?m)^chown .*$", "", re.sub(r"(?<=\s)/certs\b", f"{self.folder}/certs", word))
        return word.replace("$$", "$")

    def run_once(self, service: str) -> subprocess.CompletedProcess:
        words = [self.here(service, word)
                 for key in ("entrypoint", "command") for word in SERVICES[service][key]]
        environment = {**os.environ, "PATH": f"{self.folder}/bin:{os.environ['PATH']}"}
        return subprocess.run(words, env=environment, capture_output=True, text=True, timeout=120)

    def serve(self, service: str):
        command = [re.sub(r"\$\{GANNET_CONTACT[^}]*\}", "test@example.org", self.here(service, word))
                   for word in SERVICES[service]["command"]]
        log = self.folder / f"{service}.log"
        with open(log, "wb") as out:
            agent = subprocess.Popen([GANNET, *command], stdout=out, stderr=out)
        self.agents[service] = agent
        self.addCleanup(self.end, agent)
        # The container's health check asks /healthz; here that has a port of its own choice, so
        # the log is read instead.
        self.wait_for(lambda: " agent_started " in log.read_text() or agent.poll() is not None,
                      f"{service} to start")
        self.assertIsNone(agent.poll(), log.read_text())

    def end(self, agent: subprocess.Popen):
        agent.terminate()
        agent.wait(timeout=30)

    def wait_for(self, condition, what: str):
        until = time.monotonic() + 60
        while not condition():
            self.assertLess(time.monotonic(), until, f"waited for {what}: {self.status('tokyo')}")
            time.sleep(0.1)

    def status(self, site: str) -> dict:
        done = subprocess.run([GANNET, "federation", "status", "--json", "--data",
                               self.folder / "volumes" / f"{site}-data"],
                              capture_output=True, text=True, timeout=60)
        return json.loads(done.stdout)["federation"] if done.returncode == 0 else {}

    def members(self, site: str) -> set[str]:
        return {other["name"] for other in self.status(site).get("sites", [])
                if other["state"] == "member" and other["alive"]}

    def test_what_comes_up_is_a_federation_of_three(self):
        for service in order(list(SITES)):
            if service in SITES:
                self.serve(service)
                continue
            done = self.run_once(service)
            self.assertEqual(done.returncode, 0, f"{service}: {done.stdout}{done.stderr}")
        for site in SITES:
            self.wait_for(lambda: self.members(site) == set(SITES), f"{site} to see all three")
        self.wait_for(lambda: self.status("tokyo").get("handing_off", 0) is None, "the hand-off's end")
        # `docker compose up` again, later: it repeats nothing, and that is no error.
        epoch = self.status("tokyo")["epoch"]
        for service in ("certs", "invite"):
            done = self.run_once(service)
            self.assertEqual((done.returncode, done.stderr), (0, ""), service)
        self.assertEqual(self.status("tokyo")["epoch"], epoch)

    def test_a_site_that_is_not_invited_does_not_become_a_member(self):
        """Shows that the invitations are needed: a site that has none is kept out."""
        for service in ("certs", "tokyo", "zurich"):
            if service == "certs":
                self.assertEqual(self.run_once(service).returncode, 0)
            else:
                self.serve(service)
        self.wait_for(lambda: "not invited" in self.status("zurich").get("error", ""),
                      "zurich to be refused")
        self.assertEqual(self.members("tokyo"), {"tokyo"})


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])

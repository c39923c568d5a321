"""deploy/docker without an engine: every path, port, flag and name that the files rely on is there,
and their scripts do what they shall. (compose_up_test.py runs what they run.)

Usage: docker_test.py GANNET
Exit code 77: skipped, and why.
"""

import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest

try:
    import yaml
except ImportError:
    print("Skipped\nPython has no module yaml (Debian: python3-yaml)")
    sys.exit(77)

GANNET = pathlib.Path(sys.argv[1]).resolve()
ROOT = pathlib.Path(__file__).resolve().parents[2]
DOCKER = ROOT / "deploy/docker"
COMPOSE = yaml.safe_load((DOCKER / "compose.yaml").read_text())
SITES = ("tokyo", "zurich", "lima")

# The keys that a service may have, and their types: the part of the Compose specification that we
# use.
SERVICE = {"image": str, "build": dict, "command": list, "depends_on": dict, "entrypoint": list,
           "healthcheck": dict, "restart": str, "stop_grace_period": str, "read_only": bool,
           "tmpfs": list, "cap_drop": list, "security_opt": list, "ulimits": dict, "user": str,
           "network_mode": str, "volumes": list, "ports": list}
HEALTHCHECK = {"test": list, "interval": str, "timeout": str, "retries": int,
               "start_period": str, "start_interval": str}


def run(*command, **more) -> str:
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, **more)
    if done.returncode != 0:
        raise AssertionError(f"{command} ended with {done.returncode}: {done.stdout}{done.stderr}")
    return done.stdout


def site_yaml(name: str) -> dict:
    return yaml.safe_load((DOCKER / f"sites/{name}.yaml").read_text())


def port_of(address: str) -> int:
    return int(address.rsplit(":", 1)[1])


def instructions() -> list[tuple[str, str]]:
    """The Dockerfile's instructions, with continued lines joined."""
    text = re.sub(r"(?m)^\s*#.*\n", "", (DOCKER / "Dockerfile").read_text())
    lines = re.sub(r"\\\n\s*", " ", text).splitlines()
    return [tuple(line.split(maxsplit=1)) for line in lines if line.strip()]


class Compose(unittest.TestCase):
    def setUp(self):
        self.services = COMPOSE["services"]

    def check_types(self, found: dict, known: dict):
        self.assertLessEqual(set(found), set(known))
        for key, value in found.items():
            self.assertIsInstance(value, known[key], key)

    def test_it_has_the_shape_of_a_compose_file(self):
        self.assertEqual(set(COMPOSE), {"name", "x-site", "x-joins", "services", "volumes"})
        self.assertEqual(set(self.services), {*SITES, "certs", "invite", "prometheus"})
        for name, service in self.services.items():
            with self.subTest(name):
                self.check_types(service, SERVICE)
                self.check_types(service.get("healthcheck", {}), HEALTHCHECK)
                for key in ("command", "entrypoint", "tmpfs", "cap_drop", "ports", "volumes"):
                    for word in service.get(key, []):
                        self.assertIsInstance(word, str)
                for needed, how in service.get("depends_on", {}).items():
                    self.assertIn(needed, self.services)
                    self.assertEqual(how, {"condition": "service_healthy" if needed in SITES
                                           else "service_completed_successfully"})

    def test_sites_that_join_are_invited_before(self):
        # `up --wait` needs it too: it lets a service end only if others wait for its completion;
        # any other that ends is a failure (github.com/docker/compose/pull/9572).
        script = self.services["invite"]["command"][0]
        [invited] = re.findall(r"for name in (.+); do\n.*\n.*\n.*\n\s+gannet federation invite", script)
        joining = [name for name in SITES if "join" in site_yaml(name)["federation"]]
        self.assertEqual(invited.split(), joining)
        self.assertEqual([name for name in SITES if "invite" in self.services[name]["depends_on"]],
                         joining)
        # It asks the site that they join through its socket, which is in that site's data folder.
        self.assertEqual(self.services["invite"]["volumes"],
                         [volume for volume in self.services["tokyo"]["volumes"]
                          if volume.startswith("tokyo-data:")])
        self.assertEqual(list(self.services["invite"]["depends_on"]), ["tokyo"])

    def test_every_site_waits_for_its_certificates(self):
        for name in SITES:
            self.assertIn("certs", self.services[name]["depends_on"])

    def test_images_are_built_here_or_have_a_version(self):
        for name, service in self.services.items():
            with self.subTest(name):
                if "build" in service:
                    context = (DOCKER / service["build"]["context"]).resolve()
                    self.assertEqual(context, ROOT)
                    self.assertTrue((context / service["build"]["dockerfile"]).is_file())
                    self.assertEqual(service["image"], "gannet")
                else:
                    self.assertRegex(service["image"], r":v\d+\.\d+\.\d+$")

    def test_paths_and_volumes_are_there(self):
        used = set()
        for name, service in self.services.items():
            for volume in service.get("volumes", []):
                source, target, *mode = volume.split(":")
                self.assertTrue(target.startswith("/"), volume)
                self.assertLessEqual(set(mode), {"ro"})
                if source.startswith("."):
                    self.assertTrue((DOCKER / source).is_file(), volume)
                    self.assertEqual(mode, ["ro"])
                else:
                    self.assertIn(source, COMPOSE["volumes"])
                    used.add(source)
        self.assertEqual(used, set(COMPOSE["volumes"]))

    def test_no_site_sees_a_key_of_others(self):
        for name in SITES:
            volumes = [volume.split(":")[0] for volume in self.services[name]["volumes"]]
            self.assertEqual(volumes, [f"./sites/{name}.yaml", f"{name}-certs", f"{name}-data"])

    def test_ports_are_on_loopback_once_each_and_lead_to_dashboards(self):
        published = [port.rsplit(":", 1) for service in self.services.values()
                     for port in service.get("ports", [])]
        outside = [host for host, _ in published]
        self.assertEqual(len(outside), len(set(outside)))
        for host in outside:
            self.assertRegex(host, r"^127\.0\.0\.1:\d+$")
        for name in SITES:
            [port] = self.services[name]["ports"]
            self.assertEqual(port_of(port), port_of(site_yaml(name)["listen"]["http"]))

    def test_sites_are_asked_for_their_health_where_they_answer(self):
        for name in SITES:
            asked = self.services[name]["healthcheck"]["test"]
            self.assertEqual(asked[:2], ["CMD", "curl"])
            port = port_of(site_yaml(name)["listen"]["http"])
            self.assertEqual(asked[-1], f"http://127.0.0.1:{port}/healthz")

    def test_commands_and_flags_exist(self):
        for name in SITES:
            command, *flags = self.services[name]["command"]
            known = run(GANNET, command, "--help")
            for flag in flags:
                self.assertIn(f"  {flag.split('=')[0]} ", known)

    def test_sites_and_services_that_read_their_folders_are_confined(self):
        for name in (*SITES, "invite"):
            service = self.services[name]
            self.assertTrue(service["read_only"])
            self.assertEqual(service["cap_drop"], ["ALL"])
            self.assertEqual(service["security_opt"], ["no-new-privileges:true"])
            self.assertNotIn("user", service)  # The image's, which is not root.


class Sites(unittest.TestCase):
    def test_their_settings_are_taken(self):
        for name in SITES:
            run(GANNET, "check", "url", "https://example.org/", "--config",
                DOCKER / f"sites/{name}.yaml")

    def test_they_are_three_places_that_find_each_other(self):
        places = set()
        for name in SITES:
            site = site_yaml(name)
            self.assertEqual(site["site"]["name"], name)
            places.add(tuple(site["site"]["location"]))
            peers = port_of(site["listen"]["peers"])
            self.assertEqual(site["federation"]["address"], f"{name}:{peers}")
            join = site["federation"].get("join")
            self.assertEqual(join is None, name == "tokyo")
            if join is not None:
                self.assertEqual(join, site_yaml(join.split(":")[0])["federation"]["address"])
        self.assertEqual(len(places), 3)

    def test_the_certificates_that_they_want_are_made_once(self):
        script = COMPOSE["services"]["certs"]["command"][0].replace("$$", "$")
        with tempfile.TemporaryDirectory() as folder:
            # Replaces the container's folders, and its user, which this machine does not have.
            here = re.sub(r" /(ca|certs)\b", rf" {folder}/\1", script)
            here = re.sub(r"(?m)^chown .*$", "", here).replace("gannet fed", f"{GANNET} fed")
            volumes = pathlib.Path(folder) / "certs"
            for name in (*SITES, "operator"):
                (volumes / name).mkdir(parents=True)
            run("/bin/sh", "-euc", here)
            first = {path: path.read_bytes() for path in volumes.rglob("*") if path.is_file()}
            run("/bin/sh", "-euc", here)
            self.assertEqual({path: path.read_bytes() for path in volumes.rglob("*")
                              if path.is_file()}, first)
            self.assertEqual(list(volumes.rglob("ca.key")), [])
            for name in SITES:
                tls = site_yaml(name)["tls"]
                folder_of = {key: volumes / name / pathlib.PurePath(path).relative_to("certs")
                             for key, path in tls.items()}
                for path in folder_of.values():
                    self.assertIn(path, first)
                run("openssl", "verify", "-CAfile", folder_of["ca"], "-verify_hostname", name,
                    folder_of["cert"])


class Dockerfile(unittest.TestCase):
    def test_what_is_copied_is_there(self):
        stages = {words.split(" AS ")[1] for kind, words in instructions()
                  if kind == "FROM" and " AS " in words}
        copied = [shlex.split(words) for kind, words in instructions() if kind == "COPY"]
        self.assertGreater(len(copied), 3)
        for *sources, _ in copied:
            if sources[0].startswith("--from="):
                self.assertIn(sources[0].removeprefix("--from="), stages)
                continue
            for source in sources:
                self.assertTrue((ROOT / source).exists(), source)

    def test_both_stages_are_debian_12(self):
        self.assertEqual([words.split()[0] for kind, words in instructions() if kind == "FROM"],
                         ["debian:12", "debian:12-slim"])

    def test_it_builds_with_the_packages_of_the_one_list(self):
        scripts = "\n".join(words for kind, words in instructions() if kind == "RUN")
        self.assertIn('. deploy/packages.sh && gannet_install "${GANNET_BUILD_PACKAGES[@]}"', scripts)
        self.assertEqual(re.findall(r"\S+-dev\b", scripts), [])
        presets = (ROOT / "CMakePresets.json").read_text()
        for preset in re.findall(r"--preset (\w+)", scripts):
            self.assertIn(f'"name": "{preset}"', presets)

    def test_its_scripts_are_shell(self):
        for kind, words in instructions():
            if kind == "RUN":
                run("bash", "-n", "-c", words)

    def test_it_runs_as_its_own_user_what_the_agent_is(self):
        last = {kind: words for kind, words in instructions()}
        self.assertEqual(last["USER"], "gannet")
        self.assertEqual(yaml.safe_load(last["ENTRYPOINT"]), ["/usr/bin/gannet"])
        command, *flags = yaml.safe_load(last["CMD"])
        known = run(GANNET, command, "--help")
        for flag in flags[::2]:
            self.assertIn(f"  {flag} ", known)
        self.assertIn("http://127.0.0.1:7781/healthz", last["HEALTHCHECK"])
        listen = site_yaml("tokyo")["listen"]
        self.assertEqual({int(port) for port in last["EXPOSE"].split()},
                         {port_of(address) for address in listen.values()})

    def test_the_source_is_not_ignored(self):
        lines = (DOCKER / "Dockerfile.dockerignore").read_text().splitlines()
        plain = [line for line in lines if line and not line.startswith(("#", "**"))]
        self.assertIn(".git", plain)
        self.assertIn("build", plain)
        kept = {"CMakeLists.txt", "CMakePresets.json", "deploy", "federation", "jobs", "proto",
                "sites", "storage", "tests"}
        self.assertEqual(kept & set(plain), set())

    @unittest.skipUnless(shutil.which("dpkg-shlibdeps"), "dpkg-dev is not installed")
    def test_the_libraries_are_found(self):
        packages = run("bash", DOCKER / "libraries.sh", GANNET).splitlines()
        self.assertGreater(len(packages), 10)
        for package in packages:
            self.assertRegex(package, r"^[a-z0-9][a-z0-9.+-]+$")
        for package in ("libc6", "libcurl4", "libjemalloc2", "libssl3"):
            self.assertIn(package, packages)


class Prometheus(unittest.TestCase):
    def test_it_takes_its_configuration_and_asks_every_site(self):
        text = (DOCKER / "prometheus.yml").read_text()
        [job] = yaml.safe_load(text)["scrape_configs"]
        self.assertEqual(job["job_name"], "gannet")
        self.assertEqual(job["static_configs"][0]["targets"],
                         [f"{name}:{port_of(site_yaml(name)['listen']['http'])}" for name in SITES])
        with tempfile.TemporaryDirectory() as folder:
            for volume in COMPOSE["services"]["prometheus"]["volumes"]:
                source, target = volume.split(":")[:2]
                if source.startswith("."):
                    shutil.copy(DOCKER / source, pathlib.Path(folder) / pathlib.Path(target).name)
            run("promtool", "check", "config", pathlib.Path(folder) / "prometheus.yml")


if __name__ == "__main__":
    done = unittest.main(argv=sys.argv[:1], exit=False).result
    for test, why in done.skipped:
        print(f"{test}: Skipped\n{why}")
    sys.exit(1 if not done.wasSuccessful() else 77 if done.skipped else 0)

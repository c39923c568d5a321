"""The .deb: what lintian says of it, and its life on a machine of its own (trial.py). And
`cmake --install`, which installs without a package.

Usage: package_test.py BUILD_FOLDER FAKEWEB Built|Package|Life|Install
  Built makes the package that Package and Life look at, once for both.
Exit code 77: skipped, and why.
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

BUILD, FAKEWEB = (pathlib.Path(path).resolve() for path in sys.argv[1:3])
HERE = pathlib.Path(__file__).resolve().parent
PACKAGE = BUILD / "deploy/package"


def run(*command, **more) -> str:
    done = subprocess.run(command, capture_output=True, text=True, timeout=280, **more)
    if done.returncode != 0:
        raise AssertionError(f"{command} ended with {done.returncode}: {done.stdout}{done.stderr}")
    return done.stdout + done.stderr


def the_deb() -> pathlib.Path:
    [deb] = PACKAGE.glob("gannet_*.deb")
    return deb


class Built(unittest.TestCase):
    def test_cpack_makes_one_package(self):
        shutil.rmtree(PACKAGE, ignore_errors=True)
        run("cpack", "--config", BUILD / "CPackConfig.cmake", "-B", PACKAGE)
        self.assertTrue(the_deb().stat().st_size)


class Package(unittest.TestCase):
    @unittest.skipUnless(shutil.which("lintian"), "lintian is not installed")
    def test_lintian_finds_no_error_and_no_warning(self):
        as_root = ["--allow-root"] if os.geteuid() == 0 else []
        print(run("lintian", "--fail-on", "error,warning", *as_root, the_deb()), end="")

    def test_it_depends_on_the_libraries_that_it_uses(self):
        depends = run("dpkg-deb", "--field", the_deb(), "Depends")
        for package in ("librocksdb", "libcurl4", "libjemalloc2", "libc6 (>=", "ca-certificates"):
            self.assertIn(package, depends)
        self.assertEqual(run("dpkg-deb", "--info", the_deb(), "conffiles").split(),
                         ["/etc/gannet/site.yaml"])


class Life(unittest.TestCase):
    def test_it_lives_and_dies_on_a_machine_of_its_own(self):
        can = subprocess.run([HERE / "machine.sh", "--can"], capture_output=True, text=True)
        if can.returncode == 77:
            self.skipTest(can.stdout.strip())
        self.assertEqual(can.returncode, 0, can.stderr)
        folder = tempfile.TemporaryDirectory(prefix="gannet-machine-")
        self.addCleanup(folder.cleanup)
        inside, outside = (pathlib.Path(folder.name) / name for name in ("in", "out"))
        inside.mkdir()
        outside.mkdir()
        shutil.copy(the_deb(), inside / "gannet.deb")
        shutil.copy(FAKEWEB, inside / "gannet-fakeweb")
        (inside / "https").write_text(os.environ.get("GANNET_TEST_HTTPS", "0.5"))
        shutil.copy(HERE / "trial.py", inside)
        shutil.copy(HERE.parents[1] / "deploy/README.md", inside / "guide.md")
        run(HERE / "machine.sh", inside, outside)
        said = {path.name: path.read_text() for path in outside.iterdir()}
        print(said.get("trial.log"))
        if said.get("rc") != "0\n":
            # The end of each log, which says why a unit did not start.
            self.fail("\n".join(f"{name}: {text[-4000:]}" for name, text in said.items()))


class Install(unittest.TestCase):
    def install(self, prefix: str) -> pathlib.Path:
        folder = tempfile.TemporaryDirectory(prefix="gannet-install-")
        self.addCleanup(folder.cleanup)
        run("cmake", "--install", BUILD, "--prefix", prefix,
            env={**os.environ, "DESTDIR": folder.name})
        return pathlib.Path(folder.name)

    def test_under_usr_local_the_units_find_binary_and_configuration(self):
        root = self.install("/usr/local")
        unit = (root / "usr/local/lib/systemd/system/gannet.service").read_text()
        self.assertIn("ExecStart=/usr/local/bin/gannet serve --data /var/lib/gannet "
                      "--config /etc/gannet/site.yaml\n", unit)
        self.assertTrue((root / "etc/gannet/site.yaml").exists())
        self.assertIn("gannet", run(root / "usr/local/bin/gannet", "--version"))

    def test_elsewhere_everything_is_below_the_prefix(self):
        root = self.install("/opt/gannet")
        self.assertEqual([entry.name for entry in root.iterdir()], ["opt"])
        unit = (root / "opt/gannet/lib/systemd/system/gannet-round.service").read_text()
        self.assertIn("ExecStart=/opt/gannet/bin/gannet round", unit)
        self.assertIn("--config /opt/gannet/etc/gannet/site.yaml", unit)
        self.assertTrue((root / "opt/gannet/etc/gannet/site.yaml").exists())

    def test_a_configuration_that_is_there_is_left_alone(self):
        with tempfile.TemporaryDirectory() as folder:
            for text in (None, "# Mine.\n"):
                run("cmake", "--install", BUILD, "--prefix", folder)
                yaml = pathlib.Path(folder) / "etc/gannet/site.yaml"
                if text is None:
                    yaml.write_text("# Mine.\n")
            self.assertEqual(yaml.read_text(), "# Mine.\n")


if __name__ == "__main__":
    done = unittest.main(argv=[sys.argv[0], *sys.argv[3:]], exit=False).result
    for name, why in done.skipped:
        print(f"{name}: Skipped\n{why}")
    sys.exit(1 if not done.wasSuccessful() else 77 if done.skipped else 0)

"""What the tests of federation commands share: each test gets a small lab of its own."""

import pathlib
import shutil
import sys
import tempfile
import unittest

from federation_lab import Lab

GANNET, FAKE_WEB = sys.argv[1:3]
WEB = {"hosts": 40, "pages": 300, "largest_host": 30, "nasty": "none"}


class CommandsTest(unittest.TestCase):
    def setUp(self) -> None:
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="gannet-test-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def lab(self, names: list[str], web: dict | None = None, **settings: object) -> Lab:
        lab = Lab(GANNET, FAKE_WEB, self.folder, [], dict(web or WEB), **{"delay": "5ms", **settings})
        self.addCleanup(self.end, lab)
        for name in names:
            lab.add(name)
        return lab

    def crawled(self, names: list[str], **settings: object) -> Lab:
        """A lab that has crawled its web and has nothing left to do."""
        lab = self.lab(names, **settings)
        lab.inject(lab.web.seeds())
        lab.wait_quiet()
        return lab

    @staticmethod
    def wait_all(lab: Lab, condition, what: str) -> None:
        for site in lab.sites.values():
            site.wait_for(lambda: condition(site), 60, what)

    @staticmethod
    def end(lab: Lab) -> None:
        for site in lab.sites.values():
            site.kill()
        lab.web.server.kill()


def main(*more: str) -> None:
    """Arguments: GANNET FAKE_WEB, one program for each name in `more`, and a class of tests."""
    unittest.main(argv=[sys.argv[0], *sys.argv[3 + len(more):]], verbosity=2)

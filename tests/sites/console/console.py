"""What the console tests share: running the real binary as an operator does.

Usage of each test: NAME_test.py GANNET MAKE_CRAWLED_SITE
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

GANNET = os.path.abspath(sys.argv[1])
MAKE_CRAWLED_SITE = os.path.abspath(sys.argv[2])


class Answer:
    def __init__(self, done: subprocess.CompletedProcess):
        self.code = done.returncode
        self.bytes = done.stdout
        self.out = done.stdout.decode("utf-8", "replace")
        self.err = done.stderr.decode("utf-8", "replace")

    @property
    def lines(self) -> list[str]:
        return self.out.splitlines()

    @property
    def json(self):
        return json.loads(self.out)


class ConsoleTest(unittest.TestCase):
    """Each test has an empty folder; `gannet()` runs there."""

    maxDiff = None

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="gannet-console-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def gannet(self, *arguments: str, stdin: str = "", code: int = 0) -> Answer:
        done = subprocess.run([GANNET, *map(str, arguments)], cwd=self.folder, timeout=60,
                              input=stdin.encode(), capture_output=True)
        answer = Answer(done)
        self.assertEqual(answer.code, code, f"{arguments}: {answer.out}{answer.err}")
        if code != 0:
            self.assertTrue(answer.err, "an error says something")
        return answer

    def write(self, name: str, text: str) -> str:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return name

    def crawled_site(self, name: str = "site") -> str:
        subprocess.run([MAKE_CRAWLED_SITE, self.folder / name], check=True, timeout=60)
        return name

    def check_invariants(self, site: str):
        self.assertTrue(self.gannet("verify", "--full", "--json", "--data", site).json["ok"])


def main():
    unittest.main(argv=sys.argv[:1])

"""The man pages and completions that the build made, against the binary's own --help.

Usage: manual_test.py GANNET MADE [TESTS]      MADE is the folder with man/ and completions/
Exit code 77: skipped, and why.
"""

import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

GANNET, MADE = (pathlib.Path(path).resolve() for path in sys.argv[1:3])
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "deploy/manual"))
import command_tree  # noqa: E402

TREE = command_tree.read(str(GANNET))


def run(*command, **more) -> str:
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, **more)
    if done.returncode != 0 or done.stderr:
        raise AssertionError(f"{command}: {done.returncode} {done.stderr}")
    return done.stdout


class Tree(unittest.TestCase):
    def test_it_has_every_command_and_flag(self):
        for command in TREE.walk():
            help_text = run(GANNET, *command.path[1:], "--help")
            names = {name for option in command.options for name in option.names}
            self.assertEqual(names, set(re.findall(r"(?:^  |,)(--?[a-z][a-z-]*)", help_text, re.M)))
            self.assertEqual(len(command.commands),
                             len(re.findall(r"(?m)^  [a-z]", help_text.partition("Subcommands:")[2]
                                            .partition("\n\n")[0])))
        self.assertGreater(sum(1 for _ in TREE.walk()), 20)


class ManPages(unittest.TestCase):
    def test_each_command_has_a_page_that_renders_without_a_warning(self):
        pages = {path.name for path in (MADE / "man").iterdir()}
        self.assertEqual(pages, {f"{'-'.join(c.path)}.1.gz" for c in [TREE, *TREE.commands]})
        for command in [TREE, *TREE.commands]:
            with self.subTest(command.path):
                text = run("man", "--warnings=all", "--encoding=UTF-8", "--local-file",
                           MADE / "man" / f"{'-'.join(command.path)}.1.gz",
                           env={"MANWIDTH": "200", "LC_ALL": "C.UTF-8", "PATH": "/usr/bin:/bin"})
                parts = list(command.walk()) if command is not TREE else [command]
                for part in parts:
                    for option in part.options if not part.commands else []:
                        for name in option.names:
                            self.assertIn(name, text)
                if command.example and not command.commands:
                    self.assertIn(command.example[0], text)


class Bash(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        (self.folder / "seeds.txt").write_text("")
        (self.folder / "tokyo").mkdir()

    def complete(self, *words: str) -> list[str]:
        """What Tab offers after `gannet WORDS`; the last word is incomplete, and may be empty."""
        script = ('source "$0"; COMP_WORDS=(gannet "$@"); COMP_CWORD=$#; _gannet; '
                  'for word in "${COMPREPLY[@]}"; do echo "$word"; done')
        return run("bash", "--norc", "-euo", "pipefail", "-c", script,
                   MADE / "completions/gannet", *words, cwd=self.folder).split()

    def test_it_offers_the_commands_and_flags_of_each_command(self):
        for command in TREE.walk():
            path = command.path[1:]
            with self.subTest(path):
                self.assertEqual(self.complete(*path, "-"),
                                 [name for option in command.options for name in option.names])
                if command.commands:
                    self.assertEqual(self.complete(*path, ""), [c.name for c in command.commands])

    def test_it_offers_what_begins_with_the_incomplete_word(self):
        self.assertEqual(self.complete("ver"), ["verify"])
        self.assertEqual(self.complete("archive", "--data", "tokyo", "re"), ["release"])
        self.assertEqual(self.complete("hosts", "--by", "f"), ["failures"])

    def test_it_offers_files_and_folders_where_they_belong(self):
        self.assertEqual(self.complete("status", "--data", ""), ["tokyo"])
        self.assertEqual(sorted(self.complete("status", "--config", "")), ["seeds.txt", "tokyo"])
        self.assertEqual(self.complete("inject", "se"), ["seeds.txt"])
        self.assertEqual(self.complete("crawl", "--contact", ""), [])
        self.assertEqual(self.complete("verify", ""), [])

    def test_complete_knows_the_function(self):
        said = run("bash", "--norc", "-c", 'source "$0"; complete -p gannet',
                   MADE / "completions/gannet")
        self.assertIn("-F _gannet gannet", said)


class OtherShells(unittest.TestCase):
    @unittest.skipUnless(shutil.which("zsh"), "zsh is not installed")
    def test_zsh_reads_its_file(self):
        run("zsh", "-n", MADE / "completions/_gannet")

    @unittest.skipUnless(shutil.which("fish"), "fish is not installed")
    def test_fish_offers_the_commands_and_flags(self):
        def offered(line):
            said = run("fish", "--no-config", "-c", 'source $argv[1]; complete -C $argv[2]',
                       MADE / "completions/gannet.fish", line)
            return {entry.split("\t")[0] for entry in said.splitlines()}

        self.assertEqual(offered("gannet "), {c.name for c in TREE.commands})
        self.assertEqual(offered("gannet archive re"), {"release"})
        self.assertLessEqual({"--top", "--by", "--data"}, offered("gannet hosts --"))


if __name__ == "__main__":
    done = unittest.main(argv=[sys.argv[0], *sys.argv[3:]], exit=False).result
    for test, why in done.skipped:
        print(f"{test}: Skipped\n{why}")
    sys.exit(1 if not done.wasSuccessful() else 77 if done.skipped else 0)

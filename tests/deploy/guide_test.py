"""The operator's guide against the binary: every command and flag that it tells operators to type
must exist.

Usage: guide_test.py GANNET
"""

import pathlib
import re
import sys
import unittest

GANNET = pathlib.Path(sys.argv[1]).resolve()
DEPLOY = pathlib.Path(__file__).resolve().parents[2] / "deploy"
sys.path.insert(0, str(DEPLOY / "manual"))
import command_tree  # noqa: E402

GUIDE = (DEPLOY / "README.md").read_text()
TREE = command_tree.read(str(GANNET))
# Commands that the guide names and that are not built yet; remove each when it exists.
TO_COME = set()


def told() -> list[list[str]]:
    """Each `gannet ...` in the guide's code, as the words after the program's name."""
    code = re.findall(r"(?ms)^ *```\w*\n(.*?)^ *```", GUIDE)
    lines = [line for block in code for line in block.splitlines()]
    lines += re.findall(r"`([^`\n]+)`", GUIDE)
    found = []
    for line in lines:
        match = re.search(r"(?:^|sudo -u gannet |\* gannet )gannet ([a-z].*)", line.strip())
        if match:
            found.append(re.sub(r"\s#.*|\|.*", "", match.group(1)).split())
    return found


class Guide(unittest.TestCase):
    def test_every_command_and_flag_exists(self):
        self.assertGreater(len(told()), 25)
        for words in told():
            with self.subTest(" ".join(words)):
                command = TREE
                while words and words[0] in {c.name for c in command.commands}:
                    name = words.pop(0)
                    command = next(c for c in command.commands if c.name == name)
                if command is TREE:
                    self.assertIn(words[0], TO_COME, "no such command")
                    continue
                self.assertTrue(not command.commands or not words, f"no such command: {words}")
                flags = {name for option in command.options for name in option.names}
                self.assertLessEqual({word for word in words if word.startswith("-")}, flags)

    def test_links_within_it_lead_somewhere(self):
        anchors = {re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-")
                   for title in re.findall(r"(?m)^#+ (.*)$", GUIDE)}
        links = set(re.findall(r"\]\(#([^)]+)\)", GUIDE))
        self.assertGreater(len(links), 5)
        self.assertLessEqual(links, anchors)

    def test_nothing_is_left_to_fill_in(self):
        self.assertEqual(re.findall(r"\[FILL.*|\bTODO\b.*|\bTBD\b.*|\bFIXME\b.*", GUIDE), [])

    def test_settings_that_it_names_exist(self):
        yaml = (DEPLOY.parent / "sites/config/default_yaml.cc").read_text()
        for section, key in re.findall(r"`(fetch|crawl|archive|recrawl|urls|user_agent|site|federation)"
                                       r"\.(?!yaml)([a-z_]+)", GUIDE):
            with self.subTest(f"{section}.{key}"):
                lines = re.search(rf"(?m)^{section}:.*\n((?:  .*\n)+)", yaml).group(1)
                self.assertRegex(lines, rf"(?m)^  {key}:")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])

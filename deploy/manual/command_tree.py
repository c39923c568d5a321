"""The command line as a tree, read from its own --help: what the man pages and the completions are
made of. So neither can name a flag that is not there, or miss one that is."""

import dataclasses
import os
import re
import subprocess


@dataclasses.dataclass
class Option:
    names: list[str]  # ["-h", "--help"]; of a positional, [its name].
    value: str  # "DIR"; empty: a flag without one.
    about: str

    @property
    def choices(self) -> list[str]:
        """Words that are all there is to choose from, if there are such."""
        return self.value.split("|") if re.fullmatch(r"[a-z]+(\|[a-z]+)+", self.value) else []


@dataclasses.dataclass
class Command:
    path: list[str]  # ["gannet", "archive", "list"]
    about: str
    usage: str  # What stands behind the path: "[OPTIONS] FILE".
    positionals: list[Option]
    options: list[Option]
    commands: list["Command"]
    example: list[str]
    notes: list[str]  # Paragraphs.

    @property
    def name(self) -> str:
        return self.path[-1]

    def walk(self):
        yield self
        for command in self.commands:
            yield from command.walk()


def _option(line: str) -> Option:
    """`  --width W:POSITIVE=3   pages of a round`"""
    left, _, about = line.strip().partition("  ")
    names, _, value = left.partition(" ")
    # CLI11 adds the default, its checks, and words of its own.
    default = re.search(r"=(\S+)$", value)
    value = value[:default.start()] if default else value
    choices = re.search(r":\{(.*)\}", value)
    if choices:
        value = choices.group(1).replace(",", "|")
    value = re.sub(r":[A-Z]+ in \[.*\]|:(POSITIVE|NONNEGATIVE)\b|\bREQUIRED\b", "", value)
    if not names.startswith("-"):
        value = re.sub(r"^(TEXT|U?INT)\b", "", value)
    about = about.strip() + (f" [{default.group(1)}]" if default else "")
    return Option(names.split(","), value.strip(), about)


def _read(program: str, path: list[str]) -> Command:
    done = subprocess.run([program, *path[1:], "--help"], capture_output=True, text=True,
                          timeout=60, env={**os.environ, "LC_ALL": "C.UTF-8", "COLUMNS": "80"})
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(path)} --help: {done.stderr}")
    head, _, rest = done.stdout.partition("Usage: ")
    usage, _, rest = rest.partition("\n")
    # The program is named as it was called.
    usage = " ".join(usage.split()[len(path):])
    groups, example, notes = {}, [], []
    for block in re.split(r"\n\s*\n", rest.strip("\n")):
        title, *lines = block.split("\n")
        if title in ("Positionals:", "Options:", "Subcommands:"):
            section = groups.setdefault(title, [])
            for line in lines:
                if line.startswith(" " * 20):  # Its left half was too long.
                    section[-1] += "  " + line.strip()
                else:
                    section.append(line)
        elif title == "Example:":
            example = [line.strip() for line in lines]
        else:
            notes.append(" ".join(block.split()))
    known = {"Positionals:", "Options:", "Subcommands:"}
    assert set(groups) <= known and "Options:" in groups, f"{path}: help has changed its shape"
    return Command(path, " ".join(head.split()), usage,
                   [_option(line) for line in groups.get("Positionals:", [])],
                   [_option(line) for line in groups.get("Options:", [])],
                   [_read(program, [*path, line.split()[0]])
                    for line in groups.get("Subcommands:", [])],
                   example, notes)


def read(program: str) -> Command:
    return _read(program, ["gannet"])


def version(program: str) -> str:
    done = subprocess.run([program, "--version"], capture_output=True, text=True, check=True)
    return done.stdout.split()[-1]

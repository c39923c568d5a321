"""Writes gannet.1 and a gannet-COMMAND.1 for each command, from --help.

Usage: man_pages.py GANNET DATE FOLDER
  DATE   of the release, as on the pages: the same build makes the same pages
"""

import pathlib
import sys

import command_tree

EXIT_CODES = [("0", "done"), ("1", "failed"), ("2", "wrong usage or configuration"),
              ("3", "disk full"),
              ("4", "an agent holds the data folder, and cannot be reached"),
              ("130", "interrupted; the state is safe")]
FILES = [("/etc/gannet/site.yaml", "the site's settings, each with its default and its reason"),
         ("/var/lib/gannet", "the data folder of gannet.service: crawl DB and archive"),
         ("/usr/share/doc/gannet/README.md", "the operator's guide")]


def text(plain: str) -> str:
    """Escapes what troff would take for a request or an escape."""
    plain = plain.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq")
    return "\\&" + plain if plain.startswith((".", "\\(aq")) else plain


def items(entries) -> list[str]:
    lines = []
    for term, about in entries:
        lines += [".TP", term, text(about)]
    return lines


def term(option: command_tree.Option) -> str:
    names = ", ".join(f"\\fB{text(name)}\\fR" for name in option.names)
    return names + (f" \\fI{text(option.value)}\\fR" if option.value else "")


def notes(command: command_tree.Command) -> list[str]:
    lines = []
    for note in command.notes:
        lines += [".PP", text(note)]
    return lines


def arguments(command: command_tree.Command) -> list[str]:
    return [*items((f"\\fI{text(' '.join(p.names + [p.value]).strip())}\\fR", p.about)
                   for p in command.positionals),
            *items((term(option), option.about) for option in command.options)]


def example(command: command_tree.Command) -> list[str]:
    if not command.example:
        return []
    return [".PP", "Example:", ".PP", ".RS", ".EX", *map(text, command.example), ".EE", ".RE"]


def synopsis(command: command_tree.Command) -> list[str]:
    ends = [c for c in command.walk() if not c.commands] if len(command.path) > 1 else [command]
    return [f".B {text(' '.join(end.path))}\n{text(end.usage)}\n.br" for end in ends]


def page(command: command_tree.Command, version: str, date: str, others: list[str]) -> str:
    name = "-".join(command.path)
    lines = [f'.TH {name.upper()} 1 "{date}" "gannet {version}" "Gannet"', ".SH NAME",
             f"{text(name)} \\- {text(command.about)}", ".SH SYNOPSIS", *synopsis(command)]
    if len(command.path) == 1:
        lines += [".SH DESCRIPTION",
                  text("One command line for everything that an operator does with a site. "
                       "A site is a data folder; commands work on it, or through the agent "
                       "that has it open."), *notes(command),
                  ".SH COMMANDS", *items((f"\\fB{text('-'.join(c.path))}\\fR(1)", c.about)
                                         for c in command.commands),
                  ".SH OPTIONS", *arguments(command),
                  ".SH EXIT STATUS", *items(EXIT_CODES),
                  ".SH FILES", *items((text(file), about) for file, about in FILES)]
    else:
        parts = [part for part in command.walk() if not part.commands]
        for part in parts:
            if part is command:
                lines += [".SH DESCRIPTION", *notes(part), *example(part), ".SH OPTIONS"]
            else:
                lines += [f".SH {text(' '.join(part.path[1:]).upper())}", text(part.about),
                          *notes(part), *example(part)]
            lines += arguments(part)
        lines += [".SH EXIT STATUS", text("See gannet(1).")]
    lines += [".SH SEE ALSO", ",\n".join(f".BR {text(other)} (1)" for other in others)]
    return "\n".join(lines) + "\n"


def main():
    program, date, folder = sys.argv[1:]
    tree = command_tree.read(program)
    version = command_tree.version(program)
    out = pathlib.Path(folder)
    out.mkdir(parents=True, exist_ok=True)
    for old in out.glob("*.1"):
        old.unlink()  # Of a command that is no more.
    for command in [tree, *tree.commands]:
        others = (["-".join(c.path) for c in tree.commands] if command is tree else ["gannet"])
        (out / f"{'-'.join(command.path)}.1").write_text(page(command, version, date, others))


if __name__ == "__main__":
    main()

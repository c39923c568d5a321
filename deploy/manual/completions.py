"""Writes the completions of bash, zsh and fish, from --help.

Usage: completions.py GANNET FOLDER
makes FOLDER/gannet (bash), FOLDER/_gannet (zsh) and FOLDER/gannet.fish.
"""

import pathlib
import shlex
import sys

import command_tree

MADE = "# Made by deploy/manual/completions.py from `gannet --help`.\n"
FOLDERS = {"DIR"}
FILES = {"FILE", "F"}


def path(command) -> str:
    return " ".join(command.path[1:])


def wants_files(command) -> bool:
    return any("FILE" in p.names[0] or p.names[0] in FOLDERS for p in command.positionals)


# --- bash ------------------------------------------------------------------------
# The words so far that are commands make the path; the path decides what is offered.
BASH = """_gannet() {
  local current=${COMP_WORDS[COMP_CWORD]} path='' word i
  local previous=''
  [ "$COMP_CWORD" -gt 0 ] && previous=${COMP_WORDS[COMP_CWORD-1]}
  local -A commands=(
%(commands)s
  )
  local -A options=(
%(options)s
  )
  for ((i = 1; i < COMP_CWORD; i++)); do
    word=${COMP_WORDS[i]}
    case " ${commands[${path:-.}]-} " in
      *" $word "*) path="${path:+$path }$word" ;;
    esac
  done
  COMPREPLY=()
  case "$previous" in
    %(folders)s) mapfile -t COMPREPLY < <(compgen -d -- "$current"); return ;;
    %(files)s) mapfile -t COMPREPLY < <(compgen -f -- "$current"); return ;;
%(choices)s    %(values)s) return ;;
  esac
  case "$current" in
    -*) mapfile -t COMPREPLY < <(compgen -W "${options[${path:-.}]-}" -- "$current") ;;
    *) mapfile -t COMPREPLY < <(compgen -W "${commands[${path:-.}]-}" -- "$current")
      case "$path" in
        %(with_files)s) mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -f -- "$current") ;;
      esac ;;
  esac
}
complete -o filenames -F _gannet gannet
"""


def pattern(names) -> str:
    return "|".join(sorted(names)) or "--none"


def bash(tree) -> str:
    commands, options, with_files = [], [], []
    folders, files, values, choices = set(), set(), set(), {}
    for command in tree.walk():
        key = shlex.quote(path(command) or ".")
        if command.commands:
            commands.append(f"    [{key}]={shlex.quote(' '.join(c.name for c in command.commands))}")
        names = " ".join(name for option in command.options for name in option.names)
        options.append(f"    [{key}]={shlex.quote(names)}")
        for option in command.options:
            if option.value:
                kind = (folders if option.value in FOLDERS
                        else files if option.value in FILES else values)
                kind.update(option.names)
            if option.choices:
                choices[option.names[-1]] = " ".join(option.choices)
        if wants_files(command):
            with_files.append(f'"{path(command)}"')
    return MADE + BASH % {
        "commands": "\n".join(commands), "options": "\n".join(options),
        "choices": "".join(
            f'    {name}) mapfile -t COMPREPLY < <(compgen -W "{words}" -- "$current"); return ;;\n'
            for name, words in choices.items()),
        "folders": pattern(folders), "files": pattern(files - folders),
        "values": pattern(values - files - folders), "with_files": pattern(with_files)}


# --- zsh -------------------------------------------------------------------------
def zsh_text(plain: str) -> str:
    for character in "\\[]:'`$\"":
        plain = plain.replace(character, "\\" + character if character not in "'`$\"" else "")
    return plain


def zsh_function(command) -> str:
    return "_" + "_".join(command.path).replace("-", "_")


def zsh(tree) -> str:
    out = ["#compdef gannet", MADE.rstrip()]
    for command in tree.walk():
        lines = [f"{zsh_function(command)}() {{"]
        arguments = []
        for option in command.options:
            value = ""
            if option.value:
                action = ("_files -/" if option.value in FOLDERS
                          else "_files" if option.value in FILES
                          else f"({' '.join(option.choices)})" if option.choices else "")
                value = f":{zsh_text(option.value)}:{action}"
            exclusive = " ".join(option.names)
            for name in option.names:
                arguments.append(f"'({exclusive}){name}[{zsh_text(option.about)}]{value}'")
        if command.commands:
            names = " ".join(f"'{c.name}:{zsh_text(c.about)}'" for c in command.commands)
            cases = "\n".join(f"        {c.name}) {zsh_function(c)} ;;" for c in command.commands)
            lines += ["  local context state state_descr line", "  typeset -A opt_args",
                      f"  local -a commands=({names})",
                      "  _arguments -C " + " ".join(arguments)
                      + " '1:command:->command' '*::argument:->argument'",
                      "  case $state in",
                      "    command) _describe command commands ;;",
                      "    argument)", "      case $line[1] in", cases, "      esac ;;", "  esac"]
        else:
            if wants_files(command):
                arguments.append("'*:file:_files'")
            lines += ["  _arguments " + " ".join(arguments)]
        out += [*lines, "}"]
    return "\n".join([*out, '_gannet "$@"']) + "\n"


# --- fish ------------------------------------------------------------------------
def fish_text(plain: str) -> str:
    return "'" + plain.replace("\\", "\\\\").replace("'", "\\'") + "'"


def fish(tree) -> str:
    out = [MADE.rstrip(), "complete -c gannet -f"]
    for command in tree.walk():
        seen = " and ".join(f"__fish_seen_subcommand_from {word}" for word in command.path[1:])
        seen = seen.replace(" and ", "; and ")
        here = " ".join(c.name for c in command.commands)
        if command.commands:
            none = f"not __fish_seen_subcommand_from {here}"
            at = f"{seen}; and {none}" if seen else none
            for child in command.commands:
                out.append(f"complete -c gannet -n {fish_text(at)} -a {child.name}"
                           f" -d {fish_text(child.about)}")
        else:
            at = seen
        for option in command.options:
            names = " ".join(f"-l {n[2:]}" if n.startswith("--") else f"-s {n[1:]}"
                             for n in option.names)
            kind = "" if not option.value else " -r -F" if option.value in FOLDERS | FILES else " -x"
            if option.choices:
                kind += f" -a {fish_text(' '.join(option.choices))}"
            out.append(f"complete -c gannet -n {fish_text(at)} {names}{kind}"
                       f" -d {fish_text(option.about)}")
        if wants_files(command):
            out.append(f"complete -c gannet -n {fish_text(at)} -F")
    return "\n".join(out) + "\n"


def main():
    program, folder = sys.argv[1:]
    tree = command_tree.read(program)
    out = pathlib.Path(folder)
    out.mkdir(parents=True, exist_ok=True)
    for name, make in (("gannet", bash), ("_gannet", zsh), ("gannet.fish", fish)):
        (out / name).write_text(make(tree))


if __name__ == "__main__":
    main()

"""Fails on an #include that points upward: proto <- storage <- federation <- jobs <- sites.

Includes of our own files are written from the project's root ("storage/url/url.h"),
so the room of both ends can be read off the line; what is neither a room nor a
library whose includes are quoted by custom is an error.
"""

import pathlib
import re
import sys
import tempfile

ROOMS = ["proto", "storage", "federation", "jobs", "sites"]
QUOTED_LIBRARIES = ["absl"]
INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"')


def upward_includes(root: pathlib.Path) -> list[str]:
    found = []
    for height, room in enumerate(ROOMS):
        for path in sorted((root / room).rglob("*")):
            if path.suffix not in (".h", ".cc", ".proto"):
                continue
            for number, line in enumerate(path.read_text().splitlines(), 1):
                match = INCLUDE.match(line)
                if not match:
                    continue
                target = match.group(1).split("/")[0]
                if target in QUOTED_LIBRARIES:
                    continue
                where = f"{path.relative_to(root)}:{number}"
                if target not in ROOMS:
                    found.append(f'{where}: "{match.group(1)}" does not start with a room')
                elif ROOMS.index(target) > height:
                    found.append(f"{where}: {room} may not include {target}")
    return found


def self_test() -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        (root / "storage").mkdir()
        (root / "storage/good.cc").write_text('#include "proto/a.pb.h"\n#include "storage/b.h"\n')
        assert upward_includes(root) == [], upward_includes(root)
        (root / "storage/bad.cc").write_text('#include <vector>\n#include "jobs/c.h"\n#include "d.h"\n')
        found = upward_includes(root)
        assert [f.split(": ", 1)[0] for f in found] == ["storage/bad.cc:2", "storage/bad.cc:3"], found


if __name__ == "__main__":
    if sys.argv[1] == "--self-test":
        self_test()
        sys.exit(0)
    problems = upward_includes(pathlib.Path(sys.argv[1]))
    print("\n".join(problems) or "all includes point downward")
    sys.exit(1 if problems else 0)

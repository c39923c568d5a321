"""Fails if an include, an import or a link points upward: proto <- storage <- federation <- jobs <-
sites.

Includes and imports of our own files are written from the project's root
("storage/url/url.h"), and libraries are named after their room (gannet_storage_url), so each line
says which room refers to which. A quoted include of anything else is an error, except of libraries
whose includes are quoted by custom.
"""

import pathlib
import re
import sys
import tempfile

ROOMS = ["proto", "storage", "federation", "jobs", "sites"]
QUOTED_LIBRARIES = ["absl"]
INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"')
# Of files that are not ours, only protobuf's own may be imported.
IMPORT = re.compile(r'^\s*import\s+(?:public\s+|weak\s+)?"(?!google/protobuf/)([^"]+)"')
# A library of ours; a name before "(" is a function, such as gannet_library().
LIBRARY = re.compile(r"\bgannet_([a-z]\w*)\b(?!\s*\()")


def references(path: pathlib.Path, line: str) -> list[tuple[str, str, str]]:
    """What the line refers to: (verb, as written, its room)."""
    if path.name == "CMakeLists.txt":
        names = LIBRARY.findall(line.split("#")[0])
        return [("link", f"gannet_{name}", name.split("_")[0]) for name in names]
    match = (IMPORT if path.suffix == ".proto" else INCLUDE).match(line)
    if not match:
        return []
    verb = "import" if path.suffix == ".proto" else "include"
    target = match.group(1).split("/")[0]
    return [] if target in QUOTED_LIBRARIES else [(verb, match.group(1), target)]


def upward_references(root: pathlib.Path) -> list[str]:
    found = []
    for height, room in enumerate(ROOMS):
        for path in sorted((root / room).rglob("*")):
            if path.suffix not in (".h", ".cc", ".proto") and path.name != "CMakeLists.txt":
                continue
            for number, line in enumerate(path.read_text().splitlines(), 1):
                for verb, written, target in references(path, line):
                    where = f"{path.relative_to(root)}:{number}"
                    if target not in ROOMS:
                        found.append(f'{where}: "{written}" does not start with a room')
                    elif ROOMS.index(target) > height:
                        found.append(f"{where}: {room} may not {verb} {target} ({written})")
    return found


def self_test() -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        for room in ("proto", "storage/url", "jobs"):
            (root / room).mkdir(parents=True)
        (root / "storage/good.cc").write_text(
            '#include "proto/a.pb.h"\n#include "storage/b.h"\n#include "absl/time/time.h"\n')
        (root / "proto/good.proto").write_text(
            'import "proto/a.proto";\nimport "google/protobuf/any.proto";\n')
        (root / "jobs/CMakeLists.txt").write_text(
            "gannet_library(jobs_fetch\n  SOURCES a.cc\n"
            "  LINKS gannet_proto gannet_storage_url gannet_jobs_rank fmt::fmt)\n")
        (root / "storage/url/CMakeLists.txt").write_text(
            "gannet_library(storage_url LINKS absl::status)  # Not gannet_jobs_fetch.\n")
        assert upward_references(root) == [], upward_references(root)

        (root / "storage/bad.cc").write_text('#include <vector>\n#include "jobs/c.h"\n#include "d.h"\n')
        (root / "proto/bad.proto").write_text(
            'import "proto/a.proto";\nimport public "storage/b.proto";\nimport "c.proto";\n')
        (root / "storage/CMakeLists.txt").write_text(
            "gannet_library(storage_x\n  LINKS\n    gannet_proto\n    gannet_federation_map\n"
            "    gannet_fake_web)\ntarget_link_libraries(y PRIVATE gannet_sites_console)\n")
        found = [f.split(": ", 1)[0] for f in upward_references(root)]
        assert found == ["proto/bad.proto:2", "proto/bad.proto:3",
                         "storage/CMakeLists.txt:4", "storage/CMakeLists.txt:5",
                         "storage/CMakeLists.txt:6",
                         "storage/bad.cc:2", "storage/bad.cc:3"], found


if __name__ == "__main__":
    if sys.argv[1] == "--self-test":
        self_test()
        sys.exit(0)
    problems = upward_references(pathlib.Path(sys.argv[1]))
    print("\n".join(problems) or "all includes, imports and links point downward")
    sys.exit(1 if problems else 0)

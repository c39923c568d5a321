"""Counts what ctest's JUnit reports say: what failed, what was skipped and why.

    summary.py release=build/release/tests.xml asan=build/asan/tests.xml

The last line is "N passed, N failed, N skipped".
"""

import re
import sys
import xml.etree.ElementTree as xml


def skip_reason(output: str) -> str:
    # GoogleTest prints "file:line: Skipped" and then the reason.
    match = re.search(r": Skipped\n(.*)", output)
    return match.group(1).strip() if match else "no reason given"


def main(reports: list[str]) -> None:
    counts = {"run": 0, "fail": 0, "skipped": 0}
    for report in reports:
        preset, path = report.split("=", 1)
        for case in xml.parse(path).getroot().iter("testcase"):
            name = f"{case.get('name')} ({preset})"
            status = case.get("status")
            if status == "run":
                counts["run"] += 1
            elif status == "fail":
                counts["fail"] += 1
                print(f"failed: {name}")
            else:
                counts["skipped"] += 1
                print(f"skipped: {name}: {skip_reason(case.findtext('system-out') or '')}")
    print(f"{counts['run']} passed, {counts['fail']} failed, {counts['skipped']} skipped")


if __name__ == "__main__":
    main(sys.argv[1:])

"""Counts what a run of tests/run.sh did: what failed, what was skipped and why.

    summary.py release=build/release/tests.xml failed:'fuzzing fuzz_url' seconds:90

NAME=FILE is a JUnit report of ctest; again:NAME=FILE is that of a second run of the tests that
failed in it, each alone on the machine: those that pass there are flaky. flaky-list=FILE names the
tests that may be flaky, one per line: name, date, reason; any other flaky test is a failure.
failed:NAME is something outside ctest that failed; skipped:NAME=FILE something that was
skipped, and what it printed. The last line is "N passed, N failed, N skipped"; the line before it
says how many were flaky; exit code 1 if any failed.
Nothing that was meant to run may be missing from the count: a missing or empty report and
a test that could not be started are failures.
"""

import pathlib
import re
import sys
import tempfile
import xml.etree.ElementTree as xml


# GoogleTest prints "file:line: Skipped" and then the reason, and so do some scripts; others
# print "skipped: reason"; unittest with -v prints "... skipped 'reason'" for each test.
REASON = re.compile(r"""(?:^|: )Skipped\n(.*)|^skipped: (.*)|\.\.\. skipped (?:'(.*)'|"(.*)")$""", re.MULTILINE)


def skip_reason(output: str) -> str:
    reasons = [next(filter(None, match.groups()), "").strip() for match in REASON.finditer(output)]
    return "; ".join(dict.fromkeys(filter(None, reasons))) or "no reason given"


def read_output(path: str) -> str:
    try:
        return pathlib.Path(path).read_text(errors="replace")
    except OSError:
        return ""


def read_report(preset: str, path: str) -> tuple[int, list[str], list[str]]:
    passed, failed, skipped = 0, [], []
    try:
        cases = list(xml.parse(path).getroot().iter("testcase"))
    except (OSError, xml.ParseError) as error:
        return 0, [f"tests of {preset}: no report: {error}"], []
    if not cases:
        return 0, [f"tests of {preset}: there were none"], []
    for case in cases:
        name = f"{case.get('name')} ({preset})"
        status = case.get("status")
        output = case.findtext("system-out") or ""
        # A test that skips itself and one that ctest could not start are both
        # "notrun"; the message tells them apart.
        why = case.find("skipped")
        message = why.get("message", "") if why is not None else ""
        if status == "run":
            passed += 1
        elif status == "fail":
            failed.append(name)
        elif status == "disabled":
            skipped.append(f"{name}: disabled")
        elif message.startswith("SKIP_"):
            skipped.append(f"{name}: {skip_reason(output)}")
        else:
            failed.append(f"{name}: was not run: {message or output.strip() or status}")
    return passed, failed, skipped


def read_flaky_list(path: str) -> tuple[dict[str, str], list[str]]:
    """Which tests may be flaky, with date and reason, and what is wrong with the list."""
    known, wrong = {}, []
    try:
        lines = pathlib.Path(path).read_text().splitlines()
    except OSError as error:
        return {}, [f"the list of flaky tests: {error}"]
    for line in lines:
        if not line.strip() or line.startswith("#"):
            continue
        parts = line.split(None, 2)
        if len(parts) == 3 and re.fullmatch(r"\d{4}-\d\d-\d\d", parts[1]):
            known[parts[0]] = f"{parts[1]}: {parts[2]}"
        else:
            wrong.append(f"{path}: not 'NAME YYYY-MM-DD REASON': {line}")
    return known, wrong


def summarise(arguments: list[str]) -> tuple[list[str], bool]:
    """The lines to print, and whether nothing failed."""
    passed, failed, skipped, flaky, seconds = 0, [], [], [], []
    may_be_flaky: dict[str, str] = {}
    for argument in arguments:
        if argument.startswith("failed:"):
            failed.append(argument.removeprefix("failed:"))
        elif argument.startswith("flaky-list="):
            may_be_flaky, wrong = read_flaky_list(argument.removeprefix("flaky-list="))
            failed += wrong
        elif argument.startswith("skipped:"):
            name, path = argument.removeprefix("skipped:").rsplit("=", 1)
            skipped.append(f"{name}: {skip_reason(read_output(path))}")
        elif argument.startswith("again:"):
            preset, path = argument.removeprefix("again:").split("=", 1)
            again = read_report(preset, path)[1]
            saved = [] if any("tests of" in name for name in again) else [
                name for name in failed if name.endswith(f" ({preset})") and name not in again]
            flaky += saved
            failed = [name for name in failed if name not in saved]
        elif argument.startswith("seconds:"):
            seconds.append(f"took {argument.removeprefix('seconds:')} s")
        else:
            more = read_report(*argument.split("=", 1))
            passed += more[0]
            failed += more[1]
            skipped += more[2]
    lines = [f"skipped: {what}" for what in skipped]
    known = 0
    for what in flaky:
        reason = may_be_flaky.get(what.rsplit(" (", 1)[0])
        if reason is None:
            failed.append(f"{what}: flaky (failed beside others, passed alone), and not in "
                          "tests/house/flaky.txt")
        else:
            known += 1
            lines.append(f"flaky: {what}: failed beside others, passed alone; known since {reason}")
    lines += [f"failed: {what}" for what in failed]
    lines += seconds
    lines.append(f"{len(flaky)} flaky, {known} of them known")
    lines.append(f"{passed + known} passed, {len(failed)} failed, {len(skipped)} skipped")
    return lines, not failed


def self_test() -> None:
    for output, reason in (
            ("b.cc:1: Skipped\nno data\n\n[  SKIPPED ] A.B (0 ms)\n", "no data"),
            ("Skipped\nno yaml\n", "no yaml"),
            ("a line before\nskipped: no chromium\n", "no chromium"),
            ("test_a (X) ... ok\ntest_b (X) ... skipped 'no cc'\ntest_c (X) ... skipped 'no cc'\n"
             'test_d (X) ... skipped "no \'d\'"\n', "no cc; no 'd'"),
            ("no test was skipped: all ran\n", "no reason given"), ("", "no reason given")):
        assert skip_reason(output) == reason, (output, skip_reason(output))
    with tempfile.TemporaryDirectory() as folder:
        good, bad, empty = (str(pathlib.Path(folder) / name) for name in ("good", "bad", "empty"))
        # Reports as ctest 3.25 writes them.
        pathlib.Path(good).write_text(
            '<testsuite><testcase name="A" status="run"/><testcase name="B" status="notrun">'
            '<skipped message="SKIP_REGULAR_EXPRESSION_MATCHED"/>'
            "<system-out>b.cc:1: Skipped\nno data\n</system-out></testcase>"
            '<testcase name="C" status="disabled"/></testsuite>')
        pathlib.Path(bad).write_text(
            '<testsuite><testcase name="D" status="fail"/><testcase name="E" status="notrun">'
            '<skipped message="Unable to find executable"/></testcase></testsuite>')
        pathlib.Path(empty).write_text("<testsuite/>")

        assert summarise([f"release={good}", "seconds:7"]) == (
            ["skipped: B (release): no data", "skipped: C (release): disabled", "took 7 s",
             "0 flaky, 0 of them known", "1 passed, 0 failed, 2 skipped"], True)
        lines, ok = summarise([f"release={good}", f"asan={bad}", "failed:fuzzing x"])
        assert not ok
        assert lines[2:] == ["failed: D (asan)", "failed: E (asan): was not run: Unable to find executable",
                             "failed: fuzzing x", "0 flaky, 0 of them known",
                             "1 passed, 3 failed, 2 skipped"], lines
        said = pathlib.Path(folder) / "said"
        said.write_text("skipped: no graph\n")
        assert summarise([f"release={good}", f"skipped:benchmark x={said}"]) == (
            ["skipped: B (release): no data", "skipped: C (release): disabled",
             "skipped: benchmark x: no graph", "0 flaky, 0 of them known",
             "1 passed, 0 failed, 3 skipped"], True)
        again = str(pathlib.Path(folder) / "again")
        known = pathlib.Path(folder) / "flaky"
        known.write_text("# Why.\nD 2026-11-18 it waits 2 s\n")
        for more, status, first, last in (
                ([f"flaky-list={known}"], "run", "flaky: D (asan): failed beside others, passed alone; "
                 "known since 2026-11-18: it waits 2 s", "1 passed, 1 failed, 0 skipped"),
                ([], "run", "failed: E (asan): was not run: Unable to find executable",
                 "0 passed, 2 failed, 0 skipped"),
                ([], "fail", "failed: D (asan)", "0 passed, 2 failed, 0 skipped")):
            pathlib.Path(again).write_text(f'<testsuite><testcase name="D" status="{status}"/></testsuite>')
            lines, ok = summarise([*more, f"asan={bad}", f"again:asan={again}"])
            assert not ok and lines[0] == first and lines[-1] == last, lines  # E did not run.
            assert lines[-2] == f"{int(status == 'run')} flaky, {len(more)} of them known", lines
        known.write_text("D yesterday it waits\n")
        assert not summarise([f"flaky-list={known}", f"release={good}"])[1]
        assert not summarise([f"flaky-list={folder}/missing", f"release={good}"])[1]
        assert summarise([f"asan={bad}", f"again:asan={empty}"])[0][-1] == "0 passed, 2 failed, 0 skipped"
        for path in (empty, f"{folder}/missing"):
            lines, ok = summarise([f"tsan={path}"])
            assert not ok and lines[-1] == "0 passed, 1 failed, 0 skipped", lines
            assert lines[0].startswith("failed: tests of tsan: "), lines


if __name__ == "__main__":
    if sys.argv[1:] == ["--self-test"]:
        self_test()
        sys.exit(0)
    report, nothing_failed = summarise(sys.argv[1:])
    print("\n".join(report))
    sys.exit(0 if nothing_failed else 1)

"""What a process costs: seconds, CPU, memory, and which of its threads used the CPU."""

import os
import pathlib
import re
import subprocess
import tempfile
import time

TICK = os.sysconf("SC_CLK_TCK")


def _ticks(stat: str) -> int:
    """CPU ticks: utime and stime are fields 14 and 15 of proc(5)."""
    fields = stat.rsplit(")", 1)[1].split()
    return int(fields[11]) + int(fields[12])


def cpu_of(pids: list[int]) -> float:
    return sum(_ticks(pathlib.Path(f"/proc/{pid}/stat").read_text()) for pid in pids) / TICK


class Threads:
    """CPU seconds by thread name. Threads come and go, so they are read often; what a thread
    uses after the last reading is not counted."""

    def __init__(self, pid: int):
        self.tasks = pathlib.Path(f"/proc/{pid}/task")
        self.seen: dict[str, tuple[str, int]] = {}

    def look(self):
        try:
            for task in os.listdir(self.tasks):
                stat = (self.tasks / task / "stat").read_text()
                name = stat[stat.index("(") + 1:stat.rindex(")")]
                self.seen[task] = (name, _ticks(stat))
        except OSError:
            pass  # It ended meanwhile.

    def seconds(self) -> dict[str, float]:
        by_name: dict[str, int] = {}
        for name, ticks in self.seen.values():
            by_name[name] = by_name.get(name, 0) + ticks
        most_first = sorted(by_name.items(), key=lambda item: -item[1])
        return {name: round(ticks / TICK, 2) for name, ticks in most_first if ticks > 0}


def run(command: list[str], server: list[int], timeout: float) -> tuple[dict, str]:
    """Runs it. Returns what it cost it and the server, and what it printed."""
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        server_before, start = cpu_of(server), time.monotonic()
        process = subprocess.Popen(command, stdout=out, stderr=err, stdin=subprocess.DEVNULL)
        threads, last_look, timed_out = Threads(process.pid), start, False
        while True:
            pid, status, usage = os.wait4(process.pid, os.WNOHANG)
            if pid:
                break
            now = time.monotonic()
            if now - start > timeout and not timed_out:
                timed_out = True
                process.kill()
            if now - last_look > 0.05:
                threads.look()
                last_look = now
            time.sleep(0.002)
        process.returncode = os.waitstatus_to_exitcode(status)
        seconds = time.monotonic() - start
        out.seek(0)
        err.seek(0)
        printed = out.read()
        # 8 is wget2's way to say that some URLs were 404, as they should be.
        if process.returncode not in (0, 8):
            why = f"stopped after {timeout:.0f} s" if timed_out else f"exit code {process.returncode}"
            raise RuntimeError(f"{command[0]}: {why}\n{printed[-2000:]}{err.read()[-2000:]}")
        return {"seconds": round(seconds, 3),
                "cpu_seconds": round(usage.ru_utime + usage.ru_stime, 3),
                "server_cpu_seconds": round(cpu_of(server) - server_before, 3),
                "peak_rss_mib": round(usage.ru_maxrss / 1024, 1),
                "thread_seconds": threads.seconds()}, printed


def profile(command: list[str], timeout: float, most: int) -> list[str]:
    """The functions that use the most CPU by perf(1), as 'share thread symbol'."""
    with tempfile.NamedTemporaryFile(prefix="gannet-perf-") as data:
        subprocess.run(["perf", "record", "-q", "-F", "499", "-o", data.name, "--", *command],
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=timeout)
        report = subprocess.run(
            ["perf", "report", "-i", data.name, "--stdio", "--no-children", "-s", "comm,symbol"],
            capture_output=True, text=True, timeout=timeout).stdout
    lines = [re.sub(r"\s+", " ", line).strip() for line in report.splitlines()]
    return [line for line in lines if re.match(r"[0-9.]+% ", line)][:most]

"""What CPU time a real agent takes when no client asks it. Must run alone, because beside other
programs the same work takes more CPU time.

Usage: idle_test.py GANNET MAKE_CRAWLED_SITE FAKEWEB
"""

import os
import pathlib
import sys
import time

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent.parent / "console")]

import console
from served import ServedTest


def cpu_seconds(pid: int) -> float:
    """CPU seconds of all threads that still run, to the nanosecond."""
    return sum(int((task / "schedstat").read_text().split()[0])
               for task in pathlib.Path(f"/proc/{pid}/task").iterdir()) / 1e9


def ended_threads_too(pid: int) -> float:
    """CPU seconds of the process, with threads that have ended, to the tick."""
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class IdleTest(ServedTest):
    def test_api_and_dashboard_cost_nothing_when_nobody_looks(self):
        web = self.serve("--hosts", "200", "--pages", "3000")
        self.site(web, more="crawl: {schedule: by-hand, width: 3000}\nlog: {format: json}")
        self.gannet("inject", web.seed, "--data", "site")
        agent = self.start_agent()
        # Measures the whole process, so that nothing is overlooked, in windows that are longer
        # than the interval of its periodic work. The least one counts, because a busy machine only
        # adds to it.
        idle = min(self.idle_cpu(agent.pid, seconds=5.5) for _ in range(3))
        before = ended_threads_too(agent.pid)
        done = self.gannet("round", "--wait", "0", "--json", "--data", "site").json
        busy = (ended_threads_too(agent.pid) - before) / done["seconds"]
        self.assertGreater(busy, 0)
        share = idle / busy
        print(f"idle {idle:.5f} of a core, crawling {busy:.3f}: {100 * share:.2f} %")
        self.assertLess(share, 0.005)

    def idle_cpu(self, pid: int, seconds: float) -> float:
        """The share of a core that the process uses while nothing happens."""
        before, began = cpu_seconds(pid), time.monotonic()
        time.sleep(seconds)
        return (cpu_seconds(pid) - before) / (time.monotonic() - began)


if __name__ == "__main__":
    console.main()

"""An agent that runs for a while with 50 clients at its API: no errors, nothing lost, no leak.

One minute; with GANNET_TEST_LONG half an hour, and then memory must not grow in its second half.

Usage: soak_test.py GANNET MAKE_CRAWLED_SITE FAKEWEB ADMIN_HAMMER
"""

import contextlib
import itertools
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "console"))

import console
from console import GANNET
from fakeweb import FakeWebTest

HAMMER = os.path.abspath(sys.argv[4])
SECONDS = 1800 if os.environ.get("GANNET_TEST_LONG") else 60
CLIENTS = 50
# The verbs that the clients use: all of proto/admin.proto but those that take pages away, and the
# backup.
VERBS = set(re.findall(r"(?m)^  rpc (\w+)\(",
                       (pathlib.Path(__file__).resolve().parents[3] / "proto/admin.proto")
                       .read_text())) - {"Forget", "ReleaseArchiveFile", "Backup"}
# Agents restart at once, but gRPC's clients wait a second or two before they try again.
SECONDS_TO_COME_BACK = 3
# These refusals are all right: callers that left keep their place until the agent has noticed, and
# requests for rounds wait for each other.
TOO_MANY = re.compile("64 callers watch or export already|100 others have asked for rounds already|"
                      "has too many callers")
MOST_GROWTH = 1 << 20  # Bytes per minute.


def resident(pid: int) -> int:
    for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) * 1024
    raise RuntimeError("no VmRSS")


def slope(samples: list[tuple[float, int]]) -> float:
    """The slope of the straight line through them (least squares), in bytes per minute."""
    mean_t = sum(t for t, _ in samples) / len(samples)
    mean_v = sum(v for _, v in samples) / len(samples)
    above = sum((t - mean_t) * (v - mean_v) for t, v in samples)
    below = sum((t - mean_t) ** 2 for t, _ in samples)
    return 60 * above / below


class SoakTest(FakeWebTest):
    def start_agent(self) -> subprocess.Popen:
        log = self.folder / "agent.log"
        seen = self.starts() if log.exists() else 0
        with open(log, "a") as out:
            agent = subprocess.Popen([GANNET, "serve", "--data", "site", "--http", "127.0.0.1:0"],
                                     cwd=self.folder, stdout=subprocess.DEVNULL, stderr=out)
        self.addCleanup(agent.kill)
        deadline = time.monotonic() + 60
        while self.starts() == seen:
            self.assertIsNone(agent.poll(), log.read_text()[-2000:])
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.05)
        return agent

    def starts(self) -> int:
        return (self.folder / "agent.log").read_text().count('"event":"agent_started"')

    def log_lines(self) -> list[dict]:
        """All lines of the log; fails if one is not JSON."""
        return [json.loads(line) for line in (self.folder / "agent.log").read_text().splitlines()]

    @contextlib.contextmanager
    def agent_is_away(self):
        """While this lasts, clients may find no agent."""
        began = time.time()
        yield
        self.away.append((began, time.time() + SECONDS_TO_COME_BACK))

    def judge(self, asked: dict):
        """Fails if an answer was one that must not occur at that moment."""
        self.assertEqual(asked["errors"], [])
        alone = [call for call in asked["away"]
                 if not any(call[1] < end and call[2] > began for began, end in self.away)]
        self.assertEqual(alone[:5], [], f"nobody answered, though no restart was under way: {self.away}")
        self.assertEqual([text for text in asked["too_many"] if not TOO_MANY.search(text)], [])
        self.assertEqual(set(asked["answered"]), VERBS | {"Connect"})
        total = sum(asked["answered"].values())
        self.assertGreater(total, 10 * SECONDS)
        self.assertLess(sum(asked["too_many"].values()), total / 20)

    def judge_log(self) -> list[str]:
        lines = self.log_lines()
        self.assertEqual([line for line in lines if line["level"] not in ("debug", "info")], [])
        return [line["event"] for line in lines]

    def test_nothing_goes_wrong(self):
        web = self.serve("--hosts", "60", "--pages", "3000",
                         "--nasty", "all,-traps,-stall,-slow,-tls-stall",
                         "--change-speed", "1000")
        # Pages are due again after a minute, so that there is always work. The caches are so small
        # that they are full long before memory is measured: then only a leak can grow.
        self.site(web, more="crawl_db: {cache: 8MiB, write_buffers: 8MiB}\ncrawl: {width: 300}\nrecrawl: {interval: 1m}\nlog: {format: json}\n")
        self.gannet("inject", web.seed, "--data", "site")
        agent = self.start_agent()
        answers = self.folder / "answers.json"  # A pipe would be too small.
        with open(answers, "w") as out:
            hammer = subprocess.Popen([HAMMER, "site", str(CLIENTS), str(SECONDS), web.seed],
                                      cwd=self.folder, stdout=out)
        self.addCleanup(hammer.kill)

        self.away = []
        began = time.monotonic()
        samples, restarts = [], 0
        while hammer.poll() is None:
            passed = time.monotonic() - began
            agent.send_signal(signal.SIGHUP)
            # Restarts in the first half only; the second half measures memory.
            if restarts == 0 and passed > SECONDS / 6:
                restarts += 1
                with self.agent_is_away():
                    agent.terminate()
                    self.assertEqual(agent.wait(timeout=15), 0)
                    agent = self.start_agent()
            if restarts == 1 and passed > SECONDS / 3:
                restarts += 1
                with self.agent_is_away():
                    agent.kill()
                    agent.wait()
                    agent = self.start_agent()
            if restarts == 2:
                restarts += 1
                self.back_up_and_go_on()
            if passed > SECONDS / 2:
                samples.append((time.monotonic(), resident(agent.pid)))
            time.sleep(1)
        asked = json.loads(answers.read_text())
        self.assertEqual(restarts, 3)
        self.judge(asked)

        agent.terminate()
        self.assertEqual(agent.wait(timeout=15), 0)
        events = self.judge_log()
        self.assertGreater(events.count("round_ended"), 3)
        self.assertGreater(events.count("reloaded"), SECONDS // 10)
        self.check_invariants("site")
        growth = slope(samples)
        print(f"answered {asked['answered']}, away {len(asked['away'])}, too many "
              f"{asked['too_many']}, {events.count('round_ended')} rounds, "
              f"{samples[-1][1] >> 20} MiB resident, {growth / (1 << 20):+.2f} MiB a minute")
        if SECONDS >= 1800:
            self.assertLess(growth, MOST_GROWTH)

    def back_up_and_go_on(self):
        """Makes a backup in the middle of a round, restores it elsewhere, and crawls there."""
        deadline = time.monotonic() + 30
        for attempt in itertools.count():  # The round may end before the backup begins.
            self.assertLess(time.monotonic(), deadline, "no backup met a round")
            if self.gannet("status", "--json", "--data", "site").json["phase"] != "fetch":
                continue
            restored = f"restored{attempt}"
            self.gannet("backup", "--to", f"backup{attempt}", "--data", "site")
            self.gannet("restore", f"backup{attempt}", "--data", restored)
            before = self.gannet("status", "--json", "--data", restored).json
            # With few pages left, the round only waits for those that fail slowly.
            if before["phase"] == "fetch" and before["in_round"] >= 20:
                break
        self.check_invariants(restored)
        done = self.gannet("round", "--rounds", "1", "--json", "--data", restored).json
        self.assertEqual(done["rounds"], 1)
        self.assertGreater(done["fetched"], 0)
        self.assertGreaterEqual(done["known"], before["known"])
        after = self.gannet("status", "--json", "--data", restored).json
        self.assertEqual((after["round"], after["phase"]), (before["round"], "none"))
        self.check_invariants(restored)


if __name__ == "__main__":
    console.main()

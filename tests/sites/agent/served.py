"""A `gannet serve` with its dashboard, for tests that ask it."""

import json
import signal
import subprocess

from console import GANNET
from fakeweb import FakeWebTest


class ServedTest(FakeWebTest):
    def start_agent(self, site: str = "site") -> subprocess.Popen:
        """Starts an agent, and returns when it answers, at `self.url` too. site.yaml must ask for
        JSON logs."""
        agent = subprocess.Popen([GANNET, "serve", "--data", site, "--http", "127.0.0.1:0"],
                                 cwd=self.folder, stdout=subprocess.DEVNULL,
                                 stderr=subprocess.PIPE, text=True)
        self.addCleanup(self.end, agent)
        for line in agent.stderr:
            event = json.loads(line)
            if event["event"] == "dashboard_serves":
                self.url = event["url"]
            if event["event"] == "agent_started":
                return agent
        self.fail("the agent did not start")

    def end(self, agent: subprocess.Popen):
        if agent.poll() is None:
            agent.send_signal(signal.SIGCONT)
            agent.terminate()
        agent.communicate(timeout=30)

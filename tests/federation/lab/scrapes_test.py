"""Prometheus and the dashboard ask a site every few seconds: that must cost no call to another site,
and not wait for one that has just died. `federation status` asks all sites how they are now."""

import contextlib
import os
import re
import signal
import time
import urllib.request

from commands_lab import CommandsTest, main
from federation_lab import SLOW, Lab, Member

# Seconds after which a call to a site that does not answer gives up (neighbour.h, beat_at_most).
CALL_GIVES_UP = 3


class Scrapes(CommandsTest):
    def get(self, site: Member, path: str) -> str:
        [url] = re.findall(r"dashboard_serves url=(\S+)/", site.log())
        with urllib.request.urlopen(url + path, timeout=30) as answer:
            return answer.read().decode()

    def pair(self) -> Lab:
        """Two sites that are quiet, because they have no seeds yet; each serves its dashboard."""
        lab = self.lab([])
        for name in ("tokyo", "zurich"):
            site = lab.make(name)
            text = (site.folder / "site.yaml").read_text()
            (site.folder / "site.yaml").write_text(text.replace('http: ""', 'http: "127.0.0.1:0"'))
            if lab.sites:
                lab.first.run("federation", "invite", name)
            site.serve()
            lab.sites[name] = site
            lab.settle()
        lab.wait_quiet()
        return lab

    @contextlib.contextmanager
    def stopped(self, site: Member):
        """Stops the process (SIGSTOP): it looks as if it had died and no other site had noticed."""
        os.kill(site.agent.pid, signal.SIGSTOP)
        try:
            yield time.monotonic()
        finally:
            os.kill(site.agent.pid, signal.SIGCONT)

    def test_a_look_at_a_quiet_federation_waits_for_no_site(self) -> None:
        lab = self.pair()
        tokyo, zurich = lab.sites.values()
        # On a busy machine the other site may notice before the test has asked: then it tries again.
        for _ in range(5):
            with self.stopped(zurich) as began:
                texts = [self.get(tokyo, path)
                         for path in ("/metrics", "/api/federation", "/metrics")]
                looked_for = time.monotonic() - began
                # `federation status` does wait, and says what is true.
                began = time.monotonic()
                self.assertFalse(tokyo.says()["quiet"])
                self.assertLess(time.monotonic() - began, (2 * CALL_GIVES_UP - 1) * SLOW)
            lab.wait_quiet()
            if looked_for < CALL_GIVES_UP / 2:
                break
        self.assertLess(looked_for, CALL_GIVES_UP / 2)
        self.assertIn("gannet_federation_quiet 1\n", texts[0])
        self.assertIn("gannet_federation_quiet 1\n", texts[2])

    def outboxes(self, site: Member) -> dict[str, int]:
        return {name: int(urls) for name, urls in
                re.findall(r'(?m)^gannet_outbox_urls\{site="(\w+)"\} (\d+)$',
                           self.get(site, "/metrics"))}

    def test_metrics_count_what_waits_for_a_site_that_does_not_answer(self) -> None:
        lab = self.pair()
        tokyo, zurich = lab.sites.values()
        self.assertEqual(sum(self.outboxes(tokyo).values()), 0)
        with self.stopped(zurich):
            lab.inject(lab.web.seeds())
            tokyo.wait_for(lambda: self.outboxes(tokyo).get("zurich", 0) > 0, 60, "an outbox")
            # Wait until tokyo has nothing left that it can do alone.
            tokyo.wait_for(lambda: tokyo.says_of("tokyo")["idle"], 60, "tokyo to be idle")
            waiting = tokyo.status()["outbox"]
            self.assertEqual(list(waiting), ["zurich"])
            self.assertEqual(self.outboxes(tokyo), waiting)
        lab.wait_quiet()
        self.assertEqual(sum(self.outboxes(tokyo).values()), 0)


if __name__ == "__main__":
    main()

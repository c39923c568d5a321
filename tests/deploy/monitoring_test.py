"""deploy/prometheus and deploy/grafana against what a site really exposes: a rule or a panel that
names a metric which does not exist stays silent without an error.

Usage: monitoring_test.py METRICS
  METRICS   the text of /metrics: a file, a URL, or the binary gannet, which is then served
"""

import contextlib
import json
import pathlib
import re
import socket
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.error
import urllib.request

from promql import Selector, exposed, selectors

METRICS = sys.argv[1]
DEPLOY = pathlib.Path(__file__).resolve().parents[2] / "deploy"
RULES = DEPLOY / "prometheus/gannet.rules.yml"

# Metrics that exist only in some sites (with TLS; with something in the outbox), and their labels.
SOMETIMES = {"gannet_certificate_expiry_timestamp_seconds": set(), "gannet_outbox_urls": {"site"}}
# Labels that Prometheus itself adds.
ADDED = {"job", "instance"}


def free_addresses(count: int) -> list[str]:
    with contextlib.ExitStack() as probes:
        found = [probes.enter_context(socket.socket()) for _ in range(count)]
        for probe in found:
            probe.bind(("127.0.0.1", 0))
        return [f"127.0.0.1:{probe.getsockname()[1]}" for probe in found]


def add_neighbour(gannet: str, folder: str, peers: str, address: str,
                  at_end: contextlib.ExitStack) -> None:
    """Adds a second site, and returns when the first has heard of it."""
    subprocess.run([gannet, "federation", "invite", "other", "--data", folder], check=True,
                   capture_output=True)
    data = at_end.enter_context(tempfile.TemporaryDirectory(prefix="gannet-metrics-"))
    (pathlib.Path(data) / "site.yaml").write_text(
        f'site: {{name: other}}\nlisten: {{peers: "{address}", http: ""}}\n'
        f'federation: {{map: registrar, join: "{peers}"}}\nfetch: {{connect_to: "127.0.0.1:9"}}\n')
    other = subprocess.Popen([gannet, "serve", "--data", data], stdout=subprocess.DEVNULL,
                             stderr=subprocess.DEVNULL)
    at_end.callback(other.wait, 30)
    at_end.callback(other.terminate)
    for _ in range(300):
        said = subprocess.run([gannet, "federation", "status", "--json", "--data", folder],
                              check=True, capture_output=True, text=True).stdout
        sites = json.loads(said)["federation"]["sites"]
        if any(site["round_trip_seconds"] is not None for site in sites):
            return
        time.sleep(0.1)
    raise RuntimeError(f"the second site did not join: {said}")


def served(gannet: str) -> str:
    """/metrics of a real site that has run a round over a web that does not answer; it is one of
    a federation of two."""
    with tempfile.TemporaryDirectory(prefix="gannet-metrics-") as folder, \
            contextlib.ExitStack() as at_end:
        address, peers, other = free_addresses(3)
        subprocess.run([gannet, "init", folder], check=True, capture_output=True)
        yaml = pathlib.Path(folder) / "site.yaml"
        yaml.write_text(yaml.read_text().replace('  map: ""', "  map: registrar")
                        .replace('  peers: ""', f"  peers: {peers}"))
        agent = subprocess.Popen([gannet, "serve", "--data", folder, "--http", address,
                                  "--connect-to", "127.0.0.1:9"],
                                 stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        try:
            for _ in range(300):
                if agent.poll() is not None:
                    break
                try:
                    urllib.request.urlopen(f"http://{address}/healthz").read()
                except urllib.error.URLError:
                    time.sleep(0.1)
                    continue
                # One request that succeeds and one that fails, for both counters.
                for command in (["page", "http://unknown.example/"],
                                ["inject", "http://nobody.example/"], ["round", "--rounds", "1"]):
                    subprocess.run([gannet, *command, "--data", folder], capture_output=True)
                add_neighbour(gannet, folder, peers, other, at_end)
                return urllib.request.urlopen(f"http://{address}/metrics").read().decode()
        finally:
            agent.terminate()
            said = agent.communicate(timeout=30)[0]
        raise RuntimeError(f"gannet serve gave no /metrics: {said}")


def read_metrics() -> str:
    if re.match(r"https?://", METRICS):
        return urllib.request.urlopen(METRICS).read().decode()
    if pathlib.Path(METRICS).suffix == ".txt":
        print(f"note: checked against {METRICS}, not against a running site", file=sys.stderr)
        return pathlib.Path(METRICS).read_text()
    return served(METRICS)


def rules() -> list[tuple[str, str, str]]:
    """(record or alert, name, expression). Python's library has no YAML reader, so this relies on
    the shape of our file; promtool checks its syntax."""
    found = re.findall(r"^ +- (record|alert): (\S+)\n +expr: (?:\|\n((?: {10}.*\n)+)|(.*)\n)",
                       RULES.read_text(), re.M)
    return [(kind, name, block or line) for kind, name, block, line in found]


def panels() -> list[tuple[str, str]]:
    """(title, expression) of every query of the dashboard and of its variables."""
    board = json.loads((DEPLOY / "grafana/gannet.json").read_text())
    found = [(panel["title"], target["expr"]) for panel in board["panels"]
             for target in panel.get("targets", [])]
    for variable in board["templating"]["list"]:
        if variable["type"] == "query":
            values = re.fullmatch(r"label_values\((.*), \w+\)", variable["query"]["query"])
            found.append((variable["name"], values.group(1)))
    return found


class Monitoring(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.exposed = exposed(read_metrics())
        cls.recorded = {name for kind, name, _ in rules() if kind == "record"}

    def problem(self, selector: Selector) -> str | None:
        name, labels = selector.metric, selector.labels - ADDED
        if name in self.recorded or name == "up":
            return None
        if name in SOMETIMES:
            return f"{name} has no label {labels}" if labels - SOMETIMES[name] else None
        if name not in self.exposed:
            return f"no metric {name}"
        wanted = {label: value for label, value in selector.equal.items() if label not in ADDED}
        # A counter that first appears with its first failure shows no increase for that one.
        if not any(wanted.items() <= sample.items() and labels <= sample.keys()
                   for sample in self.exposed[name]):
            return f"no sample of {name} with {wanted or labels}"
        return None

    def check(self, where: str, expression: str):
        found = selectors(expression)
        self.assertTrue(found, f"{where} reads no metric")
        for selector in found:
            with self.subTest(where, metric=selector.metric):
                self.assertIsNone(self.problem(selector))

    def test_every_rule_names_metrics_that_exist(self):
        text = RULES.read_text()
        self.assertEqual(len(rules()), len(re.findall(r"^ +- (?:record|alert):", text, re.M)))
        for _, name, expression in rules():
            self.check(name, expression)

    def test_every_panel_names_metrics_that_exist(self):
        self.assertGreater(len(panels()), 30)
        for title, expression in panels():
            self.check(title, expression)

    def test_every_alert_is_tested_and_has_its_section_in_the_guide(self):
        tests = (DEPLOY / "prometheus/gannet.rules.test.yml").read_text()
        guide = (DEPLOY / "README.md").read_text()
        runbooks = dict(re.findall(r"- alert: (\S+)\n(?:.*\n)*?.*runbook: \S+README.md#(\S+)",
                                   RULES.read_text()))
        alerts = [name for kind, name, _ in rules() if kind == "alert"]
        self.assertGreater(len(alerts), 10)
        for alert in alerts:
            with self.subTest(alert):
                self.assertEqual(runbooks[alert], alert.lower())
                self.assertRegex(guide, rf"(?m)^#+ {alert}$")
                # It is tested at least once silent, and at least once firing.
                self.assertRegex(tests, rf'alertname="{alert}".*exp_samples: \[\]')
                self.assertRegex(tests, rf'alertname="{alert}".*exp_samples: \[\s*\n'
                                        rf"|alertname: {alert}\n")
        self.assertEqual(sorted(re.findall(r"(?m)^#+ (Gannet\w+)$", guide)), sorted(alerts))


class Reader(unittest.TestCase):
    """Tests of the readers that the tests below rely on."""

    def test_it_finds_metrics_and_only_them(self):
        for expression, names in (
                ('sum by (job, outcome) (rate(a_total{outcome="x"}[5m])) / (b > 0)', "a_total b"),
                ("a and on (job) b unless c == 0", "a b c"),
                ("a * on (job) group_left (version) b offset 5m", "a b"),
                ("time() - (a:b:rate5m or c) > 6 * 3600", "a:b:rate5m c"),
                ('a{label="not_a_metric"} # nor_this', "a"),
                ("predict_linear(a[6h], 1e9) < b", "a b")):
            with self.subTest(expression):
                self.assertEqual([s.metric for s in selectors(expression)], names.split())

    def test_it_finds_labels(self):
        [selector] = selectors('a{job="gannet", instance=~"$instance", outcome="failed"}')
        self.assertEqual(selector.equal, {"job": "gannet", "outcome": "failed"})
        self.assertEqual(selector.labels, {"job", "instance", "outcome"})

    def test_it_reads_a_metrics_page(self):
        self.assertEqual(exposed('# TYPE a gauge\na{x="1",y="a\\"b"} 2\nb 1e9 123\n'),
                         {"a": [{"x": "1", "y": 'a\\"b'}], "b": [{}]})


class Unknown(Monitoring):
    """Shows that the tests above find mistakes."""

    test_every_rule_names_metrics_that_exist = None
    test_every_panel_names_metrics_that_exist = None
    test_every_alert_is_tested_and_has_its_section_in_the_guide = None

    def test_wrong_names_and_labels_are_found(self):
        for expression, problem in (
                ("gannet_frontier_urls", "no metric gannet_frontier_urls"),
                ('gannet_rounds_total{result="bad"}', "no sample"),
                ('gannet_frontier_pages{host="x"}', "no sample"),
                ('gannet_outbox_urls{to="x"}', "no label"),
                ('gannet_rounds_total{job="gannet",result="failed"}', None)):
            [selector] = selectors(expression)
            found = self.problem(selector)
            self.assertEqual(found is None, problem is None)
            self.assertIn(problem or "", found or "")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])

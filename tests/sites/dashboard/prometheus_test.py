"""Prometheus' own tools on a dashboard's metrics: promtool judges their form,
and a real Prometheus scrapes them and answers a query.

Usage: prometheus_test.py DASHBOARD_DEMO
"""

import os
import shutil
import subprocess
import sys
import unittest

from demo import Demo
from prometheus import Prometheus

DEMO = os.path.abspath(sys.argv[1])

# The rules and the dashboard in deploy/ use these names.
NAMES = """gannet_build_info gannet_start_time_seconds gannet_rounds_total
gannet_round_last_success_timestamp_seconds gannet_round_last_start_timestamp_seconds
gannet_round_number gannet_round_running gannet_rounds_paused gannet_round_planned_pages
gannet_round_completed_pages gannet_fetches_total gannet_fetch_failures_total
gannet_connections_held_back_seconds_total gannet_network_lag_seconds
gannet_network_max_lag_seconds gannet_fetches_unchanged_total
gannet_fetched_bytes_total gannet_phase_seconds_total gannet_phase_seconds gannet_pages
gannet_known_pages gannet_frontier_pages gannet_scheduled_pages gannet_deferred_urls
gannet_dropped_urls gannet_hosts_active gannet_connections gannet_archive_files
gannet_archive_bytes gannet_disk_free_bytes gannet_disk_min_free_bytes gannet_blocked_domains
gannet_certificate_expiry_timestamp_seconds gannet_config_last_reload_success_timestamp_seconds
gannet_config_last_reload_successful gannet_admin_requests_total
gannet_admin_request_failures_total gannet_http_requests_total process_cpu_seconds_total
process_resident_memory_bytes process_open_fds process_max_fds
process_start_time_seconds""".split()
FEDERATION_NAMES = """gannet_federation_epoch gannet_federation_joined
gannet_federation_registrar_up gannet_federation_quiet gannet_federation_paused
gannet_hand_off_running gannet_hand_off_pages gannet_peer_calls_refused_total
gannet_peer_handshakes_refused_total gannet_exchange_streams_cut_total
gannet_exchange_batches_refused_total
gannet_exchange_batches_repeated_total gannet_sent_cache_lookups_total
gannet_sent_cache_hits_total gannet_site_up gannet_site_epoch_lag
gannet_site_round_trip_seconds gannet_exchange_urls_total gannet_exchange_bytes_total
gannet_exchange_pages_total gannet_outbox_urls""".split()


class PrometheusTest(unittest.TestCase):
    def setUp(self):
        self.demo = Demo(DEMO, "--federation")
        self.addCleanup(self.demo.close)

    def test_promtool_has_no_complaint(self):
        self.demo.get("/metrics")  # So that requests are counted.
        text = self.demo.get("/metrics")
        done = subprocess.run(["promtool", "check", "metrics"], input=text, text=True,
                              capture_output=True, timeout=60)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))

    def test_every_promised_name_is_there(self):
        self.demo.get("/metrics")
        text = self.demo.get("/metrics")
        there = {line.split()[2] for line in text.splitlines() if line.startswith("# TYPE")}
        promised = {*NAMES, *FEDERATION_NAMES}
        self.assertEqual(sorted(promised - there), [])
        self.assertEqual(sorted(there - promised), [], "metrics that are not listed here")

    def test_a_site_in_no_federation_says_nothing_of_one(self):
        alone = Demo(DEMO)
        self.addCleanup(alone.close)
        text = alone.get("/metrics")
        self.assertEqual([name for name in FEDERATION_NAMES if name in text], [])

    def test_a_real_prometheus_scrapes_it_and_answers(self):
        with Prometheus(self.demo.port) as prometheus:
            self.check(prometheus)
        self.assertNotIn("gannet", prometheus.complaints)

    def check(self, prometheus: Prometheus):
        first = prometheus.query("sum(gannet_fetches_total)")
        self.assertGreater(first, 7_000_000)
        self.assertEqual(prometheus.query("gannet_known_pages"), 3912345)
        self.assertEqual(prometheus.query('up{job="gannet"}'), 1)
        self.assertEqual(prometheus.query('gannet_build_info{version="0.1.0"}'), 1)
        self.assertEqual(prometheus.query('gannet_outbox_urls{site="sydney"}'), 48211)
        # Some 205 pages per second, once the window of rate() is full.
        rate = prometheus.query("sum(rate(gannet_fetches_total[5s])) > 100")
        self.assertLess(rate, 400)


if __name__ == "__main__":
    if not shutil.which("prometheus"):
        print("skipped: prometheus is not installed")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1])

"""A crawl of 200 https hosts makes one TLS handshake per host, and resumes it in later rounds.

nginx serves, and its log decides: which connection each request came by, and whether that
connection resumed a session. Only counts are compared, no times. Exit code 77: skipped, and why.
"""

import collections
import contextlib
import json
import pathlib
import sys
import tempfile
import unittest

from crawl_processes import SLOW, Reached, Site

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench/crawl"))
import certificates  # noqa: E402
import web  # noqa: E402

GANNET = sys.argv[1]
HOSTS = [f"h{i}.example" for i in range(200)]
PAGES = 5
SEEDS = [f"https://{host}{page}" for host in HOSTS for page in web.pages()[:PAGES]]


class Log:
    """What nginx says of the connections that requests came by."""

    def __init__(self, path: pathlib.Path) -> None:
        self.resumed: dict[str, bool] = {}  # By connection.
        self.by_host: dict[str, set[str]] = collections.defaultdict(set)
        self.answered: collections.Counter[str] = collections.Counter()
        for line in path.read_text().splitlines():
            connection, resumed, host, page, status = line.split("\t")
            self.resumed[connection] = resumed == "r"
            self.by_host[host].add(connection)
            if page != "/robots.txt":
                self.answered[status] += 1

    def full_handshakes(self, host: str) -> int:
        return sum(not self.resumed[connection] for connection in self.by_host[host])


@unittest.skipIf(web.missing_packages(tls=True),
                 f"missing packages: {' '.join(web.missing_packages(tls=True))}")
class TlsTest(unittest.TestCase):
    @contextlib.contextmanager
    def served(self):
        """Yields a site that knows the web's root, the log, and the folder of both."""
        with tempfile.TemporaryDirectory(prefix="gannet-test-") as folder:
            place = pathlib.Path(folder)
            place.chmod(0o755)
            port, tls_port = web.free_port(), web.free_port()
            with web.serve(port, tls_port, HOSTS, log=place / "asked.tsv") as running:
                reached = Reached(f"127.0.0.1:{port},{tls_port}", running.root)
                site = Site(GANNET, place / "site", reached, delay="0s", timeout=f"{60 * SLOW}s",
                            first_byte_timeout=f"{30 * SLOW}s", connect_timeout=f"{30 * SLOW}s")
                # The manual links to hosts of the real web, for which nginx has no certificates.
                settings = site.folder / "site.yaml"
                settings.write_text(settings.read_text().replace(
                    "urls: {", r"urls: {allow: {regexes: ['^https://[a-z0-9]+\.example/']}, "))
                yield site, place / "asked.tsv", place

    def crawl(self, site: Site, place: pathlib.Path, seeds: list[str], *flags: str) -> dict:
        (place / "seeds").write_text("\n".join(seeds))
        printed = site.run("crawl", str(place / "seeds"), "--scope", "any", "--json", "--quiet", "--wait", "0", *flags)
        return json.loads(printed.splitlines()[-1])

    def test_a_round_makes_one_connection_and_handshake_per_host(self) -> None:
        with self.served() as (site, asked, place):
            summary = self.crawl(site, place, SEEDS, "--rounds", "1")
            log = Log(asked)
        self.assertEqual((summary["fetched"], summary["failed"]), (len(SEEDS), 0), summary)
        self.assertEqual(log.answered, {"200": len(SEEDS)})
        self.assertEqual({host: len(log.by_host[host]) for host in HOSTS}, dict.fromkeys(HOSTS, 1))
        self.assertEqual(len(log.resumed), len(HOSTS))

    def test_later_rounds_resume_the_session_of_the_first(self) -> None:
        with self.served() as (site, asked, place):
            summary = self.crawl(site, place, SEEDS, "--rounds", str(PAGES), "--per-host", "1",
                                 "--width", str(len(HOSTS)))
            log = Log(asked)
        self.assertEqual((summary["fetched"], summary["failed"], summary["rounds"]),
                         (len(SEEDS), 0, PAGES), summary)
        self.assertEqual(log.answered, {"200": len(SEEDS)})
        # Otherwise there was nothing to resume.
        self.assertGreater(len(log.resumed), len(HOSTS))
        self.assertEqual({host: log.full_handshakes(host) for host in HOSTS},
                         dict.fromkeys(HOSTS, 1))

    def test_a_name_that_is_in_no_certificate_is_asked_for_nothing(self) -> None:
        with self.served() as (site, asked, place):
            summary = self.crawl(site, place, ["https://stranger.example/index.html"], "--rounds", "1")
            self.assertEqual((summary["fetched"], summary["failed"]), (0, 1), summary)
            self.assertEqual(asked.read_text(), "")

    def test_a_host_that_an_unknown_root_vouches_for_is_asked_for_nothing(self) -> None:
        with self.served() as (site, asked, place):
            (place / "other").mkdir()
            other, _ = certificates.make(place / "other", HOSTS[:1])
            summary = self.crawl(site, place, SEEDS[:1], "--rounds", "1", "--ca-file", str(other))
            self.assertEqual((summary["fetched"], summary["failed"]), (0, 1), summary)
            self.assertEqual(asked.read_text(), "")


if __name__ == "__main__":
    done = unittest.main(argv=sys.argv[:1], exit=False).result
    for test, why in done.skipped:
        print(f"{test}: Skipped\n{why}")
    sys.exit(1 if not done.wasSuccessful() else 77 if done.skipped else 0)

"""The races of crawl_bench.py over plain HTTP and over TLS: what does TLS cost Gannet, and how
much of that is unavoidable?

- hosts-2000: 2,000 hosts of 10 pages each. All 20,000 URLs are given, so that one round gets
  them all, over one connection per host, as the libcurl loop does. The CPU time of a TLS
  connection is what a crawl takes more over TLS than over plain HTTP, divided by nginx's count of
  connections. It includes the decryption of ten pages, for Gannet as for the loop.
- hosts-2000-addresses: the same, with an address of its own for each host; without the loop,
  which can use one address only. Its CPU time has no target.
- manual-20-tls: 20 hosts, the whole manual: what TLS costs after the connections are made.

The loop loads the certificates once (curl_loop.cc), and both trust the machine's own roots and
the test web's, as a crawler of the real web would.

Plain and TLS take turns within a run, and of each the best time and the least CPU time count,
because other load on the machine only adds to them.
"""

import dataclasses
import pathlib

import certificates
import web
from race import Race

# Ten pages that the manual's index links to, small and large ones.
TEN_PAGES = ["index", "preface", "legalnotice", "intro-whatis", "history", "notation", "resources",
             "bug-reporting", "tutorial", "tutorial-start"]
SCHEMES = ["http", "https"]


@dataclasses.dataclass
class Rules:
    """A race and its targets: `speed` is the least share of plain HTTP's pages/s that TLS must
    reach, `cpu` the most that a connection's TLS may cost, as a multiple of the loop's cost."""
    hosts: int
    ten_pages: bool
    speed: float
    cpu: float | None = None
    every_address: bool = False


RACES = {"hosts-2000": Rules(2000, True, speed=0.5, cpu=1.3),
         "hosts-2000-addresses": Rules(2000, True, speed=0.5, every_address=True),
         "manual-20-tls": Rules(20, False, speed=0.75)}


def _race(name: str, rules: Rules, scheme: str, arguments, folder: pathlib.Path) -> Race:
    hosts = [f"h{i}.example" for i in range(rules.hosts)]
    if rules.ten_pages:
        pages = [f"/{page}.html" for page in TEN_PAGES]
        allow = {"regexes": [rf"^{scheme}://h[0-9]+\.example/({'|'.join(TEN_PAGES)})\.html$"]}
    else:
        pages, allow = web.pages(), {"domains": hosts}
    urls = [f"{scheme}://{host}{page}" for page in pages for host in hosts]
    seeds = urls if rules.ten_pages else urls[:rules.hosts]
    peers = ["gannet"] if rules.every_address else ["curl", "gannet"]
    return Race(f"{name}-{scheme}", arguments, folder, peers, seeds, urls, allow)


def _measure(race: Race, peer: str, served: web.Web) -> dict:
    before = served.connections()
    result = race.run(peer)
    return {**result, "connections": served.connections() - before - 1}


def _milliseconds_per_connection(measured: dict, peer: str) -> float:
    """CPU time of a TLS connection, beyond what the crawl costs without TLS."""
    plain, tls = (min(run["cpu_seconds"] for run in measured[peer, scheme]) for scheme in SCHEMES)
    return 1000 * (tls - plain) / measured[peer, "https"][0]["connections"]


def judge(rules: Rules, expected: int, measured: dict) -> tuple[dict, list[str]]:
    """The ratios, and which targets were missed. `measured` has the runs by peer and scheme."""
    missed = [f"{peer} got {run['pages']} of {expected} pages by {scheme}"
              for (peer, scheme), runs in measured.items() for run in runs
              if run["pages"] != expected]
    ratios = {}
    for peer in {peer for peer, _ in measured}:
        plain, tls = (max(run["pages_per_second"] for run in measured[peer, scheme])
                      for scheme in SCHEMES)
        ratios[f"{peer}: https/http pages/s"] = round(tls / max(plain, 1), 3)
        # With the whole manual this would measure the decryption of pages, not the connection.
        if rules.ten_pages:
            ratios[f"{peer}: ms of CPU per TLS connection"] = round(
                _milliseconds_per_connection(measured, peer), 3)
    speed = ratios.get("gannet: https/http pages/s", rules.speed)
    if speed < rules.speed:
        missed.append(f"gannet over TLS has {speed} of its pages/s over plain HTTP, to be at "
                      f"least {rules.speed}")
    if rules.cpu and ("curl", "https") in measured and ("gannet", "https") in measured:
        loop, own = (_milliseconds_per_connection(measured, peer) for peer in ("curl", "gannet"))
        ratios["gannet/curl: CPU per TLS connection"] = round(own / max(loop, 0.001), 3)
        if own > rules.cpu * loop:
            missed.append(f"a TLS connection costs gannet {own:.2f} ms of CPU and the libcurl loop "
                          f"{loop:.2f} ms, to be at most {rules.cpu} times as much")
    return ratios, missed


def run(name: str, arguments, folder: pathlib.Path) -> dict:
    rules = RACES[name]
    races = {scheme: _race(name, rules, scheme, arguments, folder) for scheme in SCHEMES}
    expected = rules.hosts * len(TEN_PAGES if rules.ten_pages else web.pages())
    hosts = [f"h{i}.example" for i in range(rules.hosts)]
    port, tls_port = web.free_port(), web.free_port()
    measured: dict = {}
    with web.serve(port, tls_port, hosts, rules.every_address) as served:
        ca_file = certificates.with_system_roots(served.root, folder / "ca.pem")
        for race in races.values():
            address = "127.0.0.0/8" if rules.every_address else "127.0.0.1"
            race.connect_to, race.ca_file = f"{address}:{port},{tls_port}", ca_file
            race.server = served.pids
        for number in range(arguments.runs):
            for scheme, race in races.items():
                for peer in race.peers:
                    result = _measure(race, peer, served)
                    measured.setdefault((peer, scheme), []).append(result)
                    print(f"{name}, run {number + 1}, {peer}, {scheme}: {result['pages']} pages, "
                          f"{result['pages_per_second']} pages/s, {result['cpu_seconds']} s of CPU, "
                          f"{result['connections']} connections", flush=True)
    ratios, missed = judge(rules, expected, measured)
    for what, value in sorted(ratios.items()):
        print(f"  {what}: {value}")
    print(flush=True)
    return {"ratios": ratios, "missed": missed,
            "runs": {f"{peer} {scheme}": runs for (peer, scheme), runs in measured.items()}}

"""A real Prometheus (Debian's) that scrapes one port of this machine."""

import json
import pathlib
import socket
import subprocess
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


class Prometheus:
    """Runs while the `with` block does; `complaints` is what it said on standard error."""

    def __init__(self, scraped_port: int):
        self.folder = tempfile.TemporaryDirectory(prefix="gannet-prometheus-")
        config = pathlib.Path(self.folder.name) / "prometheus.yml"
        config.write_text(f"""
global: {{scrape_interval: 1s, scrape_timeout: 1s}}
scrape_configs:
  - job_name: gannet
    static_configs: [{{targets: ["127.0.0.1:{scraped_port}"]}}]
""")
        self.port, self.complaints = free_port(), ""
        self.process = subprocess.Popen(
            ["prometheus", f"--config.file={config}",
             f"--storage.tsdb.path={self.folder.name}/data",
             f"--web.listen-address=127.0.0.1:{self.port}", "--log.level=error"],
            stderr=subprocess.PIPE, text=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.complaints = self.process.communicate(timeout=60)[1]
        self.folder.cleanup()

    def query(self, text: str) -> float:
        """The value, as soon as there is one."""
        url = (f"http://127.0.0.1:{self.port}/api/v1/query?" +
               urllib.parse.urlencode({"query": text}))
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        end = time.monotonic() + 60
        while time.monotonic() < end:
            try:
                with opener.open(url, timeout=10) as answer:
                    result = json.load(answer)["data"]["result"]
                if result:
                    return float(result[0]["value"][1])
            except (urllib.error.URLError, ConnectionError):
                pass  # Not up yet.
            time.sleep(0.1)
        raise AssertionError(f"no answer to {text}")

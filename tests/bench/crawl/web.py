"""The web that the crawlers race on: nginx serves the HTML of postgresql-doc-15 under
any number of host names on one loopback port, with a robots.txt; and with TLS on a second
port, under the given names (certificates.py).

    python3 web.py --port 8080 [--tls-port 8443 --hosts 20]       serves until interrupted

It has one worker, keep-alive without end, and no log unless asked for, because the crawler is to be
measured and not nginx.
"""

import argparse
import contextlib
import dataclasses
import pathlib
import shutil
import socket
import subprocess
import tempfile
import time
import urllib.request

import certificates

HTML = pathlib.Path("/usr/share/doc/postgresql-doc-15/html")

CONFIG = """\
worker_processes 1;
daemon off;
master_process on;
pid {folder}/nginx.pid;
error_log {folder}/error.log crit;
user {user};
worker_rlimit_nofile 65536;
events {{ worker_connections 30000; multi_accept on; }}
http {{
  types {{ text/html html; text/css css; image/svg+xml svg; text/plain txt; }}
  log_format tls "$connection\\t$ssl_session_reused\\t$host\\t$request_uri\\t$status";
  access_log {log};
  sendfile on;
  tcp_nopush on;
  open_file_cache max=5000 inactive=1h;
  open_file_cache_valid 1h;
  keepalive_requests 1000000000;
  keepalive_timeout 1h;
  reset_timedout_connection on;
  client_body_temp_path {folder}/body;
  proxy_temp_path {folder}/proxy;
  fastcgi_temp_path {folder}/fastcgi;
  uwsgi_temp_path {folder}/uwsgi;
  scgi_temp_path {folder}/scgi;
  server_names_hash_max_size 65536;
  server_names_hash_bucket_size 128;
  ssl_protocols TLSv1.2 TLSv1.3;
  ssl_session_cache shared:sessions:16m;
  ssl_session_timeout 1h;
  allow 127.0.0.0/8;
  deny all;
  root {html};
  index index.html;
{servers}
}}
"""

SERVER = """\
  server {{
    listen {listen};
    server_name {names};
    {certificate}
    location = /robots.txt {{
      return 200 "User-agent: *\\nDisallow: /private/\\n";
    }}
    location = /nginx-status {{ stub_status; access_log off; }}
  }}
"""


@dataclasses.dataclass
class Web:
    """A running web: nginx's process ids (master and worker), and with TLS the root
    certificate that its clients need."""
    pids: list[int]
    root: pathlib.Path | None
    port: int

    def connections(self) -> int:
        """How many connections nginx has accepted so far, this request's own included."""
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/nginx-status") as answer:
            return int(answer.read().split()[7])


def missing_packages(tls: bool = False) -> list[str]:
    needed = [("nginx-light", shutil.which("nginx", path="/usr/sbin:/usr/bin")),
              ("openssl", not tls or shutil.which("openssl")),
              ("postgresql-doc-15", HTML.is_dir())]
    return [package for package, there in needed if not there]


def pages() -> list[str]:
    """Paths of all pages, index.html first."""
    names = sorted(path.name for path in HTML.glob("*.html"))
    return ["/index.html"] + ["/" + name for name in names if name != "index.html"]


def free_port() -> int:
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def _servers(port: int, tls_port: int, address: str, leaves: list[certificates.Leaf]) -> str:
    blocks = [SERVER.format(listen=f"{address}:{port} default_server backlog=65535", names="_",
                            certificate="")]
    for i, leaf in enumerate(leaves):
        # A port's options may be given only once. An unknown name gets the first certificate, and
        # a client that verifies names refuses it.
        options = " default_server backlog=65535" if i == 0 else ""
        blocks.append(SERVER.format(
            listen=f"{address}:{tls_port} ssl{options}", names=" ".join(leaf.names),
            certificate=f"ssl_certificate {leaf.chain}; ssl_certificate_key {leaf.key};"))
    return "".join(blocks)


def _wait_for(port: int, server: subprocess.Popen, folder: str) -> None:
    for _ in range(100):
        with socket.socket() as s:
            if s.connect_ex(("127.0.0.1", port)) == 0:
                return
        if server.poll() is not None:
            raise RuntimeError("nginx ended: " + (pathlib.Path(folder) / "error.log").read_text())
        time.sleep(0.05)
    raise RuntimeError(f"nginx does not answer on port {port}")


@contextlib.contextmanager
def serve(port: int, tls_port: int = 0, hosts: list[str] = (), every_address: bool = False,
          log: pathlib.Path | None = None):
    """Yields a Web. `hosts` are the names that TLS is served under. With `every_address` it
    answers on all of 127.0.0.0/8 (a socket can only be bound to one address or to all, so nginx
    itself refuses requests from other addresses). `log` gets a line per request: connection, "r" if
    it resumed a TLS session ("." if not), host, path and status."""
    with tempfile.TemporaryDirectory(prefix="gannet-web-") as folder:
        # If we are root, the worker runs as another user, who must be able to read the folder.
        pathlib.Path(folder).chmod(0o755)
        root, leaves = certificates.make(pathlib.Path(folder), hosts) if tls_port else (None, [])
        config = pathlib.Path(folder) / "nginx.conf"
        config.write_text(CONFIG.format(
            folder=folder, html=HTML, user="www-data", log=f"{log} tls" if log else "off",
            servers=_servers(port, tls_port, "0.0.0.0" if every_address else "127.0.0.1", leaves)))
        nginx = shutil.which("nginx", path="/usr/sbin:/usr/bin")
        # Without "-e" it opens Debian's log before it has read the configuration.
        server = subprocess.Popen([nginx, "-e", f"{folder}/error.log", "-p", folder, "-c", str(config)],
                                  stderr=subprocess.DEVNULL)
        try:
            _wait_for(tls_port or port, server, folder)
            workers = pathlib.Path(f"/proc/{server.pid}/task/{server.pid}/children").read_text()
            yield Web([server.pid] + [int(pid) for pid in workers.split()], root, port)
        finally:
            server.terminate()
            server.wait()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--port", type=int, default=8080)
    parser.add_argument("--tls-port", type=int, default=0)
    parser.add_argument("--hosts", type=int, default=20, help="with TLS: h0.example and so on")
    parser.add_argument("--every-address", action="store_true")
    arguments = parser.parse_args()
    if missing := missing_packages(arguments.tls_port > 0):
        raise SystemExit(f"error: missing packages; run: apt-get install {' '.join(missing)}")
    names = [f"h{i}.example" for i in range(arguments.hosts)]
    with serve(arguments.port, arguments.tls_port, names,
               arguments.every_address) as running, contextlib.suppress(KeyboardInterrupt):
        print(f"http://ANY.HOST/ on 127.0.0.1:{arguments.port}; Ctrl-C ends", flush=True)
        if running.root:
            print(f"https://h0.example/ to h{arguments.hosts - 1}.example on "
                  f"127.0.0.1:{arguments.tls_port}; its root: {running.root}", flush=True)
        while True:
            time.sleep(3600)

"""The web that the crawlers race on: nginx serves the HTML of postgresql-doc-15 under
any number of host names on one loopback port, with a robots.txt.

    python3 web.py --port 8080        serves until interrupted

One worker, no log, keep-alive without end: what is measured is the crawler.
"""

import argparse
import contextlib
import pathlib
import shutil
import socket
import subprocess
import tempfile
import time

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
  access_log off;
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
  server {{
    listen 127.0.0.1:{port} default_server backlog=65535;
    server_name _;
    root {html};
    index index.html;
    location = /robots.txt {{
      return 200 "User-agent: *\\nDisallow: /private/\\n";
    }}
  }}
}}
"""


def missing_packages() -> list[str]:
    needed = [("nginx-light", shutil.which("nginx", path="/usr/sbin:/usr/bin")),
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


@contextlib.contextmanager
def serve(port: int):
    """Yields the process ids of nginx (master and worker)."""
    with tempfile.TemporaryDirectory(prefix="gannet-web-") as folder:
        # The worker runs as another user when we are root, and must reach it.
        pathlib.Path(folder).chmod(0o755)
        config = pathlib.Path(folder) / "nginx.conf"
        config.write_text(CONFIG.format(folder=folder, port=port, html=HTML, user="www-data"))
        nginx = shutil.which("nginx", path="/usr/sbin:/usr/bin")
        # "-e": else it opens Debian's log before it has read the configuration.
        server = subprocess.Popen([nginx, "-e", f"{folder}/error.log", "-p", folder, "-c", str(config)],
                                  stderr=subprocess.DEVNULL)
        try:
            for _ in range(100):
                with socket.socket() as s:
                    if s.connect_ex(("127.0.0.1", port)) == 0:
                        break
                if server.poll() is not None:
                    raise RuntimeError("nginx ended: " + (pathlib.Path(folder) / "error.log").read_text())
                time.sleep(0.05)
            else:
                raise RuntimeError(f"nginx does not answer on port {port}")
            workers = pathlib.Path(f"/proc/{server.pid}/task/{server.pid}/children").read_text()
            yield [server.pid] + [int(pid) for pid in workers.split()]
        finally:
            server.terminate()
            server.wait()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--port", type=int, default=8080)
    arguments = parser.parse_args()
    if missing := missing_packages():
        raise SystemExit(f"error: missing packages; run: apt-get install {' '.join(missing)}")
    with serve(arguments.port), contextlib.suppress(KeyboardInterrupt):
        print(f"http://ANY.HOST/ on 127.0.0.1:{arguments.port}; Ctrl-C ends", flush=True)
        while True:
            time.sleep(3600)

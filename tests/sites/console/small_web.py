"""A web server made for one test, which gives an answer for each path, and a site that
crawls it: for tests that need what the fake web does not have.
"""

import socket
import threading
import time

from console import ConsoleTest


class Server(threading.Thread):
    """Answers each path by `answers[path](connection)`; other paths are 404."""

    def __init__(self, answers, context=None):
        super().__init__(daemon=True)
        self.answers = answers
        self.context = context
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=100)
        self.port = self.listener.getsockname()[1]
        self.asked = []
        self.start()

    def run(self):
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=(connection,), daemon=True).start()

    def serve(self, connection):
        try:
            if self.context:
                connection = self.context.wrap_socket(connection, server_side=True)
            request = b""
            while b"\r\n\r\n" not in request:
                piece = connection.recv(4096)
                if not piece:
                    return
                request += piece
            path = request.split()[1].decode()
            self.asked.append(path)
            self.answers.get(path, not_found)(connection)
        except OSError:
            pass
        finally:
            connection.close()


def page(body, fields="", status="200 OK"):
    if isinstance(body, str):
        body = body.encode()

    def answer(connection):
        connection.sendall(f"HTTP/1.1 {status}\r\nContent-Type: text/html\r\n{fields}"
                           f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n".encode()
                           + body)
    return answer


def not_found(connection):
    page("", status="404 Not Found")(connection)


def drip(bytes_each, seconds_each, head_after=0.0):
    def answer(connection):
        time.sleep(head_after)
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"
                           b"Content-Length: 100000000\r\n\r\n")
        for _ in range(300):
            connection.sendall(b"x" * bytes_each)
            time.sleep(seconds_each)
    return answer


class SmallWebTest(ConsoleTest):
    def serve(self, answers, **more) -> Server:
        server = Server(answers, **more)
        self.addCleanup(server.listener.close)
        return server

    def configure(self, server, fetch="", more=""):
        self.write("site/site.yaml",
                   f'fetch: {{delay: 1ms, retries: 0, connect_to: "127.0.0.1:{server.port}"'
                   f'{fetch}}}\narchive: {{min_free: 0}}\n{more}\n')

    def crawl(self, server, paths, fetch="", more="", host="a.example", scheme="http", flags=()):
        self.configure(server, fetch, more)
        return self.gannet("crawl", *(f"{scheme}://{host}{path}" for path in paths), "--data",
                           "site", "--json", "--quiet", "--wait", "0", *flags).json

    def reason(self, path, host="a.example", scheme="http"):
        page = self.gannet("page", f"{scheme}://{host}{path}", "--json", "--data", "site").json
        return page["state"], page["finished_reason"]

    def known(self):
        return self.gannet("export", "urls", "--data", "site").lines

"""A TCP proxy in front of a site that breaks connections on demand: it cuts callers off, delays them,
ends in the middle of their bytes, loses the answers, or delivers late what the caller has given up.
It does not interpret the bytes.
"""

import contextlib
import socket
import threading
import time


class Connection:
    """One caller's connection to the site; two threads carry the bytes."""

    def __init__(self, link: "BrokenLink", caller: socket.socket, site: socket.socket) -> None:
        self.link, self.caller, self.site = link, caller, site
        self.held: list[bytes] = []  # From the caller.
        self.is_holding = link.holds
        self.has_lost = False
        for work in (self.carry_requests, self.carry_answers):
            threading.Thread(target=work, daemon=True).start()

    def carry_requests(self) -> None:
        with contextlib.suppress(OSError):
            while data := self.caller.recv(65536):
                self.link.wait()
                if self.is_holding:
                    self.held.append(data)
                    continue
                data, is_over = self.link.count(data)
                self.site.sendall(data)
                if is_over:
                    break
        if not self.held:
            self.close()

    def carry_answers(self) -> None:
        with contextlib.suppress(OSError):
            while data := self.site.recv(65536):
                self.link.wait()
                if self.link.loses_answers:
                    self.has_lost = True
                    self.link.lost_answers += len(data)
                else:
                    with contextlib.suppress(OSError):
                        self.caller.sendall(data)
        self.close()

    def close(self) -> None:
        for end in (self.caller, self.site):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()

    def hang_up(self) -> None:
        """The caller sees the end; the site does not yet."""
        with contextlib.suppress(OSError):
            self.caller.shutdown(socket.SHUT_RDWR)


class BrokenLink:
    """Carries everything until told otherwise. Only one thread may give orders."""

    def __init__(self) -> None:
        self.listener = socket.socket()
        self.listener.bind(("127.0.0.1", 0))
        self.listener.listen(64)
        self.port: int = self.listener.getsockname()[1]
        self.address = f"127.0.0.1:{self.port}"
        self.target = 0  # The site's port; set before it is called.
        self.connections: list[Connection] = []
        self.is_cut = False
        self.delay = 0.0
        self.holds = False
        self.loses_answers = False
        self.lost_answers = 0  # Bytes.
        self.carried = 0  # Bytes to the site.
        self.cuts = 0  # Connections that ended in the middle of the bytes.
        self.bytes_until_cut: int | None = None
        self.mu = threading.Lock()
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self) -> None:
        while True:
            caller, _ = self.listener.accept()
            if self.is_cut:
                caller.close()
                continue
            try:
                site = socket.create_connection(("127.0.0.1", self.target), timeout=5)
                site.settimeout(None)
            except OSError:  # The site does not run.
                caller.close()
                continue
            self.connections.append(Connection(self, caller, site))

    def wait(self) -> None:
        if self.delay > 0:
            time.sleep(self.delay)

    def count(self, data: bytes) -> tuple[bytes, bool]:
        """Which part of `data` is carried, and whether the connection ends there."""
        with self.mu:
            is_over = self.bytes_until_cut is not None and len(data) >= self.bytes_until_cut
            if is_over:
                data = data[:self.bytes_until_cut]
                self.bytes_until_cut = None
                self.cuts += 1
            elif self.bytes_until_cut is not None:
                self.bytes_until_cut -= len(data)
            self.carried += len(data)
            return data, is_over

    def close_all(self) -> None:
        gone, self.connections = self.connections, []
        for connection in gone:
            connection.close()

    def cut(self) -> None:
        """Lets no connection through until heal()."""
        self.is_cut = True
        self.close_all()

    def heal(self) -> None:
        self.is_cut = self.loses_answers = False
        self.delay = 0
        # A stream that misses bytes can only end.
        for connection in self.connections:
            if connection.has_lost:
                connection.close()

    def hold(self) -> None:
        """From now on requests are held back here."""
        for connection in self.connections:
            connection.is_holding = True
        self.holds = True

    def held_bytes(self) -> int:
        return sum(len(data) for connection in self.connections for data in connection.held)

    def hang_up(self) -> list[Connection]:
        """Callers see their connections end, and may call again; what was held is not lost, only
        late: deliver() brings it."""
        late, self.connections = self.connections, []
        self.holds = False
        for connection in late:
            connection.hang_up()
        return late

    @staticmethod
    def deliver(late: list[Connection]) -> int:
        """Sends what was held to the site. Returns how many bytes that was."""
        sent = 0
        for connection in late:
            for data in connection.held:
                with contextlib.suppress(OSError):
                    connection.site.sendall(data)
                    sent += len(data)
        return sent

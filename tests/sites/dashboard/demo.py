"""Runs dashboard_demo, and sends it commands."""

import subprocess
import urllib.error
import urllib.request


class Demo:
    """A running dashboard_demo. Call close() at the end."""

    def __init__(self, binary: str, *flags: str):
        self.process = subprocess.Popen([binary, *flags], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)
        self.port = int(self.process.stdout.readline())
        self.url = f"http://127.0.0.1:{self.port}"

    def tell(self, command: str):
        self.process.stdin.write(command + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline().strip()
        if answer != "done":
            raise AssertionError(f"{command}: {answer}")

    def get(self, path: str) -> str:
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(self.url + path, timeout=30) as answer:
            return answer.read().decode()

    def close(self):
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait(30)

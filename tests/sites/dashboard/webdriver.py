"""A real browser for tests: headless Chromium, driven by chromedriver's HTTP
protocol (https://www.w3.org/TR/webdriver2/) with the standard library alone.
"""

import base64
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import time
import urllib.error
import urllib.request

ELEMENT = "element-6066-11e4-a52e-4f735466cecf"  # The standard's key of an element.


def programs_are_there() -> bool:
    return bool(shutil.which("chromium") and shutil.which("chromedriver"))


class Browser:
    """One browser window. Call close() at the end."""

    def __init__(self):
        self.folder = tempfile.TemporaryDirectory(prefix="gannet-browser-")
        self.driver = subprocess.Popen(
            ["chromedriver", "--port=0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            text=True, env={**os.environ, "HOME": self.folder.name})
        self.address = f"http://127.0.0.1:{self._port()}"
        arguments = ["--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu",
                     "--no-proxy-server", "--hide-scrollbars", "--lang=en",
                     f"--user-data-dir={self.folder.name}/profile"]
        answer = self._ask("POST", "/session", {"capabilities": {"alwaysMatch": {
            "browserName": "chrome",
            "goog:chromeOptions": {"binary": shutil.which("chromium"), "args": arguments},
            "goog:loggingPrefs": {"browser": "ALL"}}}})
        self.session = f"/session/{answer['sessionId']}"

    def _port(self) -> int:
        for line in self.driver.stdout:
            if "started successfully on port" in line:
                return int(line.rsplit("port", 1)[1].strip(" .\n"))
        raise RuntimeError("chromedriver ended without a word")

    def close(self):
        try:
            self._ask("DELETE", self.session)
        finally:
            self.driver.terminate()
            self.driver.wait(30)
            self.driver.stdout.close()
            # The last of the browser's processes may still be writing there.
            shutil.rmtree(self.folder.name, ignore_errors=True)
            self.folder.cleanup()

    def _ask(self, method: str, path: str, body=None):
        request = urllib.request.Request(
            self.address + path, method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={"Content-Type": "application/json"})
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            with opener.open(request, timeout=60) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise RuntimeError(f"{method} {path}: {error.read().decode()}") from None

    def ask(self, method: str, path: str, body=None):
        return self._ask(method, self.session + path, body)

    # --- What a person does ----------------------------------------------------

    def go(self, url: str):
        self.ask("POST", "/url", {"url": url})

    def find(self, selector: str) -> str:
        found = self.ask("POST", "/element", {"using": "css selector", "value": selector})
        return found[ELEMENT]

    def click(self, selector: str):
        self.ask("POST", f"/element/{self.find(selector)}/click", {})

    def type(self, selector: str, text: str):
        element = self.find(selector)
        self.ask("POST", f"/element/{element}/clear", {})
        self.ask("POST", f"/element/{element}/value", {"text": text})

    def press(self, selector: str, key: str):
        self.ask("POST", f"/element/{self.find(selector)}/value", {"text": key})

    # --- What a person sees ----------------------------------------------------

    def run(self, script: str, *arguments):
        return self.ask("POST", "/execute/sync", {"script": script, "args": list(arguments)})

    def text(self, selector: str) -> str:
        return self.ask("GET", f"/element/{self.find(selector)}/text")

    def wait(self, script: str, why: str, seconds: float = 20):
        """Waits until the script returns something true, and returns that."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            value = self.run(script)
            if value:
                return value
            time.sleep(0.05)
        raise AssertionError(f"not within {seconds} s: {why}")

    def console(self) -> list[str]:
        """What the browser has logged since the last call."""
        lines = self.ask("POST", "/se/log", {"type": "browser"})
        return [f"{line['level']}: {line['message']}" for line in lines]

    def cdp(self, command: str, **parameters):
        return self.ask("POST", "/goog/cdp/execute", {"cmd": command, "params": parameters})

    def window(self, width: int, height: int, phone: bool = False):
        self.cdp("Emulation.setDeviceMetricsOverride", width=width, height=height,
                 deviceScaleFactor=2 if phone else 1, mobile=phone)

    def scheme(self, name: str):
        self.cdp("Emulation.setEmulatedMedia",
                 features=[{"name": "prefers-color-scheme", "value": name}])

    def screenshot(self, path: pathlib.Path, whole_page: bool = True):
        path.parent.mkdir(parents=True, exist_ok=True)
        picture = self.cdp("Page.captureScreenshot", captureBeyondViewport=whole_page)
        path.write_bytes(base64.b64decode(picture["data"]))

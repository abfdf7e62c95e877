"""Headless Chromium, controlled by its DevTools protocol: opens a page of this machine and takes its picture."""

import json
import os
import shutil
import subprocess
import tempfile
import time
from base64 import b64decode
from pathlib import Path
from typing import Any, Self

from cylcollide.view.server import connect

PROGRAMS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "microsoft-edge")
SOFTWARE = "--enable-unsafe-swiftshader"
"""Lets Chromium draw without a graphics card."""
SHELL_WRAPPER = ("sh", "-c", 'exec "$@" 3<&0 4>&1', "sh")
"""Makes standard input Chromium's command pipe: Chromium ends when it closes, however this process ends."""
TIMEOUT = 120.0
"""Seconds within which Chromium must start, and answer."""
POLL = 0.05


def program() -> str:
    """The installed Chromium; RuntimeError if there is none."""
    found = next((path for name in PROGRAMS if (path := shutil.which(name))), None)
    if found is None:
        raise RuntimeError(f"expected Chromium to draw the picture, found none of {', '.join(PROGRAMS)}; install one")
    return found


class Browser:
    """A Chromium with one page; a context manager. `events`: its events about console, errors and requests."""

    def __init__(self, width: int, height: int) -> None:
        self.events: list[Any] = []
        self._number, self._folder = 0, tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        words = [program(), "--headless=new", "--no-sandbox", SOFTWARE, "--remote-debugging-port=0"]
        words += [f"--user-data-dir={self._folder.name}", "--no-first-run", f"--window-size={width},{height}"]
        words += ["--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1", "about:blank"]
        if os.name == "posix":
            words = [*SHELL_WRAPPER, *words, "--remote-debugging-pipe"]
        quiet, own = subprocess.DEVNULL, {**os.environ, "TMPDIR": self._folder.name}
        self._process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=quiet, stderr=quiet, env=own)
        try:
            port, path = self._wait(self._address).split()
            self._socket = connect(f"ws://127.0.0.1:{port}{path}", max_size=None, proxy=None, ping_interval=None)
            self._session: str | None = None
            page = next(one for one in self.call("Target.getTargets")["targetInfos"] if one["type"] == "page")
            attached = self.call("Target.attachToTarget", targetId=page["targetId"], flatten=True)
            self._session = attached["sessionId"]
            self.resize(width, height)
            for domain in ("Page", "Runtime", "Log", "Network"):
                self.call(f"{domain}.enable")
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """End the program."""
        with self._process:
            self._process.kill()
        self._folder.cleanup()

    def _address(self) -> str:
        file = Path(self._folder.name, "DevToolsActivePort")
        if self._process.poll() is not None:
            raise RuntimeError(f"{program()} ended with status {self._process.returncode} before it drew anything")
        return file.read_text() if file.exists() and len(file.read_text().split()) == 2 else ""

    def _wait(self, what: Any) -> Any:
        """Wait until a function returns a true value, and return it. TimeoutError if it never does."""
        until = time.monotonic() + TIMEOUT
        while time.monotonic() < until:
            found = what()
            if found:
                return found
            time.sleep(POLL)
        raise TimeoutError(f"Chromium did not get ready within {TIMEOUT:g} s; is the machine busy?")

    def call(self, method: str, **parameters: Any) -> Any:
        """The answer to a call of the protocol; other messages go to `events`."""
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": parameters}
        if self._session is not None:
            message["sessionId"] = self._session
        self._socket.send(json.dumps(message))
        while True:
            message = json.loads(self._socket.recv(timeout=TIMEOUT))
            if message.get("id") == self._number:
                if "error" in message:
                    raise RuntimeError(f"{method}: {message['error']['message']}")
                return message["result"]
            self.events.append(message)

    def resize(self, width: int, height: int) -> None:
        """Set the size of the page, in pixels."""
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.call("Emulation.setDeviceMetricsOverride", **size)

    def evaluate(self, expression: str) -> Any:
        """The value of a JavaScript expression in the page."""
        message = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        return message["result"].get("value")

    def open(self, url: str) -> None:
        """Open a page and wait until it has a canvas."""
        self.call("Page.navigate", url=url)
        self._wait(lambda: self.evaluate(HAS_CANVAS))

    def settle(self) -> None:
        """Wait until all that the server sent is drawn and the picture no longer changes."""
        before = b""

        def is_same() -> bool:
            nonlocal before
            self.evaluate(TWO_FRAMES)
            now = self.picture()
            same, before = now == before, now
            return same

        self._wait(is_same)

    def picture(self) -> bytes:
        """The page as PNG."""
        return b64decode(self.call("Page.captureScreenshot", format="png")["data"])


HAS_CANVAS = (
    "[document, ...[...document.querySelectorAll('iframe')].map(e => e.contentDocument)]"
    ".some(d => d?.querySelector('canvas'))"
)
"""Whether the page, or a frame within it, has a canvas."""
TWO_FRAMES = (
    "new Promise(done => setTimeout(() => requestAnimationFrame(() => requestAnimationFrame(() => done(1))), 500))"
)
"""A promise that is resolved after half a second and two frames."""
QUIET = "document.head.insertAdjacentHTML('beforeend', '<style>.mantine-Notifications-root{display:none}</style>')"
"""Hides notifications of the page, for example that there is no graphics card."""

# SPDX-License-Identifier: MPL-2.0
"""A real Chromium, controlled through a pair of pipes by its DevTools protocol."""

import json
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from select import select
from typing import Any

ARGUMENTS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
    *("--hide-scrollbars", "--remote-debugging-pipe"),
)
ANSWER_WITHIN_S = 60
STOP_WITHIN_S = 10


@dataclass
class Browser:
    """A browser with one page open, whose requests and complaints it keeps."""

    to_browser: int
    from_browser: int
    requests: list[str] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)
    _buffer: bytes = b""
    _number: int = 0
    _session: str | None = None
    _target: str | None = None
    _loaded: bool = False

    def open(self, page: Path) -> None:
        """Open a file in place of the page before it."""
        self.close_page()
        self._target = self.call("Target.createTarget", url="about:blank")["targetId"]
        attached = self.call("Target.attachToTarget", targetId=self._target, flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Network", "Log", "Runtime"):
            self.call(f"{domain}.enable")
        self._loaded = False
        self.call("Page.navigate", url=page.as_uri())
        while not self._loaded:
            self._read_message()

    def close_page(self) -> None:
        """Close the page, if one is open, and forget its requests and complaints."""
        self._session = None
        if self._target is not None:
            self.call("Target.closeTarget", targetId=self._target)
            self._target = None
        self.requests.clear()
        self.complaints.clear()

    def look(self, width: int, height: int, *, dark: bool) -> None:
        """Set the window's size, in CSS pixels, and the reader's preferred colours."""
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
        self.call("Emulation.setDeviceMetricsOverride", **size)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])

    def evaluate(self, expression: str) -> Any:
        """Return the JSON value of an expression; the page itself runs no script."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self.to_browser, json.dumps(message).encode() + b"\0")
        answer: dict[str, Any] = {}
        while answer.get("id") != self._number:
            answer = self._read_message()
        assert "error" not in answer, answer
        return dict(answer["result"])

    def _read_message(self) -> dict[str, Any]:
        until = time.monotonic() + ANSWER_WITHIN_S
        while b"\0" not in self._buffer:
            ready, _, _ = select([self.from_browser], [], [], max(until - time.monotonic(), 0))
            data = os.read(self.from_browser, 1 << 20) if ready else b""
            assert data, "chromium does not answer"
            self._buffer += data
        line, self._buffer = self._buffer.split(b"\0", 1)
        message: dict[str, Any] = json.loads(line)
        if message.get("sessionId") == self._session:
            event, facts = message.get("method", ""), message.get("params", {})
            self._loaded |= event == "Page.loadEventFired"
            if event == "Network.requestWillBeSent":
                self.requests.append(facts["request"]["url"])
            elif event in ("Log.entryAdded", "Runtime.consoleAPICalled", "Runtime.exceptionThrown"):
                self.complaints.append(json.dumps(facts))
        return message


@contextmanager
def running(program: str, profile: Path) -> Iterator[Browser]:
    """Start Chromium, which reads commands from descriptor 3 and answers on 4; end it with its group."""
    commands, to_browser = os.pipe()
    from_browser, answers = os.pipe()

    def connect() -> None:
        # First above 3 and 4, so that neither copy overwrites the other pipe.
        high = [os.dup(os.dup(os.dup(os.dup(end)))) for end in (commands, answers)]
        os.dup2(high[0], 3)
        os.dup2(high[1], 4)

    process = subprocess.Popen(
        [program, *ARGUMENTS, f"--user-data-dir={profile}"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        preexec_fn=connect,  # noqa: PLW1509 - no threads are running here
        pass_fds=(3, 4),
        start_new_session=True,
    )
    os.close(commands)
    os.close(answers)
    try:
        yield Browser(to_browser, from_browser)
    finally:
        os.close(to_browser)
        try:
            process.wait(STOP_WITHIN_S)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        os.close(from_browser)

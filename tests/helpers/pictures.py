# SPDX-License-Identifier: MPL-2.0
"""Write the documentation's pictures from the pages of its commands: run as a program.

No test compares the pictures, because releases of Chromium draw text differently. Run this again when
a picture no longer looks like the page.
"""

import base64
import shutil
import sys
import tempfile
from pathlib import Path

import program
from checkout import ROOT
from chromium import Browser, start, stop
from documentation import example
from loopback import Loopback
from loopback_deployment import GROUP

FOLDER = ROOT / "taskcluster/docs/images"
WIDTH = 960
_HEADING = (
    "[...document.querySelectorAll('{}')].find(one => one.textContent.trim().startsWith('{}'))"
)
COMPARE = ("compare", f"group:{GROUP}")
HISTORY = ("history", "amd-16")
# Each picture: the command of its page, the element at its top, and its height in pixels.
PICTURES = {
    "report.png": (COMPARE, "document.body", 1140),
    "causes.png": (COMPARE, _HEADING.format("h2", "Why"), 760),
    "times.png": (COMPARE, _HEADING.format("figcaption", "How"), 460),
    "history.png": (HISTORY, "document.body", 1000),
}


def _page(folder: Path, command: tuple[str, ...]) -> Path:
    path = folder / f"{command[0]}.html"
    with Loopback(example()) as taskcluster:
        program.run(
            *(*command, "--write", f"html={path}"),
            environment={"TASKCLUSTER_ROOT_URL": taskcluster.url},
        )
    return path


def _take(browser: Browser, start_at: str, height: int) -> bytes:
    top = browser.evaluate(f"{start_at}.getBoundingClientRect().top + scrollY")
    clip = {"x": 0, "y": top, "width": WIDTH, "height": height, "scale": 1}
    answer = browser.call("Page.captureScreenshot", clip=clip, captureBeyondViewport=True)
    return base64.b64decode(answer["data"])


def main() -> int:
    browser_program = shutil.which("chromium")
    if browser_program is None:
        print("chromium is not installed", file=sys.stderr)
        return 1
    FOLDER.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        pages = {command: _page(folder, command) for command in (COMPARE, HISTORY)}
        for picture, (command, start_at, height) in PICTURES.items():
            process, browser = start(browser_program, folder / picture)
            try:
                browser.open(pages[command])
                browser.look(WIDTH, 900, dark=False)
                (FOLDER / picture).write_bytes(_take(browser, start_at, height))
            finally:
                stop(process, browser)
    return 0


if __name__ == "__main__":
    sys.exit(main())

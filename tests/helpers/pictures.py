# SPDX-License-Identifier: MPL-2.0
"""Write the README's picture of a report, from the page of its command: run as a program.

No test compares the picture, because releases of Chromium draw text differently. Run this again when it
no longer looks like the page.
"""

import base64
import shutil
import sys
import tempfile
from pathlib import Path

import program
from checkout import ROOT
from chromium import running
from documentation import example
from loopback import Loopback
from loopback_deployment import GROUP

PICTURE = ROOT / "taskcluster/docs/images/report.png"
WIDTH = 960
# Leaves the answer and the distributions of all pools; returns the height.
_SHORTEN = """(() => {
    const [answer, ...sections] = document.querySelectorAll("section");
    const figures = [...document.querySelectorAll("figure")];
    answer.append(figures.find(figure => figure.innerText.startsWith("How long")));
    sections.forEach(section => section.remove());
    return answer.getBoundingClientRect().bottom + scrollY + 24;
})()"""


def main() -> int:
    browser_program = shutil.which("chromium")
    if browser_program is None:
        print("chromium is not installed", file=sys.stderr)
        return 1
    with tempfile.TemporaryDirectory() as folder, Loopback(example()) as taskcluster:
        page = Path(folder) / "report.html"
        program.run(
            *("compare", f"group:{GROUP}", "--write", f"html={page}"),
            environment={"TASKCLUSTER_ROOT_URL": taskcluster.url},
        )
        with running(browser_program, Path(folder) / "profile") as browser:
            browser.open(page)
            browser.look(WIDTH, 900, dark=False)
            height = browser.evaluate(_SHORTEN)
            clip = {"x": 0, "y": 0, "width": WIDTH, "height": height, "scale": 1}
            answer = browser.call("Page.captureScreenshot", clip=clip, captureBeyondViewport=True)
        PICTURE.write_bytes(base64.b64decode(answer["data"]))
    return 0


if __name__ == "__main__":
    sys.exit(main())

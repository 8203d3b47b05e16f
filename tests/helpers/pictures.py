# SPDX-License-Identifier: MPL-2.0
"""Write the README's picture of a report, from the page of its command: run as a program.

No test compares the picture, because releases of Chromium draw text differently. Run this again
when it no longer looks like the page.
"""

import subprocess
import tempfile
from pathlib import Path

import program
from checkout import ROOT
from documentation import example
from loopback import Loopback
from loopback_deployment import GROUP

PICTURE = ROOT / "taskcluster/docs/images/report.png"
WIDTH, HEIGHT = 1280, 765  # of the facts and the answer


def main() -> None:
    with tempfile.TemporaryDirectory() as folder, Loopback(example()) as taskcluster:
        page = Path(folder) / "report.html"
        program.run(
            "compare",
            f"group:{GROUP}",
            "--write",
            f"html={page}",
            environment={"TASKCLUSTER_ROOT_URL": taskcluster.url},
        )
        options = (f"--screenshot={PICTURE}", f"--window-size={WIDTH},{HEIGHT}")
        browser = ("chromium", "--headless", "--no-sandbox", "--hide-scrollbars")
        subprocess.run([*browser, *options, page.as_uri()], check=True)


if __name__ == "__main__":
    main()

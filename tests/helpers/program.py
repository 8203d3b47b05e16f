# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""The program as a user calls it, from wherever the tests run."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

PROGRAM = [sys.executable, "-m", "io_benchmark.cli"]


def compare(*results: Path, expected: int = 0) -> dict[str, Any]:
    """The comparison of these result files."""
    done = subprocess.run(
        [*PROGRAM, "compare", *map(str, results), "--json"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == expected, done.stderr
    document: dict[str, Any] = json.loads(done.stdout)
    return document

# SPDX-License-Identifier: MPL-2.0
"""Properties of every format, and the table of formats in taskcluster/docs/reports.md."""

import hashlib
import json
import re
import subprocess
import sys
from pathlib import Path

from checkout import ROOT
from golden import ALL, REPORTS

from io_benchmark.report.formats import FORMATS, GENERAL_FORMATS, rendered

SMALL = (
    "seed-case",
    "hostile-names",
    "before-and-after",
    "history: one-change",
    "tasks: labels that differ, on four pools",
)


def digests() -> dict[str, str]:
    """Return a hash of each output that this process writes."""
    texts = {
        f"{name} {form}": rendered(ALL[name](), form)
        for name in SMALL
        for form in (FORMATS if name in REPORTS else GENERAL_FORMATS)
    }
    assert [name for name, written in texts.items() if not written.endswith("\n")] == []
    return {name: hashlib.sha256(written.encode()).hexdigest() for name, written in texts.items()}


def test_deterministic():
    """Another process, with another order of sets and numpy for another CPU, writes the same bytes."""
    code = "import json, test_formats; print(json.dumps(test_formats.digests()))"
    path = f"{Path(__file__).parent}:{ROOT / 'tests/helpers'}"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={"PYTHONHASHSEED": "1", "PYTHONPATH": path, "OPENBLAS_CORETYPE": "Prescott"},
        stdout=subprocess.PIPE,
        check=True,
    )
    assert json.loads(done.stdout) == digests()


def test_documentation():
    """The table has every format."""
    page = (ROOT / "taskcluster/docs/reports.md").read_text()
    assert re.findall(r"^\| `(\w+)` \| [^|]+ \|", page, re.MULTILINE) == [*FORMATS]

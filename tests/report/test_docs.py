# SPDX-License-Identifier: MPL-2.0
"""taskcluster/docs/reports.md has the formats that there are."""

import re

from checkout import ROOT

from io_benchmark.report.formats import FORMATS


def test_formats():
    """The table has every format with its audience."""
    page = (ROOT / "taskcluster/docs/reports.md").read_text()
    rows = re.findall(r"^\| `(\w+)` \| ([^|]+) \|", page, re.MULTILINE)
    assert dict(rows) == {name: entry.audience for name, entry in FORMATS.items()}

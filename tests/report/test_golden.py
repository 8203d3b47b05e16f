# SPDX-License-Identifier: MPL-2.0
"""Whole outputs are those of files that somebody has looked at.

`python tests/helpers/golden.py` writes the files; look at what changed.
"""

import json
import re

import pytest
from checkout import ROOT
from documentation import pages
from golden import FOLDER, golden_outputs, read_sections, schemas

from io_benchmark.report.formats import ALL_FORMATS

OUTPUTS = golden_outputs()


@pytest.mark.parametrize(
    ("file", "section"), [(file, section) for file in OUTPUTS for section in OUTPUTS[file]]
)
def test_output(file, section):
    """The output is the section's text."""
    assert OUTPUTS[file][section]() == read_sections(file)[section]


@pytest.mark.parametrize("path", [*FOLDER.iterdir(), *pages()], ids=lambda path: path.stem)
def test_no_ratio_is_ambiguous(path):
    """'1.92× slower' may mean 2.92 times the time: every text says how long it takes."""
    text = re.sub(r"\n\s*", " ", path.read_text(encoding="utf-8"))
    assert re.findall(r"[0-9]× (?:slower|faster)", text) == []


@pytest.mark.parametrize("path", schemas(), ids=lambda path: path.name)
def test_schema_is_published(path):
    """The published schema is that of the classes which are written."""
    assert json.loads(path.read_text()) == schemas()[path]


def test_documentation():
    """The table has every format."""
    page, _, _ = (ROOT / "taskcluster/docs/reports.md").read_text().partition("\n**")
    assert re.findall(r"^\| `(\w+)` \| [^|]+ \|", page, re.MULTILINE) == [*ALL_FORMATS]

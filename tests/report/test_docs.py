# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""taskcluster/docs/reports.md: its examples are what the formats write."""

import re

import pytest
from checkout import ROOT
from golden_reports import GOLDEN

from io_benchmark.report import FORMATS

DOCUMENT = (ROOT / "taskcluster/docs/reports.md").read_text()
BLOCK = re.compile(r"^```\w+\n(.*?)^```$", re.MULTILINE | re.DOTALL)
# What stands before the first format's section is of text.
PREFACE, *SECTIONS = DOCUMENT.split("\n## ")
EXAMPLES = [
    (section.partition("\n")[0], example)
    for section in (f"text\n{PREFACE}", *SECTIONS)
    for example in BLOCK.findall(section)
]
SUFFIXES = {
    "text": "*-columns.txt",
    "markdown": "*.md",
    "html": "*.html",
    "json": "*.json",
    "perfherder": "*-perfherder.json",
}


def test_every_format_has_one():
    """Each format has a section of its own with an example."""
    assert list(dict.fromkeys(name for name, _ in EXAMPLES)) == list(FORMATS)
    assert [one.partition("\n")[0] for one in SECTIONS] == list(FORMATS)


@pytest.mark.parametrize(("name", "example"), EXAMPLES)
def test_example(name, example):
    """The example is a piece of a golden file of that format."""
    assert any(example in path.read_text() for path in GOLDEN.glob(SUFFIXES[name]))


def test_workers_a_pool():
    """The table in replicates.md is the one that the text report writes."""
    page = (ROOT / "taskcluster/docs/replicates.md").read_text()
    (example,) = re.findall(r"^```text\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    assert example in (GOLDEN / "seed-case-80-columns.txt").read_text()

# SPDX-License-Identifier: MPL-2.0
"""taskcluster/docs/reports.md and history.md: their examples are what the formats write."""

import re

import divided_reports
import pytest
import sample_report
import several_places
from checkout import ROOT
from golden import FOLDER, read_sections

from io_benchmark.report.formats import FORMATS
from io_benchmark.report.formats.output import rendered

DOCS = ROOT / "taskcluster/docs"
BLOCK = re.compile(r"^```(?:text|markdown|html|json)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
ROW = re.compile(r"^\| `(\w+)` \| ([^|]+) \|", re.MULTILINE)
# The examples before the first format's section are text.
PREFACE, *SECTIONS = (DOCS / "reports.md").read_text().split("\n## ")
EXAMPLES = [
    (section.partition("\n")[0], example)
    for section in (f"text\n{PREFACE}", *SECTIONS)
    for example in BLOCK.findall(section)
]
HISTORY_EXAMPLES = BLOCK.findall((DOCS / "history.md").read_text())
GOLDEN_FILES = {"text": "text.txt", "markdown": "markdown.txt", "html": "html.txt"}
# Examples of the full text that no golden section has.
OTHERS = (divided_reports.three_pools, divided_reports.one_bad_worker, several_places.five)
REPORTS_OF_OTHERS = {"json": sample_report.seed_case, "perfherder": sample_report.before_after}


def test_formats():
    """The table has every format with its audience; each has a section with an example."""
    assert dict(ROW.findall(PREFACE)) == {name: entry.audience for name, entry in FORMATS.items()}
    assert list(dict.fromkeys(name for name, _ in EXAMPLES)) == list(FORMATS)
    assert [section.partition("\n")[0] for section in SECTIONS] == list(FORMATS)


@pytest.mark.parametrize(("name", "example"), EXAMPLES)
def test_example(name, example):
    """The example is a piece of an output in that format."""
    if name in GOLDEN_FILES:
        texts = [(FOLDER / GOLDEN_FILES[name]).read_text()]
        texts += [rendered(make(), "text", details=True) for make in OTHERS if name == "text"]
        assert any(example in text for text in texts)
    else:
        assert example in rendered(REPORTS_OF_OTHERS[name](10), name)


def test_there_are_three_of_a_history():
    """The answer, the drawing, and what changed."""
    assert len(HISTORY_EXAMPLES) == 3


@pytest.mark.parametrize("at", range(3))
def test_example_of_a_history(at):
    """The example is a piece of a golden section."""
    section = read_sections("text.txt")["history: one-change, 80 columns"]
    assert HISTORY_EXAMPLES[at] in section


def test_table_of_workers():
    """The table in replicates.md is the one that the text report writes."""
    page = (DOCS / "replicates.md").read_text()
    (example,) = re.findall(r"^```text\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    assert example in read_sections("text.txt")["seed-case, 80 columns"]

# SPDX-License-Identifier: MPL-2.0
"""A report on a terminal: its colors, its width, and names that would steer it."""

import io
import re

import pytest
import sample_report
from golden import ALL, REPORTS
from rich.cells import cell_len

from io_benchmark.report.blocks import Document, Row, Table
from io_benchmark.report.formats import Layout, rendered, show, text

NO_ROOM_FOR_WARNINGS = ("every-workload", "everything", "hostile-names")
STYLED = re.compile(r"\x1b\[([0-9;]+)m *(.*?)\x1b\[0m")
CODES = re.compile(r"\x1b\[[0-9;]*m")


@pytest.mark.parametrize("width", [40, 80])
@pytest.mark.parametrize("name", ALL)
def test_width(name: str, width: int) -> None:
    """No line is wider than the terminal, and none ends in spaces."""
    lines = rendered(ALL[name](), "text", layout=Layout(details=True, columns=width)).splitlines()
    # A label and a cell of the longest names are the one thing that cannot be broken.
    limit = max(width, 60) if "hostile" in name or "fleet" in name else width
    assert [line for line in lines if cell_len(line) > limit or line != line.rstrip()] == []


@pytest.mark.parametrize("name", REPORTS)
def test_first_screen(name: str) -> None:
    """Without --details a terminal of 80 × 24 shows all of it, with a line for the prompt."""
    shown = sample_report.on_terminal(REPORTS[name](), 80, details=False).splitlines()
    assert len(shown) <= 23
    assert max(map(cell_len, shown)) <= 80
    assert shown[-1].endswith(": add --details, or --write html=FILE for a page.")
    # Warnings that had no room are announced.
    assert shown[-1].startswith("Warnings and all else") is (name in NO_ROOM_FOR_WARNINGS)


def test_colors() -> None:
    """Colors change no character; they mark headings, verdicts, states and what to do."""
    report = sample_report.seed_case()
    colored = sample_report.on_terminal(report, 200, colour=True)
    assert CODES.sub("", colored) == sample_report.on_terminal(report, 200)
    styles = {words: style for style, words in STYLED.findall(colored)}
    expected = {"Answer": "1", "1.92×": "1;31", "inconclusive": "1;33", "NOT OBSERVABLE": "2"}
    assert {words: styles.get(words) for words in expected} == expected


def test_no_name_controls_the_terminal() -> None:
    """Newlines are the only control characters; square brackets are not markup."""
    shown = sample_report.on_terminal(sample_report.hostile(), 80)
    assert {character for character in shown if not character.isprintable()} == {"\n"}
    assert "\ufffd[31mred\ufffd[0m\ufffd2J\ufffdesrever\ufffd" in shown
    report = sample_report.renamed(sample_report.seed_case(), "amd-16", "[red]x[/red]")
    assert "[red]x[/red] takes 1.92× as long as intel" in sample_report.on_terminal(report, 80)


def test_wide_characters() -> None:
    """Rows of a table have one width, also with names whose letters take two cells, or none."""
    names = ("遅いプール" * 6 + "🚀", "e\u0301" * 20, "plain")
    table = Table("", names, [Row(label, ["1", "22", "333"]) for label in names])
    _, *rows = text.render(Document("title", [table]), Layout()).splitlines()
    assert {cell_len(row) for row in rows if row} == {max(map(cell_len, rows))}


class _Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize(
    ("stream", "environment", "has_styles", "has_colors"),
    [
        pytest.param(_Terminal, {}, True, True, id="terminal"),
        pytest.param(io.StringIO, {}, False, False, id="pipe"),
        pytest.param(_Terminal, {"NO_COLOR": "1"}, True, False, id="no colour"),
        pytest.param(io.StringIO, {"FORCE_COLOR": "1"}, True, True, id="forced in a pipe"),
    ],
)
def test_colors_of_a_terminal(stream, environment, has_styles, has_colors):
    """A terminal gets colors, others get none; a user's settings come first."""
    shown = stream()
    show(sample_report.seed_case(), "text", shown, environment, Layout())
    marks = [mark in shown.getvalue() for mark in ("\x1b[1m", "\x1b[1;31m")]
    assert marks == [has_styles, has_colors]


@pytest.mark.parametrize(("columns", "width"), [("60", 60), ("0", 20)])
def test_columns(columns, width):
    """COLUMNS decides how wide the text is, from 20 on."""
    report = sample_report.seed_case()
    shown = io.StringIO()
    show(report, "text", shown, {"COLUMNS": columns}, Layout(details=True))
    assert shown.getvalue() == sample_report.on_terminal(report, width)

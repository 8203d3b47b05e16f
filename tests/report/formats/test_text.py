# SPDX-License-Identifier: MPL-2.0
"""A report on a terminal: its colors, its width, and names that would steer it."""

import re
from typing import Any

import divided_reports
import every_workload
import pytest
import sample_history
import sample_report
import several_places
from rich.cells import cell_len

from io_benchmark.report.blocks import Document, Paragraph, Words
from io_benchmark.report.formats import Layout, text

REPORTS: dict[str, Any] = {
    "seed-case": lambda: sample_report.seed_case(10),
    "hostile": lambda: sample_report.hostile(10),
    "many-pools": lambda: sample_report.many_pools(10),
    "empty": sample_report.empty,
    "one-disk-against-two": divided_reports.three_pools,
    "every-workload": every_workload.report,
    "everything": several_places.everything,
    "large": lambda: sample_report.large(1000, 10),
}
NO_ROOM_FOR_WARNINGS = ("every-workload", "everything", "hostile")
BOLD, DIM, RED, YELLOW = "1", "2", "1;31", "1;33"
STYLED = re.compile(r"\x1b\[([0-9;]+)m *(.*?)\x1b\[0m")
CODES = re.compile(r"\x1b\[[0-9;]*m")


@pytest.mark.parametrize("width", [40, 80])
@pytest.mark.parametrize("report", REPORTS)
def test_width(report: str, width: int) -> None:
    """No line is wider than the terminal, and none ends in spaces."""
    lines = sample_report.on_terminal(REPORTS[report](), width).splitlines()
    # A label and a cell of the longest names are the one thing that cannot be broken.
    limit = max(width, 60) if report == "hostile" else width
    assert [line for line in lines if cell_len(line) > limit] == []
    assert [line for line in lines if line != line.rstrip()] == []


@pytest.mark.parametrize("report", REPORTS)
def test_first_screen(report: str) -> None:
    """Without --details a terminal of 80 × 24 shows all of it, with a line for the prompt."""
    shown = sample_report.on_terminal(REPORTS[report](), 80, details=False).splitlines()
    assert len(shown) <= 23
    assert max(map(cell_len, shown)) <= 80
    assert shown[-1].endswith(": compare --details, or as a page with --write html=FILE.")
    # Warnings that had no room are announced.
    assert shown[-1].startswith("Warnings and all else") is (report in NO_ROOM_FOR_WARNINGS)


def styles(colored: str, expected: dict[str, str | None]) -> dict[str, str | None]:
    found = {text: style for style, text in STYLED.findall(colored)}
    return {text: found.get(text) for text in expected}


@pytest.mark.parametrize(
    ("details", "expected"),
    [
        pytest.param(
            False,
            {
                "amd-16 is 1.92× slower than intel": RED,
                "amd-30 compared with intel is inconclusive": YELLOW,
                "Cause (supported):": BOLD,
                "few-workers:": "33",
                "1": None,
            },
            id="screen",
        ),
        pytest.param(
            True,
            {
                "Answer": BOLD,
                "amd-16 is 1.92× slower than intel": RED,
                "1.92×": RED,
                "slower": RED,
                "inconclusive": YELLOW,
                "SUPPORTED": BOLD,
                "NOT OBSERVABLE": DIM,
                "Use a machine type with two local SSDs, such as c3d-standard-30-lssd": BOLD,
            },
            id="details",
        ),
    ],
)
def test_colors(details: bool, expected: dict[str, str | None]) -> None:
    """Colors change no character; they mark headings, verdicts, labels, states and warnings."""
    report = sample_report.seed_case(10)
    colored = sample_report.on_terminal(report, 200, colour=True, details=details)
    assert CODES.sub("", colored) == sample_report.on_terminal(report, 200, details=details)
    assert styles(colored, expected) == expected


@pytest.mark.parametrize("width", [40, 80])
@pytest.mark.parametrize("name", ["one_change", "hostile"])
def test_width_of_a_history(name: str, width: int) -> None:
    """No line is wider than the terminal, and none ends in spaces."""
    lines = sample_history.on_terminal(getattr(sample_history, name)(), width).splitlines()
    assert [line for line in lines if cell_len(line) > width or line != line.rstrip()] == []


def test_no_name_controls_the_terminal() -> None:
    """Newlines are the only control characters; square brackets are not markup."""
    shown = sample_report.on_terminal(sample_report.hostile(10), 80)
    assert {character for character in shown if not character.isprintable()} == {"\n"}
    assert "\ufffd[31mred\ufffd[0m\ufffd2J\ufffdesrever\ufffd" in shown
    report = sample_report.renamed(sample_report.seed_case(10), "amd-16", "[red]x[/red]")
    assert "[red]x[/red] is 1.92× slower than intel" in sample_report.on_terminal(report, 80)


def test_numbers_keep_their_units() -> None:
    """A line does not end between a number and its unit."""
    line = ("it took about ", Words("146 ms", "strong"), " for 3 workers")
    shown = text.render(Document("title", [Paragraph(line)]), Layout(columns=20))
    assert shown.splitlines()[1:] == ["  it took about", "  146 ms for 3", "  workers"]


@pytest.mark.parametrize("width", [40, 80, 140])
def test_wide_characters(width: int) -> None:
    """Rows of a table have one width, also with names whose letters take two cells, or none."""
    report = sample_report.seed_case(10)
    names = {"amd-30": "遅いプール" * 6 + "🚀", "amd-16": "e\u0301" * 20}
    for side, wide in names.items():
        report = sample_report.renamed(report, side, wide)
    lines = sample_report.on_terminal(report, width).splitlines()
    rules = [at for at, line in enumerate(lines) if set(line.strip()) == {"─"}]
    assert rules
    for at in rules:
        rows = [lines[at - 1]]
        for line in lines[at + 1 :]:
            if not line.strip() or not line.startswith("  ") or "  " not in line.strip():
                break
            rows.append(line)
        assert len({cell_len(row) for row in rows}) == 1, rows

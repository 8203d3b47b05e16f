# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""The report on a terminal."""

import re
from typing import Any

import divided_reports
import every_workload
import pytest
import sample_history
import sample_report
import several_places
from rich.cells import cell_len

from io_benchmark.report.formats import Layout
from io_benchmark.report.formats.terminal import render_report

REPORTS: dict[str, Any] = {
    "seed-case": lambda: sample_report.seed_case(10),
    "hostile": lambda: sample_report.hostile(10),
    "many-pools": lambda: sample_report.many_pools(10),
    "before-and-after": lambda: sample_report.before_after(10),
    "empty": sample_report.empty,
    "one-disk-against-two": divided_reports.three_pools,
    "every-workload": every_workload.report,
    "few-measurements": several_places.few_measurements,
}


@pytest.mark.parametrize("width", [40, 60, 80, 120, 200])
@pytest.mark.parametrize("report", REPORTS)
def test_width(report, width):
    """No line is wider than the terminal, and none ends in spaces."""
    lines = sample_report.on_terminal(REPORTS[report](), width).splitlines()
    # A baseline's name of full length, in the table's head, is the one thing that cannot be broken.
    limit = max(width, 60) if report == "hostile" else width
    assert [line for line in lines if cell_len(line) > limit] == []
    assert [line for line in lines if line != line.rstrip()] == []


@pytest.mark.parametrize("report", [*REPORTS, "large", "everything"])
def test_first_screen(report):
    """Without --details a terminal of 80 × 24 shows all of it, with a line for the prompt."""
    more = {"large": lambda: sample_report.large(1000, 10), "everything": several_places.everything}
    shown = sample_report.on_terminal({**REPORTS, **more}[report](), 80, details=False)
    assert len(shown.splitlines()) <= 23
    assert max(map(cell_len, shown.splitlines())) <= 80
    assert shown.endswith(
        "Everything else: compare --details, or as a page with --write html=FILE.\n"
    )


def test_first_screen_names_the_page():
    """A page that was written is where everything else is."""
    shown = render_report(sample_report.seed_case(10), Layout(page="report.html"))
    assert shown.endswith("\nEverything else: report.html, or compare --details.\n")


def test_colors_of_the_first_screen():
    """Colors change no character; they mark verdicts, labels and warnings."""
    report = sample_report.seed_case(10)
    colored = sample_report.on_terminal(report, 80, colour=True, details=False)
    plain = sample_report.on_terminal(report, 80, details=False)
    assert re.sub(r"\x1b\[[0-9;]*m", "", colored) == plain
    styles = {text: style for style, text in STYLED.findall(colored)}
    expected = {
        "amd-16 is 1.92× slower than intel": RED,
        "amd-30 compared with intel is inconclusive": YELLOW,
        "Cause (supported):": BOLD,
        "few-workers:": "33",
        "1": None,
    }
    assert {text: styles.get(text) for text in expected} == expected


BOLD, DIM, RED, YELLOW = "1", "2", "1;31", "1;33"
STYLED = re.compile(r"\x1b\[([0-9;]+)m *(.*?)\x1b\[0m")


def test_colors_of_a_comparison():
    """Colors change no character; they mark headings, verdicts, states and remedies."""
    report = sample_report.seed_case(10)
    colored = sample_report.on_terminal(report, 200, colour=True)
    assert re.sub(r"\x1b\[[0-9;]*m", "", colored) == sample_report.on_terminal(report, 200)
    styles = {text: style for style, text in STYLED.findall(colored)}
    expected = {
        "Answer": BOLD,
        "amd-16 is 1.92× slower than intel": RED,
        "amd-30 compared with intel is inconclusive": YELLOW,
        "1.92×": RED,
        "slower": RED,
        "inconclusive": YELLOW,
        "SUPPORTED": BOLD,
        "NOT OBSERVABLE": DIM,
        "Use a machine type with two local SSDs, such as c3d-standard-30-lssd": BOLD,
    }
    assert {text: styles.get(text) for text in expected} == expected


def test_colors_of_a_history():
    """Colors change no character; they mark headings and changes."""
    history = sample_history.one_change()
    colored = sample_history.on_terminal(history, 80, colour=True)
    assert re.sub(r"\x1b\[[0-9;]*m", "", colored) == sample_history.on_terminal(history, 80)
    styles = {text: style for style, text in STYLED.findall(colored)}
    expected = {"Answer": BOLD, "2026-09-07: 1.92× slower": RED, "change 1": RED}
    assert {text: styles.get(text) for text in expected} == expected


@pytest.mark.parametrize("width", [40, 80, 120])
@pytest.mark.parametrize("name", ["one_change", "there_and_back", "two_series", "hostile"])
def test_width_of_a_history(name, width):
    """No line is wider than the terminal, and none ends in spaces."""
    lines = sample_history.on_terminal(getattr(sample_history, name)(), width).splitlines()
    assert [line for line in lines if cell_len(line) > width or line != line.rstrip()] == []


def test_no_name_controls_the_terminal():
    """Newlines are the only control characters, whatever is in names."""
    shown = sample_report.on_terminal(sample_report.hostile(10), 80)
    assert {character for character in shown if not character.isprintable()} == {"\n"}
    assert "\ufffd[31mred\ufffd[0m\ufffd2J\ufffdesrever\ufffd" in shown


def test_markup_is_text():
    """Square brackets in a name are shown, not read as rich's markup."""
    report = sample_report.renamed(sample_report.seed_case(10), "amd-16", "[red]x[/red]")
    assert "[red]x[/red] is 1.92× slower than intel" in sample_report.on_terminal(report, 80)


def test_long_lists_are_counted():
    """Of many workers some are listed and the others counted."""
    shown = sample_report.on_terminal(sample_report.large(1000, 10), 80)
    assert "  - and 970 more\n" in shown

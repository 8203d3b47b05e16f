# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""The report on a terminal."""

import every_workload
import pytest
import sample_report
from rich.cells import cell_len

REPORTS = {
    "seed-case": lambda: sample_report.seed_case(10),
    "hostile": lambda: sample_report.hostile(10),
    "many-pools": lambda: sample_report.many_pools(10),
    "before-and-after": lambda: sample_report.before_after(10),
    "empty": sample_report.empty,
    "every-workload": lambda: every_workload.report(),  # noqa: PLW0108 - typed as the others
}


@pytest.mark.parametrize("width", [40, 60, 80, 100, 120, 200])
@pytest.mark.parametrize("report", REPORTS)
def test_width(report, width):
    """No line is wider than the terminal, and none ends in spaces."""
    lines = sample_report.on_terminal(REPORTS[report](), width).splitlines()
    # A baseline's name of full length, in the table's head, is the one thing that cannot be broken.
    limit = max(width, 60) if report == "hostile" else width
    assert [line for line in lines if cell_len(line) > limit] == []
    assert [line for line in lines if line != line.rstrip()] == []


def test_plain_when_piped():
    """Without a terminal there are no escape sequences, with one there are, the words equal."""
    plain = sample_report.on_terminal(sample_report.seed_case(10), 80)
    coloured = sample_report.on_terminal(sample_report.seed_case(10), 80, colour=True)
    assert "\x1b" not in plain
    assert "\x1b[1;31m" in coloured


def test_nothing_from_a_file_steers_the_terminal():
    """Of all control characters only newlines come out, whatever names hold."""
    shown = sample_report.on_terminal(sample_report.hostile(10), 80)
    assert {character for character in shown if not character.isprintable()} == {"\n"}
    assert "\ufffd[31mred\ufffd[0m\ufffd2J\ufffdesrever\ufffd" in shown


def test_markup_is_text():
    """Square brackets in a name are shown, not read as rich's markup."""
    report = sample_report.renamed(sample_report.seed_case(10), "amd-16", "[red]x[/red]")
    assert "[red]x[/red] is 1.92× slower than intel" in sample_report.on_terminal(report, 80)


def test_long_lists_are_counted():
    """Of many workers some are listed and the rest is counted."""
    shown = sample_report.on_terminal(sample_report.large(1000, 10), 80)
    assert "  - and 970 more\n" in shown

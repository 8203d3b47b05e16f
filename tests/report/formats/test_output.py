# SPDX-License-Identifier: MPL-2.0
"""Text follows the terminal behind its stream."""

import io

import pytest
import sample_report

from io_benchmark.report.formats import output


class _Terminal(io.StringIO):
    def isatty(self):
        return True


PLAIN, BOLD, COLORED = "plain", "bold", "colored"


@pytest.mark.parametrize(
    ("stream", "environment", "expected"),
    [
        pytest.param(_Terminal, {}, COLORED, id="terminal"),
        pytest.param(io.StringIO, {}, PLAIN, id="pipe"),
        pytest.param(_Terminal, {"NO_COLOR": "1"}, BOLD, id="no colour"),
        pytest.param(_Terminal, {"NO_COLOR": ""}, COLORED, id="empty NO_COLOR"),
        pytest.param(_Terminal, {"TERM": "dumb"}, PLAIN, id="dumb terminal"),
        pytest.param(io.StringIO, {"FORCE_COLOR": "1"}, COLORED, id="forced in a pipe"),
        pytest.param(_Terminal, {"FORCE_COLOR": ""}, PLAIN, id="empty FORCE_COLOR"),
        pytest.param(_Terminal, {"TTY_COMPATIBLE": "0"}, PLAIN, id="not compatible"),
        pytest.param(io.StringIO, {"TTY_COMPATIBLE": "1"}, COLORED, id="compatible"),
    ],
)
def test_colors(stream, environment, expected):
    """A terminal gets colors, others get none; a user's settings come first."""
    shown = stream()
    output.show(sample_report.seed_case(10), "text", shown, environment)
    text = shown.getvalue()
    found = COLORED if "\x1b[1;31m" in text else BOLD if "\x1b[1m" in text else PLAIN
    assert found == expected


@pytest.mark.parametrize(
    ("columns", "width"),
    [
        pytest.param("60", 60, id="set"),
        pytest.param("0", 20, id="nothing to read"),
        pytest.param("9" * 5000, 999_999_999, id="hostile"),
    ],
)
def test_columns(columns, width):
    """COLUMNS decides how wide the text is, from 20 on."""
    report = sample_report.seed_case(10)
    shown = io.StringIO()
    output.show(report, "text", shown, {"COLUMNS": columns}, details=True)
    assert shown.getvalue() == sample_report.on_terminal(report, width)

# SPDX-License-Identifier: MPL-2.0
"""Statements as text."""

import pytest

from io_benchmark.analysis.statements import Quantity, Unit, statement
from io_benchmark.report.content.statement_text import text_of


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (Quantity(1_500_000, Unit.NANOSECONDS), "1.50 ms"),
        (Quantity(3 * 2**30, Unit.BYTES), "3 GiB"),
        (Quantity(388 * 2**20, Unit.BYTES_PER_SECOND), "388 MiB/s"),
        (Quantity(12_345, Unit.OPERATIONS_PER_SECOND), "12,300 operations/s"),
        (Quantity(1.918, Unit.RATIO), "1.92×"),
        (Quantity(0.48, Unit.SHARE), "48 %"),
        (Quantity(2_000, Unit.COUNT), "2,000"),
        ("{other} \N{RIGHT-TO-LEFT OVERRIDE}", "{other} \N{REPLACEMENT CHARACTER}"),
    ],
    ids=str,
)
def test_value(value, text):
    """Each unit has one form; text from a worker is neither a template nor raw."""
    assert text_of(statement("It is {value}.", value=value)) == f"It is {text}."


def test_every_unit_has_a_form():
    """A new unit without a form is found here, not in a report."""
    for unit in Unit:
        assert text_of(statement("{value}", value=Quantity(1, unit)))

# SPDX-License-Identifier: MPL-2.0
"""The series drawn with characters."""

import pytest
import sample_history
from msgspec.structs import replace

from io_benchmark.report.plots.line_drawing import CHANGE, POINT, ROWS, draw


def series(found):
    (only,) = found.series
    return only


def marked(lines):
    """Return the rows that have points."""
    return [number for number, line in enumerate(lines[1 : 1 + ROWS]) if POINT in line]


@pytest.mark.parametrize("width", [30, 40, 80, 200])
@pytest.mark.parametrize(
    "make",
    [sample_history.one_change, sample_history.too_few, sample_history.steady],
    ids=lambda make: make.__name__,
)
def test_fits(make, width):
    """A drawing has a head, rows, an axis and dates, within its width."""
    lines = draw(series(make()), width)
    assert len(lines) == ROWS + 3
    assert max(map(len, lines)) <= width


def test_changes_are_numbered():
    """Each change has a vertical line, with its number above and its date below."""
    found = sample_history.there_and_back()
    lines = draw(series(found), 78)
    places = [at for at, character in enumerate(lines[0]) if character in "12"]
    assert [lines[0][at] for at in places] == ["1", "2"]
    for row in lines[1 : 1 + ROWS]:
        assert [row.ljust(80)[at] for at in places] == [CHANGE] * 2
    for date in ("2026-04-27", "2026-07-20", "2026-08-31", "2026-11-16"):
        assert date in lines[-1]


def test_noise_looks_small():
    """The drawing always includes 10 % around the level, so that noise looks small."""
    lines = draw(series(sample_history.too_few()), 80)
    assert max(marked(lines)) - min(marked(lines)) <= ROWS // 2


def test_one_point():
    """A history with one point can be drawn."""
    one = series(sample_history.too_few())
    single = replace(
        one, points=one.points[:1], levels=(replace(one.levels[0], end=1, variation_ratio=None),)
    )
    assert sum(line.count(POINT) for line in draw(single, 40)) == 1

# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""The gate: met only when the interval says so."""

import pytest
import simulation

from io_benchmark.analysis import expectations
from io_benchmark.analysis.model import Comparison, Interval, Report, SubjectReport, Verdict
from io_benchmark.errors import UsageError


def report(*intervals: tuple[float, float]) -> Report:
    """One subject an interval, on which b was compared with a."""
    subjects = tuple(
        SubjectReport(
            simulation.SUBJECT,
            {},
            (
                Comparison(
                    simulation.SUBJECT,
                    "a",
                    "b",
                    1.0,
                    Interval(*interval, 0.95),
                    Interval(*interval, 0.9),
                    0.5,
                    Verdict.INCONCLUSIVE,
                    "workers",
                    None,
                    None,
                    None,
                ),
            ),
            (),
        )
        for interval in intervals
    )
    return Report("", "a", "", 0.05, subjects, (), (), (), (), (), (), ())


@pytest.mark.parametrize(
    ("text", "intervals", "met", "message"),
    [
        pytest.param("b/a<1.05", [(0.9, 1.04)], True, "b/a<1.05: met", id="below"),
        pytest.param(
            "b/a<1.05", [(0.9, 1.05)], False, "not decided, 1.00× (0.90 to 1.05)", id="touching"
        ),
        pytest.param("b/a<1.05", [(1.0, 1.2)], False, "not decided", id="undecided"),
        pytest.param("b/a<1.05", [(1.06, 1.2)], False, "not met", id="above"),
        pytest.param("b/a>1.5", [(1.6, 2.2)], True, "met", id="wanted-above"),
        pytest.param("b/a>1.5", [(1.1, 1.4)], False, "not met", id="wanted-above-missed"),
        pytest.param(
            "b/a<1.05", [(0.9, 1.0), (0.9, 2.0)], False, "not decided", id="every-subject"
        ),
        pytest.param(
            "a/b<1.05", [(0.9, 1.0)], False, "these two were not compared", id="not-compared"
        ),
        pytest.param(" b / a < 1.05 ", [(0.9, 1.0)], True, "met", id="spaces"),
    ],
)
def test_outcomes(text: str, intervals: list[tuple[float, float]], met: bool, message: str) -> None:
    """The interval's end decides, on every subject; an undecided one is not met."""
    outcome = expectations.judge(expectations.parse(text), report(*intervals))
    assert outcome.met is met
    assert message in outcome.message


@pytest.mark.parametrize(
    "text", ["", "a<1", "a/b", "a/b<x", "a/b<0", "a/b=1", "a/b<1e5", "a/b<1/2"]
)
def test_what_is_no_expectation_is_told(text: str) -> None:
    """One line with the form that is wanted."""
    with pytest.raises(UsageError, match=r"write it like 'amd-30/intel<1\.05'"):
        expectations.parse(text)

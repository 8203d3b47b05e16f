# SPDX-License-Identifier: MPL-2.0
"""What the answer of a history says of its trend, and of the facts that changed."""

from datetime import timedelta

import pytest
import sample_history
from msgspec.structs import replace
from written import lines, section

from io_benchmark.analysis.history.history_model import FactChange, History, HistorySeries, LeftOut
from io_benchmark.analysis.model.statements import statement
from io_benchmark.report.blocks import Items, Picture, plain
from io_benchmark.report.formats import document_of


def answer(history: History, series: HistorySeries) -> list[str]:
    """The sentences, without the picture above them."""
    made = section(replace(history, series=(series,)), "Answer")
    return lines(block for block in made if isinstance(block, Items))


@pytest.mark.parametrize(("days", "unit"), [(179, "week"), (180, "year")])
def test_the_unit_of_a_trend(days: int, unit: str) -> None:
    """Of less than half a year nobody knows a year's trend."""
    history = sample_history.trend_and_step()
    (series,) = history.series
    first, *others, last = series.points
    ended = replace(last, time=first.time + timedelta(days=days))
    (trend,) = [
        line
        for line in answer(history, replace(series, points=(first, *others, ended)))
        if line.startswith("- trend")
    ]
    assert f" % time per {unit} (" in trend


def test_results_that_no_series_has() -> None:
    """They are counted in the sentence about the time now."""
    history = sample_history.one_change()
    (series,) = history.series
    left_out = LeftOut("c", statement("has no samples"))
    made = replace(history, unreadable=("a", "b"), left_out=(left_out,))
    assert answer(made, series)[1].endswith("; 2 results could not be read, 1 result left out.")
    assert answer(history, series)[1].endswith("which vary by 1.9 %.")


@pytest.mark.parametrize(("count", "ending"), [(3, "fact-2 a → b."), (4, "; and 1 more.")])
def test_facts_that_changed(count: int, ending: str) -> None:
    """Three are named, and further ones counted."""
    history = sample_history.one_change()
    (series,) = history.series
    facts = tuple(FactChange(f"fact-{number}", "a", "b", 0) for number in range(count))
    change = replace(series.changes[0], changed=facts)
    assert answer(history, replace(series, changes=(change,)))[0].endswith(ending)


def test_facts() -> None:
    """What was measured, when, and how many pushes; a picture is in the answer of one series."""
    document = document_of(sample_history.one_change())
    facts = "1 measurement · measured 2026-04-27 to 2026-11-16 · 30 pushes · io-benchmark"
    assert plain(document.facts_line).startswith(facts)
    assert isinstance(document.answer[0], Picture)
    several = document_of(sample_history.two_series())
    assert not any(isinstance(block, Picture) for block in several.answer)
    assert sum(isinstance(block, Picture) for block in several.blocks) == 2
    (fact,) = document_of(sample_history.nothing()).facts
    assert plain(fact).startswith("io-benchmark ")

# SPDX-License-Identifier: MPL-2.0
"""Predictions in sentences, with what limits each, and their table."""

from typing import Any

import pytest
import sample_predictions
from msgspec.structs import replace
from sample_predictions import MINUTE_NS, pool, task
from written import headings, lines, rows, section, tables

from io_benchmark.analysis.model.statements import statement
from io_benchmark.analysis.prediction.prediction_model import (
    PoolPrediction,
    Predictions,
    TaskPrediction,
)
from io_benchmark.costs.worker_time import Price
from io_benchmark.report.blocks import Block, Items, Picture
from io_benchmark.report.formats import document_of


def sentences(*pools: PoolPrediction, **changes: Any) -> list[str]:
    """The answer about a task that took 10 minutes on intel, without its picture."""
    answer = document_of(Predictions((task(*pools, **changes),), (), ())).answer
    return lines([block for block in answer if isinstance(block, Items)])


def test_a_pool() -> None:
    """The time, its interval, and how it compares; then what 1,000 tasks cost there."""
    made = pool("amd", 14, price=Price(0.6, "USD"))
    basis, best, sentence = sentences(made, price=Price(0.3, "USD"), sha256=None)
    assert basis == "- make: 10.0 min on intel, by 2 resource profiles."
    assert best == "- Fastest: intel. Cheapest: intel."
    assert sentence == (
        "- On amd it takes 14.0 min (11.7 to 16.8 min for 90 % of single tasks), 1.40× as long as "
        "on intel; 1,000 tasks cost 140 USD (+180 %)."
    )


@pytest.mark.parametrize(
    ("made", "doubts"),
    [
        (pool("amd", 14), ""),
        # The interval begins just above the profiled time, and just below it.
        (pool("amd", 14, 1.399), ""),
        (pool("amd", 14, 1.401), ", neither clearly slower nor clearly faster"),
        (pool("amd", 30, 1.41), ""),
        (pool("amd", 30, 1.42), ", a wide interval"),
        (replace(pool("amd", 14), workers=1), ", by results of one worker"),
        # Its ends say nothing, and are not written.
        (pool("amd", 14, 1e5), ", neither clearly slower nor clearly faster"),
    ],
)
def test_what_limits_a_time(made: PoolPrediction, doubts: str) -> None:
    """A wide interval, one that includes the profiled time, and a single worker are named."""
    assert sentences(made)[-1].partition(" as long as on intel")[2] == f"{doubts}."


def test_a_measured_pool() -> None:
    """A measured time needs no model; the predicted one is there for comparison."""
    made = replace(pool("amd", 14), measured_ns=(720_000_000_000,))
    assert sentences(made)[-1] == (
        "- On amd it took 12.0 min, by 1 profile, 1.20× as long as on intel; predicted: 14.0 min "
        "(11.7 to 16.8 min for 90 % of single tasks)."
    )


@pytest.mark.parametrize(("minutes", "second"), [(9.59, "; arm may be as fast"), (9.61, "")])
def test_the_fastest(minutes: float, second: str) -> None:
    """Pools whose intervals overlap with that of the fastest may be as fast."""
    made = sentences(pool("amd", 8, 1.1), pool("arm", minutes, 1.09), pool("old", 20))
    assert made[1] == f"- Fastest: amd{second}."


def ranged(name: str, low: float, high: float, **changes: Any) -> PoolPrediction:
    """A pool with more CPUs, where so many minutes are possible and none is likely."""
    made = replace(pool(name, 0), cpus=32.0, **changes)
    return replace(made, at_least_ns=low * MINUTE_NS, at_most_ns=high * MINUTE_NS)


def test_a_range() -> None:
    """Without a likely time: both ends, their costs, and the reason; it may be the fastest."""
    made = sentences(ranged("amd", 4, 11, price=Price(0.6, "USD")), price=Price(0.3, "USD"))
    _, best, sentence = made
    assert best == (
        "- Fastest: intel; amd may be as fast. Cheapest: intel; amd may be as cheap, by this "
        "command's time alone."
    )
    assert sentence == (
        "- On amd it takes 4.00 to 11.0 min; 1,000 tasks cost 40.00 USD to 110 USD: its disks are "
        "not known."
    )
    made = sentences(ranged("amd", 4, 9), more_cpus=statement("More CPUs may pay"))
    assert made[1:] == [
        "- Fastest: amd.",
        "- More CPUs may pay.",
        "- On amd it takes 4.00 to 9.00 min: its disks are not known.",
    ]


def test_the_row_of_a_range() -> None:
    """The CPUs of pools whose number changes the time, and the range without a time."""
    report = Predictions((task(ranged("amd", 4, 11), pool("arm", 12)),), (), ())
    (table,) = tables(section(report, "make"))
    assert rows(table) == {
        "intel": ("", "10.0 min", "profiled", ""),
        "amd": ("32", "", "4.00 to 11.0 min", ""),
        "arm": ("", "12.0 min", "10.0 to 14.4 min", "1.20×"),
    }


def test_two_currencies() -> None:
    """Amounts of two currencies have no order and no ratio."""
    made = sentences(pool("amd", 8, price=Price(1, "EUR")), price=Price(1, "USD"))
    assert "Cheapest" not in made[1]
    assert made[-1].endswith("; 1,000 tasks cost 133 EUR.")


@pytest.mark.parametrize(("reasons", "answered", "further"), [(2, 2, 0), (3, 2, 3)])
def test_reasons(reasons: int, answered: int, further: int) -> None:
    """The answer has two reasons; of more, the evidence has all."""
    pools = [
        PoolPrediction(f"pool-{number}", 0, None, reason=statement(f"reason {number}"))
        for number in range(reasons)
    ]
    report = Predictions((task(*pools),), (), ())
    answer = [line for line in lines(document_of(report).answer) if "reason" in line]
    assert answer[0] == "- Not predicted on pool-0: reason 0."
    evidence = [line for line in lines(section(report, "make")) if "reason" in line]
    assert (len(answer), len(evidence)) == (answered, further)


def test_notes_limit_the_answer() -> None:
    """They are below the sentences, and marked."""
    made = sentences(pool("amd", 14), notes=(statement("Other processes used CPUs"),))
    assert made[-1] == "! Other processes used CPUs."


def test_many_pools() -> None:
    """The five fastest have a sentence and a row of the picture; the evidence has all."""
    report = sample_predictions.sixty_pools()
    answer = document_of(report).answer
    (picture,) = [block for block in answer if isinstance(block, Picture)]
    assert [row.name for row in picture.arguments[0]] == [
        "intel",
        *(f"pool-0{number}" for number in range(1, 6)),
    ]
    assert "- and 49 more pools" in lines(answer)
    drawn, *_ = [block for block in section(report, "make") if isinstance(block, Picture)]
    assert len(drawn.arguments[0]) == 55


def test_many_tasks() -> None:
    """Four tasks have sentences; each has its section, and those without a sentence all in it."""
    report = sample_predictions.several_tasks()
    answer = lines(document_of(report).answer)
    assert [line[2:9] for line in answer if "by 2 profiles" in line] == [
        f"build-{number}" for number in range(4)
    ]
    assert answer[-1] == "and 2 more tasks"
    assert sum(heading.startswith("build-") for heading in headings(report)) == 6


def of_pool(*figures: Any, **changes: Any) -> list[Block]:
    """The section about a task that was predicted for one pool."""
    made = PoolPrediction("amd-16", 3, None, *figures, **changes)
    profiled = TaskPrediction("tar", "0" * 64, "intel", (10**9,), None, None, None, None, (made,))
    return section(Predictions((profiled,), (), ()), "tar")


@pytest.mark.parametrize(("added_ns", "cells"), [(4.9e6, []), (5e6, ["+0.005 s"])])
def test_what_is_worth_a_number(added_ns: float, cells: list[str]) -> None:
    """Half a percent of the task; a column in which nothing is goes."""
    (table,) = tables(of_pool(2e9, 1e9, 3e9, added_ns, 0.0, 0.0))
    assert [*rows(table)["amd-16"][3:]] == cells


def test_a_pool_that_is_measured_and_not_predicted() -> None:
    """Its time is shown, and no reason why it is not predicted."""
    found = of_pool(measured_ns=(6 * 10**9,), reason=statement("no"))
    cells = [cell for cell in rows(tables(found)[0])["amd-16"] if cell]
    assert cells == ["not predicted", "6.00 s"]
    assert not any("no." in line for line in lines(found))

# SPDX-License-Identifier: MPL-2.0
"""A ranking in sentences: hours, money, what to do, and what is not in the sum."""

import math

import pytest
import sample_ranking
from msgspec.structs import replace
from written import folds, lines, screen

from io_benchmark.analysis.tasks.ranking import LabelRanking
from io_benchmark.costs.worker_time import Price
from io_benchmark.report.blocks import Items, Table
from io_benchmark.report.formats import document_of, rendered


def sentences(ranking: LabelRanking) -> list[str]:
    """The sentences of the answer, and what is below them."""
    answer = document_of(ranking).answer
    return lines([block for block in answer if isinstance(block, Items)])


def test_sentences() -> None:
    """Of seven labels the three that cost most have one each, with its command; then the sum."""
    ranking = sample_ranking.seven_labels()
    *labels, total = sentences(ranking)
    command = f"What now: `io-benchmark investigate task:{sample_ranking.TASK}`"
    assert labels[1::2] == [command] * 3
    assert labels[0] == (
        "- build-0/opt on p/linux-amd costs 113 USD per month more than on p/linux (109 to 117), "
        "and takes 190 worker hours more (179 to 200): 2.04× as long (1.93 to 2.15; 6 workers "
        "each), because of cpu (supported)."
    )
    assert total.startswith("- Sum of 7 pairs of a label and a pool: +830 worker hours per month (")


def test_the_sum_is_of_all_rows() -> None:
    """Its ends are the sums of the ends, because all intervals hold together."""
    ranking = sample_ranking.sixty_pools()
    low, high = (math.fsum(row.hours_interval[end] for row in ranking.labels) for end in (0, 1))
    assert f"({low:,.0f} to {high:,.0f}; all intervals hold together)" in sentences(ranking)[-1]


def two_labels(amounts: tuple[float | None, float | None]) -> LabelRanking:
    """Return two rows with this money."""
    ranking = sample_ranking.seven_labels()
    rows = [
        replace(row, money=amount, currency="USD" if amount is not None else "")
        for row, amount in zip(ranking.labels, amounts, strict=False)
    ]
    return replace(ranking, labels=tuple(rows), next_commands=("", ""))


@pytest.mark.parametrize(
    ("amounts", "total"),
    [
        ((10.0, 5.0), "together), +15.00 USD, by"),
        ((10.0, None), "together), +10.00 USD for 1 of them, by"),
        ((None, None), "together), by"),
    ],
)
def test_money_of_some_labels(amounts: tuple[float | None, float | None], total: str) -> None:
    """The sum names of how many rows its money is; without prices there is none."""
    assert total in sentences(two_labels(amounts))[-1]


@pytest.mark.parametrize(("hours", "words"), [(0.999, "0.999 worker hours"), (1, "1 worker hour")])
def test_an_hour(hours: float, words: str) -> None:
    """One is written as one."""
    row = replace(sample_ranking.seven_labels().labels[0], money=None, hours=hours)
    ranking = replace(sample_ranking.seven_labels(), labels=(row,), next_commands=("",))
    assert all(f"{words} per month" in sentence for sentence in sentences(ranking))


def test_a_slower_pool_that_saves_money() -> None:
    """The sentence says so, and its ends are what is saved."""
    hours = {("a", "slow"): 2.0, ("a", "fast"): 1.0}
    prices = {"slow": Price(0.1, "USD"), "fast": Price(0.4, "USD")}
    ranking = sample_ranking.explained(sample_ranking.totals(hours, spread=0.01), prices)
    first = sentences(ranking)[0]
    (row,) = ranking.labels
    ends = sorted(
        round(-(row.money or 0) - 0.4 * (end - row.hours), 2) for end in row.hours_interval
    )
    saved = f"saves {-(row.money or 0):.2f} USD per month against fast"
    assert first.startswith(f"- a on slow {saved} ({ends[0]:.2f} to {ends[1]:.2f}), and takes ")


def test_nothing_is_slower() -> None:
    """Without a proven difference the number of pairs is named, and what was not read."""
    ranking = replace(sample_ranking.seven_labels(), labels=(), next_commands=())
    lead = "- No label is proven to take longer on a pool, of 7 pairs of a label and a pool."
    assert sentences(ranking) == [lead]
    ranking = replace(ranking, unreadable=("runs.csv: no",))
    assert sentences(ranking) == [f"{lead} What could not be read is not compared."]
    assert screen(ranking) == [*sentences(ranking), "! Not read: runs.csv: no"]


def test_what_has_no_room_is_counted() -> None:
    """Rows that the first screen never has are counted with those that it leaves out."""
    (table,) = (
        block
        for block in document_of(sample_ranking.sixty_pools()).screen
        if isinstance(block, Table)
    )
    assert len(table.rows) + table.left_out == len(sample_ranking.sixty_pools().labels)


def test_json_has_no_more_than_before() -> None:
    """What only people read is not published."""
    written = rendered(sample_ranking.seven_labels(), "json")
    assert "next_commands" not in written
    assert sample_ranking.GROUP not in written


@pytest.mark.parametrize(("count", "folded"), [(12, []), (13, ["13 labels"])])
def test_many_rows_are_folded(count: int, folded: list[str]) -> None:
    """A table of twelve rows is open, a longer one is folded."""
    ranking = sample_ranking.sixty_pools()
    made = replace(ranking, labels=ranking.labels[:count], pools=ranking.pools[:12])
    assert folds(made) == folded
    made = replace(ranking, labels=ranking.labels[:1], pools=ranking.pools[:count])
    assert folds(made) == [fold.replace("label", "pool") for fold in folded]

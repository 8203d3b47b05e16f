# SPDX-License-Identifier: MPL-2.0
"""The report about all pools: its answer, its table, and what is in it of each pool."""

from datetime import date, timedelta

import pytest
import sample_fleet
from msgspec.structs import replace
from sample_fleet import AS_OF, FASTER, PART, SLOWER
from written import lines

from io_benchmark.analysis.fleet.fleet_model import Fleet, FleetChange
from io_benchmark.analysis.fleet.orders import ORDERS
from io_benchmark.number_text import NOTHING
from io_benchmark.report import blocks
from io_benchmark.report.blocks import Items, Sketch, Table, plain
from io_benchmark.report.formats import Layout, document_of, rendered

ORDINARY = sample_fleet.ordinary()


def answer(fleet: Fleet) -> list[str]:
    """The sentences of the answer."""
    items = [block for block in document_of(fleet).answer if isinstance(block, Items)]
    return [line.removeprefix("- ") for line in lines(items)]


def table(fleet: Fleet) -> Table:
    (found,) = [block for block in document_of(fleet).answer if isinstance(block, Table)]
    return found


def cells(fleet: Fleet, head: str) -> list[str]:
    """The cells of a column, whose head starts so."""
    whole = table(fleet)
    number = next(number for number, line in enumerate(whole.heads) if plain(line).startswith(head))
    return [plain(row.cells[number]) for row in whole.rows]


def test_two_systems() -> None:
    """Each has its own best and cheapest pool, and pools are ranked apart."""
    first, second, *rest = ORDINARY.pools
    both = replace(ORDINARY, pools=(first, replace(second, system="windows"), *rest))
    sentences = " ".join(answer(both))
    assert f"on Linux: {first.pool} is best" in sentences
    assert "on Windows: " in sentences
    page = rendered(both, "markdown")
    assert "Pools of each system are ranked apart." in page
    assert "System: Windows" in page
    assert "on Linux" not in " ".join(answer(ORDINARY))
    assert "ranked apart" not in rendered(ORDINARY, "markdown")


def with_changes(*changes: FleetChange, pools: int = 1) -> Fleet:
    """The first pools with these changes, and no others."""
    rows = [
        replace(row, changes=changes if number < pools else ())
        for number, row in enumerate(ORDINARY.pools)
    ]
    return replace(ORDINARY, pools=tuple(rows))


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        pytest.param(
            SLOWER,
            "New: intel-30 is slower since 2026-11-02: Write, 1.25× as long as before (95 % "
            "interval 1.18 to 1.33). Changed: kernel 6.8.0-1017-gcp → 6.11.0-1002-gcp.",
            id="alert",
        ),
        pytest.param(
            PART,
            "intel-30 is slower since 2026-10-26: Write, 1.90× as long as before (95 % "
            "interval 1.60 to 2.20; on 3 of 12 machines, 25 %). Changed: local SSDs 1 → none.",
            id="a part of the machines",
        ),
        pytest.param(
            replace(FASTER, since=date(2026, 11, 16)),
            "intel-30 is faster since 2026-11-16: Unpack, 0.80× as long as before (95 % "
            "interval 0.75 to 0.86).",
            id="faster",
        ),
        pytest.param(
            replace(sample_fleet.DEARER, since=AS_OF, ratio=0.9),
            "intel-30 is cheaper since 2026-11-29: an hour costs 0.90× as much as before.",
            id="price",
        ),
    ],
)
def test_changes(change: FleetChange, sentence: str) -> None:
    """A change says what, since when, by how much, how sure, on which machines, and by what."""
    assert answer(with_changes(change))[0] == sentence


@pytest.mark.parametrize(
    ("days", "is_alert", "is_answer"),
    [(60, False, True), (61, False, False), (61, True, True)],
)
def test_what_is_lately(days: int, is_alert: bool, is_answer: bool) -> None:
    """Changes of 60 days are in the answer, and alerts of any day; all are listed below."""
    change = replace(SLOWER, since=AS_OF - timedelta(days=days), is_alert=is_alert)
    fleet = with_changes(change)
    assert ("is slower since" in answer(fleet)[0]) is is_answer
    assert ("No change by more than 5 %" in answer(fleet)[0]) is not is_answer
    assert "1 change" in rendered(fleet, "html")


@pytest.mark.parametrize(
    ("pushes", "sentence"),
    [
        ((6, 6), "Whether a pool changed cannot be told yet: that needs 7 pushes of a pool."),
        (
            (7, 6),
            (
                "No change by more than 5 % was found in the 60 days before 2026-11-29; of 1 pool "
                "it cannot be told yet: that needs 7 pushes of a pool."
            ),
        ),
        ((7, 7), "No change by more than 5 % was found in the 60 days before 2026-11-29."),
    ],
)
def test_no_change(pushes: tuple[int, int], sentence: str) -> None:
    """Pools with too few pushes have no changes, and are not said to be steady."""
    sample = with_changes()
    pools = [
        replace(pool, pushes=count, changes=())
        for pool, count in zip(sample.pools, pushes, strict=False)
    ]
    assert answer(replace(sample, pools=tuple(pools)))[0] == sentence


def test_an_order_without_values() -> None:
    """It is said, because the pools then are in order of their names."""
    sample = replace(with_changes(), ordered_by="unpack", figures=())
    assert "! No pool has a value of unpack, so the pools are in order of names." in answer(sample)


def test_the_newest_first() -> None:
    """Alerts come first, then the newest change."""
    newer = replace(FASTER, key="newer", since=date(2026, 11, 16))
    fleet = with_changes(PART, newer, replace(SLOWER, since=date(2026, 9, 1)))
    assert [line.split(":")[0] for line in answer(fleet)[:3]] == [
        "New",
        "intel-30 is faster since 2026-11-16",
        "intel-30 is slower since 2026-10-26",
    ]


def test_a_change_in_common() -> None:
    """Pools that changed on one day by the same facts share a sentence, with all ratios."""
    fleet = with_changes(replace(SLOWER, is_alert=False), pools=6)
    first = replace(SLOWER, is_alert=False, ratio=1.31)
    pools = (replace(fleet.pools[0], changes=(first,)), *fleet.pools[1:])
    assert answer(replace(fleet, pools=pools))[0].startswith(
        "amd-16, amd-16-spot, amd-30, hardware and 2 more are slower since 2026-11-02: Write, "
        "1.25× to 1.31× as long as before. Changed: kernel"
    )


def test_best_and_cheapest() -> None:
    """Pools that share the first rank are named together; the cheapest is by a unit of work."""
    assert answer(with_changes())[1:] == [
        (
            "Write: intel-30, amd-30 may each be best, up to 1,200 MiB/s (1,150 to 1,250); their "
            "intervals overlap."
        ),
        "Write: intel-30 is cheapest with 0.34 USD per TiB written.",
    ]
    alone = replace(with_changes(), pools=with_changes().pools[:1])
    assert answer(alone)[1] == "Write: intel-30 is best with 1,200 MiB/s (1,150 to 1,250)."
    by_flush = answer(replace(with_changes(), ordered_by="flush"))
    assert by_flush[1].startswith("Flush: intel-30, amd-30 may each be best, up to 35.0 µs")
    assert by_flush[2] == "amd-16-spot is cheapest with 0.88 USD per hour."


def test_a_task() -> None:
    """A profiled task has its fastest and its cheapest pool."""
    assert answer(replace(sample_fleet.predicted(), pools=with_changes().pools))[1:3] == [
        "build-linux64/opt is fastest on intel-30, in 15.0 (13.0 to 17.0) min.",
        "build-linux64/opt is cheapest on intel-30, for 0.35 USD in 15.0 (13.0 to 17.0) min.",
    ]
    without = replace(sample_fleet.predicted(), pools=ORDINARY.pools[-1:])
    assert "build-linux64/opt could not be predicted on any pool." in answer(without)
    assert cells(sample_fleet.predicted(), "Predicted")[-1] == (
        f"{NOTHING} it has no result that a prediction can use"
    )


def test_cells() -> None:
    """A value has its interval and its rank; one of other work has none, and is marked."""
    assert cells(ORDINARY, "Write") == [
        "1,200 1,150 to 1,250 rank 1-2",
        "1,160 1,120 to 1,210 rank 1-2",
        "840 806 to 874 rank 3",
        "600 576 to 624 rank 4-5",
        "576 553 to 599 rank 4-5",
        "360 ≈346 to 374",
    ]
    assert cells(ORDINARY, "Unpack")[-1] == NOTHING


def test_links() -> None:
    """A value leads to the newest results, where these are on a deployment."""
    first, *_, last = table(ORDINARY).rows
    links = [
        [
            piece.page_link
            for piece in blocks.pieces(row.cells[0])
            if isinstance(piece, blocks.Words)
        ]
        for row in (first, last)
    ]
    assert links == [[ORDINARY.pools[0].address, "", ""], ["", "", ""]]
    assert [first.address, last.address] == [ORDINARY.pools[0].address, "past/hardware"]


def test_the_line_of_a_pool() -> None:
    """It spans 12 months up to the day of the report, with changes and values at their days."""
    (row,) = [row for row in table(ORDINARY).rows if row.label == "amd-16"]
    (drawn,) = [cell for cell in row.cells if isinstance(cell, Sketch)]
    assert drawn.text == "███████████▃"
    assert [*drawn.changes] == pytest.approx([1 - 28 / 365, 1 - 273 / 365])
    assert drawn.spots[-1][0] == pytest.approx(1 - 7.75 / 365)
    assert drawn.label == (
        "Write in 12 months: 600 to 765, now 600 MiB/s; changed 2026-11-02, 2026-03-02"
    )


def test_old_changes_are_not_drawn() -> None:
    """A change of more than 12 months ago is no mark, and is not named with the line."""
    old = replace(FASTER, since=AS_OF - timedelta(days=365))
    for change, marks in ((old, 0), (replace(old, since=old.since + timedelta(days=1)), 1)):
        first = table(with_changes(change)).rows[0]
        (drawn,) = [cell for cell in first.cells if isinstance(cell, Sketch)]
        assert len(drawn.changes) == marks
        assert ("changed" in drawn.label) is (marks > 0)


def test_currencies() -> None:
    """One currency is in the heads; several are in the cells."""
    assert cells(ORDINARY, "Price USD per hour")[0] == "1.40"
    first = ORDINARY.pools[0]
    assert first.price is not None
    euros = replace(first, price=replace(first.price, currency="EUR"))
    several = replace(ORDINARY, pools=(euros, *ORDINARY.pools[1:]))
    assert cells(several, "Price per hour")[:2] == ["1.40 EUR", "1.37 USD"]


@pytest.mark.parametrize("order", ORDERS)
def test_orders(order: str) -> None:
    """The facts say in words what comes first, whatever that is."""
    fleet = replace(sample_fleet.predicted(), ordered_by=order)
    facts = plain(document_of(fleet).facts_line)
    assert "ordered by " in facts
    assert "-cost" not in facts


@pytest.mark.parametrize("make", [sample_fleet.ordinary, sample_fleet.many, sample_fleet.hostile])
def test_first_screens(make) -> None:
    """A terminal has 23 lines, Markdown 40 before its first fold; both say what is left out."""
    text = rendered(make(), "text", Layout(columns=80))
    assert len(text.splitlines()) <= 23
    assert max(map(len, text.splitlines())) <= 80
    markdown, fold, _ = rendered(make(), "markdown").partition("<details>")
    assert fold
    assert markdown.count("\n") <= 40


def test_pools_that_are_left_out() -> None:
    """Those of 60 pools that a screen does not show are counted."""
    shown = rendered(sample_fleet.many(), "text", Layout(columns=80))
    rows = [line for line in shown.splitlines() if line.startswith("  releng")]
    assert f"and {60 - len(rows)} more pools" in shown
    assert len(rows) >= 3


def test_nothing() -> None:
    """Without results the report says so, and what was not read."""
    assert answer(sample_fleet.nothing()) == ["No pool has a result that could be read."]
    page = rendered(sample_fleet.nothing(), "html")
    assert "index io-benchmark: HTTP 503" in page
    assert "<script" not in page

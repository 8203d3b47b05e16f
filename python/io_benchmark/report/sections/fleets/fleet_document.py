# SPDX-License-Identifier: MPL-2.0
"""The report about all pools: the answer and the table, then changes, prices and each pool."""

from collections.abc import Iterator

from io_benchmark.analysis.fleet.fleet_model import Fleet, FleetPool
from io_benchmark.analysis.statistics.levels import LEVEL
from io_benchmark.analysis.validity.systems import name_of
from io_benchmark.command_lines import compare_results
from io_benchmark.number_text import digits, number_of, percent
from io_benchmark.report import blocks
from io_benchmark.report.content import text_of
from io_benchmark.report.facts import VERSION
from io_benchmark.report.links import address_link, task_name
from io_benchmark.report.sections.fleets.fleet_answers import answer
from io_benchmark.report.sections.fleets.fleet_table import (
    prices_table,
    screen_table,
    whole_table,
)
from io_benchmark.report.sections.fleets.fleet_words import (
    change_item,
    change_items,
    figure_named,
    ordered_by,
)
from io_benchmark.text import name

# Words in the command that compares two pools; the page's script replaces them.
ADDRESS_A, ADDRESS_B = "ADDRESS_A", "ADDRESS_B"
_MEANING = (
    "A value is the geometric mean of a pool's machines since its last change, with its "
    f"{percent(LEVEL)} interval and its rank. Pools whose intervals overlap share ranks: with rank "
    "1-3, one or two pools may be better. A value without a rank is of other work than that of "
    "most pools. ≈ marks an interval for which a variation is assumed, because only one machine or "
    "one push was measured. A line shows 12 months, with a mark at each change."
)
_SCREEN_NOTES = 3
_TITLE = 100  # characters


def document(fleet: Fleet) -> blocks.Document:
    items = blocks.Items([*answer(fleet)], shown=0)
    table = [whole_table(fleet)] if fleet.pools else []
    screen: list[blocks.Block] = [items]
    if fleet.pools:
        screen += [_screen_notes(fleet), screen_table(fleet)]
    return blocks.Document(
        name(fleet.title, _TITLE),
        [*_evidence(fleet)],
        screen,
        facts=[*_facts(fleet)],
        answer=[items, *table],
        command=compare_results(ADDRESS_A, ADDRESS_B) if fleet.pools else "",
    )


def _facts(fleet: Fleet) -> Iterator[blocks.Line]:
    yield number_of(len(fleet.pools), "pool")
    yield number_of(sum(pool.machines for pool in fleet.pools), "worker")
    yield f"as of {fleet.as_of.isoformat()}"
    if fleet.pools:
        yield f"ordered by {ordered_by(fleet)}"
    yield VERSION


def _screen_notes(fleet: Fleet) -> blocks.Items:
    """Write what limits the table: results that were not read, and notes."""
    lines = [text_of(note) for note in fleet.notes]
    if fleet.unreadable:
        lines.append(f"{number_of(len(fleet.unreadable), 'result')} could not be read")
    items = [
        blocks.Item(blocks.Words(line, blocks.WARNING), mark="!", rank=_SCREEN_NOTES + 6)
        for line in lines[:_SCREEN_NOTES]
    ]
    return blocks.Items(items)


def _evidence(fleet: Fleet) -> Iterator[blocks.Block]:
    if fleet.pools:
        apart = " Pools of each system are ranked apart."
        has_several = len({pool.system for pool in fleet.pools}) > 1
        yield blocks.Paragraph(_MEANING + (apart if has_several else ""), blocks.QUIET)
        command = compare_results(ADDRESS_A, ADDRESS_B)
        sentence = f"Compare two pools by the addresses of their results: `{command}`"
        yield blocks.Heading("Compare two pools")
        yield blocks.Paragraph(sentence)
    changes = [item for _, item in change_items(fleet)]
    if changes:
        yield blocks.Heading("Changes")
        yield blocks.Fold(number_of(len(changes), "change"), [blocks.Items(changes)])
    prices = [*prices_table(fleet)]
    if prices:
        yield blocks.Heading("Prices")
        yield blocks.Fold("Price of one unit of work, on each pool", prices)
    if fleet.pools:
        yield blocks.Heading("Each pool")
        yield blocks.Fold("Results, machines and history", [*_histories(fleet)])
        yield blocks.Heading("How each figure is known")
        lines = [
            (blocks.Words(figure.label, blocks.STRONG), f": {figure.basis}, in {figure.unit}.")
            for figure in fleet.figures
        ]
        yield blocks.Fold(number_of(len(lines), "figure"), [blocks.Items.of(lines)])
    yield from blocks.Items.lists(
        ("Not read", fleet.unreadable),
        ("Notes", [text_of(note) for note in fleet.notes]),
        ("Remarks", fleet.remarks),
    )


def _histories(fleet: Fleet) -> Iterator[blocks.Block]:
    for pool in fleet.pools:
        yield blocks.Heading(pool.pool, level=blocks.SUBSECTION)
        yield blocks.Items.of(_history(pool, fleet))
        yield blocks.Items([change_item(pool.pool, change, fleet) for change in pool.changes])


def _history(pool: FleetPool, fleet: Fleet) -> Iterator[blocks.Line]:
    """Yield what is known of a pool: its results, its machines, and what it measured by month."""
    measured = f"{number_of(pool.machines, 'worker')} in {number_of(pool.pushes, 'push')}"
    yield f"{measured}, the last on {pool.last.isoformat()}"
    if pool.flags:
        flags = "; ".join(map(text_of, pool.flags))
        yield blocks.Words(flags, blocks.WARNING)
    link = address_link(pool.address)
    if link:
        yield "Newest results: ", blocks.Words(task_name(link), link=link)
    elif pool.address:
        yield "Newest results: ", blocks.Words(pool.address, blocks.CODE)
    if pool.queue:
        yield f"Worker pool: {pool.queue}"
    for label, values in (
        ("System", [name_of(pool.system)] if pool.system else ()),
        ("Machine types", pool.machine_types),
        ("Images", pool.images),
        ("Disks", pool.disks),
    ):
        if values:
            yield f"{label}: {', '.join(values)}"
    if pool.price is not None:
        kind = ", ".join(filter(None, (pool.price.kind, pool.price.date)))
        note = f" ({kind})" if kind else ""
        yield f"Price: {digits(pool.price.per_hour)} {pool.price.currency} per hour{note}"
    figure = figure_named(fleet, fleet.drawn)
    if figure is not None and pool.points:
        # The newest value of each month
        months = {point.time.strftime("%Y-%m"): digits(point.value) for point in pool.points}
        by_month = ", ".join(f"{month}: {value}" for month, value in months.items())
        yield f"{figure.label} ({figure.unit}), {by_month}"

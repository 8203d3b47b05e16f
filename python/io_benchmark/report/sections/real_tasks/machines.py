# SPDX-License-Identifier: MPL-2.0
"""Which machines are slow: the answer, then the machines of each pool."""

from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from io_benchmark.analysis.tasks.machines.machine_model import (
    ExplainedMachines,
    MachineFigures,
    MachinePool,
    MachineReport,
    MachineState,
    PoolState,
)
from io_benchmark.number_text import NOTHING, compact, count, money, number_of, percent, ratio
from io_benchmark.report.blocks import (
    QUIET,
    WARNING,
    Block,
    Document,
    Fold,
    Heading,
    Item,
    Items,
    Line,
    Paragraph,
    Row,
    Table,
    Words,
)
from io_benchmark.report.content import ends_text, text_of
from io_benchmark.report.facts import VERSION, addresses_of
from io_benchmark.report.sections.real_tasks import machine_answers
from io_benchmark.text import name

_ROWS_OPEN = 12  # a longer table is folded
_MACHINES_SHOWN = 40  # of a pool; further ones are on the page alone
_MACHINE_CELLS, _POOL_CELLS = 40, 40
_SCREEN_ROWS, _SCREEN_NOTES, _NOTE_LENGTH = 6, 2, 220
_HEADS = ("state", "factor", "interval", "since", "runs", "hours per week", "lost", "not completed")
_LEAST_FIRST = ("not completed", "runs", "hours per week", "state", "interval")
_ORDER = (MachineState.SLOW, MachineState.USUAL, MachineState.FAST, MachineState.UNKNOWN)


def document(report: MachineReport) -> Document:
    """Return the report's blocks: the answer, then the machines of each pool."""
    answers = machine_answers.answers(report)
    content: list[Block] = []
    for pool in report.pools:
        content += _pool(pool)
    remarks = [text_of(remark) for remark in report.remarks]
    content += Items.lists(("Not read", report.unreadable), ("Messages about the runs", remarks))
    content += [Heading("How to read this"), Paragraph(_basis(report), QUIET)]
    return Document(
        "Which machines are slow",
        content,
        [answers, *_screen_warnings(report.unreadable, remarks), *_screen_table(report)],
        facts=[*_facts(report)],
        answer=[*machine_answers.picture(report), answers],
    )


def _facts(report: MachineReport) -> Iterator[Line]:
    runs = number_of(sum(pool.runs for pool in report.pools), "run")
    yield f"{runs} on {number_of(len(report.pools), 'pool')}"
    if report.first_day:
        yield f"from {report.first_day} to {report.last_day}"
    if isinstance(report, ExplainedMachines):
        yield from addresses_of(report.addresses)
    yield VERSION


def _basis(report: MachineReport) -> str:
    return (
        "A factor is the time of a machine divided by that of a usual machine of its pool for the "
        "same labels on the same days, since the machine's last change. It is shrunk by how far "
        "usual machines differ. A machine is slow if it differs by more than usual machines do "
        f"and by {percent(report.margin_ratio)}; of those that are named, at most 5 % are usual "
        "ones on average. Lost time is what a usual machine would not take for the same tasks."
    )


def _pool(pool: MachinePool) -> Iterator[Block]:
    """Write a pool's machines, those first that lose most time."""
    yield Heading(name(pool.pool, _POOL_CELLS))
    yield Paragraph(machine_answers.summary(pool), QUIET)
    if not pool.machines:
        return
    machines = sorted(pool.machines, key=lambda machine: _ORDER.index(machine.state))
    rows = [_row(machine, pool) for machine in machines]
    table = Table("machine", _HEADS, rows, drop=_LEAST_FIRST, noun=" machines")
    table = table.without_empty_columns()
    further = table.rows[_MACHINES_SHOWN:]
    first = replace(table, rows=table.rows[:_MACHINES_SHOWN], left_out=len(further))
    count_shown = len(first.rows)
    yield Fold(number_of(count_shown, "machine"), [first]) if len(rows) > _ROWS_OPEN else first
    if further:
        summary = number_of(len(further), "more machine")
        yield Fold(summary, [replace(table, rows=further)], on_page_only=True)


def _row(machine: MachineFigures, pool: MachinePool) -> Row:
    lost = NOTHING
    if machine.lost_hours_per_week:
        lost = f"{compact(machine.lost_hours_per_week)} h"
        if machine.lost_money_per_week is not None:
            lost += f", {money(machine.lost_money_per_week)} {pool.currency}"
    not_completed = ""
    if machine.not_completed:
        expected = compact(machine.expected_not_completed)
        not_completed = f"{count(machine.not_completed)} (expected {expected})"
    return Row(
        name(machine.machine, _MACHINE_CELLS),
        [
            machine.state.value,
            NOTHING if machine.ratio is None else ratio(machine.ratio),
            NOTHING if machine.interval is None else ends_text(machine.interval),
            machine.since or "",
            count(machine.runs),
            compact(machine.hours_per_week),
            lost,
            not_completed,
        ],
        is_strong=machine.state is MachineState.SLOW,
    )


def _screen_table(report: MachineReport) -> Iterator[Table]:
    """Write the slow machines beyond those that have a sentence."""
    slow = [
        (pool, machine)
        for pool in report.pools
        if pool.state is PoolState.JUDGED
        for machine in pool.in_state(MachineState.SLOW)
    ]
    if len(slow) > machine_answers.ANSWERED:
        slow.sort(key=lambda pair: -pair[1].lost_hours_per_week)
        rows = [
            replace(_row(machine, pool), rank=machine_answers.FIRST_RANK - 1, is_strong=False)
            for pool, machine in slow[:_SCREEN_ROWS]
        ]
        drop = ("not completed", "runs", "hours per week", "interval")
        table = Table("machine", _HEADS, rows, drop=drop, noun=" machines")
        positions = [place for place, head in enumerate(_HEADS) if head != "state"]
        table = table.keep_columns(positions).without_empty_columns()
        yield replace(table, left_out=len(slow) - len(rows))


def _screen_warnings(unreadable: Sequence[str], remarks: Sequence[str]) -> Iterator[Items]:
    lines = [name(f"Not read: {line}", _NOTE_LENGTH) for line in unreadable]
    lines += [name(line, _NOTE_LENGTH) for line in remarks]
    if lines:
        items = [Item(Words(line, WARNING), mark="!") for line in lines]
        yield Items(items, noun="; --details shows them", shown=_SCREEN_NOTES)

# SPDX-License-Identifier: MPL-2.0
"""Which machines to pull first, in sentences: and how many are slow, fail, or cannot be judged."""

from collections.abc import Iterator
from datetime import date

from io_benchmark.analysis.model.comparison import Verdict
from io_benchmark.analysis.tasks.machines.machine_model import (
    MachineFigures,
    MachinePool,
    MachineReport,
    MachineState,
    PoolState,
)
from io_benchmark.number_text import (
    compact,
    duration,
    listed,
    money,
    number_of,
    percent,
    ratio,
)
from io_benchmark.report import blocks
from io_benchmark.report.content import ends_text, text_of
from io_benchmark.report.drawn import Dot, StripRow
from io_benchmark.text import name

ANSWERED = 3  # machines and pools that have a sentence; the table has all
_FACTS = 3  # that differ
_FAILING = 3  # machines that are named because their tasks fail
_DRAWN, _DOTS = 5, 40  # slow machines with a row; dots with a name
_MACHINE_CELLS, _POOL_CELLS = 50, 40
_S_PER_HOUR = 3600
_GONE_DAYS = 3
# What a screen leaves out first: machines that fail, then sentences from the last one on.
_FAILING_RANK, _SENTENCE_RANK = 3, 4
FIRST_RANK = _SENTENCE_RANK + ANSWERED


def answers(report: MachineReport) -> blocks.Items:
    """Return a sentence for each machine to pull first, then one about each pool."""
    if not report.pools:
        lead = "No run on a named worker was found."
        return blocks.Items([blocks.Item.answer(blocks.NO_VERDICT, lead)])
    slow = [
        (machine, pool) for pool in report.pools for machine in pool.in_state(MachineState.SLOW)
    ]
    slow.sort(key=lambda pair: (pair[0].may_be_several, -pair[0].lost_hours_per_week))
    items = []
    for position, (machine, pool) in enumerate(slow[:ANSWERED]):
        rank = blocks.ALWAYS if position == 0 else FIRST_RANK - position
        start = "Pull first" if position == 0 else "Then"
        sentence = _sentence(start, machine, pool, report)
        below = [*_measured(machine, rank)]
        items.append(blocks.Item.answer(Verdict.SLOWER, *sentence, below, rank))
    for position, pool in enumerate(report.pools[:ANSWERED]):
        rank = blocks.ALWAYS if position == 0 else FIRST_RANK - position
        items.append(_pool_item(pool, report, rank))
    rest = len(report.pools) - ANSWERED
    if rest > 0:
        items.append(blocks.Item(f"{number_of(rest, 'more pool')} in the details"))
    items += _failing(report)
    return blocks.Items(items)


def _sentence(
    start: str, machine: MachineFigures, pool: MachinePool, report: MachineReport
) -> tuple[str, str]:
    """Return 'Pull first: NAME (1.32×, 1.25 to 1.40, since …)' and what it loses."""
    sizes = []
    if machine.ratio is not None and machine.interval is not None:
        sizes += [ratio(machine.ratio), ends_text(machine.interval)]
    if machine.since is not None:
        sizes.append(f"since {machine.since}")
    where = f" of {name(pool.pool, _POOL_CELLS)}" if len(report.pools) > 1 else ""
    lead = f"{start}: {name(machine.machine, _MACHINE_CELLS)}{where} ({', '.join(sizes)})"
    lost = f", loses {compact(machine.lost_hours_per_week)} h per week"
    if machine.lost_money_per_week is not None:
        lost += f", {money(machine.lost_money_per_week)} {pool.currency}"
    if machine.may_be_several:
        lost += "; its name may be that of several machines"
    if _days_ago(machine, pool) >= _GONE_DAYS:
        lost += f"; last run on {machine.last_day}"
    return lead, f"{lost}."


def _measured(machine: MachineFigures, rank: int) -> Iterator[blocks.Item]:
    """Say what results of the benchmark show of the machine: its ratio, and facts that differ."""
    measured = machine.measured
    if measured is None:
        return
    rank = min(rank, FIRST_RANK)
    rest = number_of(measured.other_machines, "other machine")
    unusual = [row for row in measured.measurements if row.is_unusual]
    if unusual:
        farthest = max(unusual, key=lambda row: max(row.ratio, 1 / row.ratio))
        sentence = (
            f"{farthest.measurement} takes {ratio(farthest.ratio)} (usual: "
            f"{ends_text(farthest.usual)}; {rest})."
        )
        yield blocks.Item.led("Benchmark:", sentence, rank=rank)
    elif measured.measurements:
        count = number_of(len(measured.measurements), "measurement")
        yield blocks.Item.led("Benchmark:", f"as usual in {count} ({rest}).", rank=rank)
    if measured.differences:
        facts = listed([text_of(fact) for fact in measured.differences], _FACTS, separator="; ")
        yield blocks.Item.led("Differs:", f"{facts}.", rank=rank)


def _days_ago(machine: MachineFigures, pool: MachinePool) -> int:
    """Return how many days before those of its pool its runs end: it may be gone."""
    last = max(other_machine.last_day for other_machine in pool.machines)
    return (date.fromisoformat(last) - date.fromisoformat(machine.last_day)).days


def _pool_item(pool: MachinePool, report: MachineReport, rank: int) -> blocks.Item:
    """Say how many machines of a pool are slow, or why none can be named."""
    slow = len(pool.in_state(MachineState.SLOW))
    title = name(pool.pool, _POOL_CELLS)
    if pool.state is PoolState.SHORT_LIVED:
        lead = f"{title}: no machine is named"
        rest = (
            f": half of its runs are on workers that were seen for at most "
            f"{duration(pool.lifetime_hours * _S_PER_HOUR)}, of {pool.workers:,}."
        )
        return blocks.Item.answer(blocks.NO_VERDICT, lead, rest, rank=rank)
    if pool.state is PoolState.FEW:
        lead = f"{title}: no machine can be judged"
        rest = (
            f", of {number_of(pool.workers, 'machine')}: fewer than four have enough runs of "
            "labels that others run as well."
        )
        return blocks.Item.answer(blocks.NO_VERDICT, lead, rest, rank=rank)
    judged = len(pool.machines) - len(pool.in_state(MachineState.UNKNOWN))
    usual = ""
    if pool.variation_ratio is not None:
        usual = f" Usual machines vary by {percent(pool.variation_ratio)}."
    rest = f"slower by {percent(report.margin_ratio)} and by more than chance.{usual}"
    rest += _unknown(pool)
    if not slow:
        lead = f"No machine of {title} is slow"
        rest = f": none of {judged:,} is {rest}"
        return blocks.Item.answer(Verdict.EQUIVALENT, lead, rest, rank=rank)
    lead = f"{slow:,} of {number_of(judged, 'machine')} of {title} {_are(slow)} slow"
    return blocks.Item(f"{lead}; no other is {rest}", rank=rank)


def _are(number: int) -> str:
    return "is" if number == 1 else "are"


def _unknown(pool: MachinePool) -> str:
    unknown = pool.in_state(MachineState.UNKNOWN)
    if not unknown:
        return ""
    return f" {number_of(len(unknown), 'more machine')}: not enough runs."


def _failing(report: MachineReport) -> Iterator[blocks.Item]:
    """Yield the machines whose tasks fail or get lost more often than on others."""
    failing = [
        (machine, pool) for pool in report.pools for machine in pool.machines if machine.fails_more
    ]
    failing.sort(key=lambda pair: pair[0].expected_not_completed - pair[0].not_completed)
    for machine, _ in failing[:_FAILING]:
        expected = compact(machine.expected_not_completed)
        number = number_of(machine.not_completed, "run")
        lead = f"{name(machine.machine, _MACHINE_CELLS)} fails more: {number} did not complete"
        rest = f", {expected} expected of the same tasks."
        yield blocks.Item.answer(blocks.WARNING, lead, rest, rank=_FAILING_RANK)
    if len(failing) > _FAILING:
        rest_number = number_of(len(failing) - _FAILING, "more machine")
        yield blocks.Item(f"More runs fail on {rest_number} in the details", rank=0)


def summary(pool: MachinePool) -> str:
    """Say what a pool's machines are like, above its table."""
    facts = [
        number_of(pool.runs, "run"),
        number_of(pool.labels, "label"),
        number_of(pool.workers, "worker"),
    ]
    if pool.state is not PoolState.JUDGED:
        facts.append(f"{pool.state.value}: no machine is named")
    if pool.variation_ratio is not None:
        facts.append(f"usual machines vary by {percent(pool.variation_ratio)}")
    failing = [machine.machine for machine in pool.machines if machine.fails_more]
    if failing:
        names = listed([name(machine, _MACHINE_CELLS) for machine in failing], _FAILING)
        facts.append(f"more runs fail on {names}")
    return f"{'; '.join(facts)}."


def picture(report: MachineReport) -> list[blocks.Picture]:
    """Draw each pool's machines, and the slow ones with their intervals."""
    rows = []
    for pool in report.pools[:_DRAWN]:
        judged = [machine for machine in pool.machines if machine.ratio is not None]
        if pool.state is not PoolState.JUDGED or not judged:
            continue
        unusual = [machine for machine in judged if machine.state is not MachineState.USUAL]
        dots = [_dot(machine) for machine in unusual[:_DOTS]]
        rest = [machine for machine in judged if machine not in unusual[:_DOTS]]
        rows.append(
            StripRow(
                name=name(pool.pool, _POOL_CELLS),
                verdict=blocks.BASELINE,
                chip="usual machines are 1",
                noun="machine",
                dots=dots,
                points=[machine.ratio or 1.0 for machine in rest],
            )
        )
        rows += [
            StripRow(
                name=name(machine.machine, _MACHINE_CELLS),
                detail="" if machine.since is None else f"since {machine.since}",
                verdict=Verdict.SLOWER,
                chip="slow",
                noun="",
                ratio=machine.ratio,
                interval=machine.interval,
            )
            for machine in pool.in_state(MachineState.SLOW)[:_DRAWN]
        ]
    caption = "Each machine's time divided by that of a usual machine of its pool"
    return blocks.Picture.strip(caption, rows, report.margin_ratio)


def _dot(machine: MachineFigures) -> Dot:
    return Dot(machine.ratio or 1.0, f"{name(machine.machine, _MACHINE_CELLS)}: {machine.state}")

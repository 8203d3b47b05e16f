# SPDX-License-Identifier: MPL-2.0
"""The answer: a sentence for each pool, with where the difference lies, its cause and what to try.

On a screen a pool has one sentence, in the full report one per workload.
"""

import re
from collections.abc import Iterable, Iterator, Sequence

from io_benchmark.analysis.diagnosis_model import OWN_REASON, Diagnosis, State
from io_benchmark.analysis.model import DIFFERENT, Comparison, Subject, Verdict
from io_benchmark.analysis.observed.machines import grouped
from io_benchmark.analysis.report_model import Report
from io_benchmark.number_text import listed, number_of, ratio, ratio_range
from io_benchmark.report.blocks import NO_VERDICT, STRONG, WARNING, Item, Items, Marks, Words
from io_benchmark.report.content import (
    ends_text,
    on_measurement,
    pace_rate,
    place_of,
    text_of,
    unit_text,
    verdict_text,
)
from io_benchmark.report.sections.causes import explanation
from io_benchmark.report.sections.measured import Measurement, Side, leading_of, pools_of
from io_benchmark.report.sections.parts import where
from io_benchmark.results.workloads.cache_retrieve import TrialKind

# Of more candidates than this only the most different ones have a sentence each on a screen.
_POOLS_EACH, _MOST_DIFFERENT = 4, 2
_POOLS_NAMED, _MEASUREMENTS_NAMED = 6, 12
# A screen leaves out which look it is before where a difference lies.
_NOTE, _WHERE = 5, 9
_TASK_ID = re.compile("[A-Za-z0-9_-]{22}")
_TO_CONFIRM = (State.SUPPORTED, State.NOT_SEPARABLE)


def screen_answer(measurements: Sequence[Measurement], report: Report) -> list[Item]:
    """Write one sentence per pool, those that are slower or faster first."""
    pools = sorted(pools_of(measurements), key=lambda pool: not leading_of(pool).differs)
    named = pools
    if len(pools) > _POOLS_EACH:
        different = [pool for pool in pools if leading_of(pool).differs]
        different.sort(key=lambda pool: leading_of(pool).rank, reverse=True)
        named = different[:_MOST_DIFFERENT]
    items = [_pool(pool, report, is_full=False) for pool in named]
    return [*items, *_summed_up([pool for pool in pools if pool not in named])]


def full_answer(measurements: Sequence[Measurement], report: Report) -> Iterator[Items]:
    """Write one list per workload: a sentence for each pool that differs, the others share some."""
    by_workload = grouped(measurements, lambda measurement: measurement.subject.workload)
    compared = {
        workload: pools_of(same) for workload, same in by_workload.items() if pools_of(same)
    }
    for workload, pools in compared.items():
        named = [
            pool
            for pool in pools
            if len(pools) <= _POOLS_EACH or leading_of(pool).verdict in (*DIFFERENT, NO_VERDICT)
        ]
        items = [_pool(pool, report, is_full=True) for pool in named]
        items += _summed_up([pool for pool in pools if pool not in named])
        title = f"{workload} {unit_text(workload)}" if len(compared) > 1 else ""
        yield Items(items, title, shown=0)


def looks(measurements: Sequence[Measurement]) -> Iterator[Item]:
    """Write which looks at the data these are; a verdict of an earlier one says so itself."""
    compared = [leading_of(pool).comparison for pool in pools_of(measurements)]
    names = dict.fromkeys(
        text_of(pair.look) for pair in compared if pair and pair.look and pair.of_all is None
    )
    if names:
        sentence = f"{', and '.join(names)}; the intervals are wider for it"
        yield Item(Words(sentence, WARNING), mark="!", rank=_NOTE)


def _pool(pool: Sequence[Side], report: Report, *, is_full: bool) -> Item:
    """Write a pool's sentence: about what leads, then about its other measurements."""
    leading = leading_of(pool)
    lead, rest = _verdict(leading, report)
    same = [side for side in pool if side.verdict == leading.verdict]
    if leading.differs or len(same) == 1:
        phrase = on_measurement(leading.subject, [part.subject for part in report.subjects])
        sentences = [f"{phrase} {rest}"]
        same = [leading]
    elif leading.comparison is None:
        sentences = [f" {rest.removesuffix('.')} ({len(same):,} measurements)."]
    else:
        sentences = [f" on {_measurements(same)}."]
    by_verdict = grouped([side for side in pool if side not in same], lambda side: side.verdict)
    for verdict in DIFFERENT:
        if also := by_verdict.pop(verdict, None):
            # On a screen: 'random-io 1.98× to 2.00×, spawn 1.10×'
            workloads = grouped(also, lambda side: side.subject.workload).items()
            ratios = ", ".join(f"{workload} {_ratios(same)}" for workload, same in workloads)
            further = _by_measurement(also, pool) if is_full else ratios
            sentences.append(f"Also {verdict}: {further}.")
    sentences += (
        f"{verdict.capitalize()}: {_measurements(alike)}." for verdict, alike in by_verdict.items()
    )
    marks = {mark for side in pool for mark in side.answer_marks} if is_full else ()
    line = (Words(lead, leading.verdict), " ".join(sentences), Marks(tuple(sorted(marks))))
    return Item(line, [*_reasons(leading, report)], leading.verdict)


def _verdict(side: Side, report: Report) -> tuple[str, str]:
    """Return the lead of a sentence and its rest: ratio and interval, or why there is no verdict."""
    comparison = side.comparison
    if comparison is None:
        lead = f"{side.name} compared with {side.baseline}: {NO_VERDICT},"
        part = next(part for part in report.subjects if part.subject == side.subject)
        if side.refused_by:
            return lead, f"refused by {', '.join(side.refused_by)}."
        if side.baseline not in part.figures:
            return lead, f"because {side.baseline} has no samples of this."
        return lead, "because they were not compared."
    lead, rest = verdict_text(comparison, report.margin_ratio)
    if side.median_ratio is not None:
        median = ratio(side.median_ratio)
        rest += f", {median} by the median, which varies less where nothing waits for a disk"
    of_all = comparison.of_all
    if of_all is not None:
        rest += ", decided at an earlier look"
        if of_all.verdict is not comparison.verdict:
            workers = f"{ratio(of_all.ratio)} ({ends_text(of_all.interval)})"
            rest += f", which stands; all workers: {workers}"
    return lead, f"{rest}."


def _reasons(side: Side, report: Report) -> Iterator[Item]:
    """Write where a difference lies, its cause and what to try."""
    comparison, diagnosis = side.comparison, side.diagnosis
    if not side.differs or comparison is None:
        return
    if side.division is not None:
        difference, parts = where(side.division, side.subject)
        yield Item((Words(f"Where ({difference}):", STRONG), f" {parts}."), rank=_WHERE)
    if diagnosis is not None:
        to_change: str | None = ""
        if comparison.verdict is Verdict.FASTER:
            # A pool that is faster than before has been changed already.
            to_change = side.baseline if side.baseline == report.baseline else None
        yield from explanation(diagnosis, _how_to_confirm(report, diagnosis, comparison), to_change)


def _how_to_confirm(report: Report, diagnosis: Diagnosis, comparison: Comparison) -> str:
    """Write how to confirm a cause of a difference, without a full stop; nothing if no run would."""
    sides = {comparison.candidate, comparison.baseline}
    paces = [pace for pace in report.confirming.paces if {pace.pool, pace.against} == sides]
    states = [cause.state for cause in diagnosis.causes if cause.tried_by is TrialKind.PACE]
    untried = [trial for trial in diagnosis.trials if trial.meaning.template == OWN_REASON]
    if untried and not paces:
        kinds = ", ".join(trial.kind.value for trial in untried)
        reason = text_of(untried[0].meaning).removesuffix(".")
        return f"measure again with `trials: always` in the kind; not tried: {kinds} ({reason})"
    if not paces or set(states).isdisjoint(_TO_CONFIRM):
        return ""
    pace = paces[0]
    # Before and after a change, a side is not a pool of one group.
    runs = [run for run in report.workers if run.side == run.pool == pace.pool]
    # The name of a task is from a result: only what is an id becomes a part of a command.
    ids = [run.task_id for run in runs if _TASK_ID.fullmatch(run.task_id)]
    # No queue started a run of this worker group.
    if runs and all(run.worker_id.startswith("rehearsal/") for run in runs):
        command = "add --confirm to this rehearse"
    elif ids:
        command = f'submit --confirm task:{ids[0]}, or the action "Confirm the cause"'
    else:
        return ""
    return f"run {pace.pool} once more with copies at {pace_rate(pace)} ({command})"


def _summed_up(pools: Sequence[Sequence[Side]]) -> Iterator[Item]:
    """Write a line per verdict about pools that share it."""
    for verdict, same in grouped(map(leading_of, pools), lambda side: side.verdict).items():
        names = listed([side.name for side in same], _POOLS_NAMED)
        sentence = ", ".join(filter(None, (names, _ratios(same))))
        yield Item((Words(f"{verdict.capitalize()}:", verdict), f" {sentence}."), kind=verdict)


def _ratios(sides: Sequence[Side]) -> str:
    return ratio_range([side.comparison.ratio for side in sides if side.comparison is not None])


def _measurements(sides: Sequence[Side]) -> str:
    return ", ".join(filter(None, (number_of(len(sides), "measurement"), _ratios(sides))))


def _by_measurement(sides: Sequence[Side], pool: Sequence[Side]) -> str:
    """Return 'stat, 4 at once 1.25×; stat, 2 at once 1.10×', the most different one first."""
    subjects = [side.subject for side in pool]
    ordered = sorted(sides, key=lambda side: side.difference, reverse=True)
    ratios = [f"{_difference_of(side.subject, subjects)} {_ratios([side])}" for side in ordered]
    rest = f"; {{:,}} more measurements, {_ratios(ordered[_MEASUREMENTS_NAMED:])}"
    return listed(ratios, _MEASUREMENTS_NAMED, rest, "; ")


def _difference_of(subject: Subject, subjects: Iterable[Subject]) -> str:
    """Return 'stat, 2 at once in container': what differs among the measurements of a workload."""
    keys = {
        (place_of(sibling), sibling.fidelity, sibling.label)
        for sibling in subjects
        if sibling.workload == subject.workload
    }
    places, fidelities, labels = (len(set(values)) > 1 for values in zip(*keys, strict=True))
    words = [subject.label] if labels or fidelities or not places else []
    words += [f"fidelity {subject.fidelity}"] if fidelities and subject.fidelity else []
    return " ".join(filter(None, (", ".join(words), f"in {subject.place}" if places else "")))

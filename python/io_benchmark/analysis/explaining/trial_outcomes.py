# SPDX-License-Identifier: MPL-2.0
"""What each trial shows about a pair of sides: confirmed, refuted or undecided.

The trials `lookup` and `unlink` change both sides, and show whether the gap between them goes or
stays. In the trial `pace` the faster side writes no faster than the slower side's disks can. It
shows whether the faster side becomes as slow. The trial `memory` shows only whether storage is
involved.
"""

import math
from collections.abc import Sequence
from statistics import fmean

from msgspec.structs import replace

from io_benchmark.analysis.explaining.confirm import (
    LEAST_GAP_RATIO,
    LEAST_REPETITIONS,
    Gap,
    TriedSide,
    common_files,
    pace_between,
)
from io_benchmark.analysis.explaining.parts import divide
from io_benchmark.analysis.model.cause import OWN_REASON, TrialOutcome, TrialState
from io_benchmark.analysis.model.run import Worker
from io_benchmark.analysis.model.side import Side
from io_benchmark.analysis.model.statements import Quantity, Statement, Unit, share, statement
from io_benchmark.analysis.model.subject import Subject
from io_benchmark.analysis.model.time_parts import Kind, Part, Phase
from io_benchmark.analysis.statistics.levels import DEFAULT_WORKER_VARIATION
from io_benchmark.analysis.statistics.variances import MeanVariance
from io_benchmark.results.workloads.cache_retrieve import TrialKind, Trials

# A trial confirms a cause if this share of the gap or more goes, and refutes it if that or less.
_CONFIRMS_SHARE, _REFUTES_SHARE = 0.8, 0.2
# A pace refutes a cause that explains this share of the gap or less, and confirms from that on.
_PACE_REFUTES_SHARE, _PACE_CONFIRMS_SHARE = 0.25, 0.5
_AS_SLOW_RATIO = 1.1  # a side that is limited to the other's ceiling takes as long as that side
_MOST_SCATTER_SHARE = 0.25  # chosen: an outcome that is known less well is undecided
_COPY_BLOCKED = Part(Phase.COPY, Kind.BLOCKED)

_CONFIRMED = {
    TrialKind.LOOKUP: "The gap goes: the lookups make the difference.",
    TrialKind.UNLINK: "The gap goes: what a rewritten file flushes makes the difference.",
    TrialKind.MEMORY: "The gap goes: storage is involved.",
}
_REFUTED = {
    TrialKind.LOOKUP: "The gap stays: the lookups do not make the difference.",
    TrialKind.UNLINK: "The gap stays: removing the destination first does not take it away.",
    TrialKind.MEMORY: "The gap stays: storage is not involved.",
}


def outcomes(
    subject: Subject,
    slower: Sequence[Worker],
    faster: Sequence[Worker],
    assumed_variation: float | None = None,
) -> tuple[TrialOutcome, ...]:
    """Return what every kind of trial shows; nothing where no trials were recorded.

    `assumed_variation` is how far usual workers are taken to differ; None where it was estimated.
    """
    sides = TriedSide.of(slower, subject), TriedSide.of(faster, subject)
    if not any(side.machines for side in sides):
        return ()
    paced = _pace(*sides, _variance_of_workers(subject, (slower, faster), assumed_variation))
    if paced.state is TrialState.CONFIRMED:
        paced = _held_to_blocked(paced, _blocked_share(subject, slower, faster))
    both = [_both_changed(kind, *sides) for kind in _CONFIRMED]
    return _without_contradictions((paced, *both, *_excluded(*sides)))


def _variance_of_workers(
    subject: Subject, sides: Sequence[Sequence[Worker]], assumed: float | None
) -> MeanVariance:
    """Return how far workers of a pool differ, by the samples that the verdict counts."""
    measured = (
        Side.of_workers((worker for worker in side if not worker.confirms), subject).measured
        for side in sides
    )
    seen = MeanVariance.pooled([side.log_means for side in measured])
    if assumed is None and seen is not None:
        return seen
    least = MeanVariance.of_single((), assumed or DEFAULT_WORKER_VARIATION)
    return least if seen is None else replace(least, variance=max(least.variance, seen.variance))


def _blocked_share(
    subject: Subject, slower: Sequence[Worker], faster: Sequence[Worker]
) -> float | None:
    """Return the share of the difference in which copies are blocked, where it is known."""
    slower_side, faster_side = (
        Side.of_workers(side, subject).measured for side in (slower, faster)
    )
    if not slower_side.workers or not faster_side.workers:
        return None
    division = divide(slower_side, faster_side)
    if division.difference_ns <= 0 or _COPY_BLOCKED not in [part.part for part in division.parts]:
        return None
    return division.of(_COPY_BLOCKED) / division.difference_ns


def _held_to_blocked(paced: TrialOutcome, blocked_share: float | None) -> TrialOutcome:
    """Return a confirmed pace as undecided where copies waited for something else than their disks.

    Where the CPUs are contended, less is written while the ceiling is measured as well.
    """
    if blocked_share is None or blocked_share >= _PACE_CONFIRMS_SHARE:
        return paced
    meaning = statement(
        "As slow at that pace, but blocked copies make up only {share} of the difference: what "
        "slows the copies slows the measurement of what the disks can write as well.",
        share=share(max(0.0, blocked_share)),
    )
    return replace(paced, state=TrialState.UNDECIDED, meaning=meaning)


def _both_changed(kind: TrialKind, slower: TriedSide, faster: TriedSide) -> TrialOutcome:
    """Judge a trial that both sides ran."""
    sides = [side.having(kind, TrialKind.NORMAL) for side in (slower, faster)]
    missing = [side.name for side in sides if not side.runs]
    if missing:
        return _not_run(kind, _why_missing(kind, missing, slower.runs + faster.runs))
    gaps = _gaps(kind, sides, [(side, kind) for side in sides])
    if isinstance(gaps, TrialOutcome):
        return gaps
    gone = gaps[0].gone_after(gaps[1])
    state, meaning = TrialState.UNDECIDED, "A part of the gap goes, and a part stays."
    if gone >= _CONFIRMS_SHARE:
        state, meaning = TrialState.CONFIRMED, _CONFIRMED[kind]
    elif gone <= _REFUTES_SHARE:
        state, meaning = TrialState.REFUTED, _REFUTED[kind]
    outcome = _judged(kind, state, statement(meaning), *gaps)
    if kind is TrialKind.MEMORY:
        return replace(outcome, share=None, low_share=None, high_share=None)
    return outcome


def _excluded(slower: TriedSide, faster: TriedSide) -> list[TrialOutcome]:
    """Judge the slower side's copies to a folder that Defender excludes, where it made any."""
    kind = TrialKind.EXCLUDED
    sides = slower.having(kind, TrialKind.NORMAL), faster.having(TrialKind.NORMAL)
    if not sides[0].runs:
        return []
    gaps = _gaps(kind, sides, ((sides[0], kind), (sides[1], TrialKind.NORMAL)))
    if isinstance(gaps, TrialOutcome):
        return [gaps]
    outcome = _judged(kind, TrialState.UNDECIDED, statement("A part of the gap may go."), *gaps)
    # Nothing else changes: what surely goes is Defender's.
    state, meaning = TrialState.CONFIRMED, "The gap goes as far as Defender scans the copies."
    if (outcome.high_share or 0.0) <= _REFUTES_SHARE:
        state, meaning = TrialState.REFUTED, "The gap stays: Defender's scans do not make it."
    elif (outcome.low_share or 0.0) < _REFUTES_SHARE:
        return [outcome]
    return [replace(outcome, state=state, meaning=statement(meaning))]


def _gaps(
    kind: TrialKind,
    sides: Sequence[TriedSide],
    changed_sides: Sequence[tuple[TriedSide, TrialKind]],
) -> tuple[Gap, Gap] | TrialOutcome:
    """Return the gap in normal blocks, and in those of a trial; or why they cannot be judged."""
    files = common_files([*sides, *(side for side, _ in changed_sides)])
    if not files or not all(side.runs for side in sides):
        return _not_run(kind, statement("The sides did not copy the same files."))
    normal = Gap(*(side.times(TrialKind.NORMAL, files) for side in sides))
    changed = Gap(*(side.times(block, files) for side, block in changed_sides))
    if min(normal.repetitions, changed.repetitions) < LEAST_REPETITIONS:
        reason = statement("There are fewer than 3 repetitions.")
        return TrialOutcome(kind, TrialState.UNDECIDED, reason)
    if normal.times_as_long >= LEAST_GAP_RATIO:
        return normal, changed
    reason = statement(
        "While the trials ran, the slower side took {ratio} the faster side's time: too little to "
        "find the cause of.",
        ratio=Quantity(normal.times_as_long, Unit.RATIO),
    )
    return _not_run(kind, reason)


def _pace(slower: TriedSide, faster: TriedSide, worker_variance: MeanVariance) -> TrialOutcome:
    """Judge the faster side, limited to what the slower side's disks can write."""
    kind = TrialKind.PACE
    planned = pace_between(slower, faster)
    if isinstance(planned, Statement):
        return _by_ceilings(slower, faster) or _not_run(kind, planned)
    low = planned.bytes_per_s
    values: dict[str, Quantity | str] = {
        "low": _rate(low),
        "slower": slower.name,
        "faster": faster.name,
    }
    paced = faster.paced_at(low).having(kind)
    if not paced.runs:
        template = (
            "The disks of {slower} can write {low}, and {faster} was not limited to that yet; "
            "--confirm does it."
        )
        return _not_run(kind, statement(template, **values))
    slower, faster = (side.having(TrialKind.NORMAL) for side in (slower, faster))
    gaps = _gaps(kind, (slower, faster), ((slower, TrialKind.NORMAL), (paced, kind)))
    if isinstance(gaps, TrialOutcome):
        return gaps
    normal, changed = gaps
    pace = fmean(run.pace_bytes_per_s or low for run in paced.runs)
    held_ratio = 1 / changed.times_as_long
    values |= {"pace": _rate(pace), "ratio": Quantity(held_ratio, Unit.RATIO)}
    # Pools with nearly equal disks share a pace; the time is inversely proportional to the pace.
    state, meaning = _judge_pace(normal.gone_after(changed), held_ratio * pace / low)
    return _judged(kind, state, statement(meaning, **values), normal, changed, worker_variance)


def _by_ceilings(slower: TriedSide, faster: TriedSide) -> TrialOutcome | None:
    """Refute write bandwidth where the disks of both sides can write nearly as much."""
    low, high = slower.ceiling_bytes_per_s, faster.ceiling_bytes_per_s
    sides = [side.having(TrialKind.NORMAL) for side in (slower, faster)]
    gaps = _gaps(TrialKind.PACE, sides, [(side, TrialKind.NORMAL) for side in sides])
    if low is None or high is None or isinstance(gaps, TrialOutcome):
        return None
    explained = max(0.0, math.log(high / low)) / math.log(gaps[0].times_as_long)
    if explained > _PACE_REFUTES_SHARE:
        return None
    meaning = statement(
        "The disks of {slower} can write {low}, those of {faster} {high}: write bandwidth does not "
        "make the difference.",
        slower=slower.name,
        low=_rate(low),
        faster=faster.name,
        high=_rate(high),
    )
    return TrialOutcome(TrialKind.PACE, TrialState.REFUTED, meaning, explained)


def _judge_pace(gone: float, at_ceiling: float) -> tuple[TrialState, str]:
    """Judge what goes; `at_ceiling` is the time that the faster side takes at the ceiling."""
    held = "Limited to {pace}, {faster} takes {ratio} the time of {slower}"
    if gone >= _PACE_CONFIRMS_SHARE and 1 / _AS_SLOW_RATIO <= at_ceiling <= _AS_SLOW_RATIO:
        return TrialState.CONFIRMED, f"{held}: write bandwidth makes the difference."
    if gone <= _PACE_REFUTES_SHARE:
        return TrialState.REFUTED, f"{held}: write bandwidth does not make the difference."
    return TrialState.UNDECIDED, f"{held}."


def _judged(
    kind: TrialKind,
    state: TrialState,
    meaning: Statement,
    normal: Gap,
    changed: Gap,
    worker_variance: MeanVariance | None = None,
) -> TrialOutcome:
    """Return the outcome with its interval; undecided where it is wide."""
    gone, half_width = normal.gone_after(changed), normal.half_width(changed, worker_variance)
    if half_width > _MOST_SCATTER_SHARE:
        state = TrialState.UNDECIDED
        meaning = statement(
            "The repetitions or workers differ by ±{scatter}, too much to tell.",
            scatter=share(half_width),
        )
    return TrialOutcome(
        kind,
        state,
        meaning,
        share=gone,
        low_share=gone - half_width,
        high_share=gone + half_width,
        repetitions=min(normal.repetitions, changed.repetitions),
        gain_ratio=Gap(normal.slower, changed.slower).times_as_long,
    )


def _without_contradictions(judged: Sequence[TrialOutcome]) -> tuple[TrialOutcome, ...]:
    """Return trials that contradict each other as undecided, each with the other's name."""
    states = {outcome.kind: outcome.state for outcome in judged}
    by_storage = [
        kind for kind in (TrialKind.PACE, TrialKind.UNLINK) if states[kind] is TrialState.CONFIRMED
    ]
    without_storage = []
    if states[TrialKind.LOOKUP] is TrialState.CONFIRMED:
        without_storage.append(TrialKind.LOOKUP)
    if states[TrialKind.MEMORY] is TrialState.REFUTED:
        without_storage.append(TrialKind.MEMORY)
    against: dict[TrialKind, TrialKind] = {}
    if by_storage and without_storage:
        # The last of several is named.
        against |= dict.fromkeys(by_storage, without_storage[-1])
        against |= dict.fromkeys(without_storage, by_storage[-1])
    return tuple(_contradicted(outcome, against.get(outcome.kind)) for outcome in judged)


def _contradicted(outcome: TrialOutcome, other: TrialKind | None) -> TrialOutcome:
    if other is None:
        return outcome
    meaning = statement("{other} contradicts this.", other=other.value)
    return replace(outcome, state=TrialState.UNDECIDED, meaning=meaning)


def _why_missing(kind: TrialKind, missing: Sequence[str], recorded: Sequence[Trials]) -> Statement:
    reasons = [(run.reason, run.state) for run in recorded if run.reason]
    if reasons:
        reason, state = reasons[0]
        # Trials that are complete in spite of it would not have this one another time.
        template = OWN_REASON if state != "completed" else "It is not possible there: {reason}."
        return statement(template, reason=reason.removesuffix("."))
    return statement("{sides} did not run {kind}.", sides=" and ".join(missing), kind=kind.value)


def _not_run(kind: TrialKind, reason: Statement) -> TrialOutcome:
    return TrialOutcome(kind, TrialState.NOT_RUN, reason)


def _rate(bytes_per_s: float) -> Quantity:
    return Quantity(bytes_per_s, Unit.BYTES_PER_SECOND)

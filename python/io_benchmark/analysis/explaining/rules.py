# SPDX-License-Identifier: MPL-2.0
"""How a cause is declared, by a function or by a ranked fact, and how it is judged per worker.

A rule compares the averages of both sides, in which one worker of five counts a fifth. Where its fact is not
on all workers, their times must follow it: each worker of the slower side is judged by itself against the
faster side, and each of the faster side against its others. A cause whose fact is missing on slow workers,
or present on fast ones, does not explain why the side is slow. Slow is meant in the parts of the time that
the cause acts through: half of the way from the faster side to the workers that have the fact, and more than
equal workers differ.
"""

import math
from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from statistics import fmean, median
from typing import Any, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from io_benchmark.analysis.explaining.case import Case
from io_benchmark.analysis.explaining.effects import (
    Effect,
    Fact,
    Observe,
    Proof,
    SideEvidence,
    tally,
)
from io_benchmark.analysis.explaining.measured_gains import FindGain
from io_benchmark.analysis.model.cause import Change, NoChange, State
from io_benchmark.analysis.model.run import Run
from io_benchmark.analysis.model.side import Runs, Side
from io_benchmark.analysis.model.statements import Statement, count, statement
from io_benchmark.analysis.model.time_parts import Kind, Part, in_copies
from io_benchmark.analysis.statistics.levels import DEFAULT_WORKER_VARIATION
from io_benchmark.results.workloads.cache_retrieve import TrialKind

# Equal workers seldom differ by more than this many times their usual variation.
_CLEARLY = 2.0
# A normal distribution's standard deviation over its median absolute deviation.
_DEVIATION_OVER_MEDIAN = 1.4826
# A worker has a fact of some size if it has at least this share of its side's, and lacks it with the rest.
_MOST_OF_IT_SHARE = 0.75
_IsSlow = Callable[[Sequence[Runs]], int]  # 1: these workers are clearly slow, -1: fast, 0: neither
Judge = Callable[[Case], Effect]
Refine = Callable[[Case, Effect], Effect]


class RemedyRule(Struct, frozen=True):
    """A remedy of a cause, and how much it gains."""

    action: str
    find_gain: FindGain
    # Causes that make it useless, where one of them is supported as well.
    useless_next_to: tuple[str, ...] = ()


class CauseRule(Struct, frozen=True):
    """A cause: its hypothesis, how it is judged, and its remedies."""

    name: str
    hypothesis: str
    judge: Judge
    change: Change | NoChange  # what an investigation proposes because of it
    workloads: frozenset[str] = frozenset(("cache-retrieve",))  # whose difference it may explain
    remedies: tuple[RemedyRule, ...] = ()
    # Other causes act through it: it does not compete with them for the gain of a remedy.
    is_mechanism: bool = False
    # The parts of the time through which it acts; empty: not known, so nothing limits it.
    acts_through: frozenset[Part] = in_copies(Kind.BLOCKED)
    proof: Proof = Proof.COST
    tried_by: TrialKind | None = None  # the trial that confirms or refutes it

    def judge_workers(self, effect: Effect, case: Case) -> tuple[State, Statement] | None:
        """Return what single workers show about the fact that makes their side slower, if anything.

        Their times contradict it, or they follow it and not all workers have it.
        """
        workers, faster_side = case.slower.measured.workers, case.faster.measured
        has_fact = [self._has_fact(case, effect, runs, case.faster) for runs in workers]
        slower = _Workers.of(workers, has_fact)
        if not slower.present or not faster_side.workers:
            return None
        # Each worker of the faster side is judged against its others.
        has_fact = [
            self._has_fact(case, effect, runs, faster_side.without(number))
            for number, runs in enumerate(faster_side.workers)
            if len(faster_side.workers) > 1
        ]
        # Where no worker is worse than all others, the rule reads no fact of single workers.
        faster = _Workers([], []) if all(has_fact) else _Workers.of(faster_side.workers, has_fact)
        contradiction = _contradiction(slower, faster, self._speed(case, slower.present))
        if contradiction is not None:
            return State.RULED_OUT, contradiction
        if not slower.missing:
            return None
        template = "On {number} of {workers} workers of the slower side; the others are faster."
        return State.SUPPORTED, slower.counted(template, len(slower.present))

    def _has_fact(self, case: Case, of_side: Effect, runs: Runs, faster: Side) -> bool | None:
        """Judge one worker as if it were its side; the difference to explain stays that of the sides.

        A rule may read several facts. None: not known, or another fact than that of its side supports it,
        or a part of the side's size does.
        """
        slower = Side.of(runs)
        candidate, baseline = (slower, faster) if case.candidate_is_slower else (faster, slower)
        effect = self.judge(replace(case, candidate=candidate, baseline=baseline, both_sides=case))
        if effect.fact in (Fact.UNSEEN, Fact.UNCLEAR):
            return None
        if not effect.is_slower:
            return False
        if effect.size is not None and of_side.size is not None and of_side.size.times != 1:
            size = math.log(effect.size.times) / math.log(of_side.size.times)
            if size < _MOST_OF_IT_SHARE:
                return False if size <= 1 - _MOST_OF_IT_SHARE else None
        return True if effect.reasons[0].template == of_side.reasons[0].template else None

    def _speed(self, case: Case, present: Sequence[Runs]) -> _IsSlow:
        """Return what tells slow workers from fast ones.

        The scale is what the cause's parts of the time take on the faster side and on workers with its fact.
        """

        def times_ns(workers: Sequence[Runs]) -> list[float]:
            return [case.time_in_parts(self.acts_through, runs) for runs in workers]

        fast_ns, slow_ns = times_ns(case.faster.measured.workers), times_ns(present)
        whole_ns = fmean(run.mean_ns for run in (*case.slower, *case.faster) if run.is_measured)
        # The deviation within sides, which single workers that differ hardly change.
        deviations = [abs(time - median(side)) for side in (fast_ns, slow_ns) for time in side]
        variation_ns = max(
            DEFAULT_WORKER_VARIATION * whole_ns, _DEVIATION_OVER_MEDIAN * median(deviations)
        )
        middle_ns = (fmean(fast_ns) + fmean(slow_ns)) / 2

        def speed(workers: Sequence[Runs]) -> int:
            above_ns = fmean(times_ns(workers)) - middle_ns
            if abs(above_ns) <= _CLEARLY * variation_ns / math.sqrt(len(workers)):
                return 0
            return 1 if above_ns > 0 else -1

        return speed


def cause(
    name: str, hypothesis: str, *, change: Change | NoChange, **details: Any
) -> Callable[[Judge], CauseRule]:
    return lambda judge: CauseRule(name, hypothesis, judge, change, **details)


class RankedFact(Struct, frozen=True):
    """A fact of one worker; the higher rank is the slower one."""

    value: Statement
    rank: float = 0.0

    def __float__(self) -> float:
        return float(self.rank)  # what facts are averaged by


class Ranking(Struct, frozen=True, kw_only=True):
    """A fact that is compared by its rank, and the sentence for each outcome."""

    name: str  # of the observation
    read: Callable[[Run], RankedFact | None]
    unseen: str
    supports: str = ""
    same: str = "Both sides have the same."
    neither: str = ""  # in place of `same` where nothing has a rank
    # Facts of one rank that differ; without a sentence they cost the same.
    unranked: str = ""
    no_waits: str = ""  # against a fact of disks for which the slower side never waits
    observe: tuple[Observe, ...] = ()  # the evidence, where that is more than the fact

    @property
    def tally(self) -> Observe:
        return tally(self.name, self.read, to_statement=lambda fact: fact and fact.value)

    def judge(self, case: Case) -> Effect:
        """Support a cause where the slower side has the slower fact."""
        evidence = SideEvidence.of(case, *(self.observe or (self.tally,)))
        slower, faster = case.means(self.read)
        if slower is None or faster is None:
            return evidence.unseen(self.unseen)
        if not math.isclose(slower, faster, rel_tol=1e-9, abs_tol=1e-9):
            effect = evidence.compared(slower, faster, self.supports)
            is_idle = effect.is_slower and self.no_waits and case.slower_never_waits
            return evidence.opposes(self.no_waits) if is_idle else effect
        if self._values(case.baseline) == self._values(case.candidate):
            return evidence.same(self.same if slower else self.neither or self.same)
        if self.unranked:
            return evidence.unclear(self.unranked)
        return evidence.opposes("The sides differ in nothing that costs time here.")

    def _values(self, side: Side) -> set[Statement]:
        return {fact.value for fact in side.values(self.read) if fact is not None}


def ranked_cause(
    name: str,
    hypothesis: str,
    ranking: Ranking,
    *,
    change: Change | NoChange,
    refined: AbstractSet[Fact] = frozenset((Fact.SLOWER,)),
    **details: Any,
) -> Callable[[Refine], CauseRule]:
    """Declare the cause of a ranked fact; a function refines the effects in which it is `refined`."""

    def declare(refine: Refine) -> CauseRule:
        def judge(case: Case) -> Effect:
            effect = ranking.judge(case)
            return refine(case, effect) if effect.fact in refined else effect

        return CauseRule(name, hypothesis, judge, change, **details)

    return declare


class _Workers(NamedTuple):
    """The workers of one side, by whether they have the fact of a cause; unknown ones are in neither."""

    present: list[Runs]
    missing: list[Runs]

    @classmethod
    def of(cls, workers: Sequence[Runs], has_fact: Sequence[bool | None]) -> "_Workers":
        judged = list(zip(workers, has_fact, strict=True))
        return cls(*([runs for runs, has in judged if has is fact] for fact in (True, False)))

    def counted(self, template: str, number: int) -> Statement:
        total = len(self.present) + len(self.missing)
        return statement(template, number=count(number), workers=count(total))


def _contradiction(slower: _Workers, faster: _Workers, speed: _IsSlow) -> Statement | None:
    """Return why the times do not follow the fact, and on how many workers of which side."""
    slow_workers = "{number} of {workers} workers of the slower side"
    fast = [runs for runs in slower.present if speed([runs]) < 0]
    if fast:
        template = f"As fast as the faster side in spite of this: {slow_workers}."
        return slower.counted(template, len(fast))
    slow = [runs for runs in slower.missing if speed([runs]) > 0]
    if not slow and slower.missing and speed(slower.missing) > 0:
        slow = slower.missing
    if slow:
        return slower.counted(f"As slow without this: {slow_workers}.", len(slow))
    fast = [runs for runs in faster.present if speed([runs]) < 0]
    if fast:
        template = "Fast in spite of this: {number} of {workers} workers of the faster side."
        return faster.counted(template, len(fast))
    if len(slower.present) == 1 and slower.missing:
        template = f"Only {slow_workers} has this; the others are slower for another reason."
        return slower.counted(template, 1)
    return None

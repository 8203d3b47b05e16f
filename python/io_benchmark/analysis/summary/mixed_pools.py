# SPDX-License-Identifier: MPL-2.0
"""Pools of unlike machines: which of a pool's machines are slower, and by which facts they differ.

A pool's verdict counts all of its workers. Where a fact splits them, the answer is about the parts: how the
slower machines compare with the others, and the others with what the pool is compared with.

Each fact that some machines have and others do not is a possible split. Of all splits the one with the
largest t is tested, at a level that is corrected for the number of splits. An exact test by random orders
of the machines was tried: with eight machines it has too few orders to find two slow ones.
tests/simulation/test_machine_splits.py has the rates, also where times have heavy tails.
"""

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from statistics import fmean

from msgspec import Struct
from msgspec.structs import replace

from io_benchmark.analysis.diagnosis_model import Diagnosis, Remedy
from io_benchmark.analysis.inference.comparisons import compare_sides
from io_benchmark.analysis.inference.estimates import SideData
from io_benchmark.analysis.inference.pairs import Pair
from io_benchmark.analysis.inference.variances import tail
from io_benchmark.analysis.model import UNKNOWN, Advice, Comparison, Run, Subject
from io_benchmark.analysis.observed.host_facts import kind_of_machine
from io_benchmark.analysis.observed.machine_identity import by_machine, by_side
from io_benchmark.analysis.report_model import MixedPool, SubjectReport
from io_benchmark.analysis.statements import Quantity, Statement, Unit, count, joined, statement

# The part of pools of equal machines that are called mixed.
_LEVEL = 0.05
# Nobody changes a pool's definition for less.
_LEAST_RATIO = 1.1
# One machine that differs is named as such by another test.
_FEWEST = 2

Members = frozenset[int]
_Compared = Mapping[Subject, Sequence[Run]]


class MachineSplit(Struct, frozen=True):
    """Machines, by their positions, that are slower than the others of their pool, and all their facts."""

    slower: Members
    faster: Members
    facts: tuple[str, ...]  # the names of the facts that split them so
    ratio: float  # the mean time of the slower ones over that of the others
    p_value: float  # for all splits that were tried together

    @classmethod
    def find(
        cls, log_means: Sequence[float], facts: Sequence[Mapping[str, str]], tests: int = 1
    ) -> "MachineSplit | None":
        """Return the split of the machines that their times show, if there is one; `tests` are made in all."""
        splits = _splits(facts)
        by_t = {split: _t_value(log_means, split) for split in splits}
        split = max(splits, key=lambda each: (by_t[each], -len(each), sorted(each)), default=None)
        if split is None:
            return None
        rest = frozenset(range(len(log_means))) - split
        sides = sorted((split, rest), key=lambda members: _mean(log_means, members))
        ratio = math.exp(_mean(log_means, sides[1]) - _mean(log_means, sides[0]))
        if ratio < _LEAST_RATIO:
            return None
        p_value = 2 * tail(by_t[split], len(log_means) - 2) * len(splits)
        if p_value * tests > _LEVEL:
            return None
        return cls(sides[1], sides[0], splits[split], ratio, p_value)


def _splits(facts: Sequence[Mapping[str, str]]) -> dict[Members, tuple[str, ...]]:
    """Return the machines with each value of each fact, once for each way to divide the pool."""
    names = [name for name in (facts[0] if facts else ()) if all(name in each for each in facts)]
    splits: dict[Members, tuple[str, ...]] = {}
    everyone = frozenset(range(len(facts)))
    for name in names:
        values = [each[name] for each in facts]
        for value in sorted(set(values)):
            having = frozenset(at for at, each in enumerate(values) if each == value)
            split = having if 0 in having else everyone - having
            is_new = name not in splits.get(split, ())
            if min(len(split), len(everyone - split)) >= _FEWEST and is_new:
                splits[split] = (*splits.get(split, ()), name)
    return splits


def _mean(log_means: Sequence[float], members: Members) -> float:
    return fmean(log_means[at] for at in members)


def _t_value(log_means: Sequence[float], split: Collection[int]) -> float:
    """Return the t of Student's test between the machines of a split and the others."""
    count, total = len(log_means), math.fsum(log_means)
    size, part = len(split), math.fsum(log_means[at] for at in split)
    rest = count - size
    squares = math.fsum(value * value for value in log_means)
    within = squares - part * part / size - (total - part) ** 2 / rest
    error = math.sqrt(max(within, 1e-12 * count) / (count - 2) * (1 / size + 1 / rest))
    return abs(part / size - (total - part) / rest) / error


def find_mixed_pools(
    compared: _Compared, pairs: Mapping[Subject, Sequence[Pair]], margin: float
) -> tuple[MixedPool, ...]:
    """Return each side once, by the first measurement of a workload that shows its split best."""
    leading: dict[str, Subject] = {}
    for subject in compared:
        leading.setdefault(subject.workload, subject)
    found: dict[str, MixedPool] = {}
    for subject in leading.values():
        for side, runs in by_side(compared[subject]).items():
            pool = _mixed_pool(subject, side, runs, len(leading))
            known = found.get(side)
            if pool is not None and (known is None or pool.p_value < known.p_value):
                others = _comparisons(pool, runs, pairs.get(subject, ()), margin)
                found[side] = replace(pool, of_the_faster=others)
    return tuple(found.values())


def _mixed_pool(subject: Subject, side: str, runs: Sequence[Run], tests: int) -> MixedPool | None:
    # In the order of their times, so that the order in which results are given does not matter.
    machines = sorted(by_machine(runs), key=lambda same: (SideData.of(same).log_means, _id(same)))
    log_means = [SideData.of(same).log_means[0] for same in machines]
    facts = [kind_of_machine(same) for same in machines]
    split = MachineSplit.find(log_means, facts, tests)
    if split is None:
        return None

    def values(members: Members) -> tuple[str, ...]:
        by_fact = [sorted({facts[at][name] for at in members}) for name in split.facts]
        return tuple(" or ".join(texts) for texts in by_fact)

    of_slower, of_faster = values(split.slower), values(split.faster)
    return MixedPool(
        subject=subject,
        side=side,
        slower=tuple(_id(machines[at]) for at in sorted(split.slower)),
        faster=tuple(_id(machines[at]) for at in sorted(split.faster)),
        facts_of_slower=of_slower,
        facts_of_faster=of_faster,
        ratio=split.ratio,
        p_value=split.p_value,
        remedy=_remedy(side, split, of_slower, of_faster),
    )


def _id(machine: Sequence[Run]) -> str:
    """Return what names a machine: as the results do, else its task."""
    worker = min((run.worker for run in machine), key=lambda worker: worker.task_id)
    return worker.task_id if worker.machine == UNKNOWN else worker.machine


def _comparisons(
    pool: MixedPool, runs: Sequence[Run], pairs: Sequence[Pair], margin: float
) -> tuple[Comparison, ...]:
    """Compare the faster machines with the sides that the whole pool is compared with."""
    rest = SideData.of(
        [run for same in by_machine(runs) if _id(same) in pool.faster for run in same]
    )
    changed = []
    for pair in pairs:
        sides = {}
        if pair.candidate == pool.side:
            sides["candidate_side"] = rest
        elif pair.baseline == pool.side:
            sides["baseline_side"] = rest
        else:
            continue
        changed.append(replace(pair, schedule=None, earlier={}, **sides))
    return compare_sides(pool.subject, changed, margin=margin) if changed else ()


def with_obstacles(
    reports: Sequence[SubjectReport], pools: Sequence[MixedPool]
) -> Iterator[SubjectReport]:
    """Yield the reports without an advice to add workers to a mixed pool."""
    obstacle = statement("its machines are of two kinds")
    obstacles = dict.fromkeys((pool.side for pool in pools), obstacle)
    for report in reports:
        yield replace(
            report,
            comparisons=tuple(_advised(pair, obstacles) for pair in report.comparisons),
        )


def _advised(pair: Comparison, obstacles: Mapping[str, Statement]) -> Comparison:
    obstacle = obstacles.get(pair.candidate, obstacles.get(pair.baseline))
    if obstacle is None or pair.advice is None:
        return pair
    message = statement("more workers are not expected to settle it: {obstacle}", obstacle=obstacle)
    advice = Advice(pair.advice.leaning, None, pair.advice.variation_ratio, message, obstacle)
    return replace(pair, advice=advice)


def with_pool_remedies(
    diagnoses: Sequence[Diagnosis], pools: Sequence[MixedPool]
) -> Iterator[Diagnosis]:
    """Yield the diagnoses; where a mixed pool is what to change, its definition is."""
    remedies = {pool.side: (pool.remedy,) for pool in pools}
    for diagnosis in diagnoses:
        is_changed = bool(diagnosis.remedies) and diagnosis.candidate in remedies
        yield replace(
            diagnosis,
            remedies=remedies[diagnosis.candidate] if is_changed else diagnosis.remedies,
        )


def _remedy(
    side: str, split: MachineSplit, of_slower: Sequence[str], of_faster: Sequence[str]
) -> Remedy:
    slower, total = len(split.slower), len(split.slower) + len(split.faster)
    action = statement(
        "give all workers of {pool} {facts}, by the pool's definition",
        pool=side,
        facts=joined(of_faster, " and "),
    )
    evidence = statement(
        "The {slower} of {total} workers that have {facts} take {ratio} as long as the others.",
        slower=count(slower),
        total=count(total),
        facts=joined(of_slower, " and "),
        ratio=Quantity(split.ratio, Unit.RATIO),
    )
    gain = math.exp(slower / total * math.log(split.ratio))
    return Remedy("mixed-pool", action, gain, True, (evidence,))

# SPDX-License-Identifier: MPL-2.0
"""Pools whose machines are of two kinds.

Two bad machines in one pool hide each other from the test of a single one. Each fact that some
machines have and others do not is a possible split. Of all splits the one with the largest t is
tested, at a level that is corrected for the number of splits. An exact test by random orders of the
machines was tried: with eight machines it has too few orders to find two slow ones.
tests/simulation/test_unlike_machines.py has the rates.
"""

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import chain
from operator import attrgetter, itemgetter
from statistics import fmean

from msgspec import Struct
from msgspec.structs import replace

from io_benchmark.analysis.comparing.comparisons import compare_sides
from io_benchmark.analysis.model.cause import Change, Diagnosis, Remedy, Resource, Target
from io_benchmark.analysis.model.comparison import Comparison
from io_benchmark.analysis.model.groups import grouped
from io_benchmark.analysis.model.measurement import ComparedSides, Measurement
from io_benchmark.analysis.model.report import MixedPool
from io_benchmark.analysis.model.run import UNKNOWN, Run
from io_benchmark.analysis.model.side import Side
from io_benchmark.analysis.model.statements import count, joined, ratio_of, statement
from io_benchmark.analysis.reading.machines import kind_of_machine
from io_benchmark.analysis.statistics.variances import tail

_FALSE_SPLITS = 0.05  # the part of pools of equal machines that are called mixed
_LEAST_SPLIT_RATIO = 1.1  # nobody changes a pool's definition for less
_FEWEST_OF_A_KIND = 2  # one machine that differs is named as such by another test
# The cause that the machines of a pool are of two kinds, and what takes it away.
MIXED_POOL = "mixed-pool"
CHANGE_OF_A_MIXED_POOL = Change(Resource.DISKS, Target.POOL)
Members = frozenset[int]


class _MachineSplit(Struct, frozen=True):
    """Machines, by position, that are slower than the others of their pool, and all their facts."""

    slower: Members
    faster: Members
    facts: tuple[str, ...]  # the names of the facts that split them so
    ratio: float  # the mean time of the slower ones over that of the others
    p_value: float  # for all splits that were tried together

    @classmethod
    def find(
        cls, log_means: Sequence[float], facts: Sequence[Mapping[str, str]], tests: int = 1
    ) -> "_MachineSplit | None":
        """Return the split of the machines that their times show, if any, of so many tests."""
        splits = _splits(facts)
        by_t = {split: _t_value(log_means, split) for split in splits}
        split = max(splits, key=lambda each: (by_t[each], -len(each), sorted(each)), default=None)
        if split is None:
            return None
        rest = frozenset(range(len(log_means))) - split
        sides = sorted((split, rest), key=lambda members: _mean(log_means, members))
        ratio = math.exp(_mean(log_means, sides[1]) - _mean(log_means, sides[0]))
        p_value = 2 * tail(by_t[split], len(log_means) - 2) * len(splits)
        if ratio < _LEAST_SPLIT_RATIO or p_value * tests > _FALSE_SPLITS:
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
            having = frozenset(position for position, found in enumerate(values) if found == value)
            # A split and its complement are the same: the part with the first machine names it.
            split = having if 0 in having else everyone - having
            is_new = name not in splits.get(split, ())
            if min(len(split), len(everyone - split)) >= _FEWEST_OF_A_KIND and is_new:
                splits[split] = (*splits.get(split, ()), name)
    return splits


def _mean(log_means: Sequence[float], members: Members) -> float:
    return fmean(log_means[position] for position in members)


def _t_value(log_means: Sequence[float], split: Collection[int]) -> float:
    """Return the t of Student's test between the machines of a split and the others."""
    count, total = len(log_means), math.fsum(log_means)
    size, part = len(split), math.fsum(log_means[position] for position in split)
    rest = count - size
    squares = math.fsum(value * value for value in log_means)
    within = squares - part * part / size - (total - part) ** 2 / rest
    error = math.sqrt(max(within, 1e-12 * count) / (count - 2) * (1 / size + 1 / rest))
    return abs(part / size - (total - part) / rest) / error


def find_mixed_pools(measurements: Sequence[Measurement], margin: float) -> tuple[MixedPool, ...]:
    """Return each side once, by the first measurement of a workload that shows its split best."""
    by_workload = grouped(measurements, attrgetter("subject.workload"))
    found: dict[str, MixedPool] = {}
    for measurement, *_ in by_workload.values():
        for name, side in measurement.sides.items():
            pool = _mixed_pool(side, len(by_workload))
            known = found.get(name)
            if pool is not None and (known is None or pool.p_value < known.p_value):
                others = _comparisons(pool, side, measurement.pairs, margin)
                found[name] = replace(pool, of_the_faster=others)
    return tuple(found.values())


def _mixed_pool(side: Side, tests: int) -> MixedPool | None:
    # In the order of their times, so that the order in which results are given does not matter.
    by_time = sorted(
        zip(side.log_means, map(machine_name, side.workers), side.workers, strict=True),
        key=itemgetter(0, 1),
    )
    log_means, ids, machines = zip(*by_time, strict=True)
    facts = [kind_of_machine(same) for same in machines]
    split = _MachineSplit.find(log_means, facts, tests)
    if split is None:
        return None
    of_slower, of_faster = (
        tuple(" or ".join(sorted({facts[at][name] for at in members})) for name in split.facts)
        for members in (split.slower, split.faster)
    )
    return MixedPool(
        subject=side.subject,
        side=side.name,
        slower=tuple(ids[at] for at in sorted(split.slower)),
        faster=tuple(ids[at] for at in sorted(split.faster)),
        facts_of_slower=of_slower,
        facts_of_faster=of_faster,
        ratio=split.ratio,
        p_value=split.p_value,
        remedy=_remedy(side.name, split, of_slower, of_faster),
    )


def machine_name(machine: Sequence[Run]) -> str:
    """Return what names a machine: as the results do, else its task."""
    worker = min((run.worker for run in machine), key=lambda worker: worker.task_id)
    return worker.task_id if worker.machine == UNKNOWN else worker.machine


def _comparisons(
    pool: MixedPool, side: Side, pairs: Sequence[ComparedSides], margin: float
) -> tuple[Comparison, ...]:
    """Compare the faster machines with the sides that the whole pool is compared with."""
    faster = Side.of(chain(*(runs for runs in side.workers if machine_name(runs) in pool.faster)))
    changed = [
        replace(
            pair,
            candidate=faster if pool.side == pair.candidate.name else pair.candidate,
            baseline=faster if pool.side == pair.baseline.name else pair.baseline,
        )
        for pair in pairs
        if pool.side in pair.names
    ]
    return compare_sides(pool.subject, changed, margin=margin)


def with_obstacles(
    measurements: Sequence[Measurement], pools: Sequence[MixedPool]
) -> Iterator[Measurement]:
    """Yield the measurements without an advice to add workers to a mixed pool."""
    mixed = {pool.side for pool in pools}
    obstacle = statement("its machines are of two kinds")
    message = statement("more workers are not expected to settle it: {obstacle}", obstacle=obstacle)

    def advised(pair: Comparison) -> Comparison:
        if pair.advice is None or mixed.isdisjoint((pair.candidate, pair.baseline)):
            return pair
        advice = replace(pair.advice, workers_to_add=None, message=message, obstacle=obstacle)
        return replace(pair, advice=advice)

    for measurement in measurements:
        yield replace(measurement, comparisons=tuple(map(advised, measurement.comparisons)))


def with_pool_remedies(
    diagnoses: Sequence[Diagnosis], pools: Sequence[MixedPool]
) -> Iterator[Diagnosis]:
    """Yield the diagnoses; where a mixed pool is what to change, its definition is."""
    remedies = {pool.side: (pool.remedy,) for pool in pools}
    for diagnosis in diagnoses:
        is_changed = bool(diagnosis.remedies) and diagnosis.candidate in remedies
        yield replace(
            diagnosis, remedies=remedies[diagnosis.candidate] if is_changed else diagnosis.remedies
        )


def _remedy(
    side: str, split: _MachineSplit, of_slower: Sequence[str], of_faster: Sequence[str]
) -> Remedy:
    slower, total = len(split.slower), len(split.slower | split.faster)
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
        ratio=ratio_of(split.ratio),
    )
    gain = math.exp(slower / total * math.log(split.ratio))
    return Remedy(MIXED_POOL, action, gain, True, (evidence,))

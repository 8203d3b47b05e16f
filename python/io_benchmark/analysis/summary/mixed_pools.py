# SPDX-License-Identifier: MPL-2.0
"""Pools of unlike machines: which of a pool's machines are slower, and by which facts they differ.

A pool's verdict counts all of its workers. Where a fact splits them, the answer is about the parts: how the
slower machines compare with the others, and the others with what the pool is compared with.
"""

import math
from collections.abc import Iterator, Mapping, Sequence

from msgspec.structs import replace

from io_benchmark.analysis.diagnosis_model import Diagnosis, Remedy
from io_benchmark.analysis.inference.comparisons import compare_sides
from io_benchmark.analysis.inference.estimates import SideData
from io_benchmark.analysis.inference.machine_splits import MachineSplit, Members
from io_benchmark.analysis.inference.pairs import Pair
from io_benchmark.analysis.model import UNKNOWN, Advice, Comparison, Run, Subject
from io_benchmark.analysis.observed.host_facts import kind_of_machine
from io_benchmark.analysis.observed.machine_identity import by_machine, by_side
from io_benchmark.analysis.report_model import MixedPool, SubjectReport
from io_benchmark.analysis.statements import Quantity, Statement, Unit, count, joined, statement

CAUSE = "mixed-pool"
Compared = Mapping[Subject, Sequence[Run]]


def find_mixed_pools(
    compared: Compared, pairs: Mapping[Subject, Sequence[Pair]], margin: float
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
    return Remedy(CAUSE, action, gain, True, (evidence,))

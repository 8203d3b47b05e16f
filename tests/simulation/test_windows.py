# SPDX-License-Identifier: MPL-2.0
"""Causes of simulated Windows workers: what was changed is named, and hardly ever anything else.

Every explained difference counts, of each workload. Facts that cost nothing differ as well.
"""

import itertools
import math
import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import pytest
from msgspec import structs
from seed_workers import report_of, worker
from simulated_windows import measure, measure_one
from situations import FAST, SLOW
from windows_situations import drawn_measuring, drawn_pools
from windows_truths import OF_DISKS, TRUTHS, WindowsTruth

from io_benchmark.analysis.model.cause import Diagnosis, State
from io_benchmark.analysis.model.comparison import Comparison, Verdict

SEEDS = 6
PUSHES, LONG_PUSHES = 30, 1000
FEW_WORKERS = 6  # per pool
# Of all differences that were decided and explained, and of those that a truth explains.
WRONG, MISSED, NAMED = 0.01, 0.05, 0.4
LEAST_SHARE = 0.4  # of a difference that the truth is asked to explain


class Explained(NamedTuple):
    """One difference that was decided, and what the comparison says of it."""

    truth: WindowsTruth
    comparison: Comparison
    diagnosis: Diagnosis
    true_ratio: float  # of the times of workers that do not vary, the slower kind's first

    @property
    def is_expected(self) -> bool:
        """Return whether the side that was made slower is the slower one."""
        slower = Verdict.SLOWER if self.comparison.candidate == SLOW else Verdict.FASTER
        return self.comparison.verdict is slower

    @property
    def is_by_truth(self) -> bool:
        """Return whether the truth makes up enough of the difference; the rest is chance."""
        share = math.log(self.true_ratio) / abs(math.log(self.comparison.ratio))
        return self.is_expected and share >= LEAST_SHARE

    def names(self, *states: State) -> set[str]:
        return {cause.name for cause in self.diagnosis.causes if cause.state in states}

    def counted(self) -> Counter[str]:
        """Count what is said rightly and wrongly."""
        truth = self.truth
        judged = {cause.name for cause in self.diagnosis.causes}
        right = truth.right & judged if self.is_by_truth else set()
        allowed = truth.right | truth.beside if self.is_expected else truth.beside & OF_DISKS
        named = self.names(State.SUPPORTED, State.CONFIRMED)
        answers = {
            "named": right & named,
            "open": right & self.names(State.NOT_SEPARABLE),
            "unseen": right & self.names(State.NOT_OBSERVABLE),
            "missed": right,
        }
        answer = next((answer for answer, causes in answers.items() if causes), "")
        counted = Counter(decided=1, wrong=not named <= allowed, answerable=bool(right))
        return counted + Counter({answer: 1} if answer else {})


def explained(name: str, seed: int, share: float, most_workers: int) -> Iterator[Explained]:
    """Yield each difference that was decided and explained."""
    dice = random.Random(f"{name}/{seed}/{share}")
    truth = TRUTHS[name](dice)
    pools, defined = drawn_pools(truth, dice, share, most_workers)
    how = drawn_measuring(truth, dice)
    workers = [
        structs.replace(worker(document), defined=defined[pool])
        for pool, documents in measure(pools, seed, how).items()
        for document in documents
    ]
    report = report_of(workers, dice.choice([FAST, SLOW]))
    comparisons = {each.subject: each.comparisons[0] for each in report.subjects}
    typical = [
        worker(measure_one(replace(pool, between=0.0), 0, seed, how))
        for pool in sorted(pools, key=lambda pool: pool.name != SLOW)
    ]
    for diagnosis in report.diagnoses:
        assert diagnosis.subject is not None
        comparison = comparisons[diagnosis.subject]
        if comparison.verdict in (Verdict.SLOWER, Verdict.FASTER):
            slow, fast = (each.run_of(diagnosis.subject).mean_ns for each in typical)
            yield Explained(truth, comparison, diagnosis, slow / fast)


def rates_of(pushes: int, share: float, most_workers: int) -> Counter[str]:
    """Count what is said of truths in turn, where this share of the irrelevant facts differs."""
    total, names = Counter[str](), itertools.cycle(TRUTHS)
    for seed, name in enumerate(itertools.islice(names, pushes)):
        for each in explained(name, seed, share, most_workers):
            total.update(each.counted())
    return total


@pytest.mark.parametrize("share", [0.0, 1.0])
def test_rates(share: float, request: pytest.FixtureRequest, record_property: Any) -> None:
    """Hardly a wrong cause is named, and few right ones are ruled out.

    What no worker recorded, and what has the same effect as something else, is said to be so.
    """
    is_long = request.config.getoption("--long")
    total = rates_of(LONG_PUSHES, share, 20) if is_long else rates_of(PUSHES, share, FEW_WORKERS)
    record_property("rates", f"simulated Windows workers, {share}: {total}")
    assert total["wrong"] <= WRONG * total["decided"]
    assert total["missed"] <= MISSED * total["answerable"]
    assert total["named"] >= NAMED * total["answerable"]


@pytest.mark.parametrize("name", [name for name in TRUTHS if name != "nothing"])
def test_each_truth_makes_a_difference(name: str) -> None:
    """In one of a few pushes, the workers that were made slower are found to be slower."""
    cases = (each for seed in range(SEEDS) for each in explained(name, seed, 1.0, FEW_WORKERS))
    assert any(each.is_expected for each in cases)


def test_no_truth_makes_none() -> None:
    """Equal workers with unlike facts differ by chance at most, in one of a few pushes."""
    pushes = [list(explained("nothing", seed, 1.0, FEW_WORKERS)) for seed in range(SEEDS)]
    assert len(list(filter(None, pushes))) <= 1

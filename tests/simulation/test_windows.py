# SPDX-License-Identifier: MPL-2.0
"""Causes of simulated Windows workers: what was changed is named, and hardly ever anything else.

Every explained difference counts, of each workload. Facts that cost nothing differ as well.
"""

import random
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

import pytest
from msgspec import structs
from seed_workers import report_of, worker
from simulated_windows import measure
from situations import FAST, SLOW
from windows_situations import drawn_measuring, drawn_pools
from windows_truths import TRUTHS, WindowsTruth

from io_benchmark.analysis.explaining.causes import RULES_BY_NAME
from io_benchmark.analysis.model.cause import Diagnosis, State
from io_benchmark.analysis.model.comparison import Comparison, Verdict
from io_benchmark.analysis.model.report import Report

SEEDS = 4


class Explained(NamedTuple):
    """One difference that was decided, and what the comparison says of it."""

    truth: WindowsTruth
    comparison: Comparison
    diagnosis: Diagnosis

    @property
    def is_expected(self) -> bool:
        """Return whether the side that was made slower is the slower one."""
        slower = Verdict.SLOWER if self.comparison.candidate == SLOW else Verdict.FASTER
        return self.comparison.verdict is slower

    def names(self, *states: State) -> set[str]:
        return {cause.name for cause in self.diagnosis.causes if cause.state in states}

    def counted(self) -> Counter[str]:
        """Count what is said rightly and wrongly."""
        named = self.names(State.SUPPORTED, State.CONFIRMED)
        truth, workload = self.truth, self.comparison.subject.workload
        right = {
            cause
            for cause in truth.right
            if cause in RULES_BY_NAME and RULES_BY_NAME[cause].applies_to.includes(workload)
        }
        right = right if self.is_expected else set()
        allowed = truth.right | truth.beside if self.is_expected else set()
        is_open = bool(right & self.names(State.NOT_SEPARABLE))
        is_unseen = bool(right & self.names(State.NOT_OBSERVABLE))
        is_named = bool(right & named)
        return Counter(
            decided=1,
            wrong=not named <= allowed,
            answerable=bool(right),
            named=is_named,
            open=not is_named and is_open,
            unseen=bool(right) and not is_named and not is_open and is_unseen,
            missed=bool(right) and not is_named and not is_open and not is_unseen,
        )


def report(name: str, seed: int, share: float) -> tuple[WindowsTruth, Report]:
    """Compare two pools of which this truth makes one slower."""
    dice = random.Random(f"{name}/{seed}/{share}")
    truth = TRUTHS[name](dice)
    pools, defined = drawn_pools(truth, dice, share)
    measured = measure(pools, seed, drawn_measuring(truth, dice))
    workers = [
        structs.replace(worker(document), defined=defined[pool])
        for pool, documents in measured.items()
        for document in documents
    ]
    return truth, report_of(workers, dice.choice([FAST, SLOW]))


def explained(name: str, seed: int, share: float) -> Iterator[Explained]:
    """Yield each difference that was decided and explained."""
    truth, compared = report(name, seed, share)
    comparisons = {each.subject: each.comparisons[0] for each in compared.subjects}
    for diagnosis in compared.diagnoses:
        assert diagnosis.subject is not None
        comparison = comparisons[diagnosis.subject]
        if comparison.verdict in (Verdict.SLOWER, Verdict.FASTER):
            yield Explained(truth, comparison, diagnosis)


@pytest.mark.parametrize("name", [name for name in TRUTHS if name != "nothing"])
def test_each_truth_makes_a_difference(name: str) -> None:
    """In one of a few pushes, the workers that were made slower are found to be slower."""
    cases = (each for seed in range(SEEDS) for each in explained(name, seed, share=1.0))
    assert any(each.is_expected for each in cases)


def test_no_truth_makes_none() -> None:
    """Equal workers with unlike facts differ by chance at most."""
    cases = [each for seed in range(SEEDS) for each in explained("nothing", seed, share=1.0)]
    assert len(cases) <= 1

# SPDX-License-Identifier: MPL-2.0
"""Simulation: an equal image passes, one that is slower by the margin does not, a mixed pool fails.

The bars are the project's: 80, 5 and 95 of 100 gates, over random truths. Workers vary by 1 to
12 %, with heavy tails in half of them; there are 1 to 6 measurements; a third of the gates have
noisy neighbours in both pools, a third unequal numbers of workers. A gate has as many workers as
are proposed for how far its workers vary.
"""

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from simulated_gates import BASELINE, CANDIDATE, Truth, draw_workers, judge, judged
from simulation import Rates

from io_benchmark.analysis.gate.gate_model import Answer
from io_benchmark.analysis.model.looks import Schedule

PASSES, PASSES_TOO_SLOW, FAILS, DECIDED = 0.80, 0.05, 0.95, 0.75
# Where the results do not say what the disks are, or the old pool has such workers as well, a mixed
# pool seldom passes all the same.
PASSES_UNSEEN = 0.05
_FEWEST = 30  # gates of each truth

Draw = Callable[[np.random.Generator], Truth]


def random_truth(generator: np.random.Generator) -> Truth:
    truth = Truth(
        variation=generator.uniform(0.01, 0.12),
        measurements=int(generator.integers(1, 7)),
        degrees=float(generator.choice([math.inf, math.inf, 5, 3])),
    )
    if generator.random() < 1 / 3:
        truth = replace(
            truth,
            neighbours=generator.uniform(0, 0.1),
            neighbour_factor=generator.uniform(1.05, 1.5),
        )
    proposed, _ = truth.counts
    if generator.random() < 1 / 3:
        more = int(proposed * generator.uniform(1, 2.5))
        counts = (proposed, more) if generator.random() < 0.5 else (more, proposed)
        truth = replace(truth, workers=counts)
    return truth


def slower(generator: np.random.Generator) -> Truth:
    """By exactly the margin, on the only measurement: of several, all must pass."""
    return replace(random_truth(generator), ratio=1.1, measurements=1)


def mixed(generator: np.random.Generator) -> Truth:
    """Up to all but one workers of the candidate are on their boot disk, 1.3 to 10 times slower."""
    truth = random_truth(generator)
    candidate, _ = truth.counts
    return replace(
        truth,
        boot_disks=(int(generator.integers(1, candidate)), 0),
        boot_disk_factor=math.exp(generator.uniform(math.log(1.3), math.log(10))),
    )


def mixed_baseline(generator: np.random.Generator) -> Truth:
    truth = mixed(generator)
    return replace(truth, boot_disks=(0, int(generator.integers(1, 3))))


TRUTHS: dict[str, Draw] = {
    "equal": random_truth,
    "10 % slower": slower,
    "mixed": mixed,
    "one on its boot disk": lambda generator: replace(mixed(generator), boot_disks=(1, 0)),
    "mixed, disks unseen": lambda generator: replace(mixed(generator), shows_disks=False),
    "baseline mixed": mixed_baseline,
    "baseline mixed, 10 % slower": lambda generator: replace(
        mixed_baseline(generator), ratio=1.1, measurements=1
    ),
    "both mixed": lambda generator: replace(mixed(generator), boot_disks=(1, 1)),
}


@pytest.mark.parametrize("truth", TRUTHS)
def test_answers(truth: str, rates: Rates) -> None:
    """Each truth has the answer that the bar asks for, and a mixed pool fails as such."""
    rates.repetitions = max(rates.repetitions, _FEWEST)
    generator = np.random.default_rng(1)
    for _ in range(rates.repetitions):
        judgement = judged(TRUTHS[truth](generator), generator)
        for answer in Answer:
            rates.add(answer, judgement.answer is answer)
        rates.add("says why", judgement.is_mixed)
    match truth:
        case "equal" | "baseline mixed":
            assert rates.reaches(Answer.PASSED, PASSES)
            assert rates.keeps(Answer.FAILED, 1 - FAILS)
        case "10 % slower" | "baseline mixed, 10 % slower":
            assert rates.keeps(Answer.PASSED, PASSES_TOO_SLOW)
        case "mixed" | "one on its boot disk":
            assert rates.reaches("says why", FAILS)
            assert rates.keeps(Answer.PASSED, 0.0)
        case "mixed, disks unseen" | "both mixed":
            assert rates.keeps(Answer.PASSED, PASSES_UNSEEN)


@pytest.mark.parametrize(
    ("schedule", "numbers"),
    [
        pytest.param(Schedule((5, 10, 20), is_declared=True), (5, 10, 20), id="declared"),
        pytest.param(Schedule(), (3, 6, 12, 24), id="assumed"),
    ],
)
def test_workers_are_added_until_it_passes(
    schedule: Schedule, numbers: tuple[int, ...], rates: Rates
) -> None:
    """All looks together pass an image that is slower by the margin in 5 of 100 gates."""
    rates.repetitions *= 5
    generator = np.random.default_rng(2)
    truth = Truth(variation=0.06, ratio=1.1, workers=(numbers[-1], numbers[-1]))
    for _ in range(rates.repetitions):
        pools = draw_workers(truth, generator)
        answers = [
            judge(pools[CANDIDATE][:count], pools[BASELINE][:count], schedule.look(count)).answer
            for count in numbers
        ]
        rates.add(Answer.PASSED, Answer.PASSED in answers)
    assert rates.keeps(Answer.PASSED, PASSES_TOO_SLOW)


@pytest.mark.parametrize("ratio", [1.0, 1.05, 1.15])
def test_the_workers_that_are_named_decide(ratio: float, rates: Rates) -> None:
    """A gate that was not decided is, with as many workers as its answer names."""
    repetitions = rates.repetitions * 5
    rates.repetitions = 0
    generator = np.random.default_rng(3)
    for _ in range(repetitions):
        first = judged(Truth(ratio=ratio, workers=(5, 5)), generator)
        number = first.workers_needed
        if number is not None:
            later = judged(Truth(ratio=ratio, workers=(number, number)), generator)
            rates.repetitions += 1
            rates.add("decided", later.answer is not Answer.NOT_DECIDED)
    assert rates.repetitions >= 5
    assert rates.reaches("decided", DECIDED)

# SPDX-License-Identifier: MPL-2.0
"""Network disks of simulated machines: what holds one back is named, with its size, or nothing.

Definitions are known, unknown or wrong; facts that cost nothing differ as well.
"""

import random
from collections import Counter
from collections.abc import Iterator

import pytest
from network_machines import TRUTHS, NetworkTruth, pools, shows
from seed_workers import report_of
from simulated_results import measure
from situations import FAST, SLOW

from io_benchmark.analysis.model.cause import Diagnosis
from io_benchmark.analysis.model.comparison import Comparison, Verdict

SEEDS, LONG_SEEDS = 2, 25
RETRIEVES = 200
# Of all decided cases that definitions or candidates decide, in the long form.
RIGHT, SIZED, WRONG = 0.95, 0.95, 0.01
_NEAR = 0.15  # a predicted ratio is right if it differs by less from the measured one


def decided(name: str, seed: int) -> Iterator[tuple[NetworkTruth, Comparison, Diagnosis]]:
    """Yield a truth with its comparison and diagnosis; nothing where it is not decided."""
    dice = random.Random(f"{name}/{seed}")
    truth = TRUTHS[name](dice)
    made = pools(truth, dice, dice.choice([0.0, 0.5, 1.0]))
    baseline = dice.choice([FAST, SLOW])
    measured = measure(
        made,
        seed,
        destination=truth.destination,
        between=dice.uniform(0.005, 0.03),
        retrieves=RETRIEVES,
        trials=dice.random() < 0.5,
    )
    workers = [*truth.slow.workers(measured[SLOW]), *truth.fast.workers(measured[FAST])]
    report = report_of(workers, baseline)
    (comparison,) = report.subjects[0].comparisons
    expected = Verdict.SLOWER if baseline == FAST else Verdict.FASTER
    if comparison.verdict is expected and report.diagnoses:
        yield truth, comparison, report.diagnoses[0]


def judge(name: str, seed: int) -> Counter[str]:
    """Count what a comparison says rightly and wrongly."""
    counted = Counter[str]()
    for truth, comparison, diagnosis in decided(name, seed):
        named = {cause.name: cause for cause in diagnosis.causes if cause.state.holds}
        is_right = bool(truth.right & {*named})
        counted["decided"] += 1
        counted["wrong"] += not {*named} <= truth.right | truth.beside
        if truth.is_unambiguous or shows(truth):
            counted["decidable"] += 1
            counted["right"] += is_right
        predicted = [named[cause].predicted_ratio for cause in truth.right & {*named}]
        if truth.ratio is not None and is_right:
            counted["predicted"] += 1
            near = [ratio for ratio in predicted if ratio is not None]
            counted["sized"] += any(abs(ratio / comparison.ratio - 1) < _NEAR for ratio in near)
    return counted


@pytest.mark.parametrize("name", TRUTHS)
def test_each_truth(name: str) -> None:
    """What is true is named, and nothing else."""
    total = Counter[str]()
    for seed in range(SEEDS):
        total.update(judge(name, seed))
    assert (total["right"], total["wrong"]) == (total["decidable"], 0)
    assert total["sized"] == total["predicted"]


def test_rates(request, record_property):
    """Of all truths together, 95 % are named with their size, and hardly any wrong cause is."""
    if not request.config.getoption("--long"):
        pytest.skip("only with --long")
    total = Counter[str]()
    for name in TRUTHS:
        for seed in range(LONG_SEEDS):
            total.update(judge(name, seed))
    record_property("rates", f"network disks: {total}")
    assert total["right"] >= RIGHT * total["decidable"]
    assert total["sized"] >= SIZED * total["predicted"]
    assert total["wrong"] <= WRONG * total["decided"]

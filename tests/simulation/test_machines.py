# SPDX-License-Identifier: MPL-2.0
"""Simulation of pools with slow machines: how many are named, and how many of these are usual."""

import math

import numpy as np
import pytest
from simulated_nodes import SimulatedPool

from io_benchmark.analysis.tasks.machines.find_machines import judge_pool
from io_benchmark.analysis.tasks.machines.machine_model import MachineState

FALSE_CALLS = 0.05
MARGIN = 0.05
TWO_SLOW = (1.2, 1.3)


@pytest.fixture(name="rates")
def _rates(rates):
    # A pool takes as long as a few pushes.
    rates.repetitions = min(rates.repetitions, 200)
    return rates


USUAL = {
    "200 machines": SimulatedPool(slow=()),
    "12 machines": SimulatedPool(nodes=12, slow=(), runs_per_day=4),
    "unlike labels that become slower": SimulatedPool(
        slow=(), heavy_labels=True, drift=0.2, usage=0.8
    ),
    "days that are alike": SimulatedPool(slow=(), kept=0.8, between_days=0.05, between=0.02),
    "few noisy runs": SimulatedPool(slow=(), runs_per_day=0.7, noise=0.25),
    # Many runs of a label have the same time: 33 of 100 pools had a machine that was called slow.
    "whole minutes": SimulatedPool(slow=(), rounding_ms=60_000),
    "outliers": SimulatedPool(slow=(), noise=0.35, outliers=0.1),
}


@pytest.mark.parametrize("pool", USUAL.values(), ids=USUAL)
def test_usual_machines(pool, rates):
    """The chance that any machine of a pool without slow ones is named."""
    dice = np.random.default_rng(2)
    for _ in range(rates.repetitions):
        judged = judge_pool(pool.runs(dice).runs, MARGIN)
        rates.add("named", bool(judged.in_state(MachineState.SLOW)))
    assert rates.keeps("named", FALSE_CALLS)


SLOW = {
    "200 machines": SimulatedPool(),
    "for half of the time": SimulatedPool(since=0.5),
    "the same mix": SimulatedPool(mix=0.0),
    "two labels": SimulatedPool(labels=2),
    "unlike usage": SimulatedPool(usage=1.0),
    "unlike labels that become slower": SimulatedPool(heavy_labels=True, drift=0.2, usage=0.8),
    "12 machines": SimulatedPool(nodes=12, slow=TWO_SLOW, runs_per_day=6),
}


@pytest.mark.parametrize("pool", SLOW.values(), ids=SLOW)
def test_slow_machines(pool, rates):
    """Five of six are named, few others are, and their intervals hold the truth."""
    dice = np.random.default_rng(3)
    named, usual, missed = [], [], []
    for _ in range(rates.repetitions):
        made = pool.runs(dice)
        slow = judge_pool(made.runs, MARGIN).in_state(MachineState.SLOW)
        right = [machine for machine in slow if machine.machine in made.slow]
        named.append(len(right) / len(made.slow))
        usual.append(1 - len(right) / max(1, len(slow)))
        middle = float(np.mean(made.usual_logs[len(made.slow) :]))
        logs = dict(zip(made.runs.machines, made.usual_logs, strict=True))
        for machine in right:
            truth = made.slow[machine.machine] * math.exp(logs[machine.machine] - middle)
            assert machine.interval is not None
            missed.append(not machine.interval.low_ratio <= truth <= machine.interval.high_ratio)
    assert np.mean(named) >= 5 / 6
    assert np.mean(usual) <= FALSE_CALLS
    assert np.mean(missed) <= 2 * FALSE_CALLS

# SPDX-License-Identifier: MPL-2.0
"""Simulation: a day that shifts a whole push is seldom called a change of the pool."""

import math

import numpy as np
import pytest
from simulation import ASSUMED

from io_benchmark.analysis.inference.comparisons import judge
from io_benchmark.analysis.inference.estimates import Estimate, SideData
from io_benchmark.analysis.inference.looks import SINGLE
from io_benchmark.analysis.inference.variances import ASSUMED_VARIATION_DEGREES, MeanVariance
from io_benchmark.analysis.inference.variations import PushVariation
from io_benchmark.analysis.model import DIFFERENT

FALSE_CALLS, FOUND = 0.05, 0.80
WORKERS = 6


def called(generator, day, ratio=1.0, past=0):
    """Return whether six workers before and six after, a push each, are called different."""
    after, before = [
        SideData(
            tuple(level + day * generator.normal() + ASSUMED * generator.normal(size=WORKERS)), ()
        )
        for level in (math.log(ratio), 0.0)
    ]
    known, degrees = MeanVariance(0.05**2, 4.0), ASSUMED_VARIATION_DEGREES
    if past:
        errors = math.hypot(day, ASSUMED / math.sqrt(WORKERS))
        known = MeanVariance.of_values((errors * generator.normal(size=past)).tolist())
        degrees = known.degrees
    pushes = PushVariation(math.sqrt(known.variance), degrees, past, 2.0)
    estimate = Estimate.of_sides(after, before, ASSUMED).with_further(pushes.variance)
    (judgement,) = judge([estimate], [SINGLE], 0.05)
    return judgement.verdict in DIFFERENT


@pytest.mark.parametrize(("day", "past"), [(0.0, 0), (0.03, 0), (0.05, 0), (0.03, 12), (0.08, 12)])
def test_a_day_is_no_change(day, past, repetitions, tolerance):
    """At most 5 of 100 equal pools, where 24 and 42 were by their workers alone; 8 % by a history of 12."""
    generator = np.random.default_rng(1)
    calls = sum(called(generator, day, past=past) for _ in range(repetitions))
    assert calls / repetitions <= FALSE_CALLS + tolerance


def test_a_history_shows_smaller_changes(repetitions, tolerance):
    """Where the past shows that pushes vary by 1 %, a change of 15 % is found as within one push."""
    generator = np.random.default_rng(2)
    calls = sum(called(generator, 0.01, ratio=1.15, past=12) for _ in range(repetitions))
    assert calls / repetitions >= FOUND - tolerance

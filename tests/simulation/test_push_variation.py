# SPDX-License-Identifier: MPL-2.0
"""Simulation: a day that shifts a whole push is seldom called a change of the pool."""

import numpy as np
import pytest
from simulation import ASSUMED

from io_benchmark.analysis.inference.comparisons import judge
from io_benchmark.analysis.inference.estimates import Estimate, SideData
from io_benchmark.analysis.inference.looks import SINGLE
from io_benchmark.analysis.inference.push_variation import PushVariation
from io_benchmark.analysis.inference.variances import ASSUMED_VARIATION_DEGREES
from io_benchmark.analysis.model import DIFFERENT

FALSE_CALLS = 0.05
WORKERS = 6


def called(generator, day):
    """Return whether six workers before and six after, a push each, are called different."""
    after, before = [
        SideData(tuple(day * generator.normal() + ASSUMED * generator.normal(size=WORKERS)), ())
        for _ in range(2)
    ]
    pushes = PushVariation(0.05, ASSUMED_VARIATION_DEGREES, 2.0)
    estimate = Estimate.of_sides(after, before, ASSUMED).with_further(pushes.variance)
    (judgement,) = judge([estimate], [SINGLE], 0.05)
    return judgement.verdict in DIFFERENT


@pytest.mark.parametrize("day", [0.0, 0.03, 0.05])
def test_a_day_is_no_change(day, repetitions, tolerance):
    """At most 5 of 100 equal pools, where 24 and 42 were by their workers alone."""
    generator = np.random.default_rng(1)
    calls = sum(called(generator, day) for _ in range(repetitions))
    assert calls / repetitions <= FALSE_CALLS + tolerance

# SPDX-License-Identifier: MPL-2.0
"""Simulation: equal machines are seldom split by facts that cost nothing, and unlike ones nearly always are."""

import math

import numpy as np
import pytest

from io_benchmark.analysis.summary.unlike_machines import MachineSplit

FALSE_SPLITS, FOUND = 0.05, 0.95


def irrelevant(generator: np.random.Generator, workers: int, count: int) -> list[dict[str, str]]:
    """Facts of two or three values that do not depend on the times."""
    drawn = [generator.integers(0, generator.integers(2, 4), workers) for _ in range(count)]
    return [
        {f"fact {number}": str(fact[at]) for number, fact in enumerate(drawn)}
        for at in range(workers)
    ]


@pytest.mark.parametrize("has_heavy_tails", [False, True])
@pytest.mark.parametrize("bad", [0, 1])
@pytest.mark.parametrize("workers", [4, 8, 12])
def test_equal_machines_are_seldom_split(workers, bad, has_heavy_tails, repetitions, tolerance):
    """At most 5 of 100 pools, also where one machine takes twice as long as all others."""
    generator = np.random.default_rng(workers)
    split = 0
    for _ in range(repetitions):
        errors = generator.normal(size=workers)
        if has_heavy_tails:
            errors = generator.standard_t(5, workers) / math.sqrt(5 / 3)
        logs = generator.uniform(0.03, 0.10) * errors
        logs[:bad] += math.log(2)
        split += MachineSplit.find(logs.tolist(), irrelevant(generator, workers, 4)) is not None
    assert split / repetitions <= FALSE_SPLITS + tolerance


@pytest.mark.parametrize(("slow", "workers"), [(2, 8), (4, 8), (3, 10), (6, 12)])
def test_unlike_machines_are_found_by_their_fact(slow, workers, repetitions, tolerance):
    """Machines 1.3 to 2 times as slow are told by the fact that they share, beside irrelevant ones."""
    generator = np.random.default_rng(slow)
    found = 0
    for _ in range(repetitions):
        logs = generator.uniform(0.03, 0.08) * generator.normal(size=workers)
        logs[:slow] += math.log(generator.uniform(1.3, 2.0))
        facts = irrelevant(generator, workers, 3)
        facts = [{**each, "disks": str(1 + (at >= slow))} for at, each in enumerate(facts)]
        split = MachineSplit.find(logs.tolist(), facts)
        found += split is not None and "disks" in split.facts and len(split.slower) == slow
    assert found / repetitions >= FOUND - tolerance

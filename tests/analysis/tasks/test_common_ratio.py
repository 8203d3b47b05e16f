# SPDX-License-Identifier: MPL-2.0
"""The ratio that kinds of work have in common, by workers that did several of them."""

import math

import pytest

from io_benchmark.analysis.tasks.common_ratio import common_ratio

LINK, TEST = ("link", True, False), ("test", True, False)


def logs(kinds):
    """Return logarithms of seconds, by kind and worker."""
    return {
        kind: {worker: [math.log(value) for value in values] for worker, values in workers.items()}
        for kind, workers in kinds.items()
    }


def compared(candidate, baseline):
    """Compare sides that have a kind of work in common."""
    ratio = common_ratio(candidate, baseline)
    assert ratio is not None
    return ratio.estimate


def test_exact_ratio():
    """Workers that are alike show the ratio itself, whatever the mixes."""
    candidate = logs({LINK: {"a1": [20], "a2": [20, 20]}, TEST: {"a2": [2]}})
    baseline = logs({LINK: {"b1": [10]}, TEST: {"b1": [1, 1], "b2": [1]}})
    estimate = compared(candidate, baseline)
    assert estimate.ratio == pytest.approx(2)
    assert estimate.p_value < 0.05


def test_a_worker_shows_how_far_kinds_are_apart():
    """Pools whose workers hardly share a kind are compared by those that did both."""
    candidate = logs({LINK: {"a1": [90], "a2": [110], "a3": [100]}, TEST: {"a1": [9]}})
    baseline = logs({LINK: {"b1": [100]}, TEST: {"b1": [10], "b2": [11], "b3": [9]}})
    estimate = compared(candidate, baseline)
    assert estimate.ratio == pytest.approx(1, abs=0.03)
    alone = compared(
        logs({LINK: {"a1": [90], "a2": [110], "a3": [100]}}), logs({LINK: {"b1": [100]}})
    )
    assert estimate.error.half_width(0.95) < alone.error.half_width(0.95)


def test_two_workers_per_side_vary_as_is_assumed():
    """Two workers that agree by chance do not show that all do; three may."""
    two = compared(
        logs({LINK: {"a1": [15], "a2": [15.01]}}), logs({LINK: {"b1": [10], "b2": [10.01]}})
    )
    assert math.sqrt(two.error.variance) == pytest.approx(0.15, rel=0.01)
    assert two.assumed_variation == 0.15
    three = compared(
        logs({LINK: {"a1": [15], "a2": [15.01], "a3": [15.02]}}),
        logs({LINK: {"b1": [10], "b2": [10.01], "b3": [10.02]}}),
    )
    assert three.assumed_variation is None
    assert math.sqrt(three.error.variance) < 0.01


def test_one_worker_decides_nothing():
    """A side with a single worker has a ratio, and no p-value below 1."""
    several = logs({LINK: {"b1": [10], "b2": [10.1]}})
    assert compared(logs({LINK: {"a": [30]}}), several).p_value == 1
    both = compared(logs({LINK: {"a": [30]}}), logs({LINK: {"b": [10]}}))
    assert (both.ratio, both.p_value) == (pytest.approx(3), 1)


def test_no_common_kind():
    """Kinds of one side only are not compared."""
    assert common_ratio(logs({LINK: {"a": [1]}}), logs({TEST: {"b": [1]}})) is None


def test_usual_variance():
    """Two workers of each side that vary by 15 % have it, however far they really vary."""
    ratio = common_ratio(
        logs({LINK: {"a1": [10], "a2": [30]}}), logs({LINK: {"b1": [10], "b2": [30]}})
    )
    assert ratio is not None
    assert ratio.usual_variance == pytest.approx(0.15**2)
    assert ratio.estimate.error.variance > 10 * ratio.usual_variance

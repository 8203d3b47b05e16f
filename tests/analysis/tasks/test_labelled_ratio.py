# SPDX-License-Identifier: MPL-2.0
"""One ratio of several labels: its error is that of workers, also where one side has one worker."""

import pytest

from io_benchmark.analysis.model.looks import SINGLE
from io_benchmark.analysis.statistics.ratios import Estimate
from io_benchmark.analysis.tasks.labelled_ratio import LabelledRatio


def log_ratio(candidate, baseline, labels):
    """Compare workers that took so long for each of the labels, ln of seconds."""
    first, second = (
        {label: {f"{pool}{at}": log for at, log in enumerate(logs)} for label in labels}
        for pool, logs in (("a", candidate), ("b", baseline))
    )
    return LabelledRatio(first, second, dict.fromkeys(labels, 3.4), SINGLE).estimate(0.05)


@pytest.mark.parametrize("labels", [("x",), ("x", "y")])
def test_estimate(labels):
    """It is that of workers with one label; two labels that say the same show no more."""
    candidate, baseline = (1.0, 1.1, 1.3), (0.9, 0.8, 1.0)
    known = log_ratio(candidate, baseline, labels)
    expected = Estimate.of_means(candidate, baseline, 0.05)
    assert known.log_ratio == pytest.approx(expected.log_ratio, abs=1e-9)
    assert known.error.variance == pytest.approx(expected.error.variance, abs=1e-9)
    assert len(labels) > 1 or known.error.degrees == pytest.approx(expected.error.degrees)


def test_one_worker_against_several_of_unlike_labels():
    """The variance grows with the weight that one of the workers has, by hand."""
    baseline = {"x": {"b0": 1.0, "b1": 1.3, "b2": 0.8}, "y": {"b0": 1.0}}
    candidate = {"x": {"a": 1.5}, "y": {"a": 1.5}}
    ratio = LabelledRatio(candidate, baseline, {"x": 1, "y": 1}, SINGLE)
    x, y = ratio.shares["x"], ratio.shares["y"]
    unit = 1 + (x / 3 + y) ** 2 + 2 * (x / 3) ** 2
    assert unit > 1 + 1 / 3
    alone = Estimate.of_means(*ratio.workers, 0.05)
    expected = alone.error.variance * unit / (1 + 1 / 3)
    assert ratio.estimate(0.05).error.variance == pytest.approx(expected)

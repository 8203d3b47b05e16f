# SPDX-License-Identifier: MPL-2.0
"""Programs that share one file against copies of it (seed 004).

How much copies cost hangs on a cache that is shared with all else on the machine, in a virtual one
with neighbours who are not seen. So neither the ratio nor the cause that is named by it is asserted.
"""

import json
import os
import platform
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from answers import detail, evidence, mean_ns, measured, states
from workloads import exec as workload

pytestmark = [
    pytest.mark.serial,
    pytest.mark.skipif(
        platform.machine() != workload.ARCHITECTURE, reason=f"needs {workload.ARCHITECTURE}"
    ),
    pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="needs two CPUs"),
]

Measure = Callable[..., Path]
Compare = Callable[..., dict[str, Any]]
WORKLOADS = ("exec",)
SMALL = "from workloads import exec as workload\nworkload.CACHE_SHARE = 0\n"


def test_what_copies_cost_is_compared(tmp_path: Path, measure: Measure, compare: Compare) -> None:
    """Within each run copies are held against hardlinks, and both sides' figures are the evidence."""
    results = {
        pool: measure(pool, tmp_path, workloads=WORKLOADS, prelude=SMALL)
        for pool in ("amd-16", "intel")
    }
    document = compare(*results.values())
    shown = []
    for side, result in results.items():
        hardlinked, copies = (
            sum(entry["samples"]["duration_ns"]) / len(entry["samples"]["duration_ns"])
            for entry in json.loads(result.read_text())["workloads"]
        )
        report = measured(document, "copies")
        assert mean_ns(report, side) == pytest.approx(copies)
        dearer = detail(report, side, "over-hardlinked")
        assert dearer == pytest.approx(copies / hardlinked)
        shown.append(f"time of copies {dearer:.2f}× that of hardlinks")
    candidate, baseline = shown
    assert evidence(document, "per-builder-copies") == (baseline, candidate)
    assert states(document)["per-builder-copies"] != "not observable"

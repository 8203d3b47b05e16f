# SPDX-License-Identifier: MPL-2.0
"""Programs that share one file against copies of it (seed 004).

How much copies cost hangs on a cache that is shared with all else on the machine, in a virtual one
with neighbours who are not seen. So the ratio and the cause that is named by it are asserted where
somebody says that the machine is quiet: `tox -e lab -- --quiet-machine`.
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
DEARER = 1.15
SMALL = "from workloads import exec as workload\nworkload.CACHE_SHARE = 0\n"
MANY_ROUNDS = "from workloads import exec as workload\nworkload.QUICK['rounds'] = 12\n"
# A machine whose cache holds every copy, for what it takes this one to jump as often through less.
ROOMY_CACHE = (
    f"{MANY_ROUNDS}build = workload._build_program\n"
    "workload._build_program = lambda size, passes: build(size // 16, passes * 16)"
)


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


def needs_cache() -> None:
    size_bytes, cache_bytes = workload._code_bytes(), workload._last_level_cache_bytes()
    if cache_bytes is None or not size_bytes < cache_bytes < workload._processes() * size_bytes:
        pytest.skip(
            "needs a last-level cache that holds the program once, and not for each process"
        )


def test_copies_crowd_the_cache(
    tmp_path: Path, quiet_machine: None, measure: Measure, compare: Compare
) -> None:
    """Copies take longer than hardlinks where the cache does not hold them: the cause by name."""
    del quiet_machine
    needs_cache()

    def ask(attempt: str) -> dict[str, Any]:
        return compare(
            measure(
                "amd-16", tmp_path, name=f"a{attempt}", workloads=WORKLOADS, prelude=MANY_ROUNDS
            ),
            measure(
                "intel", tmp_path, name=f"i{attempt}", workloads=WORKLOADS, prelude=ROOMY_CACHE
            ),
        )

    document = ask("1")
    if states(document)["per-builder-copies"] != "supported":
        document = ask("2")
    copies, hardlinked = measured(document, "copies"), measured(document, "hardlinked")
    assert detail(copies, "amd-16", "over-hardlinked") > DEARER
    assert detail(copies, "intel", "over-hardlinked") < DEARER
    # Of CPU time as well, which others on these CPUs do not add to.
    alone, beside_copies = (detail(one, "amd-16", "cpu-time") for one in (hardlinked, copies))
    assert beside_copies > DEARER * alone
    assert states(document)["per-builder-copies"] == "supported"

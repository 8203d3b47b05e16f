# SPDX-License-Identifier: MPL-2.0
"""Who waits for a CPU waits for others: lookups and copies are then not what costs time."""

from dataclasses import replace

import divided_reports
import pytest
from simulated_cases import BASE, CPU_BOUND, Change, cpu, image, limits, neighbours
from simulated_machine import Machine
from simulated_push import Pool

from io_benchmark.analysis.diagnosis_model import State

WARM = replace(BASE, resident_share=1.0)
# A long list on both sides, so that the lookups take most of the time.
LONG_LIST = image(lookup_factor=20.0)(WARM)
CROWDED = neighbours(runnable_per_cpu=1.5)


def supported(slow: Machine, fast: Machine) -> set[str]:
    """Return the causes that are supported."""
    report = divided_reports.of_pools(
        Pool("amd-16", slow), Pool("intel", fast), destination=CPU_BOUND
    )
    (diagnosis,) = report.diagnoses
    return {cause.name for cause in diagnosis.causes if cause.state is State.SUPPORTED}


@pytest.mark.parametrize(
    ("change", "cause"),
    [
        pytest.param(limits(cpus=0.4), "cgroup-cpu-limit", id="quota"),
        pytest.param(CROWDED, "other-load", id="other-load"),
        pytest.param(cpu(stolen_share=0.5), "cpu", id="stolen"),
    ],
)
def test_lookups_that_wait(change: Change, cause: str) -> None:
    """Lookups that take longer because they wait for a CPU are no cause beside what they wait for."""
    assert supported(change(LONG_LIST), LONG_LIST) == {cause}


def test_more_work_on_crowded_machines() -> None:
    """Both sides' CPUs are as crowded; who has more work waits longer, and only the work is a cause."""
    crowded = CROWDED(WARM)
    assert supported(image(lookup_factor=30.0)(crowded), crowded) == {"lookup-cost"}

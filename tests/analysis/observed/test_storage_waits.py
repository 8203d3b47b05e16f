# SPDX-License-Identifier: MPL-2.0
"""What copies were blocked on: storage as far as pressure allows, else something else."""

import pytest
import seed_case
from seed_facts import ENTRY, Facts, changing, spent, waiting_for_io
from seed_workers import workers_of

from io_benchmark.analysis.observed.storage_waits import _waited
from io_benchmark.analysis.time_parts import Kind, Part, Phase

# Nothing else keeps a CPU busy.
IDLE = {
    f"timeline.columns.cpu_{name}_ms": changing(lambda _: 0)
    for name in ("user", "nice", "system", "irq", "softirq", "steal")
}


def elsewhere_ms(facts: Facts) -> int | None:
    """The part of a copy of 145 ms; None where the blocked time is not divided."""
    change = {"amd-16": IDLE | spent() | facts}
    (worker,) = workers_of(seed_case.documents(1, pools=["amd-16"], change=change))["amd-16"]
    (entry,) = worker.entries
    elsewhere_ns = entry.parts_ns.get(Part(Phase.COPY, Kind.ELSEWHERE))
    return None if elsewhere_ns is None else round(elsewhere_ns / 1e6)


def starts(factor: float) -> Facts:
    return {f"{ENTRY}.samples.start_ns": changing(lambda ns: ns * factor)}


@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        pytest.param(waiting_for_io(0), 144, id="no pressure"),
        pytest.param(waiting_for_io(0.5), 72, id="pressure for half of the time"),
        pytest.param(waiting_for_io(0.93), 9, id="more than clocks differ"),
        pytest.param(waiting_for_io(0.95), 0, id="as much as clocks differ"),
        pytest.param(waiting_for_io(1), 0, id="pressure all the time"),
        pytest.param(waiting_for_io(0) | starts(1.08), 144, id="short gaps between samples"),
        pytest.param(waiting_for_io(0) | starts(1.15), None, id="other samples in between"),
        pytest.param({"timeline": None}, None, id="no pressure recorded"),
    ],
)
def test_blocked_elsewhere(facts: Facts, expected: int | None) -> None:
    """What pressure on I/O and memory does not account for is the time for something else."""
    assert elsewhere_ms(facts) == pytest.approx(expected, abs=1)


@pytest.mark.parametrize("waited", [0.0, 0.1, 0.5, 0.9])
@pytest.mark.parametrize("others", [0.0, 1.0, 15.0])
def test_pressure_is_averaged_over_busy_cpus(waited: float, others: float) -> None:
    """A wait on one CPU is a small pressure where other CPUs work; none of it is lost."""
    own = 0.1
    pressed = waited * (waited + own) / (waited + own + others)
    assert _waited(pressed, own, own + others) == pytest.approx(waited, abs=1e-9)

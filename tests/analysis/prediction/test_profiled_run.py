# SPDX-License-Identifier: MPL-2.0
"""What a reader of a prediction should know about its profiles."""

import pytest
from predicted_tasks import (
    MIXED,
    both_pools,
    profile,
    run_of,
)

from io_benchmark.analysis.prediction.predict import predict
from io_benchmark.report.content import text_of
from io_benchmark.sources.run_results import RunProfile


@pytest.mark.parametrize(("other_cpu_ms", "cpus"), [(601, "0.300"), (599, None)])
def test_busy_machine(other_cpu_ms: int, cpus: str | None) -> None:
    """A note says that other processes worked meanwhile, from 0.3 CPUs on."""
    made = profile(MIXED, change={"other_cpu_ms": other_cpu_ms})
    (task,) = predict([run_of(made)], both_pools())
    texts = [text_of(note).partition(":")[0] for note in task.notes]
    assert texts == ([f"Other processes used {cpus} CPUs meanwhile"] if cpus else [])


CPU_S = (7.2, 7.3, 7.1)
STANDS_ALONE = (
    "The profile run-0 stands alone: its CPU time is 8.60 s, that of the 3 others 7.10 to 7.30 s."
)


@pytest.mark.parametrize(
    ("cpu_s", "text"),
    [
        (CPU_S, ""),
        (
            (8.6, *CPU_S),
            STANDS_ALONE,
        ),
        # 10 % or more, and three times as much as the others differ.
        ((7.19 * 1.11, 7.19, 7.2), "The profile run-0 stands alone: its CPU time is 7.98 s"),
        ((7.19 * 1.09, 7.19, 7.2), ""),
        ((8.6, 7.2, 7.65), ""),
        ((8.6, 7.2), "The CPU time of the two profiles differs: 7.20 s and 8.60 s. A first run is"),
        ((7.8, 7.2), ""),
        ((8.6,), ""),
    ],
)
def test_a_profile_that_stands_alone(cpu_s: tuple[float, ...], text: str) -> None:
    """A note says so, by CPU time; of two it cannot say which one."""
    runs = [
        RunProfile(profile(MIXED, cpu_s=each), f"run-{number}", "tar", "intel")
        for number, each in enumerate(cpu_s)
    ]
    (task,) = predict(runs, both_pools())
    texts = [text_of(note) for note in task.notes]
    assert len(texts) == (1 if text else 0)
    assert not text or texts[0].startswith(text)


def test_a_time_that_stands_alone() -> None:
    """Where the CPU time does not differ: one run on another pool waited for a second more."""
    runs = [
        RunProfile(profile((0,) * windows, cpu_s=1, pool="amd-16"), "run", "tar", "amd-16")
        for windows in (4, 4, 6)
    ]
    (task,) = predict([run_of(profile(cpu_s=1)), *runs], both_pools())
    (text,) = map(text_of, task.notes)
    assert text.startswith(
        "The profile run stands alone: its time is 3.00 s, that of the 2 others 2"
    )

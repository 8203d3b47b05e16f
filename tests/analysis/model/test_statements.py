# SPDX-License-Identifier: MPL-2.0
"""analysis/statements.py: sentences with slots."""

import time
from itertools import pairwise

from io_benchmark.analysis.model.statements import Statement, count, joined, statement


def test_slots_of_one_name():
    """Each value has a slot; equal values share one."""
    inner = [statement("read {n}", n=count(number)) for number in (1, 2, 1)]
    made = statement("{a}, {b}, {c}, {n_2}", a=inner[0], b=inner[1], c=inner[2], n_2="x")
    assert made == Statement(
        "read {n}, read {n_2}, read {n}, {n_2_2}",
        (("n", count(1)), ("n_2", count(2)), ("n_2_2", "x")),
    )


def cpu_time_of(messages: int) -> float:
    parts = [statement("said {message}", message=str(number)) for number in range(messages)]
    start = time.process_time()
    assert len(joined(parts).values) == messages
    return time.process_time() - start


def test_thousands_of_messages():
    """A worker may write thousands of warnings: four times as many take four times as long."""
    times = [min(cpu_time_of(number) for _ in range(3)) for number in (1000, 4000)]
    assert all(later < 9 * earlier for earlier, later in pairwise(times))

# SPDX-License-Identifier: MPL-2.0
"""Fixed work: bursts of the same work before the first workload and after the last."""

import hashlib

import pytest
from measuring import fixed_work

WORKS = ["user", "kernel-copy", "kernel-calls"]


# Fifty times fewer retrieves make a long run.
FEWER = "from measuring import fixed_work; fixed_work.MANY_RETRIEVES //= 50"


@pytest.mark.parametrize(("retrieves", "bursts"), [(20, 5), (19, 1)])
def test_fixed_work(worker, retrieves, bursts):
    """The kinds of work alternate; all times are within the burst, and the work is what it says."""
    worker.complete("--retrieves", str(retrieves), "--sizes", "2x0.01", prelude=FEWER)
    (entry,), records = worker.retrieves(), worker.result().host.fixed_work
    assert [record.work for record in records] == WORKS * bursts * 2
    half = len(records) // 2
    assert records[half - 1].start_ns < entry.samples.start_ns[0]
    assert records[half].start_ns > entry.samples.start_ns[-1]
    for record in records:
        assert record.duration_ns >= 50e6
        # The clocks of wall and CPU time are read one after the other.
        assert 0 < record.user_ns + record.kernel_ns <= record.duration_ns + 1e6
        assert record.operations % (1000 if record.work == "kernel-calls" else 1) == 0
    copies = [record for record in records if record.work == "kernel-copy"]
    assert sum(burst.kernel_ns for burst in copies) > sum(burst.user_ns for burst in copies)


def test_the_text_is_fixed() -> None:
    """Another text would be other work, and no longer comparable with earlier results."""
    text = fixed_work._text()
    assert (len(text), hashlib.sha256(text).hexdigest()[:16]) == (9000, "bc706622e25fa019")


def test_work_that_cannot_be_done(worker):
    """The rest is measured, a warning says what is missing, and nothing stays open."""
    prelude = "import os, sys; sys.modules['bz2'] = None; del os.memfd_create"
    worker.measure("--retrieves", "10", prelude=prelude)
    result = worker.result()
    assert [burst.work for burst in result.host.fixed_work] == ["kernel-calls"] * 2
    assert [warning.name for warning in result.warnings] == ["fixed-work"] * 2

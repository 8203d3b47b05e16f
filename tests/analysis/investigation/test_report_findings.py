# SPDX-License-Identifier: MPL-2.0
"""What an investigation takes from the benchmark's report."""

from types import SimpleNamespace
from typing import Any

import pytest
import sample_report

from io_benchmark.analysis.investigation.report_findings import _slower_type, explain
from io_benchmark.report.content import text_of


def test_what_would_show_a_cause() -> None:
    """One command measures all that is missing."""
    (question,) = explain(sample_report.seed_case(), "amd-16", "intel").open_questions
    assert text_of(question) == (
        "measure random-io, which would show random-io: `io-benchmark submit -j "
        "io-benchmark-all-amd-16,io-benchmark-all-intel`, and give its group with the other "
        "results by --on"
    )


@pytest.mark.parametrize(("types", "expected"), [("aab", "a"), ("aba", "b"), ("aaa", "")])
def test_types_of_slower_machines(types: str, expected: str) -> None:
    """A machine type that the faster machine of a pool has as well is not to blame.

    The last machine is the faster one.
    """
    workers: list[Any] = [
        SimpleNamespace(side="p", machine=str(number), task_id="", instance_type=name)
        for number, name in enumerate(types)
    ]
    workers.append(SimpleNamespace(side="q", machine="9", task_id="", instance_type="a"))
    mixed: Any = SimpleNamespace(side="p", slower=("0", "1"))
    assert _slower_type(workers, mixed) == expected

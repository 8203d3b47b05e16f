# SPDX-License-Identifier: MPL-2.0
"""The systems of workers: between two of them, the work itself is not the same."""

from collections.abc import Sequence

from io_benchmark.analysis.model.run import Run
from io_benchmark.analysis.model.statements import Statement, statement
from io_benchmark.analysis.validity.engines import are_on_disks

SYSTEM_RULE = "os"
NOT_THE_SAME_WORK = statement(
    "The work is not the same: programs, calls and file systems differ. The figures show what "
    "tasks get; no cause is named."
)
_NAMES = {"linux": "Linux", "windows": "Windows"}
# What differs because the systems do: it is said once.
_FOLLOWING = frozenset(("copy-method", "lookup-method", "method", "cache-state"))


def name_of(system: str) -> str:
    return _NAMES.get(system, system)


def system_traits(run: Run) -> tuple[Statement, ...]:
    return (statement("measured on {system}", system=name_of(run.system)),)


def follows_from_system(rule: str, runs: Sequence[Run]) -> bool:
    """Return whether runs differ in what this rule compares because their systems differ."""
    if len({run.system for run in runs}) == 1:
        return False
    return rule in _FOLLOWING or (rule == "place-kind" and are_on_disks(runs))

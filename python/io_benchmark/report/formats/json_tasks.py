# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""A comparison of real tasks as JSON, by the rules of `json_documents`.

Versions:
  1 (2026-11-22)  the first
"""

from typing import Any, Literal

from msgspec import Struct
from msgspec.structs import asdict

from io_benchmark.analysis.statements import Statement
from io_benchmark.analysis.tasks.task_model import SideRuns, TaskComparison, TaskReport
from io_benchmark.report.formats import PLAIN, Layout
from io_benchmark.report.formats.json_documents import RULES

_VERSION: Literal[1] = 1


class _TasksDocument(Struct, frozen=True):
    """How long the same tasks took on several pools, and what they cost."""

    version: Literal[1]
    title: str
    baseline: str
    baseline_reason: str
    margin_ratio: float
    sides: tuple[SideRuns, ...]
    comparisons: tuple[TaskComparison, ...]
    unreadable: tuple[str, ...]
    remarks: tuple[Statement, ...]


def render_tasks(report: TaskReport, _layout: Layout = PLAIN) -> str:
    return RULES.encode(_TasksDocument(_VERSION, **asdict(report)))


def _tasks_schema() -> dict[str, Any]:
    return RULES.schema(f"io-benchmark tasks, version {_VERSION}", _TasksDocument)

# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""A report about real tasks for a bug, in the Markdown that GitHub and Bugzilla share."""

from io_benchmark.analysis.tasks.task_model import TaskReport
from io_benchmark.report.content.task_content import TaskAnswer, TaskContent
from io_benchmark.report.content.task_tables import TaskTable
from io_benchmark.report.formats import PLAIN, Layout
from io_benchmark.report.formats.markdown_text import (
    cut_for_comment,
    prose,
    table_row,
    titled_items,
)


def render_tasks(report: TaskReport, _layout: Layout = PLAIN) -> str:
    """Return the whole report, or as much as fits in a comment."""
    content = TaskContent.of(report)
    blocks = [
        f"## {prose(content.title)}",
        f"**{prose(content.nothing)}**" if content.nothing else "",
        "\n".join(line for answer in content.answers for line in _answer(answer)),
        titled_items("### Notes", content.notes),
        _table(content.times),
        *(_table(table) for table in content.labels),
        titled_items("### Not read", content.unreadable),
        titled_items("### Messages about the runs", content.remarks),
    ]
    return cut_for_comment("\n\n".join(block for block in blocks if block) + "\n")


def _answer(answer: TaskAnswer) -> list[str]:
    lines = [f"- **{prose(answer.lead)}** {prose(answer.text)}"]
    return lines + [f"    - {prose(title)}: {prose(text)}" for title, text in answer.below]


def _table(table: TaskTable) -> str:
    if not table.rows:
        return ""
    lines = [table_row(map(prose, ("", *table.heads))), "| --- |" + " ---: |" * len(table.heads)]
    lines += [table_row(map(prose, row)) for row in table.rows]
    title = f"### {prose(table.title)}\n\n" if table.title else ""
    return title + "\n".join(lines)

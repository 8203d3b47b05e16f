# SPDX-License-Identifier: MPL-2.0
"""Links to tasks and groups: only addresses that consist of a deployment's and of ids."""

import pytest
from sample_report import worker

from io_benchmark.report.links import group_link, task_link

TASK, GROUP = "PJUgN8IKTxC2TCrqoehGLA", "Fqm6GL_zRPurCmd1rRuTRQ"
ROOT = "https://tc.example:8080"


@pytest.mark.parametrize(
    ("source", "task_id", "group_id", "links"),
    [
        (f"{ROOT}/tasks/{TASK}/runs/0", TASK, GROUP, (1, 1)),
        (f"{ROOT}/tasks/{TASK}", TASK, None, (1, 0)),
        (f"{ROOT}/tasks/{TASK}/runs/0", GROUP, "../evil", (0, 0)),
        (f"{ROOT}/tasks/{TASK}/runs/0?x", TASK, GROUP, (0, 0)),
        (f"javascript:{ROOT}/tasks/{TASK}", TASK, GROUP, (0, 0)),
        (f"https://user@tc.example/tasks/{TASK}", TASK, GROUP, (0, 0)),
        (f"results/{TASK}.0/io-benchmark.json", TASK, GROUP, (0, 0)),
    ],
)
def test_links(source: str, task_id: str, group_id: str | None, links: tuple[int, int]) -> None:
    """A result that a deployment had leads to its task, and where its group is known to that."""
    run = worker("intel", 1, source=source, task_id=task_id, group_id=group_id)
    expected = [
        link if has else ""
        for link, has in zip((source, f"{ROOT}/tasks/groups/{GROUP}"), links, strict=True)
    ]
    assert [task_link(run), group_link(run)] == expected


def test_a_job_elsewhere() -> None:
    """A task of another CI system leads to its job there."""
    run = worker("intel", 1, url="https://github.com/a/b/actions/runs/1")
    assert task_link(run) == "https://github.com/a/b/actions/runs/1"

# SPDX-License-Identifier: MPL-2.0
"""The tasks that an investigation creates."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from io_benchmark.errors import ResultError
from io_benchmark.operations import submit
from io_benchmark.operations.investigation_tasks import InvestigationOptions, InvestigationTasks
from io_benchmark.sources.taskcluster.addresses import TaskAddress

TASK = TaskAddress("https://tc.example.com", "Prp_WjpGRx26VH-wA8fjTA", None)
CREDENTIALS = {
    "TASKCLUSTER_ROOT_URL": TASK.root_url,
    "TASKCLUSTER_CLIENT_ID": "me",
    "TASKCLUSTER_ACCESS_TOKEN": "x",
}
OPTIONS = InvestigationOptions(
    runs=(),
    on=(),
    profiles=(),
    project="",
    pools_file=None,
    journal=None,
    dry_run=False,
    yes=True,
    budget_hours=1.0,
    image=None,
    owner=None,
    root=None,
    prices={},
)


@pytest.mark.parametrize(
    ("image", "engine", "expected"),
    [("debian:12", "docker", "debian:12"), (None, "native", None)],
)
def test_the_image_of_new_tasks(
    image: str | None,
    engine: str,
    expected: str | None,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """They have that of the slow task; a native one has none, and theirs need none."""
    submitted: list[Any] = []
    monkeypatch.setattr(submit, "submit", lambda options, *_rest: submitted.append(options))
    context: Any = SimpleNamespace(environment=CREDENTIALS, is_interactive=False)
    monkeypatch.chdir(tmp_path)
    tasks = InvestigationTasks.open(TASK, image, engine, OPTIONS, context)
    tasks.measure({"amd-16": "proj/amd"})
    assert [options.image for options in submitted] == [expected]


def test_no_image_is_known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody knows in what the benchmark would run."""
    monkeypatch.chdir(tmp_path)
    context: Any = SimpleNamespace(environment=CREDENTIALS, is_interactive=False)
    tasks = InvestigationTasks.open(TASK, None, None, OPTIONS, context)
    with pytest.raises(ResultError, match="the task has no image for the benchmark; give --image"):
        tasks.measure({"amd-16": "proj/amd"})

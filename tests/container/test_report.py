# SPDX-License-Identifier: MPL-2.0
"""The report's task in its own image: the program baked in, results from outside or the group."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import seed_case
from checkout import ROOT
from loopback import Loopback
from loopback_deployment import Deployment, add_group
from msgspec.structs import replace
from submitted_tasks import complete

from io_benchmark.execute import local_run
from io_benchmark.execute.local_run import LocalRun, RunOutcome
from io_benchmark.graph.generate import generate
from io_benchmark.graph.root import Root

pytestmark = [
    pytest.mark.container,
    pytest.mark.root,
    # taskgraph opens files and leaves it to the interpreter to close them.
    pytest.mark.filterwarnings("ignore:unclosed file:ResourceWarning"),
]

LABEL = "io-benchmark-report"
WRITTEN = [
    "live.log",
    "report.html",
    "report.json",
    "report.md",
]


@pytest.fixture
def report_run(make_run: Callable[..., LocalRun], report_image: str) -> LocalRun:
    """The generated task."""
    assert report_image.startswith(f"localhost/io-benchmark/{LABEL}:")
    [task] = generate(Root(ROOT, "checkout"), [LABEL])
    assert task.image == LABEL
    return make_run("", label=LABEL, definition=task.definition, image=task.image)


def test_results_of_a_folder(lab: Any, report_run: LocalRun, tmp_path: Path) -> None:
    """A rehearsal's way: the folder is mounted, the seed's answer comes out in every form."""
    seed_case.write(tmp_path / "results")
    run = replace(report_run, results=tmp_path / "results")
    outcome = lab.executor().run(run, print)
    log = (run.output / "live.log").read_text()
    assert replace(outcome, started="", resolved="") == RunOutcome(0, "completed", "", "", ()), log
    assert sorted(path.name for path in run.output.iterdir()) == WRITTEN
    assert "1.92×" in log
    assert "1.92×" in (run.output / "report.md").read_text()
    assert (run.output / "report.html").read_text().startswith("<!DOCTYPE html>")
    document = json.loads((run.output / "report.json").read_text())
    assert document["baseline"] == "intel"
    assert lab.left_over() == []


def test_a_task_group(lab: Any, report_run: LocalRun, monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker's way: the group is asked for anonymously; a retrigger counts, what failed is named."""
    deployment = Deployment()
    group = add_group(deployment, 6)
    *completed, failed = deployment.groups[group]
    for task_id in completed:
        complete(deployment, task_id)
    deployment.change_runs(failed, "failed")
    deployment.artifacts = {
        key: artifact for key, artifact in deployment.artifacts.items() if key[0] != failed
    }
    definition = {**report_run.definition, "taskGroupId": group}
    with Loopback(deployment) as loopback:
        monkeypatch.setattr(local_run, "ROOT_URL", loopback.url)
        outcome = lab.executor().run(replace(report_run, definition=definition), print)
    log = (report_run.output / "live.log").read_text()
    assert replace(outcome, started="", resolved="") == RunOutcome(0, "completed", "", "", ()), log
    assert "[6/6] 5 completed, 1 failed after 0 min" in log
    assert f"missing: task {failed} run 0 (io-benchmark-intel-2): " in log
    document = json.loads((report_run.output / "report.json").read_text())
    (subject,) = document["subjects"]
    workers = {side: figures["workers"] for side, figures in subject["figures"].items()}
    assert workers == {"amd-16": 2, "amd-30": 2, "intel": 1}
    assert failed in (report_run.output / "report.html").read_text()
    assert lab.left_over() == []


def test_a_rehearsal(lab: Any, report_image: str, tmp_path: Path) -> None:
    """Two pools and the report, each in its image; the page is next to the results."""
    assert report_image
    command = [
        *(sys.executable, "-m", "io_benchmark.cli", "rehearse", "--root", str(ROOT)),
        *("-j", f"amd-16,intel,{LABEL}", "--container", "podman", "--output", "out"),
    ]
    done = subprocess.run(
        command,
        cwd=tmp_path,
        env={**os.environ, **lab.environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    page = tmp_path / "out" / LABEL / "report.html"
    assert f"Report of the report task: {page}" in done.stderr
    assert sorted(path.name for path in page.parent.iterdir()) == WRITTEN
    assert lab.left_over() == []

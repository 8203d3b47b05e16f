# SPDX-License-Identifier: MPL-2.0
"""A generated task's whole command in the project's own image, through the real run-task."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from worker import retrieves_of

from io_benchmark.execute.local_run import LocalRun, RunOutcome
from io_benchmark.graph.generate import generate
from io_benchmark.graph.root import Root
from io_benchmark.sources.folder.run_files import read_run

pytestmark = [
    pytest.mark.container,
    pytest.mark.root,
    # taskgraph opens files and leaves it to the interpreter to close them.
    pytest.mark.filterwarnings("ignore:unclosed file:ResourceWarning"),
]

REPOSITORY = Path(__file__).resolve().parents[2]

CHANGES = {
    # Inside the image's volume, and in the container's own layer.
    "places: [workspace]": (
        "places: [workspace, {name: container, path: /builds/worker/io-benchmark}]"
    ),
    # So that two places fit into max-run-time; a quick run makes 100 of them at most.
    "retrieves: 2000": "retrieves: 1000",
}


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The project's kinds and script, asking for a place outside the volumes as well."""
    copy = tmp_path_factory.mktemp("tree")
    for part in ("taskcluster", "scripts/io-benchmark", "python/io_benchmark_taskgraph"):
        shutil.copytree(
            REPOSITORY / part, copy / part, ignore=shutil.ignore_patterns("__pycache__")
        )
    kind = copy / "taskcluster" / "kinds" / "io-benchmark" / "kind.yml"
    text = kind.read_text()
    for before, after in CHANGES.items():
        assert text.count(before) == 1
        text = text.replace(before, after)
    kind.write_text(text)
    return copy


@pytest.fixture
def generated_run(tree: Path, make_run: Callable[..., LocalRun]) -> LocalRun:
    """Pool amd-16's task as the queue would get it, in quick sizes."""
    (task,) = generate(Root(tree, "--root"), ["amd-16"])
    assert task.image == "update-verify"
    return replace(
        make_run(""),
        label=task.label,
        pool=task.pool,
        definition=task.definition,
        image=task.image,
        root=tree,
    )


def test_generated_task_in_the_image(lab: Any, generated_run: LocalRun) -> None:
    """It completes, its artifacts are those that the payload names, and nothing stays behind."""
    outcome = lab.executor().run(generated_run, lambda _line: None)
    log = (generated_run.output / "live.log").read_text()
    assert replace(outcome, started="", resolved="") == RunOutcome(0, "completed", "", "", ()), log
    assert sorted(path.name for path in generated_run.output.iterdir()) == [
        "io-benchmark.json",
        "live.log",
        "perfherder-data-io-benchmark.json",
    ]
    assert lab.left_over() == []
    result = read_run(generated_run.output / "io-benchmark.json").result
    assert (result.outcome.state, result.outcome.reason) == ("completed", None)
    assert (result.task.pool, result.task.task_id, result.task.run_id) == (
        "amd-16",
        generated_run.task_id,
        generated_run.run_id,
    )
    assert (result.config.profile, result.config.environment) == (
        "quick",
        {"IO_BENCHMARK_PROFILE": "quick"},
    )
    # A volume is on the host's file system, the rest of the container on overlay.
    assert {place.name: (place.path, place.kind) for place in result.storage.places} == {
        "workspace": ("/builds/worker/workspace", "volume"),
        "container": ("/builds/worker/io-benchmark", "overlay"),
    }
    # The seed asked for a cold cache in vain and never knew.
    states = [entry.cache_state for entry in retrieves_of(result)]
    assert [state and state.drop_caches for state in states] == [
        "refused: Read-only file system",
        "refused: Read-only file system",
    ]
    suites = json.loads((generated_run.output / "perfherder-data-io-benchmark.json").read_text())
    assert suites["suites"] != []

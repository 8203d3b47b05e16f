# SPDX-License-Identifier: MPL-2.0
"""The commands of generated tasks: a pool's and the report's, each in the image that it names."""

import pytest
from checkout import ROOT

from io_benchmark.execute.local_run import LocalRun
from io_benchmark.graph.generate import generate
from io_benchmark.graph.root import Root
from io_benchmark.sources import run_files

pytestmark = [
    pytest.mark.container,
    pytest.mark.root,
    # taskgraph opens files and leaves it to the interpreter to close them.
    pytest.mark.filterwarnings("ignore:unclosed file:ResourceWarning"),
]
REPORT = "io-benchmark-report"
TASK_ID = "Prp_WpjGRx26VH-wA8fjTA"
RESULTS = "/builds/worker/results"


def run_of(task, workspace, output):
    """Return a run of small sizes."""
    return LocalRun(
        task=task,
        task_id=TASK_ID,
        group_id=TASK_ID,
        parent=workspace,
        output=output,
        profile="quick",
    )


def test_a_pool_and_the_report_in_their_images(lab, report_image, tmp_path):
    """A container each, the workspace bound from outside, the page; nothing stays behind."""
    workspace, results = tmp_path / "workspace", tmp_path / "results"
    workspace.mkdir()
    tasks = {task.kind: task for task in generate(Root.find(ROOT), ["intel", REPORT])}
    run = run_of(tasks["io-benchmark"], workspace, run_files.run_folder(results, TASK_ID, 0))
    bind = f"type=bind,source={workspace},target=/builds/worker/workspace"
    exit_code, lines = lab.run(lab.build(tasks["io-benchmark"].image), run, "--mount", bind)
    assert exit_code == 0, lines
    result = run_files.read_run(run.output).result
    assert result.outcome.state == "completed"
    assert result.host is not None
    assert result.host.user_id == 1000
    assert result.host.container is not None
    assert result.host.container.root_filesystem == "overlay"
    (place,) = result.storage.places
    assert (place.path, place.kind) == ("/builds/worker/workspace", "volume")
    assert place.mount is not None
    assert place.mount.root.startswith(str(workspace))
    assert list(workspace.iterdir()) == []
    if report_image:
        report = run_of(tasks[REPORT], workspace, tmp_path / "report")
        bind = f"type=bind,source={results},target={RESULTS},readonly"
        variable = f"IO_BENCHMARK_REPORT_OF={RESULTS}"
        exit_code, lines = lab.run(report_image, report, "--mount", bind, "--env", variable)
        # One pool alone is compared with none; its page says so.
        assert exit_code == 1, lines
        assert lines[-1].endswith("--details.")
        assert any(
            line.endswith("Only intel has results, so there is nothing to compare.")
            for line in lines
        )
        names = ["report.html", "report.json", "report.md"]
        assert sorted(path.name for path in report.output.iterdir()) == names
    assert lab.left_over() == []
    if not report_image:
        pytest.skip("the report's image: no Debian mirror or package index can be reached")

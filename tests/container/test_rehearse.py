# SPDX-License-Identifier: MPL-2.0
"""The command rehearse with --container: every pool in the image that its task names."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from checkout import ROOT

from io_benchmark.sources.folder import run_files

REPORT = "io-benchmark-report"
pytestmark = [
    pytest.mark.container,
    pytest.mark.root,
    # taskgraph opens files and leaves it to the interpreter to close them.
    pytest.mark.filterwarnings("ignore:unclosed file:ResourceWarning"),
]


def test_pools_and_report_in_their_images(lab: Any, report_image: str, tmp_path: Path) -> None:
    """A container each, one pool's workspace bound from outside, the page; nothing stays behind."""
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    labels = ["amd-16", "intel", *([REPORT] if report_image else [])]
    command = [
        *(sys.executable, "-m", "io_benchmark.cli", "rehearse", "--root", str(ROOT)),
        *("-j", ",".join(labels), "--container", "podman"),
        *("--at", f"intel={workspace}", "--output", "out"),
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
    assert "Building the image update-verify with podman" in done.stderr
    page = tmp_path / "out" / REPORT / "report.html"
    if report_image:
        assert f"Report of the report task: {page}" in done.stderr
        names = ["live.log", "report.html", "report.json", "report.md"]
        assert sorted(path.name for path in page.parent.iterdir()) == names
    folders = [path for path in (tmp_path / "out").iterdir() if path != page.parent]
    runs = {run.pool: run.result for run in map(run_files.read_run, folders)}
    assert sorted(runs) == ["amd-16", "intel"]
    for pool, result in runs.items():
        assert result.outcome.state == "completed"
        assert result.host is not None
        assert result.host.user_id == 1000
        assert result.host.container is not None
        assert result.host.container.root_filesystem == "overlay"
        (place,) = result.storage.places
        assert (place.path, place.kind) == ("/builds/worker/workspace", "volume")
        assert place.mount is not None
        assert place.mount.root.startswith(str(workspace)) == (pool == "intel")
    assert list(workspace.iterdir()) == []
    assert lab.left_over() == []
    if not report_image:
        pytest.skip("the report's image: no Debian mirror or package index can be reached")

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

pytestmark = [
    pytest.mark.container,
    pytest.mark.root,
    # taskgraph opens files and leaves it to the interpreter to close them.
    pytest.mark.filterwarnings("ignore:unclosed file:ResourceWarning"),
]


def test_all_pools_in_their_image(lab: Any, tmp_path: Path) -> None:
    """Three containers in turn, one pool's workspace bound from outside; nothing stays behind."""
    other = tmp_path / "other"
    other.mkdir()
    command = [
        *(sys.executable, "-m", "io_benchmark.cli", "rehearse", "--root", str(ROOT)),
        *("-j", "amd-16,amd-30,intel", "--container", "podman"),
        *("--at", f"intel={other}", "--output", "out"),
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
    measured = [run_files.read_run(folder) for folder in (tmp_path / "out").iterdir()]
    assert sorted(one.pool for one in measured) == ["amd-16", "amd-30", "intel"]
    for one in measured:
        assert one.result.outcome.state == "completed"
        assert one.result.host is not None
        assert one.result.host.user_id == 1000
        assert one.result.host.container is not None
        assert one.result.host.container.root_filesystem == "overlay"
        (place,) = one.result.storage.places
        assert (place.path, place.kind) == ("/builds/worker/workspace", "volume")
        assert place.mount is not None
        assert place.mount.root.startswith(str(other)) == (one.pool == "intel")
    assert list(other.iterdir()) == []
    assert lab.left_over() == []

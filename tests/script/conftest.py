# SPDX-License-Identifier: MPL-2.0
"""What the tests of the worker's script share."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest
from profiled import Profiled
from system.linux import kernel
from worker import Worker

sys.dont_write_bytecode = True  # the script's folder stays as it is in the checkout


@pytest.fixture
def worker(tmp_path: Path) -> Worker:
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    return Worker(workspace, tmp_path / "artifacts")


@pytest.fixture
def profiled(tmp_path: Path) -> Profiled:
    """Runs commands by `measure`; the folder of the profile does not exist yet."""
    return Profiled(tmp_path / "artifacts" / "task-profile.json")


@pytest.fixture
def recorded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Puts a recorded /proc and /sys before the script: files by path, links by path."""
    root = tmp_path / "recorded"

    def record(files: Mapping[str, str], links: Mapping[str, str] | None = None) -> None:
        links = links or {}
        for path in (*files, *links):
            (root / path.lstrip("/")).parent.mkdir(parents=True, exist_ok=True)
        for path, text in files.items():
            (root / path.lstrip("/")).write_text(text)
        for path, to in links.items():
            (root / path.lstrip("/")).symlink_to(to)
        monkeypatch.setattr(kernel, "ROOT", str(root))

    return record


@pytest.fixture
def mount(tmp_path: Path) -> Iterator[Callable[[str], Path]]:
    """Mounts a tmpfs with the given options; undone whatever happens."""
    if os.geteuid() != 0:
        pytest.skip("needs root: mounts a small file system")
    mounted: list[Path] = []

    def make(options: str) -> Path:
        point = tmp_path / f"mounted-{len(mounted)}"
        point.mkdir()
        subprocess.run(["mount", "-t", "tmpfs", "-o", options, "none", point], check=True)
        mounted.append(point)
        return point

    try:
        yield make
    finally:
        for point in reversed(mounted):
            subprocess.run(["umount", point], check=True)

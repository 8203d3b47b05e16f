# SPDX-License-Identifier: MPL-2.0
"""Make something once per test session, for all processes that run its tests."""

import fcntl
import os
from collections.abc import Callable
from pathlib import Path

import pytest

_folders: list[Path] = []


def set_session_folder(factory: pytest.TempPathFactory) -> None:
    """Choose the folder that all processes of this session share."""
    base = factory.getbasetemp()
    # A process of pytest-xdist has a separate folder inside the session's.
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "once"
    folder.mkdir(exist_ok=True)
    _folders[:] = [folder]


def text_of(name: str, make: Callable[[], str]) -> str:
    """Return the text that the first caller with this name makes."""
    (folder,) = _folders
    with (folder / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        file = folder / name
        if not file.exists():
            unfinished = folder / f"{name}.unfinished"
            unfinished.write_text(make(), encoding="utf-8")
            unfinished.rename(file)
        return file.read_text(encoding="utf-8")

# SPDX-License-Identifier: MPL-2.0
"""The checkout that is tested, and copies of it that a test may write into."""

import shutil
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
KIND = ROOT / "taskcluster" / "kinds" / "io-benchmark"
# What users carry, at most.
SIZES = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["sizes"]

# What a checkout has and a clone has not (.gitignore says the same).
_NOT_IN_A_CLONE = shutil.ignore_patterns(
    ".git",
    ".tox",
    ".venv*",
    ".*_cache",
    ".hypothesis",
    "__pycache__",
    "build",
    "dist",
    "io-benchmark-results",
)


def copy_checkout(target: Path) -> Path:
    """What a fresh clone holds, without its history."""
    shutil.copytree(ROOT, target, ignore=_NOT_IN_A_CLONE, symlinks=True)
    return target


def copy_firefox(target: Path) -> Path:
    """Copy the stand-in for a Firefox checkout."""
    shutil.copytree(ROOT / "tests/adopt/firefox", target, ignore=_NOT_IN_A_CLONE)
    return target


def contents(folder: Path) -> dict[str, bytes]:
    """Return every file of a folder by its relative path."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


def snapshot(folder: Path) -> dict[str, tuple[bytes, int]]:
    """Return bytes and mode of every file by its path."""
    return {
        path.relative_to(folder).as_posix(): (path.read_bytes(), path.stat().st_mode)
        for path in folder.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }

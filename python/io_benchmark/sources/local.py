# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Results on this machine: a run's folder, a folder of such folders, or a bare file."""

import os
import re
import stat
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from io_benchmark.errors import ResultError, UsageError
from io_benchmark.sources import layout
from io_benchmark.sources.address import SLUG_PATTERN
from io_benchmark.text import clean


def find(path: Path) -> list[Path]:
    """The folders and files to read one by one, in order; a UsageError where there are none."""
    shown = clean(str(path), 300)
    try:
        mode = path.stat().st_mode
        if not stat.S_ISDIR(mode):
            return [path]
        if _exists(path / layout.RESULT_NAME):
            return [path]
        folders = sorted(one for one in path.iterdir() if _is_run(one))
        if folders:
            return folders
        below = [one.name for one in path.iterdir() if one.is_dir() and any(_runs_in(one))]
    except FileNotFoundError:
        raise UsageError(f"{shown}: no such file or folder{_meant(path)}") from None
    except OSError as error:
        raise UsageError(f"{shown}: {error.strerror}") from None
    if below:
        newest = clean(str(path / max(below)), 300)
        raise UsageError(f"{shown}: has several folders of results; name one, such as {newest}")
    raise UsageError(
        f"{shown}: has no results; name a folder that contains TASKID.RUNID/{layout.RESULT_NAME}"
    )


def read(path: Path) -> layout.Measured:
    """One of those found: a run, or a bare file, whose worker nobody knows."""
    folder = path if path.is_dir() else path.parent
    file = path / layout.RESULT_NAME if path.is_dir() else path
    _check_regular(file)
    task = folder / layout.TASK_NAME
    if file.name == layout.RESULT_NAME and _exists(task):
        _check_regular(task)
        return replace(layout.read_run(folder), source=str(path))
    return replace(layout.read_file(file), source=str(path))


def size_bytes(path: Path) -> int:
    """Of the result file of one of those found; nothing where reading it will fail."""
    try:
        return (path / layout.RESULT_NAME if path.is_dir() else path).stat().st_size
    except OSError:
        return 0


def _is_run(path: Path) -> bool:
    """Has a result, or should have one by its name."""
    if not path.is_dir() or path.name.startswith("."):
        return False
    return bool(layout.FOLDER.fullmatch(path.name)) or _exists(path / layout.RESULT_NAME)


def _runs_in(folder: Path) -> Iterator[Path]:
    try:
        yield from (one for one in folder.iterdir() if _is_run(one))
    except OSError:
        return


def _exists(path: Path) -> bool:
    return os.path.lexists(path)


def _check_regular(path: Path) -> None:
    """A pipe or a device would be read for ever."""
    shown = clean(str(path), 300)
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise ResultError(f"{shown}: is not a regular file")
    except FileNotFoundError:
        raise ResultError(f"{shown}: does not exist: the run left no result") from None
    except OSError as error:
        raise ResultError(f"{shown}: {error.strerror}") from None


def _meant(path: Path) -> str:
    name = str(path)
    if re.fullmatch(SLUG_PATTERN, name):
        return f"; is task:{name} or group:{name} meant?"
    if re.fullmatch(rf"{SLUG_PATTERN}\.[0-9]+", name):
        return f"; is task:{name} meant?"
    return "; give a folder, task:ID, group:ID, index:ROUTE or an address"

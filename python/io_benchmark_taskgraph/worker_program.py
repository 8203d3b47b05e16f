# SPDX-License-Identifier: MPL-2.0
"""The worker's program as one file, and how a task's command carries it.

The file is a zip application of all modules of the script's folder, uncompressed, so its sha256 depends on
their contents alone. A command carries it compressed once by zlib, whose bytes may differ between machines.
"""

from __future__ import annotations

import base64
import hashlib
import io
import re
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath

from io_benchmark_taskgraph.mistakes import BadKeyError, there_are

KEY = "benchmark.script"
MAIN = "__main__.py"
WORKLOADS = "workloads"
# Linux's MAX_ARG_STRLEN, 32 pages, without the zero byte at the end. Only a worker would check it.
MAX_ARGUMENT_BYTES = 131_071
# Reads on stdin what `arguments` has, and writes the file to stdout.
UNPACK = """\
python3 -I -c '
import base64, sys, zlib
sys.stdout.buffer.write(zlib.decompress(base64.b64decode(sys.stdin.read())))
'"""
_SHEBANG = b"#!/usr/bin/env python3\n"
# Paths that `import` can name.
_MODULE_PATH = re.compile(r"(?:[A-Za-z0-9_]+/)*[A-Za-z0-9_]+\.py")
_VERSION = re.compile(r'^SCRIPT_VERSION = "([0-9A-Za-z.+-]+)"$', re.MULTILINE)
# Constants of a workload's class, read as text, because a decision task does not run the script.
_MAXIMUM_S = re.compile(r"^    maximum_s = ([0-9_]{1,9})$", re.MULTILINE)
_ONCE_PER_TASK = re.compile(r"^    per_place = False\b", re.MULTILINE)


class WorkerProgram:
    """Modules, given as texts by their paths within the script's folder, as one file."""

    def __init__(self, modules: Mapping[str, str]) -> None:
        versions = _VERSION.findall("\n".join(modules.values()))
        if len(versions) != 1:
            problem = f"{len(versions)} lines of the script's modules say its version"
            raise BadKeyError(KEY, f'{problem}; write one line SCRIPT_VERSION = "1.0.0"')
        self.version: str = versions[0]
        self.data = _packed(modules)
        self.sha256 = hashlib.sha256(self.data).hexdigest()

    @classmethod
    def read(cls, root: Path, script: str) -> WorkerProgram:
        """Read the script's folder; every task carries all of it, so that there is one sha256."""
        folder = _checked_folder(root, script)
        paths = (file.relative_to(folder).as_posix() for file in folder.rglob("*.py"))
        names = sorted(path for path in paths if _MODULE_PATH.fullmatch(path))
        return cls({path: _read(root, script, path) for path in names})

    def arguments(self) -> list[str]:
        """Return the encoded program in parts that each fit into one argument."""
        encoded = base64.b64encode(zlib.compress(self.data, 9)).decode("ascii")
        starts = range(0, len(encoded), MAX_ARGUMENT_BYTES)
        return [encoded[start : start + MAX_ARGUMENT_BYTES] for start in starts]


def workload_names(folder: Path) -> list[str]:
    """Return the names of the workloads: `workloads/cache_retrieve.py` is `cache-retrieve`."""
    files = folder.glob(f"{WORKLOADS}/[!_]*.py")
    return sorted(file.stem.replace("_", "-") for file in files)


def maximum_time_s(root: Path, script: str, workloads: Sequence[str], places: int) -> int:
    """Return the longest time that workloads take, by the constants of their classes."""
    seconds = 0
    for workload in workloads:
        names = workload_names(_checked_folder(root, script))
        if workload not in names:
            raise BadKeyError("benchmark.workloads", f"{workload!r} is unknown; {there_are(names)}")
        path = f"{WORKLOADS}/{workload.replace('-', '_')}.py"
        module = _read(root, script, path)
        maximum = _MAXIMUM_S.search(module)
        if maximum is None:
            problem = "has no maximum time; write one line maximum_s = 60 in its class"
            raise BadKeyError(KEY, f"{script}/{path} {problem}")
        seconds += int(maximum.group(1)) * (1 if _ONCE_PER_TASK.search(module) else places)
    return seconds


def _checked_folder(root: Path, script: str) -> Path:
    """Return the script's folder; refuse one that does not hold the script."""
    folder, problem = root / script, None
    if not folder.is_dir():
        problem = f"there is no folder {script} in {root}"
    elif not (folder / MAIN).is_file():
        problem = f"the folder {script} has no {MAIN}"
    if problem is not None:
        raise BadKeyError(KEY, f"{problem}; name the script's folder")
    return folder


def _read(root: Path, script: str, path: str) -> str:
    try:
        return (root / script / path).read_bytes().decode("utf-8")
    except UnicodeDecodeError as error:
        problem = f"is not UTF-8 at byte {error.start}; save it so"
        raise BadKeyError(KEY, f"{script}/{path} {problem}") from None


def _packed(modules: Mapping[str, str]) -> bytes:
    """Return a zip file after a shebang, with fixed order, date and modes."""
    # Before Python 3.13 a folder without __init__.py can be imported only if it has an entry.
    folders = {
        f"{folder}/" for path in modules for folder in list(PurePosixPath(path).parents)[:-1]
    }
    file = io.BytesIO()
    file.write(_SHEBANG)
    with zipfile.ZipFile(file, "w") as archive:
        for path in sorted({*modules, *folders}):
            entry = zipfile.ZipInfo(path)  # midnight on the first day of 1980
            entry.create_system = 3  # Unix
            entry.external_attr = (0o40755 if path in folders else 0o100644) << 16
            archive.writestr(entry, modules.get(path, "").encode("utf-8"))
    return file.getvalue()

# SPDX-License-Identifier: MPL-2.0
"""The worker's program as one file, and how a task's command carries it.

The file is a zip application of all modules of the program's folder, uncompressed, so its sha256 depends on
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

# In a checkout of this project a link to scripts/io-benchmark.
FOLDER = Path(__file__).parent / "worker"
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
    """Modules, given as texts by their paths within the program's folder, as one file."""

    def __init__(self, modules: Mapping[str, str]) -> None:
        self.version: str = _VERSION.findall("\n".join(modules.values()))[0]
        self.data = _packed(modules)
        self.sha256 = hashlib.sha256(self.data).hexdigest()

    @classmethod
    def read(cls, folder: Path = FOLDER) -> WorkerProgram:
        """Read the program's folder; every task carries all of it, so that there is one sha256."""
        paths = (file.relative_to(folder).as_posix() for file in folder.rglob("*.py"))
        names = sorted(path for path in paths if _MODULE_PATH.fullmatch(path))
        return cls({path: (folder / path).read_bytes().decode("utf-8") for path in names})

    def arguments(self) -> list[str]:
        """Return the encoded program in parts that each fit into one argument."""
        encoded = base64.b64encode(zlib.compress(self.data, 9)).decode("ascii")
        starts = range(0, len(encoded), MAX_ARGUMENT_BYTES)
        return [encoded[start : start + MAX_ARGUMENT_BYTES] for start in starts]


def workload_names(folder: Path = FOLDER) -> list[str]:
    """Return the names of the workloads: `workloads/cache_retrieve.py` is `cache-retrieve`."""
    files = folder.glob(f"{WORKLOADS}/[!_]*.py")
    return sorted(file.stem.replace("_", "-") for file in files)


def maximum_time_s(workloads: Sequence[str], places: int, folder: Path = FOLDER) -> int:
    """Return the longest time that workloads take, by the constants of their classes."""
    names, seconds = workload_names(folder), 0
    for workload in workloads:
        if workload not in names:
            raise BadKeyError("benchmark.workloads", f"{workload!r} is unknown; {there_are(names)}")
        module = (folder / WORKLOADS / f"{workload.replace('-', '_')}.py").read_text("utf-8")
        maximum_s = int(_MAXIMUM_S.findall(module)[0])
        seconds += maximum_s * (1 if _ONCE_PER_TASK.search(module) else places)
    return seconds


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

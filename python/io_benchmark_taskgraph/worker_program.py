# SPDX-License-Identifier: MPL-2.0
"""The worker's program as one file, and how a task's command carries it.

The file is a zip application of uncompressed modules, so its sha256 depends on their contents alone. A
command carries it compressed once by zlib, whose bytes may differ between machines.
"""

from __future__ import annotations

import base64
import hashlib
import io
import re
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path, PurePosixPath

from io_benchmark_taskgraph.mistakes import BadKeyError
from io_benchmark_taskgraph.script_modules import KEY, needed_modules, workload_names

# Linux's MAX_ARG_STRLEN, 32 pages, without the zero byte at the end. Only a worker would check it.
MAX_ARGUMENT_BYTES = 131_071
# Reads on stdin what `arguments` has, and writes the file to stdout.
UNPACK = """\
python3 -I -c '
import base64, sys, zlib
sys.stdout.buffer.write(zlib.decompress(base64.b64decode(sys.stdin.read())))
'"""
_SHEBANG = b"#!/usr/bin/env python3\n"
_VERSION = re.compile(r'^SCRIPT_VERSION = "([0-9A-Za-z.+-]+)"$', re.MULTILINE)


class WorkerProgram:
    """Modules, given as texts by their paths within the script's folder, as one file."""

    def __init__(self, modules: Mapping[str, str]) -> None:
        versions = _VERSION.findall("\n".join(modules.values()))
        if len(versions) != 1:
            text = f"{len(versions)} lines of the script's modules say its version"
            raise BadKeyError(KEY, f'{text}; write one line SCRIPT_VERSION = "1.0.0"')
        self.version: str = versions[0]
        self.data = _packed(modules)
        self.sha256 = hashlib.sha256(self.data).hexdigest()

    @classmethod
    def whole(cls, root: Path, folder: str) -> WorkerProgram:
        """Read the program with all workloads, which every task carries: one file, one sha256."""
        return cls(needed_modules(root, folder, workload_names(root / folder)))

    def arguments(self) -> list[str]:
        """Return the encoded program in parts that each fit into one argument."""
        encoded = base64.b64encode(zlib.compress(self.data, 9)).decode("ascii")
        starts = range(0, len(encoded), MAX_ARGUMENT_BYTES)
        return [encoded[start : start + MAX_ARGUMENT_BYTES] for start in starts]


def _packed(modules: Mapping[str, str]) -> bytes:
    """Return a zip file after a shebang, with fixed order, date and modes."""
    # Before Python 3.13 a folder without __init__.py can be imported only if it has an entry.
    folders = {
        f"{folder}/"
        for path in modules
        for folder in list(PurePosixPath(path).parents)[:-1]
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

# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""The worker's script as one file: a zip application whose bytes depend on its modules alone."""

from __future__ import annotations

import base64
import gzip
import hashlib
import io
import re
import zipfile
from collections.abc import Mapping
from pathlib import PurePosixPath

from io_benchmark_taskgraph.mistakes import BadKeyError

KEY = "benchmark.script"
SHEBANG = b"#!/usr/bin/env python3\n"
_VERSION = re.compile(r'^SCRIPT_VERSION = "([0-9A-Za-z.+-]+)"$', re.MULTILINE)


class ZipApplication:
    """Modules, given as texts by their paths within the script's folder, as one file."""

    def __init__(self, modules: Mapping[str, str]) -> None:
        versions = [
            each for text in modules.values() for each in _VERSION.findall(text)
        ]
        if len(versions) != 1:
            text = f"{len(versions)} lines of the script's modules say its version"
            raise BadKeyError(KEY, f'{text}; write one line SCRIPT_VERSION = "1.0.0"')
        self.version: str = versions[0]
        self.data = _zipped(modules)
        self.sha256 = hashlib.sha256(self.data).hexdigest()
        # Compressed for transport only: zlibs compress differently, and the sha256 is of `data`.
        compressed = gzip.compress(self.data, 9, mtime=0)
        self.encoded = base64.b64encode(compressed).decode("ascii")

    def arguments(self, most_bytes: int) -> list[str]:
        """Return the encoded application in parts that each fit into one argument."""
        starts = range(0, len(self.encoded), most_bytes)
        return [self.encoded[at : at + most_bytes] for at in starts]


def _zipped(modules: Mapping[str, str]) -> bytes:
    """Return a zip file after a shebang: fixed order, dates and modes, no compression."""
    texts = {path: text.encode("utf-8") for path, text in modules.items()}
    # Before Python 3.13 a folder without __init__.py can be imported only if it has an entry.
    for path in modules:
        for folder in list(PurePosixPath(path).parents)[:-1]:
            texts[f"{folder}/"] = b""
    buffer = io.BytesIO()
    buffer.write(SHEBANG)
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        for path in sorted(texts):
            entry = zipfile.ZipInfo(path)  # has the earliest date of the zip format
            entry.create_system = 3  # Unix, on any system that generates the task
            entry.external_attr = (0o40755 if path.endswith("/") else 0o100644) << 16
            archive.writestr(entry, texts[path])
    return buffer.getvalue()

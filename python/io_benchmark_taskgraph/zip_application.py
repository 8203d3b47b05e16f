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
from collections.abc import Sequence
from pathlib import PurePosixPath
from typing import NamedTuple

from io_benchmark_taskgraph.mistakes import BadKeyError

KEY = "benchmark.script"
SHEBANG = b"#!/usr/bin/env python3\n"
_VERSION = re.compile(r'^SCRIPT_VERSION = "([0-9A-Za-z.+-]+)"$', re.MULTILINE)


class Module(NamedTuple):
    path: str  # within the script's folder, with slashes
    text: str


class ZipApplication(NamedTuple):
    version: str
    modules: Sequence[Module]
    data: bytes
    sha256: str
    encoded: str  # for a command: gzip, then base64


def make_application(modules: Sequence[Module]) -> ZipApplication:
    """Join the modules, in any order, into one file."""
    versions = [text for module in modules for text in _VERSION.findall(module.text)]
    if len(versions) != 1:
        text = f"{len(versions)} lines of the script's modules say its version"
        raise BadKeyError(KEY, f'{text}; write one line SCRIPT_VERSION = "1.0.0"')
    data = _zipped(modules)
    # Compressed for transport only: zlibs compress differently, and the sha256 is of `data`.
    encoded = base64.b64encode(gzip.compress(data, 9, mtime=0)).decode("ascii")
    digest = hashlib.sha256(data).hexdigest()
    return ZipApplication(versions[0], tuple(modules), data, digest, encoded)


def _zipped(modules: Sequence[Module]) -> bytes:
    """Return a zip file after a shebang: fixed order, dates and modes, no compression."""
    texts = {module.path: module.text.encode("utf-8") for module in modules}
    # Before Python 3.13 a folder without __init__.py can be imported only if it has an entry.
    for module in modules:
        for folder in list(PurePosixPath(module.path).parents)[:-1]:
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

# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""The worker's script as one file: a zip application whose bytes depend on its modules alone."""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
import struct
from collections.abc import Mapping
from pathlib import PurePosixPath

from io_benchmark_taskgraph.deflate import deflate
from io_benchmark_taskgraph.mistakes import BadKeyError

KEY = "benchmark.script"
SHEBANG = b"#!/usr/bin/env python3\n"
# The records of a zip file (PKWARE's APPNOTE.TXT, 4.3). The module zipfile would compress by zlib.
_ENTRY = struct.Struct("<4s5H3L2H")
_DIRECTORY = struct.Struct("<4s2B5H3L5H2L")
_END = struct.Struct("<4s4H2LH")
_UNIX = 3
# Readers of version 2.0, no flags, compressed by method 8, at midnight on the first day of 1980.
_DEFLATED_IN_1980 = (20, 0, 8, 0, 33)
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
        self.encoded = base64.b64encode(self.data).decode("ascii")

    def arguments(self, most_bytes: int) -> list[str]:
        """Return the encoded application in parts that each fit into one argument."""
        starts = range(0, len(self.encoded), most_bytes)
        return [self.encoded[at : at + most_bytes] for at in starts]


def _zipped(modules: Mapping[str, str]) -> bytes:
    """Return a zip file after a shebang: fixed order, date and modes, the same compression anywhere."""
    texts = {path: text.encode("utf-8") for path, text in modules.items()}
    # Before Python 3.13 a folder without __init__.py can be imported only if it has an entry.
    for path in modules:
        for folder in list(PurePosixPath(path).parents)[:-1]:
            texts[f"{folder}/"] = b""
    entries, directory = bytearray(SHEBANG), bytearray()
    for path, text in sorted(texts.items()):
        name, data = path.encode("ascii"), deflate(text)
        sizes = binascii.crc32(text), len(data), len(text)
        both = *_DEFLATED_IN_1980, *sizes, len(name), 0
        mode = 0o40755 if path.endswith("/") else 0o100644
        directory += _DIRECTORY.pack(
            b"PK\1\2", 20, _UNIX, *both, 0, 0, 0, mode << 16, len(entries)
        )
        directory += name
        entries += _ENTRY.pack(b"PK\3\4", *both) + name + data
    count = len(texts)
    sizes_and_start = count, count, len(directory), len(entries)
    end = _END.pack(b"PK\5\6", 0, 0, *sizes_and_start, 0)
    return bytes(entries + directory + end)

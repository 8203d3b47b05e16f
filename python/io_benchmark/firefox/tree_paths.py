# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Paths of the benchmark's files in a Firefox checkout."""

import hashlib
from dataclasses import dataclass

from io_benchmark.firefox.text_lines import normalize_line_ends

NAME = "io-benchmark"
KIND = f"taskcluster/kinds/{NAME}/kind.yml"
TRANSFORMS = "taskcluster/gecko_taskgraph/transforms/io_benchmark.py"
SCRIPT = "taskcluster/scripts/misc/io-benchmark"


@dataclass(frozen=True, order=True)
class TreePath:
    """A whole file, or an entry of a file that is Firefox's."""

    path: str
    entry: str = ""

    def __str__(self) -> str:
        return f"{self.path}: {self.entry}" if self.entry else self.path


def text_hash(text: bytes) -> str:
    """Return the SHA-256 of the text with LF as line ends; a checkout may have converted them."""
    return hashlib.sha256(normalize_line_ends(text)).hexdigest()

# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""The layout of version 1, which put a package and a record of hashes into the checkout.

What still has its recorded hash is provably ours and may be replaced and removed; anything else was
changed there. Later layouts have no record.
"""

import hashlib
import json
import re
from collections.abc import Mapping
from typing import Any, Self

from msgspec import Struct, field

from io_benchmark.errors import IoBenchmarkError
from io_benchmark.firefox.checkout import CONFIG, DOCS, DOCS_SUFFIXES, NAME, SCRIPT, TreePath
from io_benchmark.firefox.text_lines import normalize_line_ends

PACKAGE = "taskcluster/io_benchmark_taskgraph"
RECORD = f"{PACKAGE}/installed.json"
# Both layouts' folders that hold nothing else than ours.
OWN_FOLDERS = (PACKAGE, SCRIPT, f"taskcluster/kinds/{NAME}")
_SHARED_FILES = (
    CONFIG,
    *(f"{DOCS}/{page}{suffix}" for page in ("kinds", "attributes") for suffix in DOCS_SUFFIXES),
)
# Version 1: files and entries, each with the SHA-256 of its text with \n at line ends.
_VERSION = 1
_PART = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]*")


class InstallRecord(Struct, frozen=True):
    hashes: Mapping[TreePath, str] = field(default_factory=dict)

    @classmethod
    def parse(cls, data: bytes | None) -> Self:
        """An empty one where there is none: then nothing there counts as ours."""
        try:
            return cls() if data is None else cls(_hashes(data))
        except ValueError as error:
            raise IoBenchmarkError(
                f"{RECORD}: cannot be read ({error}); restore it from version control, or remove "
                f"{PACKAGE}/ and {SCRIPT}/"
            ) from None

    def has(self, place: TreePath, text: bytes) -> bool:
        return self.hashes.get(place) == self.hash_of(text)

    @staticmethod
    def hash_of(text: bytes) -> str:
        """Return the SHA-256 of the text with LF as line ends; a checkout may have converted them."""
        return hashlib.sha256(normalize_line_ends(text)).hexdigest()


def _is_own_file(path: str) -> bool:
    is_inside = any(path.startswith(f"{folder}/") for folder in OWN_FOLDERS)
    return is_inside and path != RECORD and all(_PART.fullmatch(part) for part in path.split("/"))


def _texts(value: Any) -> dict[str, str]:
    if not isinstance(value, dict) or not all(isinstance(text, str) for text in value.values()):
        raise ValueError("not a mapping of texts")
    return value


def _hashes(data: bytes) -> dict[TreePath, str]:
    content = json.loads(data)
    if not isinstance(content, dict) or not isinstance(content.get("version"), int):
        raise ValueError("no version")  # noqa: TRY004 - what the caller turns into one line
    if content["version"] > _VERSION:
        raise ValueError("written by a newer io-benchmark")
    hashes = {}
    for path, text in _texts(content.get("files")).items():
        if not _is_own_file(path):
            raise ValueError(f"{path!r} is not a file of the benchmark")
        hashes[TreePath(path)] = text
    if not isinstance(content.get("entries"), dict):
        raise ValueError("no entries")  # noqa: TRY004 - the same
    for path, entries in content["entries"].items():
        if path not in _SHARED_FILES:
            raise ValueError(f"{path!r} cannot have entries of the benchmark")
        hashes.update({TreePath(path, entry): text for entry, text in _texts(entries).items()})
    return hashes

# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""What was put into a checkout, kept there: by it an update knows its own from what others wrote.

Each file and each entry of a page is recorded with the hash of its text. What still has that hash
may be replaced and removed; anything else was changed there, or is not ours.
"""

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from io_benchmark.errors import IoBenchmarkError
from io_benchmark.firefox.checkout import CONFIG, DOCS, DOCS_SUFFIXES
from io_benchmark.firefox.kind import NAME, SCRIPT_THERE
from io_benchmark.firefox.lines import normalised
from io_benchmark.firefox.modules import PACKAGE

# The folders that hold nothing else than ours; no other file is ever removed.
PACKAGE_THERE = f"taskcluster/{PACKAGE}"
OWN_FOLDERS = (PACKAGE_THERE, SCRIPT_THERE, f"taskcluster/kinds/{NAME}")
PATH = f"{PACKAGE_THERE}/installed.json"
_SHARED_FILES = (
    CONFIG,
    *(f"{DOCS}/{page}{suffix}" for page in ("kinds", "attributes") for suffix in DOCS_SUFFIXES),
)
_ABOUT = "Written by `io-benchmark firefox`, which changes and removes only what has its hash here."
# Version 1: files and entries, each with the SHA-256 of its text with \n at line ends.
_VERSION = 1
_PART = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]*")


@dataclass(frozen=True, order=True)
class Place:
    """A whole file, or an entry of a file that is Firefox's."""

    path: str
    entry: str = ""

    def __str__(self) -> str:
        return f"{self.path}: {self.entry}" if self.entry else self.path


@dataclass(frozen=True)
class Record:
    hashes: Mapping[Place, str] = field(default_factory=dict)

    def has(self, place: Place, text: bytes) -> bool:
        return self.hashes.get(place) == text_hash(text)

    def as_bytes(self) -> bytes:
        files = {place.path: one for place, one in sorted(self.hashes.items()) if not place.entry}
        entries: dict[str, dict[str, str]] = {}
        for place, one in sorted(self.hashes.items()):
            if place.entry:
                entries.setdefault(place.path, {})[place.entry] = one
        content = {"about": _ABOUT, "version": _VERSION, "files": files, "entries": entries}
        return json.dumps(content, indent=2, ensure_ascii=False).encode() + b"\n"


def text_hash(text: bytes) -> str:
    return hashlib.sha256(normalised(text)).hexdigest()


def _is_own_file(path: str) -> bool:
    is_inside = any(path.startswith(f"{folder}/") for folder in OWN_FOLDERS)
    return is_inside and path != PATH and all(_PART.fullmatch(part) for part in path.split("/"))


def _texts(value: Any) -> dict[str, str]:
    if not isinstance(value, dict) or not all(isinstance(one, str) for one in value.values()):
        raise ValueError("no mapping of texts")
    return value


def _parsed(data: bytes) -> Record:
    content = json.loads(data)
    if not isinstance(content, dict) or not isinstance(content.get("version"), int):
        raise ValueError("no version")  # noqa: TRY004 - what the caller turns into one line
    if content["version"] > _VERSION:
        raise ValueError("written by a newer io-benchmark")
    hashes = {}
    for path, one in _texts(content.get("files")).items():
        if not _is_own_file(path):
            raise ValueError(f"{path!r} is no file of the benchmark")
        hashes[Place(path)] = one
    if not isinstance(content.get("entries"), dict):
        raise ValueError("no entries")  # noqa: TRY004 - the same
    for path, entries in content["entries"].items():
        if path not in _SHARED_FILES:
            raise ValueError(f"{path!r} has no entries of the benchmark")
        hashes.update({Place(path, entry): one for entry, one in _texts(entries).items()})
    return Record(hashes)


def parse(data: bytes | None) -> Record:
    """An empty one where there is none: then nothing there counts as ours."""
    if data is None:
        return Record()
    try:
        return _parsed(data)
    except ValueError as error:
        raise IoBenchmarkError(
            f"{PATH}: cannot be used ({error}); restore it from version control, or use a newer "
            "io-benchmark"
        ) from None

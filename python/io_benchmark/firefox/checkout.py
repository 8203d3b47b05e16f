# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""A Firefox checkout: how it is recognised, the benchmark's paths in it, and reading its files."""

from pathlib import Path
from typing import Self

from msgspec import Struct

from io_benchmark.errors import IoBenchmarkError, UsageError
from io_benchmark.firefox.text_lines import decode
from io_benchmark.paths import resolve_path

NAME = "io-benchmark"
KIND = f"taskcluster/kinds/{NAME}/kind.yml"
TRANSFORMS = "taskcluster/gecko_taskgraph/transforms/io_benchmark.py"
SCRIPT = "taskcluster/scripts/misc/io-benchmark"

CONFIG = "taskcluster/config.yml"
IMAGES = "taskcluster/kinds/docker-image/kind.yml"
DOCS = "taskcluster/docs"
# The pages are Markdown now; branches for older releases still have reStructuredText.
DOCS_SUFFIXES = (".md", ".rst")
MARKS = (
    CONFIG,
    IMAGES,
    "taskcluster/gecko_taskgraph/transforms/job/__init__.py",
    "taskcluster/gecko_taskgraph/transforms/task.py",
)


class TreePath(Struct, frozen=True, order=True):
    """A whole file, or an entry in one of Firefox's files."""

    path: str
    entry: str = ""

    def __str__(self) -> str:
        return f"{self.path}: {self.entry}" if self.entry else self.path


class Checkout(Struct, frozen=True):
    path: Path
    docs_suffix: str

    @classmethod
    def open(cls, path: Path) -> Self:
        root = resolve_path(path, str(path))
        for mark in MARKS:
            if not (root / mark).is_file():
                raise _no_checkout(path, mark)
        for suffix in DOCS_SUFFIXES:
            checkout = cls(root, suffix)
            pages = (checkout.kinds_page, checkout.attributes_page)
            if all((root / page).is_file() for page in pages):
                return checkout
        raise _no_checkout(path, f"{DOCS}/kinds.md and attributes.md, or both with .rst")

    @property
    def kinds_page(self) -> str:
        return f"{DOCS}/kinds{self.docs_suffix}"

    @property
    def attributes_page(self) -> str:
        return f"{DOCS}/attributes{self.docs_suffix}"

    def read(self, path: str) -> bytes | None:
        """Return the bytes of a file, by its path from the root; None where there is no such file."""
        file = self.path / path
        if not file.parent.resolve().is_relative_to(self.path):
            raise IoBenchmarkError(
                f"{file}: a link leads out of the checkout; replace it with a folder"
            )
        if file.is_symlink() or (file.exists() and not file.is_file()):
            raise IoBenchmarkError(f"{file}: is not a regular file; move it out of the way")
        try:
            return file.read_bytes()
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            raise IoBenchmarkError(f"{file}: {error.strerror}; make it readable") from None

    def read_text(self, path: str) -> str:
        """Return the text of a file that must exist, with its own line ends."""
        data = self.read(path)
        if data is None:
            raise IoBenchmarkError(f"{self.path / path}: no such file; update the checkout")
        return decode(data, self.path / path)


def _no_checkout(path: Path, missing: str) -> UsageError:
    return UsageError(
        f"{path}: is not a Firefox checkout: {missing} is missing; name the folder that contains mach"
    )

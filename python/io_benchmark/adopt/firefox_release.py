# SPDX-License-Identifier: MPL-2.0
"""The files of a release that Firefox's tasks fetch: what measures, what compares, its libraries.

They are archives, as Firefox's other fetches are: tasks find them unpacked, without an attribute
that says so. The same modules give the same bytes. Imports only the standard library, because
.github/libraries.py uses it where nothing is installed.
"""

import bz2
import io
import tarfile
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path

from io_benchmark import __version__

NAME = "io-benchmark"
PROGRAM_FILE = f"{NAME}.pyz"
REPORT, LIBRARIES = f"{NAME}-report", f"{NAME}-libraries"
# The libraries have a part that is compiled for each of these; the images have one of them.
PYTHONS = ("3.11", "3.12", "3.13")
# The archive of the libraries that the report's program imports; `tox -e lock` writes these lines.
LIBRARIES_SHA256 = "2d11203f6ee6ed4c142f44c716deda2494097abbf77a6650b759c8296bb83c6b"
LIBRARIES_BYTES = 13_604_468
_ENTRY = """\
{name}:
    description: {description}, {project} {version}
    fetch:
        type: static-url
        url: https://github.com/mozilla-releng/{project}/releases/download/v{version}/{name}.tar.bz2
        sha256: {sha256}
        size: {size}
"""
_PACKAGE = Path(__file__).resolve().parent.parent
_BUNDLE = _PACKAGE / "bundle"  # of an installation: a copy of this project's kinds


def fetch_entries(program: bytes) -> str:
    """Return the entries of a release's files in a kind of fetches."""
    worker, report = worker_archive(program), report_program()
    files = [
        (NAME, "The worker's program", sha256(worker).hexdigest(), len(worker)),
        (LIBRARIES, "Libraries of the report", LIBRARIES_SHA256, LIBRARIES_BYTES),
        (REPORT, "What compares pools", sha256(report).hexdigest(), len(report)),
    ]
    return "\n".join(
        _ENTRY.format(
            name=name,
            description=description,
            project=NAME,
            version=__version__,
            sha256=digest,
            size=size,
        )
        for name, description, digest, size in files
    )


def worker_archive(program: bytes) -> bytes:
    """Return an archive of the worker's program, which is one file."""
    return archive({PROGRAM_FILE: program})


def report_program() -> bytes:
    """Return an archive of this program, as what the report's task starts."""
    return archive(
        {
            path.relative_to(_PACKAGE.parent).as_posix(): path.read_bytes()
            for path in _PACKAGE.rglob("*")
            if path.suffix in (".py", ".css") and _BUNDLE not in path.parents
        }
    )


def archive(contents: Mapping[str, bytes]) -> bytes:
    """Return a compressed archive of files by their paths; the same files give the same bytes."""
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w", format=tarfile.GNU_FORMAT) as tar:
        for path, content in sorted(contents.items()):
            # Midnight on the first day of 1970, mode 644.
            entry = tarfile.TarInfo(path)
            entry.size = len(content)
            tar.addfile(entry, io.BytesIO(content))
    return bz2.compress(file.getvalue())

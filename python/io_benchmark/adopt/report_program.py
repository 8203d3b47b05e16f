# SPDX-License-Identifier: MPL-2.0
"""This program as one file of a release, which the report's task in Firefox's tree fetches.

It is an archive with the package, and nothing that differs between installations. The libraries are another
archive, so that this program can name its sha256.
"""

import bz2
import io
import tarfile
from collections.abc import Mapping
from pathlib import Path

# The archive of the libraries; `tox -e lock` writes these lines.
LIBRARIES_SHA256 = "52d3454f2e6d6d7f25b4d526b13e98699319db907d1530aca8b3d71982404273"
LIBRARIES_BYTES = 20_769_513
_PACKAGE = Path(__file__).resolve().parent.parent
_SUFFIXES = (".py", ".css")
# An installation has a copy of this project's kinds there.
_BUNDLE = _PACKAGE / "bundle"


def report_program() -> bytes:
    """Return the archive: the same modules give the same bytes."""
    return archive(
        {
            path.relative_to(_PACKAGE.parent).as_posix(): path.read_bytes()
            for path in _PACKAGE.rglob("*")
            if path.suffix in _SUFFIXES and _BUNDLE not in path.parents
        }
    )


def archive(contents: Mapping[str, bytes]) -> bytes:
    """Return an archive of these files, with fixed order, dates and modes."""
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w", format=tarfile.GNU_FORMAT) as tar:
        for name, content in sorted(contents.items()):
            entry = tarfile.TarInfo(name)  # midnight on the first day of 1970, mode 644
            entry.size = len(content)
            tar.addfile(entry, io.BytesIO(content))
    return bz2.compress(file.getvalue())

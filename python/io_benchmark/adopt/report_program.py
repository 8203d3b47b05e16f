# SPDX-License-Identifier: MPL-2.0
"""This program as one file of a release, which the report's task in Firefox's tree fetches.

It is an archive with the package, and nothing that differs between installations. The libraries are another
archive, so that this program can name its sha256.
"""

import bz2
import io
import tarfile
from pathlib import Path

# The archive of the libraries; `tox -e lock` writes these lines.
LIBRARIES_SHA256 = "52d3454f2e6d6d7f25b4d526b13e98699319db907d1530aca8b3d71982404273"
LIBRARIES_BYTES = 20_769_513
_PACKAGE = Path(__file__).resolve().parent.parent
_SUFFIXES = (".py", ".css")
# An installation has a copy of this project's kinds there.
_BUNDLE = "bundle"


def report_program() -> bytes:
    """Return the archive: the same modules give the same bytes."""
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for path in sorted(_PACKAGE.rglob("*")):
            name = path.relative_to(_PACKAGE.parent).as_posix()
            if path.suffix in _SUFFIXES and not name.startswith(f"{_PACKAGE.name}/{_BUNDLE}/"):
                content = path.read_bytes()
                entry = tarfile.TarInfo(name)  # midnight on the first day of 1970, mode 644
                entry.size = len(content)
                tar.addfile(entry, io.BytesIO(content))
    return bz2.compress(archive.getvalue())

# SPDX-License-Identifier: MPL-2.0
"""Compressed archives, as tasks on Windows unpack them by Python.

A member is (name, mode, size); the size of a folder is None. The contents follow from the seed, and
compress about as Debian's programs do: by gzip to 37 % (programs 41 %), by xz to 31 % (30 %).
"""

import io
import random
from typing import Any, Callable, NamedTuple

from log import MIB

# Longer than a compressor of these archives looks back: the contents never repeat for it.
CONTENT_BYTES = 4 * MIB
XZ_PRESET = 1  # looks back a MiB
WORDS, LONGEST_WORD, LONGEST_COPY = 1000, 10, 48
COPIES_SHARE, NEAR = 0.25, 4
MODIFIED_S = 1_000_000_000


class Archive(NamedTuple):
    method: str
    write: Callable[..., Any]  # of a path, the seed and the members
    unpack: Callable[..., Any]  # of a path, into a folder that is there; the number of files


def _content(seed):
    """Return words, and copies of what is often just before, as in machine code."""
    # Only random() gives the same values in every version of Python, and only products are exact.
    draw = random.Random(seed).random

    def small(squarings):
        """Return a number from 0 to 1, the more often near 0 the more often it is squared."""
        number = draw()
        for _ in range(squarings):
            number *= number
        return number

    lengths = [2 + int(draw() * (LONGEST_WORD - 2)) for _ in range(WORDS)]
    words = [bytes(int(draw() * draw() * 256) for _ in range(length)) for length in lengths]
    content = bytearray(b"".join(words))
    while len(content) < CONTENT_BYTES:
        if draw() < COPIES_SHARE:
            start = int(len(content) * (1 - small(NEAR)))
            content += content[start : start + 8 + int(small(1) * LONGEST_COPY)]
        else:
            content += words[int(WORDS * small(1))]
    return bytes(content[:CONTENT_BYTES])


def _with_contents(seed, members):
    """Yield each member with its bytes: the content once after the other, over all members."""
    content, position = _content(seed), 0
    for name, mode, size in members:
        data = None
        if size is not None:
            times = (position + size) // CONTENT_BYTES + 1
            data = (content * times)[position : position + size]
            position = (position + size) % CONTENT_BYTES
        yield name, mode, data


def _write_zip(path, seed, members):
    import zipfile  # noqa: PLC0415 - other workloads need none of it

    with zipfile.ZipFile(path, "x", zipfile.ZIP_DEFLATED) as archive:
        for name, _, data in _with_contents(seed, members):
            archive.writestr(name if data is not None else name + "/", data or b"")


def _unpack_zip(path, tree):
    import zipfile  # noqa: PLC0415

    with zipfile.ZipFile(path) as archive:
        archive.extractall(tree)
        return sum(not member.is_dir() for member in archive.infolist())


def _write_tar(path, seed, members, mode, **options):
    import tarfile  # noqa: PLC0415

    with tarfile.open(path, mode, **options) as archive:
        for name, permissions, data in _with_contents(seed, members):
            member = tarfile.TarInfo(name)
            member.mode, member.mtime = permissions, MODIFIED_S
            if data is None:
                member.type = tarfile.DIRTYPE
            else:
                member.size = len(data)
            archive.addfile(member, io.BytesIO(data or b""))


def _unpack_tar(path, tree):
    import tarfile  # noqa: PLC0415

    with tarfile.open(path) as archive:
        # The same work in every version: the newest would check each path on the disk.
        if hasattr(tarfile, "fully_trusted_filter"):
            archive.extractall(tree, filter="fully_trusted")  # noqa: S202 - of this run
        else:
            archive.extractall(tree)  # noqa: S202
        return sum(member.isfile() for member in archive.getmembers())


def _write_tar_gz(path, seed, members):
    _write_tar(path, seed, members, "x:gz", compresslevel=6)


def _write_tar_xz(path, seed, members):
    _write_tar(path, seed, members, "x:xz", preset=XZ_PRESET)


ARCHIVES = {
    "zip": Archive("zipfile.extractall", _write_zip, _unpack_zip),
    "tar.gz": Archive("tarfile.extractall", _write_tar_gz, _unpack_tar),
    "tar.xz": Archive("tarfile.extractall", _write_tar_xz, _unpack_tar),
}

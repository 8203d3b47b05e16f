# SPDX-License-Identifier: MPL-2.0
"""The archives that only Windows workers unpack; they are written and read by any Python."""

import hashlib
import os

import pytest
from system.windows.support.archives import ARCHIVES

MIB = 1024 * 1024
LARGE_BYTES = 9 * MIB  # longer than the content before it begins again
MEMBERS = [
    ("folder", 0o755, None),
    ("folder/inner", 0o755, None),
    ("folder/inner/small", 0o644, 700),
    ("folder/large", 0o755, LARGE_BYTES),
    ("folder/empty", 0o644, 0),
]


def unpacked(kind, folder, seed=1):
    """The number of files, their digests by name, and how many bytes the archive has."""
    archive = ARCHIVES[kind]
    path, tree = folder / f"archive-{seed}", folder / f"tree-{seed}"
    tree.mkdir()
    archive.write(str(path), seed, MEMBERS)
    count = archive.unpack(str(path), str(tree))
    files = {
        os.path.relpath(file, tree): hashlib.sha256(file.read_bytes()).hexdigest()
        for file in tree.rglob("*")
        if file.is_file()
    }
    return count, files, path.stat().st_size


@pytest.mark.parametrize("kind", ARCHIVES)
def test_all_archives_have_the_same_files(tmp_path, kind):
    """Names, sizes and contents are those of the members, and follow from the seed alone."""
    count, files, _ = unpacked(kind, tmp_path)
    assert count == 3
    assert sorted(files) == ["folder/empty", "folder/inner/small", "folder/large"]
    assert (tmp_path / "tree-1" / "folder" / "large").stat().st_size == LARGE_BYTES
    assert files["folder/large"][:16] == "516c4fb61c1f6945"
    assert unpacked(kind, tmp_path, 2)[1]["folder/large"] != files["folder/large"]


@pytest.mark.parametrize(
    ("kind", "least", "most"), [("zip", 2.3, 3.0), ("tar.gz", 2.3, 3.0), ("tar.xz", 2.9, 3.7)]
)
def test_contents_compress_as_programs_do(tmp_path, kind, least, most):
    """Neither random bytes nor zeros: to decompress them costs what it costs of a toolchain.

    Debian's programs have 2.4 by gzip, and 3.3 by xz at the same level.
    """
    _, _, archive_bytes = unpacked(kind, tmp_path)
    assert least < LARGE_BYTES / archive_bytes < most

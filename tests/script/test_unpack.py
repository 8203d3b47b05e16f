# SPDX-License-Identifier: MPL-2.0
"""The workload unpack, run as a worker runs it."""

import hashlib
import os
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest
from early_end import WorkloadError
from worker import Worker, needs_disk
from workloads import unpack

SEED = 1
FEWER = (
    "from workloads import unpack\n"
    "unpack.QUICK.update(small_files=30, samples=3)\n"
    "unpack.QUICK['time_limit_s'] = 600.0\n"
)


@pytest.fixture
def unpacking(worker: Worker) -> Worker:
    worker.workloads = ("unpack",)
    return worker


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    """The archive of a quick run."""
    path = tmp_path / "archive.tar"
    unpack._write_archive(str(path), unpack._file_sizes_bytes(SEED, unpack.QUICK), SEED)
    return path


def test_sizes_of_a_full_run() -> None:
    """Many small and some large files, which have most of the bytes; another seed, other sizes."""
    sizes = unpack._file_sizes_bytes(SEED, unpack.FULL)
    large = [size for size in sizes if size >= 2 * 2**20]
    small = sorted(set(sizes) - set(large))
    assert (len(sizes), len(large)) == (2406, 6)
    assert 256 <= small[0] < small[len(small) // 2] < 8 * 1024 < small[-1] < 64 * 1024
    assert max(large) < 16 * 2**20
    assert 0.5 < sum(large) / sum(sizes) < 0.75
    assert sizes != unpack._file_sizes_bytes(2, unpack.FULL)


def test_the_archive_is_the_same_everywhere(archive: Path) -> None:
    """No version of Python and no machine makes another one."""
    assert hashlib.sha256(archive.read_bytes()).hexdigest() == (
        "06211c340e17ba45325eb020785c9f728c80771307748883f3474b6d8f60c353"
    )


def test_it_is_a_tar_and_unpacked_as_one(archive: Path, tmp_path: Path) -> None:
    """Python's tarfile reads the same names, contents, modes and times."""
    tree, umask = tmp_path / "tree", os.umask(0o077)
    try:
        files = unpack._unpack(str(archive), str(tree))
    finally:
        os.umask(umask)
    with tarfile.open(archive) as tar:
        members = tar.getmembers()
        assert files == sum(member.isfile() for member in members) == 204
        for member in members:
            there = tree / member.name
            assert there.is_dir() == member.isdir()
            if member.isfile():
                content = tar.extractfile(member)
                assert content is not None
                assert there.read_bytes() == content.read()
                status = there.stat()
                assert status.st_mode & 0o777 == member.mode
                assert status.st_mtime == member.mtime
    names = {str(path.relative_to(tree)) for path in tree.rglob("*")}
    assert names == {member.name for member in members}


@pytest.mark.parametrize(
    ("bytes_left", "text"),
    [
        pytest.param(10 * 512, "the archive ends in the middle of a file", id="in a file"),
        pytest.param(1024, "unpacked 0 files of 204", id="between two"),
    ],
)
def test_an_archive_that_lost_its_end(
    tmp_path: Path, archive: Path, bytes_left: int, text: str
) -> None:
    """What is not the whole archive is not a sample."""

    class Bench:
        class settings:  # noqa: N801 - as the bench names it
            profile, seed = "quick", SEED

    os.truncate(archive, bytes_left)
    workload = unpack.WORKLOAD(Bench, None, str(tmp_path))
    with pytest.raises(WorkloadError, match=f"^{text}$"):
        workload.unpack_once(False)


def test_what_is_done_between_samples(unpacking: Worker) -> None:
    """The files are gone and the archive is dropped or read before each sample."""
    noting = FEWER + (
        "import os\n"
        "from observe import page_cache\n"
        "unpacked = unpack._unpack\n"
        "def note(archive, tree):\n"
        "    resident = page_cache.resident_bytes(archive) / os.path.getsize(archive)\n"
        "    state = 'warm' if resident > 0.9 else 'cold' if resident < 0.05 else 'neither'\n"
        "    left = len(os.listdir(os.path.dirname(archive))) - 1\n"
        "    os.write(1, b'before: %s, %d left\\n' % (state.encode(), left))\n"
        "    return unpacked(archive, tree)\n"
        "unpack._unpack = note\n"
    )
    needs_disk(unpacking.workspace)
    output = unpacking.complete("--profile", "quick", prelude=noting)
    lines = [line for line in output.splitlines() if line.startswith("before: ")]
    # Each variant has a warm-up first, after what the one before left.
    states = [lines[at + 1 : at + 4] for at in range(0, len(lines), 4)]
    assert states == [
        [f"before: {state}, 0 left"] * 3 for state in ("cold", "cold", "warm", "warm")
    ]


@pytest.mark.root
def test_memory_is_never_cold(unpacking: Worker, mount: Callable[[str], Path]) -> None:
    """What a tmpfs holds cannot be dropped: skipped, and not measured under a wrong name."""
    unpacking.workspace = mount("size=60m")
    unpacking.complete("--profile", "quick", prelude=FEWER)
    entries = unpacking.document()["workloads"]
    states = {entry["variant"]: entry["outcome"]["state"] for entry in entries}
    assert states == {
        **dict.fromkeys(("cold", "cold-sync"), "skipped"),
        **dict.fromkeys(("warm", "warm-sync"), "completed"),
    }
    reason = "the archive cannot be dropped from memory: "
    assert entries[0]["outcome"]["reason"].startswith(reason)

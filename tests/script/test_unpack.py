# SPDX-License-Identifier: MPL-2.0
"""The workload unpack: its archive, and what is done between samples."""

import hashlib
import os
import tarfile
from types import SimpleNamespace

import pytest
from errors import WorkloadError
from system.windows.support import archives as archives_of_windows
from worker import needs_disk
from workloads import unpack

SEED = 1
# Each variant has a warm-up first, after what the one before left.
NOTING = """
import os
from system.linux import page_cache
from workloads import unpack
unpack.QUICK.update(small_files=30, samples=3, time_limit_s=600.0)
unpacked = unpack._unpack
def note(archive, tree):
    resident = page_cache.resident_bytes(archive) / os.path.getsize(archive)
    state = 'warm' if resident > 0.9 else 'cold' if resident < 0.05 else 'neither'
    left = len(os.listdir(os.path.dirname(archive))) - 1
    os.write(1, b'before: %s, %d left\\n' % (state.encode(), left))
    return unpacked(archive, tree)
unpack._unpack = note
"""


@pytest.fixture
def archive(tmp_path):
    """The archive of a quick run."""
    path = tmp_path / "archive.tar"
    unpack._write_archive(str(path), unpack._file_sizes_bytes(SEED, unpack.QUICK), SEED)
    return path


def test_sizes_of_a_full_run():
    """Many small and some large files, which have most of the bytes; another seed, other sizes."""
    sizes = unpack._file_sizes_bytes(SEED, unpack.FULL)
    large = [size for size in sizes if size >= 2 * 2**20]
    small = sorted(set(sizes) - set(large))
    assert (len(sizes), len(large)) == (2406, 6)
    assert 256 <= small[0] < small[len(small) // 2] < 8 * 1024 < small[-1] < 64 * 1024
    assert max(large) < 16 * 2**20
    assert 0.5 < sum(large) / sum(sizes) < 0.75
    assert sizes != unpack._file_sizes_bytes(2, unpack.FULL)


def test_more_variants_take_the_same_time():
    """A task on Windows has three more, and half of the files in each."""
    sizes = unpack._file_sizes_bytes(SEED, unpack.HALF)
    whole = unpack._file_sizes_bytes(SEED, unpack.FULL)
    assert len(sizes) == len(whole) // 2 + 3
    assert 0.4 < sum(sizes) / sum(whole) < 0.6
    archives = len(archives_of_windows.ARCHIVES)
    limits_s = (len(unpack.WORKLOAD.names) + archives) * unpack.HALF["time_limit_s"]
    assert limits_s + 40 <= unpack.WORKLOAD.maximum_s


def test_it_is_a_tar_and_unpacked_as_one(archive, tmp_path):
    """The same bytes everywhere.

    Python's tarfile reads the same names, contents, modes and times.
    """
    assert hashlib.sha256(archive.read_bytes()).hexdigest() == (
        "06211c340e17ba45325eb020785c9f728c80771307748883f3474b6d8f60c353"
    )
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
            if content := tar.extractfile(member):
                status = there.stat()
                assert there.read_bytes() == content.read()
                assert (status.st_mode & 0o777, status.st_mtime) == (member.mode, member.mtime)
    names = {str(path.relative_to(tree)) for path in tree.rglob("*")}
    assert names == {member.name for member in members}


@pytest.mark.parametrize(
    ("bytes_left", "text"),
    [(10 * 512, "the archive ends in the middle of a file"), (1024, "unpacked 0 files of 204")],
)
def test_an_archive_that_lost_its_end(tmp_path, archive, bytes_left, text):
    """What is not the whole archive is not a sample."""
    os.truncate(archive, bytes_left)
    bench = SimpleNamespace(settings=SimpleNamespace(profile="quick", seed=SEED))
    with pytest.raises(WorkloadError, match=f"^{text}$"):
        unpack.WORKLOAD(bench, None, str(tmp_path)).unpack_once()


def test_what_is_done_between_samples(worker):
    """The files are gone and the archive is dropped or read before each sample."""
    worker.workloads = ("unpack",)
    needs_disk(worker.workspace)
    output = worker.complete("--profile", "quick", prelude=NOTING)
    lines = [line for line in output.splitlines() if line.startswith("before: ")]
    states = [lines[at + 1 : at + 4] for at in range(0, len(lines), 4)]
    assert states == [
        [f"before: {state}, 0 left"] * 3 for state in ("cold", "cold", "warm", "warm")
    ]


@pytest.mark.root
def test_memory_is_never_cold(worker, mount):
    """What a tmpfs holds cannot be dropped: skipped, and not measured under a wrong name."""
    worker.workloads, worker.workspace = ("unpack",), mount("size=60m")
    worker.complete("--profile", "quick", prelude=NOTING)
    outcomes = [entry["outcome"] for entry in worker.document()["workloads"]]
    assert [outcome["state"] for outcome in outcomes] == ["skipped"] * 2 + ["completed"] * 2
    assert outcomes[0]["reason"].startswith("the archive cannot be dropped from memory: ")

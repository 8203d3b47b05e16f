# SPDX-License-Identifier: MPL-2.0
"""The workload cache-retrieve, run small and read back whole."""

import hashlib
import os
import struct
from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from measuring.retrieval import SeedSteps
from system.linux import page_cache
from worker import outcome_of
from workloads import cache_retrieve

from io_benchmark.results.workloads.cache_retrieve import SPENT_COLUMNS


@pytest.mark.parametrize(("profile", "divisor"), [("full", 1), ("quick", 80)])
def test_the_cache_is_the_seeds(profile, divisor):
    """40 files of 80 MiB, 40 of 60, 20 of 5; a rehearsal has the same mix at an eightieth."""
    sizes = cache_retrieve._file_sizes_bytes(SimpleNamespace(sizes_bytes=None, profile=profile))
    counts = {80: 40, 60: 40, 5: 20}
    assert Counter(sizes) == {mib * 2**20 // divisor: count for mib, count in counts.items()}


def test_the_sequence_is_the_same_everywhere():
    """Retrieve i takes the same file on every pool, in every Python, for ever."""
    assert cache_retrieve._make_sequence(1, 10, 100) == [13, 84, 76, 25, 49, 44, 65, 78, 9, 2]
    sequence = str(cache_retrieve._make_sequence(1, 2000, 100)).encode()
    digest = "2422f45c31d8fe32fd0ea4588cfdf2b7fc1d00b6ab1fdc93d1643c1b4c3742ed"
    assert hashlib.sha256(sequence).hexdigest() == digest
    assert cache_retrieve._make_sequence(2, 10, 100) != cache_retrieve._make_sequence(1, 10, 100)


def columns_spent(entry):
    return {name: getattr(entry.samples, name) for name in SPENT_COLUMNS}


def test_a_run_is_told_whole(worker):
    """One run: every retrieve has its row, the phases are timed apart, the cache was cold.

    Both phases spend time on a CPU, grep's included, and not much more than they take.
    """
    worker.complete("--retrieves", "200", "--seed", "5")
    result = worker.result()
    assert (outcome_of(result), result.warnings) == (("completed", None), [])
    (entry,) = worker.retrieves()
    assert (outcome_of(entry), entry.trials, entry.turn_ends) == (("completed", None), None, None)
    assert (entry.place, entry.destination, entry.fidelity) == ("workspace", "overwrite", "seed")
    samples = entry.samples
    assert list(samples.file_index) == cache_retrieve._make_sequence(5, 200, 10)
    columns = (samples.start_ns, samples.lookup_ns, samples.copy_ns)
    ends = [sum(times) for times in zip(*columns, strict=True)]
    assert all(end <= start for end, start in zip(ends, samples.start_ns[1:], strict=False))
    assert min(*samples.lookup_ns, *samples.copy_ns) > 0
    assert entry.run_ns >= sum(samples.lookup_ns) + sum(samples.copy_ns)
    assert entry.final_sync_ns is not None
    assert entry.cache_state.cache_bytes == sum(entry.file_sizes_bytes)
    assert entry.final_sync_device_bytes.keys() == entry.device_bytes.keys()
    for name, synced in entry.final_sync_device_bytes.items():
        assert synced.written <= entry.device_bytes[name].written
    assert (entry.copy_method, entry.lookup_method) == ("sendfile", "grep -Fnx, posix_spawn")
    assert entry.shares_extents in {False, None}
    spent = columns_spent(entry)
    for phase, times_ns in (("lookup", samples.lookup_ns), ("copy", samples.copy_ns)):
        cpu_ns = sum(spent[f"{phase}_user_ns"] or ()) + sum(spent[f"{phase}_kernel_ns"] or ())
        assert 0 < cpu_ns < 1.5 * sum(times_ns)
        is_counted = Path("/proc/thread-self/schedstat").exists()
        assert (spent[f"{phase}_waiting_ns"] is not None) == is_counted


def test_copies_are_whole_and_carry_mode_and_times(tmp_path):
    """The copy is copy2's: the same bytes, mode and modification time, over a longer file too."""
    source, target = tmp_path / "source", tmp_path / "target"
    source.write_bytes(os.urandom(300_000))
    source.chmod(0o640)
    os.utime(source, ns=(10**18, 10**18))
    target.write_bytes(b"x" * 500_000)
    with SeedSteps("/none") as steps:
        steps.copy(str(source), str(target), 300_000)
    assert target.read_bytes() == source.read_bytes()
    assert target.stat().st_mode == source.stat().st_mode
    assert target.stat().st_mtime_ns == 10**18
    with (
        SeedSteps("/none") as steps,
        pytest.raises(OSError, match="source is shorter than it was"),
    ):
        steps.copy(str(source), str(target), 300_001)


def test_a_lookup_that_finds_nothing_is_a_failure(tmp_path):
    """grep's answer is checked: a lookup that finds the wrong line is no measurement."""
    urls = tmp_path / "urls.list"
    urls.write_text("https://a\nhttps://b\n")
    with SeedSteps(str(urls), "overwrite") as steps:
        steps.look_up(1, "https://b")
        steps.reap()
        for url in ("https://b", "https://c"):
            with pytest.raises(OSError, match="grep did not find entry 1 of the list"):
                steps.look_up(0, url)
            steps.reap()


def test_a_ring_is_trimmed_after_a_sync(tmp_path):
    """Fresh copies get new names until the ring is full; then all go, and the sync is timed."""
    target = cache_retrieve._Target(str(tmp_path), 80)
    names = []
    for _ in range(5):
        names.append(Path(target.next(40)).name)
        Path(target.last).write_bytes(b"x" * 40)
    assert names == [f"output-{number:05d}.dat" for number in range(1, 6)]
    assert [trim["after_retrieves"] for trim in target.trims] == [2, 4]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["output-00005.dat"]


@pytest.mark.parametrize(
    ("files", "ring_bytes"),
    [
        ({"sys/vm/dirty_bytes": "100", "sys/vm/dirty_ratio": "50"}, 200),
        ({"sys/vm/dirty_ratio": "10", "meminfo": "MemAvailable: 1 kB"}, 204),
        ({"sys/vm/dirty_bytes": "0", "meminfo": "MemAvailable: 1 kB"}, 408),
        ({}, 14),
    ],
)
def test_the_size_of_a_ring(recorded, files, ring_bytes):
    """Twice what may be dirty, and two of the largest files at least."""
    recorded({f"/proc/{name}": text for name, text in files.items()})
    workload = object.__new__(cache_retrieve.WORKLOAD)
    workload.sizes = [5, 7]
    assert workload._ring_bytes() == ring_bytes


SHARED = 0x2000


@pytest.mark.parametrize(
    ("flags", "mapped", "is_shared"),
    # The last, none of those that are there, and no extent map.
    [([0, SHARED | 1], 2, True), ([0, 1, SHARED], 2, False), (None, 0, None)],
)
def test_shared_extents(monkeypatch, tmp_path, flags, mapped, is_shared):
    """As FIEMAP tells; a file system without extent maps does not know."""

    def answer(_descriptor: int, request: int, buffer: Any) -> None:
        assert (request, len(buffer)) == (0xC020660B, 32 + 64 * 56)
        if flags is None:
            raise OSError(95, "Operation not supported")
        struct.pack_into("=L", buffer, 20, mapped)
        for number, value in enumerate(flags):
            struct.pack_into("=L", buffer, 32 + 56 * number + 40, value)

    monkeypatch.setattr(page_cache.fcntl, "ioctl", answer)
    path = tmp_path / "file"
    path.touch()
    assert page_cache.shares_extents(str(path)) == is_shared

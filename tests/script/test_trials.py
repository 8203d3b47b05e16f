# SPDX-License-Identifier: MPL-2.0
"""Trials: the same retrieves in several ways after the samples, without any effect on these."""

import os
import signal
import time
from pathlib import Path
from statistics import fmean
from types import SimpleNamespace

import pytest
from errors import WorkloadError
from measuring import trials
from measuring.retrieval import MemorySteps, PacedCopies
from measuring.trials import _files_of_blocks
from worker import needs_disk, outcome_of
from workloads.cache_retrieve import CACHE_SIZES_MIB

MIB = 1024 * 1024
WAYS = ("normal", "lookup", "unlink", "memory")
FEW = ("--retrieves", "30")
# Ceilings of a test: what they measure does not matter here.
# Another test's run may drop what the machine has in memory at any time.
SHORT = (
    "from measuring import trials; trials.SHORTEST_CEILING_S = trials.GOOD_CEILING_S = 0.02\n"
    "enough, trials.RESIDENT_SHARE = trials.RESIDENT_SHARE, 0\n"
)


def trials_of(worker):
    """The trials of one complete entry."""
    (entry,) = worker.retrieves()
    assert outcome_of(entry) == ("completed", None)
    assert len(entry.samples.copy_ns) == entry.retrieves_planned
    return entry.trials


def test_all_ways_to_retrieve(worker):
    """Each round has a block of each, in a different order.

    Paced ones are last. All have the same files.
    """
    worker.measure(*FEW, "--trials", "always", "--pace", "1000000000", prelude=SHORT)
    record = trials_of(worker)
    assert (record.state, record.reason, record.pace_bytes_per_s) == ("completed", None, 10**9)
    kinds = [str(block.trial) for block in record.blocks]
    rounds = [WAYS[(at + start) % 4] for start in range(5) for at in range(4)]
    assert kinds == [*rounds, *["pace"] * 5]
    assert {len(block.copy_ns) for block in record.blocks} == {len(record.file_indexes)} == {8}
    assert len(record.ceilings) == 3
    assert len({ceiling.written_bytes for ceiling in record.ceilings}) == 1
    timed_ns = sum(sum((*block.lookup_ns, *block.copy_ns)) for block in record.blocks)
    ceilings_ns = sum(ceiling.duration_ns for ceiling in record.ceilings)
    assert record.duration_ns > timed_ns + ceilings_ns > ceilings_ns
    config = worker.result().config
    assert (config.trials, config.pace_bytes_per_s) == ("always", 10**9)


def test_ways_that_only_a_system_has(worker):
    """They take part in each round as the others do."""
    prelude = """
from system.linux import copies
def copy(plain, source, destination, size):
    os.write(1, b"copied\\n")
    plain(source, destination, size)
copies.more_ways = lambda _stack, _near: {"copy-file": copy}
"""
    output = worker.complete(*FEW, "--trials", "always", prelude="import os\n" + SHORT + prelude)
    kinds = [str(block.trial) for block in trials_of(worker).blocks]
    assert kinds.count("copy-file") == kinds.count("normal") == 5
    assert output.splitlines().count("copied") == 5 * 8


def test_too_little_time_for_trials(worker):
    """A short run has none, and the entry says why."""
    worker.measure(*FEW, "--trials", "auto")
    record = trials_of(worker)
    assert (record.state, record.blocks, record.ceilings) == ("not-run", [], [])
    assert record.reason.startswith("they need ")
    assert "15 % of the retrieves' time are " in record.reason


def test_trials_within_their_share_of_the_time(worker):
    """In a run that is long enough they take 15 % of it at most, and what the last block begins."""
    needs_disk(worker.workspace)
    shorter = "trials.PILOT_S = trials.PILOTS_S = 0.01; trials.BLOCK_RETRIEVES = (4, 2)\n"
    output = worker.complete(
        "--trials", "auto", "--retrieves", "1200", "--sizes", "8x0.1", prelude=SHORT + shorter
    )
    (entry,) = worker.retrieves()
    record = trials_of(worker)
    longest_ns = max(sum(block.lookup_ns) + sum(block.copy_ns) for block in record.blocks)
    assert record.duration_ns < 0.2 * (entry.run_ns + entry.final_sync_ns) + longest_ns, output
    if record.state == "incomplete":  # a machine that has become slower
        assert record.reason == "15 % of the retrieves' time are used up"
    else:
        assert 3 * len(WAYS) <= len(record.blocks) <= 10 * len(WAYS)


@pytest.mark.parametrize(("dirty_bytes", "retrieves"), [(90, 2), (89, 4)])
def test_refilling(monkeypatch, dirty_bytes, retrieves):
    """Before a block, retrieves make nine tenths of what was dirty dirty again, or give up."""
    block = object.__new__(trials._Trials)
    indexes: list[int] = []
    block._record, block._refilled, block._full_bytes = {"file_indexes": [7, 8, 9]}, 0, 100
    block._ways, block._retrieve = {"normal": None}, lambda _steps, index: indexes.append(index)
    monkeypatch.setattr(trials.host, "unwritten_bytes", lambda: (dirty_bytes, None))
    block._refill()
    assert indexes == [7, 8, 9, 7][:retrieves]


@pytest.mark.parametrize(
    ("resident_bytes", "is_enough"), [([95, 95], True), ([95, 94], False), ([0, None], True)]
)
def test_files_in_memory(monkeypatch, resident_bytes, is_enough):
    """Nearly all of each block's files, where the kernel tells."""
    block = object.__new__(trials._Trials)
    block._record = {"file_indexes": [1, 0, 1]}
    block._retrieves = SimpleNamespace(files=["a", "b"], sizes=[100, 100])
    monkeypatch.setattr(trials, "read_file", lambda _path: None)
    monkeypatch.setattr(
        trials.page_cache, "resident_bytes", dict(zip("ab", resident_bytes, strict=True)).get
    )
    if is_enough:
        block._read_files()
    else:
        with pytest.raises(WorkloadError, match="only 0 of 0 MiB of files stay in memory"):
            block._read_files()


def test_files_that_stand_for_all():
    """A shorter block has the beginning of a longer one, and about the same mean size."""
    sizes = list(CACHE_SIZES_MIB)
    longest = _files_of_blocks(sizes, 64)
    for count in (8, 16, 32, 64):
        indexes = _files_of_blocks(sizes, count)
        assert indexes == longest[:count]
        assert len(set(indexes)) == count
        mean = fmean(sizes[index] for index in indexes)
        assert abs(mean / fmean(sizes) - 1) < 0.07
    assert _files_of_blocks([5], 8) == [0] * 8


def test_copies_that_are_held_to_a_rate(tmp_path):
    """At the start nothing may be copied at once; later what accumulated, up to four mean files."""
    source, target = tmp_path / "source", tmp_path / "target"
    source.write_bytes(os.urandom(MIB))

    def copied_s(count: int) -> float:
        started_s = time.monotonic()
        for _ in range(count):
            steps.copy(str(source), str(target), MIB)
        return time.monotonic() - started_s

    with PacedCopies("/none", 20 * MIB, MIB) as steps:
        steps.start()
        assert copied_s(4) >= 0.19
        assert target.read_bytes() == source.read_bytes()
        time.sleep(0.3)
        assert copied_s(8) >= 0.19
        steps.start()
        assert copied_s(2) >= 0.09


def test_retrieves_in_memory(tmp_path):
    """No file has a name; as many bytes as asked for are copied, and grep reads the list."""
    before = len(list(Path("/proc/self/fd").iterdir()))
    urls = ["https://a", "https://b"]
    with MemorySteps(urls, 3 * MIB + 5) as steps:
        steps.look_up(1, "https://b")
        steps.reap()
        with pytest.raises(OSError, match="grep did not find entry 1 of the list"):
            steps.look_up(0, "https://b")
        steps.reap()
        steps.copy("/none", str(tmp_path / "none"), 7 * MIB)
        assert Path(steps._source).stat().st_size == 3 * MIB + 5
        assert Path(steps._destination).stat().st_size == 7 * MIB - 2 * (3 * MIB + 5)
    assert list(tmp_path.iterdir()) == []
    assert len(list(Path("/proc/self/fd").iterdir())) == before


NO_FILES = "trials.page_cache.resident_bytes = lambda path: 0; trials.RESIDENT_SHARE = enough"
NO_ROOM = "trials.SHARE_OF_ROOM = 0"
NO_SPACE = """
def refuse(*_): raise OSError(28, 'No space left on device')
trials.SeedSteps.copy, copy = refuse, trials.SeedSteps.copy
from workloads import cache_retrieve
cache_retrieve.SeedSteps = type('Steps', (trials.SeedSteps,), {'copy': copy})
"""


@pytest.mark.parametrize(
    ("prelude", "state", "reason"),
    [
        (NO_FILES, "not-run", "only 0 of 2 MiB of files stay in memory"),
        (NO_ROOM, "not-run", "the files of a block do not fit into the memory"),
        (NO_SPACE, "incomplete", "No space left on device"),
    ],
    ids=["files", "memory", "disk"],
)
def test_trials_that_fail(worker, prelude, state, reason):
    """The run is as good as without them."""
    worker.measure(*FEW, "--trials", "always", prelude=SHORT + prelude)
    record = trials_of(worker)
    assert (record.state, record.reason, record.blocks) == (state, reason, [])


# Each block waits instead of refilling, so that a result holds no more of them than a reader
# accepts.
ENDLESS = SHORT + (
    "import time\n"
    "trials.ROUNDS_WANTED = 10**6\n"
    "trials._Trials._refill = lambda _: time.sleep(0.1)\n"
)


@pytest.mark.parametrize(
    ("budget_s", "code", "reason"),
    [("6", 0, "the time budget of 6 s is used up"), ("600", 143, "stopped by SIGTERM")],
)
def test_trials_that_end_early(worker, budget_s, code, reason):
    """The samples are complete, and so is a run out of time: only trials are missing."""
    given = (*FEW, "--trials", "always", "--time-budget", budget_s)
    number = signal.SIGTERM if code else 0
    ended = worker.signalled(number, *given, after="trials: blocks of ", prelude=ENDLESS)
    assert ended[0] == code, ended
    result, record = worker.result(), trials_of(worker)
    assert outcome_of(result) == (("stopped", reason) if code else ("completed", None))
    assert (record.state, record.reason) == ("incomplete", reason)
    assert record.duration_ns > 0

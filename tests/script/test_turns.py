# SPDX-License-Identifier: MPL-2.0
"""Places and destinations take turns, so that a drift of the machine is in all of them."""

from itertools import pairwise

import pytest
from worker import outcome_of

TURNS, RETRIEVES, FILES = 10, 40, 10
SMALL = ("--sizes", f"{FILES}x1", "--retrieves", str(RETRIEVES))
ENDS = list(range(RETRIEVES // TURNS, RETRIEVES + 1, RETRIEVES // TURNS))


@pytest.fixture
def places(worker):
    second = worker.workspace.parent / "second"
    second.mkdir()
    return ("--place", f"a={worker.workspace}", "--place", f"b={second}")


def destinations(*names):
    return [f"--destination={name}" for name in names]


def spans(entry):
    """When each turn began and ended."""
    columns, ends = entry.samples, [0, *(entry.turn_ends or ())]
    return [
        (columns.start_ns[start], columns.start_ns[end - 1] + columns.copy_ns[end - 1])
        for start, end in pairwise(ends)
    ]


def test_rounds(worker, places):
    """In each round every measurement has a turn, in another order; only fresh copies take none.

    Entries have the order of the options; copies over one file alone have trials, and fresh ones a
    ring.
    """
    print_evicted = (
        "from measuring import trials; trials.SHORTEST_CEILING_S = trials.GOOD_CEILING_S = 0.02\n"
        "trials.RESIDENT_SHARE = 0\n"  # another test's run may drop what is in memory
        "from system.linux import page_cache; evict = page_cache.evict\n"
        "page_cache.evict = lambda path: (print('evicted', path), evict(path))\n"
    )
    names = ("unlink", "fresh", "overwrite")
    given = (*places, *SMALL, *destinations(*names), "--trials", "always")
    output = worker.complete(*given, prelude=print_evicted)
    entries = worker.retrieves()
    order = [(entry.place, entry.destination) for entry in entries]
    assert order == [(place, name) for place in ("a", "b") for name in names]
    assert [entry.trials is not None for entry in entries] == [False, False, True] * 2
    rings = [entry["fresh_ring_bytes"] for entry in worker.document()["workloads"]]
    assert [ring is not None for ring in rings] == [False, True, False] * 2
    *taking, fresh_a, fresh_b = sorted(entries, key=lambda entry: entry.destination == "fresh")
    assert [entry.turn_ends for entry in taking] == [ENDS] * 4
    assert fresh_a.turn_ends is fresh_b.turn_ends is None
    rounds = list(zip(*map(spans, taking), strict=True))
    orders = []
    for before, after in pairwise(rounds):
        assert max(end for _, end in before) < min(start for start, _ in after)
        orders.append(tuple(sorted(range(4), key=before.__getitem__)))
    assert len(set(orders)) > 1
    for entry in taking:
        lasted = sum(end - start for start, end in spans(entry))
        assert lasted <= entry.run_ns < lasted + 1e9
    # Cold at the start, and again before the first read of each measurement.
    read = len(set(entries[0].samples.file_index))
    evicted = output.count("evicted ")
    assert evicted == FILES * len(entries) + read * len(taking)


def test_files_that_do_not_fit_together(worker, places):
    """Each place would evict the files of the other: one comes after the other."""
    worker.measure(*places, *SMALL, prelude="from measuring import turns; turns.MOST_OF_MEMORY = 0")
    first, second = worker.retrieves()
    assert first.turn_ends is second.turn_ends is None
    assert first.samples.start_ns[-1] < second.samples.start_ns[0]


def test_a_place_without_room(worker, places, mount):
    """It is skipped with a warning, and the others take turns, as where memory is little."""
    tiny = mount("size=5m")
    worker.complete(*places, "--place", f"tiny={tiny}", *SMALL)
    first, second, skipped = worker.retrieves()
    assert first.turn_ends == second.turn_ends == ENDS
    reason = "no space: needs 27 MiB, 5 MiB are free"
    assert (outcome_of(skipped), skipped.turn_ends) == (("skipped", reason), None)
    (warning,) = worker.result().warnings
    assert (warning.name, warning.message) == (
        "skipped",
        f"place tiny ({tiny}): cache-retrieve: {reason}",
    )


def test_a_place_that_fails(worker, places):
    """Nothing else is measured there, the other place goes on, and what was measured is kept."""
    full = (
        "from measuring.retrieval import SeedSteps; copy = SeedSteps.copy; done = []\n"
        "def fail(self, source, destination, size):\n"
        "    done.append(destination)\n"
        "    if '/second/' in destination and '/unlink/' in destination and len(done) > 20:\n"
        "        raise OSError(28, 'No space left on device')\n"
        "    copy(self, source, destination, size)\n"
        "SeedSteps.copy = fail\n"
    )
    names = destinations("overwrite", "unlink")
    code, _ = worker.run(*places, *SMALL, *names, prelude=full)
    assert code == 1
    entries = worker.retrieves()
    reason = f"place b ({worker.workspace.parent}/second): No space left on device"
    ends = [("completed", None)] * 2 + [("failed", reason)] * 2
    assert [outcome_of(entry) for entry in entries] == ends
    assert [entry.place for entry in entries] == ["a", "a", "b", "b"]
    assert all(0 < len(entry.samples.copy_ns) < RETRIEVES for entry in entries[2:])


def test_the_time_is_used_up(worker, places):
    """All have about as much, and can be compared."""
    slow = (
        "import time; from measuring.retrieval import SeedSteps; copy = SeedSteps.copy\n"
        "SeedSteps.copy = lambda *args: (time.sleep(0.2), copy(*args))\n"
    )
    worker.run(*places, *SMALL, "--time-budget", "6", prelude=slow)
    entries = worker.retrieves()
    reason = "the time budget of 6 s is used up"
    assert [outcome_of(entry) for entry in entries] == [("time-budget", reason)] * 2
    turns = [len(entry.turn_ends or ()) for entry in entries]
    assert abs(turns[0] - turns[1]) <= 1
    assert 0 < min(turns) < TURNS


def test_batches(worker, places):
    """One variant in all places before the next; writes of a new process in each turn."""
    worker.workloads = ("sync-write",)
    patient = "from workloads import sync_write; sync_write.QUICK.update(time_limit_s=60.0)"
    entries = worker.measure(*places, prelude=patient)
    assert [entry["turn_ends"][-1] for entry in entries] == [200, 200, 200, 10] * 2
    assert {len(entry["turn_ends"]) for entry in entries} == {6}
    first, second = (entries[number]["samples"]["start_ns"] for number in (0, 4))
    assert first[0] < second[-1]
    assert second[0] < first[-1]

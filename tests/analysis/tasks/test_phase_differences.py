# SPDX-License-Identifier: MPL-2.0
"""Which phase differs between pools, and why: slower, more bytes, or more often."""

import math

import pytest
from msgspec.structs import replace
from simulated_phases import MIB, run_phases

from io_benchmark.analysis.phases.phase_model import Part, PhaseName, Waits
from io_benchmark.analysis.tasks.both_sides import BothSides
from io_benchmark.analysis.tasks.difference_model import Reason
from io_benchmark.analysis.tasks.phase_differences import SET_UP, compare_phases

LOAD, DOWNLOAD, UNPACK = PhaseName.IMAGE_LOAD, PhaseName.DOWNLOAD, PhaseName.UNPACK
CHECKOUT, OWN_WORK = PhaseName.CHECKOUT, PhaseName.OWN_WORK
BOTH = [("a", "b")]


def pool(name, seconds, sizes=None, workers=6, label="build", runs=2, **changes):
    """Return runs of workers that differ by a few percent."""
    made = []
    for worker in range(workers):
        factor = math.exp(0.02 * (worker - (workers - 1) / 2))
        varied = {phase: value * factor for phase, value in seconds.items()}
        for run_id in range(runs):
            run = run_phases(name, varied, sizes, worker=f"g/{worker}", label=label, run_id=run_id)
            made.append(replace(run, **changes))
    return made


def only(a, b):
    (pair,) = compare_phases(BOTH, {"a": a, "b": b})
    return pair


def decided(pair):
    """Return phase and reason of the differences that are named, with their seconds."""
    return {
        (row.phase, row.reason): round(row.difference_s, 1)
        for row in pair.differences
        if row.is_decided
    }


def test_slower_phases_come_first_by_what_they_add():
    """Each has its interval and what it waits for; own work is compared elsewhere."""
    usual = {LOAD: 30, UNPACK: 20, PhaseName.PACKAGES: 5, OWN_WORK: 600}
    pair = only(pool("a", {**usual, LOAD: 45, UNPACK: 26, OWN_WORK: 900}), pool("b", usual))
    assert decided(pair) == {(LOAD, Reason.PACE): 15.0, (UNPACK, Reason.PACE): 6.0}
    first, second, *rest = pair.differences
    assert (first.phase, first.waits, second.phase) == (LOAD, Waits.DISKS, UNPACK)
    assert first.ratio == pytest.approx(1.5)
    low_s, high_s = first.interval_s
    assert 12 < low_s < 15 < high_s < 18
    assert [row.phase for row in rest] == [PhaseName.PACKAGES]
    assert (round(pair.set_up_s.baseline), round(pair.set_up_s.candidate)) == (55, 76)
    assert (pair.runs, pair.workers) == (BothSides(12, 12), BothSides(6, 6))


def test_swapped_pools_swap_the_sign():
    """Neither pool is the standard of what a ratio makes in seconds."""
    slow, fast = pool("a", {LOAD: 45}), pool("b", {LOAD: 30})
    (there,) = only(slow, fast).differences
    (back,) = only(fast, slow).differences
    assert back.difference_s == pytest.approx(-there.difference_s)
    assert back.interval_s == pytest.approx((-there.interval_s[1], -there.interval_s[0]))


def test_more_bytes_are_not_a_slower_disk():
    """Twice the bytes in twice the time is more work at the same rate."""
    a = pool("a", {UNPACK: 40}, {UNPACK: 2000 * MIB})
    b = pool("b", {UNPACK: 20}, {UNPACK: 1000 * MIB})
    pair = only(a, b)
    assert decided(pair) == {(UNPACK, Reason.SIZE): 20.0}
    assert pair.differences[0].waits is Waits.UNKNOWN
    (times,) = pair.phases
    assert times.rates_bytes_per_s.candidate == pytest.approx(50 * MIB, rel=0.01)


def test_more_bytes_hide_no_slower_disk():
    """Half the bytes in the same time is half as fast."""
    a = pool("a", {UNPACK: 20}, {UNPACK: 500 * MIB})
    b = pool("b", {UNPACK: 20}, {UNPACK: 1000 * MIB})
    assert decided(only(a, b)) == {(UNPACK, Reason.PACE): 14.2, (UNPACK, Reason.SIZE): -14.2}


def test_a_cached_image_is_no_faster_disk():
    """Loaded in each run against in one of four: how often it is done makes the difference."""
    a = pool("a", {LOAD: 30, CHECKOUT: 9}, runs=4)
    b = pool("b", {LOAD: 30, CHECKOUT: 9}) + pool("b", {LOAD: 0.02, CHECKOUT: 9}, runs=6)
    pair = only(a, b)
    assert decided(pair) == {(LOAD, Reason.SHARE): 22.5}
    (load,) = (times for times in pair.phases if times.phase is LOAD)
    assert load.shares == BothSides(0.25, 1.0)


@pytest.mark.parametrize(("cached_s", "reasons"), [(0.999, {Reason.SHARE}), (1.0, {Reason.PACE})])
def test_what_is_a_cached_image(cached_s, reasons):
    """Without bytes, a load of less than a second found the image."""
    a = pool("a", {LOAD: 30}, workers=9)
    b = [
        replace(run, spans=(replace(run.spans[0], duration_ns=round(cached_s * 1e9)),))
        for run in pool("b", {LOAD: 30}, workers=9)
    ]
    assert {reason for _, reason in decided(only(a, b))} == reasons


def test_logs_without_bytes_show_no_cache():
    """Where all logs of one pool lack bytes, these are not compared."""
    a = pool("a", {DOWNLOAD: 30})
    b = pool("b", {DOWNLOAD: 20}, {DOWNLOAD: 1000 * MIB})
    assert decided(only(a, b)) == {(DOWNLOAD, Reason.PACE): 10.0}


@pytest.mark.parametrize(
    ("parts", "reason", "waits"),
    [
        ((), Reason.TIME, Waits.UNKNOWN),
        ((Part(CHECKOUT, "update", 1),), Reason.PACE, Waits.BOTH),
    ],
)
def test_checkouts(parts, reason, waits):
    """Whether a checkout was made anew only its bytes or its program's parts say."""
    a, b = pool("a", {CHECKOUT: 60}, parts=parts), pool("b", {CHECKOUT: 30}, parts=parts)
    (row,) = only(a, b).differences
    assert (row.reason, row.waits, row.is_decided) == (reason, waits, True)


def test_clones_and_updates_are_different_work():
    """A pool that clones each time is not slower than one that updates."""
    clone, update = (Part(CHECKOUT, name, 1) for name in ("clone", "update"))
    a = pool("a", {CHECKOUT: 60}, parts=(clone,))
    b = pool("b", {CHECKOUT: 5}, parts=(update,), runs=3) + pool(
        "b", {CHECKOUT: 60}, parts=(clone,), runs=1
    )
    assert {reason for _, reason in decided(only(a, b))} == {Reason.SHARE}


def test_unequal_mixes_make_no_phase_slow():
    """A pool that runs the label with the large fetches more often is not slower."""
    a = pool("a", {UNPACK: 90}, label="large", runs=6) + pool("a", {UNPACK: 3}, runs=1)
    b = pool("b", {UNPACK: 90}, label="large", runs=1) + pool("b", {UNPACK: 3}, runs=6)
    pair = only(a, b)
    assert decided(pair) == {}
    assert pair.set_up_s.candidate == pytest.approx(pair.set_up_s.baseline, rel=0.02)


@pytest.mark.parametrize(("extra_s", "is_named"), [(0.49, False), (0.51, True)])
def test_what_is_worth_a_name(extra_s, is_named):
    """Half a second per task is; what takes less on both pools is not compared."""
    a, b = pool("a", {LOAD: 4 + extra_s}, workers=20), pool("b", {LOAD: 4}, workers=20)
    assert bool(decided(only(a, b))) is is_named
    assert only(pool("a", {UNPACK: 0.45}), pool("b", {UNPACK: 0.1})).differences == ()


def test_one_worker_decides_nothing():
    """Runs of one worker are no evidence of its pool."""
    a, b = pool("a", {LOAD: 90}, workers=1, runs=40), pool("b", {LOAD: 30}, workers=6)
    pair = only(a, b)
    assert decided(pair) == {}
    assert pair.differences[0].phase is LOAD


def test_incomplete_logs_and_labels_of_one_pool_do_not_count():
    """Nor do phases before the run."""
    a = pool("a", {PhaseName.PENDING: 60, LOAD: 30}) + pool("a", {LOAD: 90}, label="alone")
    b = pool("b", {LOAD: 30}) + pool("b", {LOAD: 900}, is_complete=False)
    pair = only(a, b)
    assert (decided(pair), pair.runs) == ({}, BothSides(12, 12))
    assert [times.phase for times in pair.phases] == [LOAD]
    assert compare_phases(BOTH, {"a": pool("a", {LOAD: 3}, label="x"), "b": b}) == ()


def test_several_pools_share_the_error():
    """The same difference is less certain among many pairs."""
    slow, fast = pool("a", {LOAD: 45}), pool("b", {LOAD: 30})
    (alone,) = compare_phases(BOTH, {"a": slow, "b": fast})
    pools = {f"p{number}": pool(f"p{number}", {LOAD: 30}) for number in range(20)}
    pairs = [*BOTH, *((name, "b") for name in pools)]
    first, *_ = compare_phases(pairs, {"a": slow, "b": fast, **pools})
    assert first.differences[0].p_value == pytest.approx(21 * alone.differences[0].p_value)


def test_set_up_is_what_is_before_own_work():
    """Artifacts are not in it, nor what is between known lines."""
    assert SET_UP[0] is PhaseName.CACHES
    assert SET_UP[-1] is PhaseName.PACKAGES

# SPDX-License-Identifier: MPL-2.0
"""At which values memory, CPUs, the kernel, other load and the course of a run become causes."""

from functools import partial

import pytest
import seed_case
from cause_thresholds import (
    ENOUGH_MS,
    EQUAL_COSTS,
    around,
    assert_threshold,
    enough_in_addition,
    from_number,
    threshold,
    with_facts,
    written_per_s,
)
from seed_facts import (
    COPIED_BYTES,
    MIB,
    RATE,
    cpu_limit,
    falling,
    first,
    fixed_work,
    last_third,
    memory_limit,
    more_cpu_time,
    pressed,
    slow_for_a_while,
    spent,
    stolen,
    touching,
    waiting_for_io,
    written,
)

from io_benchmark.analysis.explaining import effects
from io_benchmark.analysis.explaining.causes import cpu, drift, memory, other_load, ranked_settings
from io_benchmark.analysis.model.cause import State
from io_benchmark.analysis.statistics import noise

SUPPORTED, RULED_OUT, NOT_SEPARABLE = State.SUPPORTED, State.RULED_OUT, State.NOT_SEPARABLE
NOT_OBSERVABLE = State.NOT_OBSERVABLE
TIGHTER = "The slower side's memory is limited more tightly, but"
SLOWED_DOWN = "The slower side slowed down during the run, but without that"
NO_SLOWER = "The slower side was no slower at its end."

CACHE_MIB = sum(seed_case.SIZES_MIB)
COPIED_MIB = COPIED_BYTES / MIB / seed_case.RETRIEVES
TOUCH_US, LONGER_TOUCH_US = 160, 250  # the faster side's per MiB, and a slower one's
# Both sides did the same fixed work; the slower one works for longer in another kernel.
KERNEL_MS = 40
SAME_WORK = fixed_work(1, 1, 1)
FASTER_KERNEL = SAME_WORK | spent(copy_kernel=KERNEL_MS / 2)
SLOWER_KERNEL = {"host.kernel": "5.4"} | spent(copy_kernel=KERNEL_MS) | more_cpu_time(2)
# Work that takes this many times as long makes enough of what the kernel takes.
ENOUGH_TIMES = 1 / (1 - ENOUGH_MS / KERNEL_MS)
SAME_CPU = {"host.cpu_model": "same"}
# What all CPUs of the slower side do per second without guests.
CPU_MS_PER_S = 1000 * seed_case.CPU_MS / seed_case.AMD_16.average + sum(
    seed_case.OTHER_CPU_MS_PER_S.values()
)
STOLEN_SHARE = cpu._LEAST_STOLEN_SHARE

kernel_threshold = partial(threshold, faster=FASTER_KERNEL)
MEMORY = [
    threshold(
        "cgroup-memory-limit: has room for the cache twice",
        memory_limit,
        from_number(ranked_settings._ROOMY * CACHE_MIB),
        TIGHTER,
        EQUAL_COSTS,
    ),
    threshold(
        "cgroup-memory-limit: is all of the memory",
        with_facts({"host.memory_bytes": 8192 * MIB}, memory_limit),
        from_number(8192),
        TIGHTER,
        "Neither side has such a limit",
    ),
    threshold(
        "memory-first-touch: costs more",
        with_facts(SAME_WORK, touching),
        around(memory._ALIKE_RATIO * TOUCH_US),
        "New memory costs the slower side no more.",
        "New memory costs the slower side more, but",
        faster=touching(TOUCH_US) | SAME_WORK,
    ),
    threshold(
        "memory-first-touch: enough of the difference",
        with_facts(SAME_WORK, touching),
        around(TOUCH_US + 1000 * ENOUGH_MS / COPIED_MIB),
        RULED_OUT,
        SUPPORTED,
        faster=touching(TOUCH_US) | SAME_WORK,
    ),
    threshold(
        "memory-first-touch: as much more as all work",
        lambda calling_ms: touching(LONGER_TOUCH_US) | fixed_work(1, 1, calling_ms),
        around(LONGER_TOUCH_US / TOUCH_US / memory._ALIKE_RATIO),
        "New memory costs the slower side more, but per",
        "New memory costs the slower side more, but only as far as all",
        faster=touching(TOUCH_US) | FASTER_KERNEL,
    ),
]
CPUS = [
    threshold(
        "cgroup-cpu-limit: enough CPUs",
        cpu_limit,
        around(ranked_settings._CPUS_NEEDED),
        "The slower side has a smaller quota, but",
        EQUAL_COSTS,
    ),
    # A retrieve works for CPU_MS, and waits for CPU_MS / quota in all.
    threshold(
        "cgroup-cpu-limit: enough of the difference",
        cpu_limit,
        around(1 / (1 + ENOUGH_MS / seed_case.CPU_MS), margin=0.02),
        SUPPORTED,
        RULED_OUT,
    ),
    threshold(
        "cpu: stolen",
        with_facts(SAME_CPU, stolen),
        # The faster side's guests took 0.1 %.
        around((STOLEN_SHARE + 0.001) / (1 - STOLEN_SHARE - 0.001) * CPU_MS_PER_S, margin=0.03),
        RULED_OUT,
        SUPPORTED,
        faster=SAME_CPU,
    ),
    # Both sides' processes work for as long in the seed's case.
    threshold(
        "cpu: enough of the difference",
        more_cpu_time,
        around(1 + ENOUGH_MS / seed_case.CPU_MS, margin=0.03),
        RULED_OUT,
        NOT_OBSERVABLE,
    ),
    kernel_threshold(
        "cpu: fixed work takes longer",
        with_facts(SLOWER_KERNEL, lambda user_ms: fixed_work(user_ms, 1, 1)),
        around(effects.SLOWER_AT_RATIO),
        "Fixed work in user mode takes as long",
        "Fixed work takes longer on the slower",
    ),
    kernel_threshold(
        "cpu: fixed work takes enough longer",
        with_facts(SLOWER_KERNEL, lambda user_ms: fixed_work(user_ms, 1, 1)),
        around(ENOUGH_TIMES),
        RULED_OUT,
        SUPPORTED,
    ),
    # Where all work takes 1.2 times as long, copying in the kernel has to take longer than that.
    kernel_threshold(
        "kernel: fixed work takes enough longer",
        with_facts(SLOWER_KERNEL, lambda times: fixed_work(1.2, 1.2 * times, 1.4)),
        around(ENOUGH_TIMES),
        RULED_OUT,
        SUPPORTED,
    ),
    kernel_threshold(
        "kernel: only copying takes longer",
        with_facts(SLOWER_KERNEL, lambda calling_ms: fixed_work(1, 2, calling_ms)),
        around(effects.SLOWER_AT_RATIO),
        NOT_SEPARABLE,
        SUPPORTED,
    ),
]
LOAD = [
    threshold(
        "other-load: the same work",
        lambda kernel_ms: spent(copy_kernel=kernel_ms, copy_waiting=30),
        around(other_load._SAME_WORK_RATIO * 5),
        SUPPORTED,
        RULED_OUT,
        faster=spent(copy_kernel=5),
    ),
    threshold(
        "other-load: pressure on memory",
        pressed,
        # The faster side has 0.1 %.
        around(other_load._PRESSED_SHARE + 0.001),
        RULED_OUT,
        SUPPORTED,
    ),
    threshold(
        "other-load: more written than copied",
        written,
        around(1 + other_load._FOREIGN_SHARE),
        RULED_OUT,
        SUPPORTED,
    ),
]
COURSE = [
    threshold(
        "drift-over-time: slower",
        last_third,
        around(drift._SLOWS_RATIO, margin=0.02),
        NO_SLOWER,
        SLOWED_DOWN,
    ),
    # A fifth of the run in its second half is slow: what comes back is no step.
    threshold(
        "drift-over-time: slower for a while",
        slow_for_a_while,
        around(1 + (drift._SLOWS_RATIO - 1) * 0.5 / 0.2),
        NO_SLOWER,
        SLOWED_DOWN,
    ),
    threshold(
        "drift-over-time: enough for a while",
        slow_for_a_while,
        around(1 + enough_in_addition() / (0.2 * seed_case.AMD_16.average), margin=0.08),
        SLOWED_DOWN,
        NOT_OBSERVABLE,
    ),
    threshold(
        "drift-over-time: blocked",
        with_facts(last_third(1.6), waiting_for_io),
        around(drift._BLOCKED_SHARE),
        "The slower side's disks moved fewer bytes per second from the start.",
        "The slower side slowed down, but its disks moved as many",
    ),
    threshold(
        "drift-over-time: slower at first",
        falling,
        around(written_per_s(seed_case.INTEL) / drift._SLOWER_AT_FIRST_RATIO / (RATE / MIB)),
        "The slower side's disks moved fewer",
        NOT_SEPARABLE,
    ),
    threshold(
        "drift-over-time: samples",
        first,
        from_number(noise.FEWEST_TO_JUDGE),
        NOT_OBSERVABLE,
        RULED_OUT,
    ),
]


@pytest.mark.parametrize(("cause", "judge", "values", "expected"), MEMORY + CPUS + LOAD + COURSE)
def test_threshold(cause, judge, values, expected):
    """Just below and just above it are two states, or two reasons."""
    assert_threshold(cause, judge, values, expected)

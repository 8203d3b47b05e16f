# SPDX-License-Identifier: MPL-2.0
"""The same small work on every machine: what its CPU and its kernel can do without any disk.

  user          compress a fixed text by bzip2: integers in cache, branches, hardly a system call.
                Its library has had one implementation for years, and none for special instructions
  kernel-copy   copy 1 MiB between two files in memory, as a retrieve copies
  kernel-calls  the cheapest system call, such as the number of the parent process

Measured, of each burst: the wall time, the exact time on a CPU, and the time waiting for one. Half
of the bursts run before the first workload and half after the last, so that throttling shows as a
change. Where the kernel counts ticks, only sums of many bursts divide into user and kernel time.
Not measured: several CPUs.
"""

import random
import time
from contextlib import ExitStack

from log import MIB, NS_PER_S
from system import accounts, clock, copies, host

BURST_NS = NS_PER_S // 20
BURSTS, SHORT_BURSTS = 5, 1  # of each work, before the workloads and as many after them
MANY_RETRIEVES = 1000  # a run of fewer is a short one
TEXT_BYTES = 9000
CALLS_PER_STEP = 1000
# Together more than most caches of one CPU.
FILE_BYTES = 16 * MIB
MEMORY_NEEDED_BYTES = 8 * FILE_BYTES


def measure(settings, origin_ns, records):
    """Append a record per burst, one kind of work after the other; return what is missing."""
    with ExitStack() as stack:
        works, missing = {}, []
        for name, make in MAKERS.items():
            try:
                works[name] = make(stack)
            except (OSError, ImportError, AttributeError, MemoryError) as error:
                missing.append("%s: %s" % (name, error))
        account = stack.enter_context(accounts.Account())
        is_long = settings.capacities or settings.retrieves >= MANY_RETRIEVES
        for _ in range(BURSTS if is_long else SHORT_BURSTS):
            for name, step in works.items():
                records.append({"work": name, **_burst(step, account, origin_ns)})
    return missing


def _burst(step, account, origin_ns):
    step()  # untimed: code and data come back into the caches
    read_clock, operations = clock.now_ns, 0
    before = account.read()
    # The usage of a running thread is up to a tick old; this clock is not.
    cpu_start_ns, start_ns = time.thread_time_ns(), read_clock()
    now_ns = start_ns
    while now_ns - start_ns < BURST_NS:
        operations += step()
        now_ns = read_clock()
    cpu_ns = time.thread_time_ns() - cpu_start_ns
    _, kernel_ns, waiting_ns = account.since(before)
    kernel_ns = min(kernel_ns, cpu_ns)
    return {
        "start_ns": start_ns - origin_ns,
        "duration_ns": now_ns - start_ns,
        "operations": operations,
        "user_ns": cpu_ns - kernel_ns,
        "kernel_ns": kernel_ns,
        "waiting_ns": waiting_ns,
    }


def _text():
    words = [b"%x" % (number * 7919 % 65521) for number in range(200)]
    # Only random() gives the same values in every version.
    draw = random.Random(1).random
    return b" ".join(words[int(draw() * 200)] for _ in range(TEXT_BYTES))[:TEXT_BYTES]


def _user_work(_stack):
    import bz2  # noqa: PLC0415 - some builds of Python lack it

    text = _text()

    def compress():
        bz2.compress(text, 1)
        return 1

    return compress


def _kernel_copy(stack):
    if (host.available_bytes() or 0) < MEMORY_NEEDED_BYTES:
        raise MemoryError("%d MiB of memory are not free" % (MEMORY_NEEDED_BYTES // MIB))
    return copies.copying(stack, FILE_BYTES)


def _kernel_calls(stack):
    return copies.calling(stack, CALLS_PER_STEP)


MAKERS = {"user": _user_work, "kernel-copy": _kernel_copy, "kernel-calls": _kernel_calls}

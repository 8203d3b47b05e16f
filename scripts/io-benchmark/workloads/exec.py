# SPDX-License-Identifier: MPL-2.0
"""Several processes run one program at once (seed 004): one file with many names, or many files.

  hardlinked  each process runs the same file by a different name
  copies      each process runs its own copy, as builders with separate file systems do

The kernel keeps the pages of a file once, so that processes of one file share them in the
last-level cache; copies displace each other. The program is made here: code of 0.6 of that cache's
size, which it jumps through in a random order. Measured: each process from its start to its end, on
a separate CPU if there are enough; and what it and this process, while it starts it, spent on a CPU
and waiting for one.
Not measured: reading the program from the disk, since it has run before. The size depends on the
machine's cache, so different machines run different programs: compare `copies` with `hardlinked` on
one machine.
"""

import os
import random
import re
import signal
import struct

from errors import SkippedError, WorkloadError
from log import MIB
from measuring.batches import Batches
from measuring.workload import together
from system import accounts, clock, host, processes
from system.linux import kernel

ARCHITECTURE = "x86_64"
CACHES = "/sys/devices/system/cpu/cpu0/cache"
CACHE_SHARE = 0.6
LEAST_BYTES, MOST_BYTES = 4 * MIB, 32 * MIB
UNKNOWN_CACHE_BYTES = 16 * MIB
FULL = {"jumps": 3_000_000, "rounds": 60, "time_limit_s": 30.0}
QUICK = {"jumps": 500_000, "rounds": 4, "time_limit_s": 2.0}
MOST_PROCESSES = 8
# The program, in the file and in memory.
LINE_BYTES = 64
PAGE_BYTES = 4096
LOAD_ADDRESS = 0x400000
MACHINE_X86_64 = 62
CODE_AT = PAGE_BYTES  # in the file and, from LOAD_ADDRESS, in memory
LINES_AT = 2 * PAGE_BYTES
READ_AND_EXECUTE = 5


def _code_bytes():
    """Return the size of the program's code, in whole pages, by the first CPU's largest cache."""
    names = kernel.list_names(CACHES)
    sizes = " ".join(kernel.read_text("%s/%s/size" % (CACHES, name)) or "" for name in names)
    units = {"K": 1024, "M": MIB, "G": 1024 * MIB}
    caches = (int(number) * units[unit] for number, unit in re.findall(r"(\d+)([KMG])", sizes))
    size = int(max(caches, default=UNKNOWN_CACHE_BYTES) * CACHE_SHARE)
    return min(max(size, LEAST_BYTES), MOST_BYTES) // PAGE_BYTES * PAGE_BYTES


def _processes():
    return min(MOST_PROCESSES, max(2, len(host.usable_cpus())))


class _Exec(Batches):
    name = "exec"
    unit = "ms"
    unit_ns = 1_000_000
    maximum_s = 80
    observes = ("architecture", "cpus", "cpu_ns")
    full, quick = FULL, QUICK

    def variants(self):
        return [{"variant": name, "threads": _processes()} for name in ("hardlinked", "copies")]

    def parameters(self, variant):
        return {
            "blob_bytes": _code_bytes(),
            "passes": max(1, round(self.sizes["jumps"] / (_code_bytes() / LINE_BYTES))),
            "samples_planned": self.sizes["rounds"] * variant["threads"],
        }

    def prepare(self):
        machine = host.program_format()
        if machine != ARCHITECTURE:
            raise SkippedError("needs Linux on %s, this is %s" % (ARCHITECTURE, machine))
        if os.statvfs(self._folder).f_flag & os.ST_NOEXEC:
            raise SkippedError("the place is mounted noexec")
        self.check_space((_processes() + 1) * (_code_bytes() + MIB))

    def start(self, entry):
        available = sorted(os.sched_getaffinity(0))
        count = entry["threads"]
        cpus = (available * count)[:count]
        entry["observed"].update(architecture=host.program_format(), cpus=cpus, cpu_ns=0)
        self._pins = cpus if len(available) >= count else None
        self._paths = _make_programs(self._folder, entry["variant"], count, entry["parameters"])
        _run_together(self._paths, self._pins, lambda *_: None)  # a warm-up

    def measure(self, entry):
        enough = False
        while not enough:
            times = _run_together(self._paths, self._pins, self.add_spent)
            entry["observed"]["cpu_ns"] += sum(cpu_ns for _, _, cpu_ns in times)
            enough = self.add([(start, end) for start, end, _ in times])


def _make_programs(folder, variant, count, parameters):
    """Write the program under so many names; return their paths."""
    program = _build_program(parameters["blob_bytes"], parameters["passes"])
    paths = [os.path.join(folder, "%s-%d" % (variant, number)) for number in range(count)]
    for path in paths:
        if variant == "hardlinked" and path != paths[0]:
            os.link(paths[0], path)
        else:
            with open(path, "xb") as file:
                file.write(program)
            os.chmod(path, 0o700)
    return paths


def _run_together(paths, cpus, add_spent):
    """Run all at once, each on its CPU; return (start_ns, end_ns, cpu_ns) by their starts."""
    started, times = {}, []
    try:
        group = _start_all(paths, cpus, started)
        while started:
            # Only their group: the sampler is also a child.
            pid = os.waitid(os.P_PGID, group, os.WEXITED | os.WNOWAIT).si_pid
            end_ns = clock.now_ns()
            start_ns, path, starting = started.pop(pid)
            status, spent = processes.reap(pid, processes.waiting_ns_of(pid))
            if status != 0:
                raise WorkloadError("%s ended with status %#06x" % (os.path.basename(path), status))
            add_spent(end_ns - start_ns, *together(starting, spent))
            times.append((start_ns, end_ns, sum(spent[:2])))
    finally:
        for pid in started:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
    return sorted(times)


def _start_all(paths, cpus, started):
    """Start each process; return the number of their process group."""
    group, before = 0, os.sched_getaffinity(0)
    try:
        with accounts.Account() as account:
            for path, cpu in zip(paths, cpus or [None] * len(paths)):
                if cpu is not None:
                    # A new process inherits its parent's CPUs.
                    os.sched_setaffinity(0, {cpu})
                reading = account.read()
                start_ns = clock.now_ns()
                pid = os.posix_spawn(path, (path,), {}, setpgroup=group)
                started[pid] = (start_ns, path, account.since(reading))
                group = group or pid
    finally:
        os.sched_setaffinity(0, before)
    return group


def _build_program(blob_bytes, passes):
    """Return a static program, made here because workers have no compiler.

    It jumps through all of its code, one jump per cache line, in an order that no prefetcher
    predicts, `passes` times, and exits. Lines are read from memory again where the caches cannot
    hold its code and the code of the copies that run at the same time.
    """
    lines = blob_bytes // LINE_BYTES
    order = list(range(lines))
    generator = random.Random(1)
    for last in range(lines - 1, 0, -1):
        # Not shuffle(): only random() gives the same values in every version of Python.
        swapped = int(generator.random() * (last + 1))
        order[last], order[swapped] = order[swapped], order[last]
    again_at = CODE_AT + 12
    blob = bytearray(b"\xcc" * (lines * LINE_BYTES))  # int3 wherever nothing may jump
    for line, following in zip(order, [*order[1:], None]):
        begin = line * LINE_BYTES
        target = again_at if following is None else LINES_AT + following * LINE_BYTES
        struct.pack_into("<Bi", blob, begin, 0xE9, target - (LINES_AT + begin + 5))
    first_at = LINES_AT + order[0] * LINE_BYTES - again_at
    code = b"\x49\xc7\xc4" + struct.pack("<i", passes)  # mov r12, passes
    code += b"\xe9" + struct.pack("<i", first_at)  # jmp first
    code += b"\x49\xff\xcc"  # again: dec r12
    # jnz to the jmp
    code += b"\x0f\x85" + struct.pack("<i", CODE_AT + 7 - (again_at + 9))
    code += b"\xb8\x3c\x00\x00\x00\x31\xff\x0f\x05"  # exit(0)
    head = _headers(LINES_AT + len(blob)).ljust(CODE_AT, b"\0")
    return head + code.ljust(LINES_AT - CODE_AT, b"\0") + blob


def _headers(size):
    """Return ELF's header and one segment: the whole file, readable and executable."""
    magic = b"\x7fELF\x02\x01\x01"  # 64 bits, little end first, version 1
    kind_and_entry = (2, MACHINE_X86_64, 1, LOAD_ADDRESS + CODE_AT, 64, 0, 0)
    sizes_of_headers = (64, 56, 1, 0, 0, 0)
    header = struct.pack("<16sHHIQQQI6H", magic, *kind_and_entry, *sizes_of_headers)
    addresses = (LOAD_ADDRESS, LOAD_ADDRESS, size, size, PAGE_BYTES)
    return header + struct.pack("<IIQ5Q", 1, READ_AND_EXECUTE, 0, *addresses)


WORKLOAD = _Exec

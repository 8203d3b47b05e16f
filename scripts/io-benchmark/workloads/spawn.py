# SPDX-License-Identifier: MPL-2.0
"""The time to start a process and to wait for its end (seed 000's hypothesis 8).

Measured: from the start of a program that does nothing, by its absolute path, until its end is
known: on Linux fork, exec, the dynamic loader, exit; and what both processes spent on a CPU and
waiting for one. The latter is read between the program's end and its reaping, and this time is not
counted. Not measured: a shell, a search through PATH, a program's own work. Python's share depends
on its version (1.05 ms on 3.9, 0.5 ms on 3.10 were seen), so the result has the version.
"""

from errors import WorkloadError
from measuring.batches import PYTHON, Batches
from measuring.workload import together
from system import accounts, clock, processes, programs

FULL = {"samples_planned": 5_000, "warm_up": 200, "time_limit_s": 20.0}
QUICK = {"samples_planned": 300, "warm_up": 20, "time_limit_s": 1.0}
VARIANT, METHOD = programs.STARTING


class _Spawn(Batches):
    name = "spawn"
    unit = "µs"
    unit_ns = 1_000
    maximum_s = 30
    per_place = False  # the program is where the image has it
    names = (VARIANT,)
    observes = ("program", "method", "python")
    full, quick = FULL, QUICK

    def measure(self, entry):
        program, words = programs.does_nothing()
        entry["observed"].update(program=program, method=METHOD, python=PYTHON)
        with accounts.Account() as account:
            for _ in range(entry["parameters"]["warm_up"]):
                _spawn(program, words, account)
            self.begin(clock.now_ns())
            enough = False
            while not enough:
                start_ns, duration_ns, spent = _spawn(program, words, account)
                self.add_spent(duration_ns, *spent)
                enough = self.add([(start_ns, start_ns + duration_ns)])


def _spawn(program, words, account):
    """Return the start, the duration, and what both processes spent in it."""
    before = account.read()
    start_ns = clock.now_ns()
    child = processes.start(program, words)
    processes.wait_for(child)
    ended_ns = clock.now_ns()
    spent = account.since(before)
    waiting_ns = processes.waiting_ns_of(child)
    before = account.read()
    reaping_ns = clock.now_ns()
    status, spent_by_child = processes.reap(child, waiting_ns)
    duration_ns = clock.now_ns() - reaping_ns + ended_ns - start_ns
    spent = together(spent, account.since(before), spent_by_child)
    if status != 0:
        raise WorkloadError("%s ended with status %#06x" % (program, status))
    return start_ns, duration_ns, spent


WORKLOAD = _Spawn

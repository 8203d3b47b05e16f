# SPDX-License-Identifier: MPL-2.0
"""Give workers the machine that their pool's definition says, where it says one.

What is missing, unknown or contradictory is a remark, and the worker gets none.
"""

from msgspec.structs import replace

from io_benchmark.adopt.pools.entries import Pool, entries_of, pools_of
from io_benchmark.adopt.pools.keyed_values import UnknownFormError
from io_benchmark.adopt.pools.machines import machine_of
from io_benchmark.analysis.model.groups import grouped
from io_benchmark.analysis.model.pool_machine import PoolMachine
from io_benchmark.analysis.model.run import Worker
from io_benchmark.analysis.reading.caps import problem_with
from io_benchmark.analysis.reading.disks import MachineType
from io_benchmark.number_text import listed
from io_benchmark.sources.protocol import is_pool_named
from io_benchmark.text import clean_name

_MISSING = "no definition"
_UNKNOWN_FORM = "machines in a form that is not known"
_CONTRADICTING = "definitions that contradict each other, and are not used"
# Pools of the same name in several groups (gecko-1, comm-1): fxci-config has up to 43.
_MOST_SAME_NAMES = 100
_POOLS_NAMED = 10


class DefinedMachines:
    """The machines that a file of pools' definitions has."""

    def __init__(self, file: str, document: object) -> None:
        """Take the values of a file with this name."""
        self._file = clean_name(file)
        pools: list[Pool] = []
        for number, entry in enumerate(entries_of(document)):
            pools += pools_of(entry, number)
        self._pools = grouped(pools, lambda pool: pool.name)
        # What was looked for, by the pool and the machine type
        self._results: dict[tuple[str, str], tuple[PoolMachine | None, str | None]] = {}

    def define(self, worker: Worker) -> Worker:
        """Return a worker with the machine that its pool's definition says."""
        machine_type = MachineType(worker.instance_type).name.removeprefix("standard_")
        key = (worker.queue_or_pool, machine_type)
        if key not in self._results:
            self._results[key] = self._find(*key)
        return replace(worker, defined=self._results[key][0])

    @property
    def remarks(self) -> list[str]:
        """Return one for each problem, with the pools of workers that have it."""
        pools_by_problem: dict[str, set[str]] = {}
        for (pool, _), (_, problem) in self._results.items():
            if problem is not None:
                pools_by_problem.setdefault(problem, set()).add(clean_name(pool))
        return [
            f"{self._file}: {problem}: {listed(sorted(pools), _POOLS_NAMED)}"
            for problem, pools in sorted(pools_by_problem.items())
        ]

    def machines_of(self, queue: str) -> frozenset[PoolMachine]:
        """Return the machines of a pool, which may be named without its provisioner.

        Raise an UnknownFormError where its definition cannot be used.
        """
        names = [queue] if queue in self._pools else []
        names = names or [name for name in self._pools if is_pool_named(name, queue)]
        if not names:
            raise UnknownFormError(_MISSING)
        if sum(len(self._pools[name]) for name in names) > _MOST_SAME_NAMES:
            raise UnknownFormError(_CONTRADICTING)
        return frozenset[PoolMachine]().union(*map(self._machines_of, names))

    def _machines_of(self, name: str) -> frozenset[PoolMachine]:
        machines = {
            frozenset(machine_of(machine, pool).machine for machine in pool.machines())
            for pool in self._pools[name]
        }
        if len(machines) > 1:
            raise UnknownFormError(_CONTRADICTING)
        return machines.pop()

    def _find(self, queue: str, machine_type: str) -> tuple[PoolMachine | None, str | None]:
        """Return the machine of this type in a pool, and what is wrong with it."""
        try:
            machines = self.machines_of(queue)
        except UnknownFormError as error:
            return None, str(error) or _UNKNOWN_FORM
        same = [machine for machine in machines if machine.machine_type.lower() == machine_type]
        name = clean_name(machine_type) or "unknown"
        if not same:
            return None, f"workers of machine type {name}, which the definition does not have"
        if len(same) > 1:
            return None, f"machines {name} whose disks differ, and are not used"
        problem = problem_with(same[0])
        return same[0], f"{problem}; no cap is assumed" if problem else None

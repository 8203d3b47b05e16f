# SPDX-License-Identifier: MPL-2.0
"""A run of a task, whichever kind of profile shows what it demanded."""

from msgspec import Struct

from io_benchmark.analysis.prediction.demand import Demand
from io_benchmark.analysis.prediction.pool_storage import PoolStorage
from io_benchmark.analysis.prediction.resource_demand import PublishedRun, demand_of_run
from io_benchmark.analysis.statements import Statement
from io_benchmark.results.format import TaskProfile

# The place of a task whose profile names none.
_PLACE = "workspace"


class ProfiledRun(Struct, frozen=True):
    """A run, and what it demanded or why its profile cannot be used."""

    name: str  # the program, or the label of a task that published a resource profile
    sha256: str | None  # of the command's words; None: the label names the task
    wall_ns: int
    is_complete: bool
    places: tuple[str, ...]
    other_cpus: float  # that other processes used meanwhile
    demand: Demand | Statement

    @classmethod
    def of(cls, profile: TaskProfile | PublishedRun, storage: PoolStorage | None) -> "ProfiledRun":
        """Return the run of a profile that was made on a pool."""
        if isinstance(profile, PublishedRun):
            measured = storage.measured_places if storage is not None else ()
            place = next(iter(measured), _PLACE) if _PLACE not in measured else _PLACE
            demand = demand_of_run(profile, place)
            return cls(profile.label, None, profile.wall_ns, True, (place,), 0.0, demand)
        return cls(
            profile.command.program,
            profile.command.sha256,
            profile.wall_ns,
            profile.ending.code == 0,
            tuple(place.name for place in profile.storage.places),
            (profile.other_cpu_ms or 0) * 1e6 / max(1, profile.wall_ns),
            Demand.of(profile),
        )

# SPDX-License-Identifier: MPL-2.0
"""A run of a task, whichever kind of profile shows what it demanded."""

from msgspec import Struct

from io_benchmark.analysis.prediction.demand import Demand
from io_benchmark.analysis.prediction.pool_storage import PoolStorage
from io_benchmark.analysis.prediction.resource_demand import demand_of_resources
from io_benchmark.analysis.statements import Statement
from io_benchmark.results.resource_profile import ResourceProfile
from io_benchmark.sources.run_results import RunProfile

# The place of a task whose profile names none.
_PLACE = "workspace"
# A volume on partitions counts each byte three times.
_UNKNOWN_COUNTING = (1.0, 3.0)


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
    def of(cls, run: RunProfile, storage: PoolStorage | None) -> "ProfiledRun":
        """Return a run whose profile was made on this pool."""
        profile = run.profile
        if isinstance(profile, ResourceProfile):
            place, counting = _PLACE, _UNKNOWN_COUNTING
            if storage is not None:
                place = next((p for p in storage.measured_places if p != _PLACE), _PLACE)
                place = _PLACE if _PLACE in storage.measured_places else place
                counting = storage.counting.get(place, _UNKNOWN_COUNTING)
            demand = demand_of_resources(profile, run.wall_ns, place, counting)
            return cls(run.label, None, run.wall_ns, True, (place,), 0.0, demand)
        return cls(
            profile.command.program,
            profile.command.sha256,
            profile.wall_ns,
            profile.ending.code == 0,
            tuple(place.name for place in profile.storage.places),
            (profile.other_cpu_ms or 0) * 1e6 / max(1, profile.wall_ns),
            Demand.of(profile),
        )

# SPDX-License-Identifier: MPL-2.0
"""A fleet whose truth is known: pools, their weekly pushes, and the changes that are planted.

Pools differ in how far their workers vary, in how many there are, and in whether the machines stay
or are new each week. A worker that is fast at one figure is so at similar ones. A week moves all
workers of a pool together, and weeks resemble the ones before. Some workers have a noisy neighbour
for a week, some weeks are missing. Kernels change, and pools have machines of two kinds, without
anything being planted.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

import numpy as np
from numpy.typing import NDArray

from io_benchmark.analysis.fleet.figures import BY_NAME
from io_benchmark.analysis.fleet.fleet_model import WorkerReading
from io_benchmark.analysis.reading.machines import MachineMarks
from io_benchmark.costs.worker_time import Price

POOLS, WEEKS = 60, 52
START = datetime(2026, 1, 5, 3, tzinfo=UTC)
# By figure: a usual value, and how far it varies, against other figures.
_DISK = {
    "retrieve": (30.0, 1.0),
    "write": (700.0, 1.0),
    "read": (1400.0, 1.0),
    "random-read": (90_000.0, 1.0),
    "random-write": (60_000.0, 1.0),
    "flush": (600.0, 2.0),
}
_CPU = {
    "copy": (9000.0, 1.0),
    "user": (50_000.0, 0.6),
    "kernel": (2e6, 1.0),
    "spawn": (900.0, 1.0),
    "unpack": (12_000.0, 1.0),
}
_ALL = _DISK | _CPU
_NAMES = tuple(_ALL)
_KERNEL_FIGURES = ("kernel", "spawn", "unpack")
# A part of the variance belongs to a machine that stays, and to the figures of one group.
_OF_MACHINE, _OF_GROUP = 0.7, 0.5
_FAILED, _MISSING = 0.05, 0.05  # parts of the workers and of the weeks
_KERNEL_CHANGES = 3  # per year, of all pools together, which slow nothing
_Values = NDArray[np.float64]


@dataclass(frozen=True)
class Noise:
    """How the fleet varies where nothing changes."""

    degrees: float = math.inf  # of Student's t
    drift: float = 0.0  # slower per year, as a ratio less 1; the sign differs by pool
    season: float = 0.0  # half of what summer and winter differ by
    outliers: float = 0.01  # part of the workers of a week that have a noisy neighbour

    def draw(self, generator: np.random.Generator, shape: tuple[int, ...]) -> _Values:
        if math.isinf(self.degrees):
            return generator.normal(0, 1, shape)
        usual = math.sqrt(self.degrees / (self.degrees - 2))
        return generator.standard_t(self.degrees, shape) / usual


@dataclass(frozen=True)
class Planted:
    """A change in one pool, from a week on."""

    cause: str  # "disk", "kernel", "throttle", "price", or "faster"
    pool: int
    week: int
    part: float = 1.0  # of the machines
    ratios: dict[str, float] = field(default_factory=dict)  # of times, by figure; above 1 is slower


@dataclass(frozen=True)
class SimulatedFleet:
    """The readings by pool, and the planted changes with the first push that shows each."""

    readings: dict[str, list[WorkerReading]]
    planted: tuple[tuple[Planted, datetime], ...]


def _ranks(generator: np.random.Generator, count: int) -> _Values:
    """Return evenly spread ranks in two random orders, so that a part is a part of few as well."""
    orders = [generator.permutation(count) / max(count, 1) for _ in range(2)]
    ranks: _Values = np.stack(orders, axis=1)
    return ranks


def pool_name(number: int) -> str:
    return f"pool-{number:02}"


def planted_changes(generator: np.random.Generator, pools: int = POOLS) -> list[Planted]:
    """Return 12 changes that a fleet should show, and 3 that are faster."""
    chosen = iter(generator.permutation(pools).tolist())

    def week() -> int:
        return int(generator.integers(10, WEEKS - 4))

    changes = []
    for number in range(3):
        lost = 30.0 if number == 0 else 1.9
        ratios = {"write": lost, "read": math.sqrt(lost), "random-write": math.sqrt(lost)}
        part = float(generator.uniform(0.2, 0.5))
        changes.append(Planted("disk", next(chosen), week(), part, ratios))
    for _ in range(3):
        slower = {name: float(generator.uniform(1.08, 1.2)) for name in _KERNEL_FIGURES}
        changes.append(Planted("kernel", next(chosen), week(), 1.0, slower))
    for number in range(3):
        figure = ("write", "random-read", "write")[number]
        capped = {figure: 1 / float(generator.uniform(0.5, 0.8))}
        changes.append(Planted("throttle", next(chosen), week(), 1.0, capped))
    for _ in range(3):
        dearer = {"price": float(generator.uniform(1.1, 1.4))}
        changes.append(Planted("price", next(chosen), week(), 1.0, dearer))
    for _ in range(3):
        faster = {"write": 1 / 1.4, "read": 1 / 1.3}
        changes.append(Planted("faster", next(chosen), week(), 1.0, faster))
    return changes


def simulated_fleet(
    generator: np.random.Generator,
    noise: Noise = Noise(),
    planted: tuple[Planted, ...] | list[Planted] = (),
    pools: int = POOLS,
    weeks: int = WEEKS,
) -> SimulatedFleet:
    kernel_weeks = sorted(generator.integers(1, weeks, _KERNEL_CHANGES).tolist())
    readings = {}
    first_seen = []
    for number in range(pools):
        here = [change for change in planted if change.pool == number]
        pool = _Pool.draw(generator, number, noise, here, kernel_weeks)
        made = list(pool.weekly(generator, weeks))
        readings[pool_name(number)] = [reading for reading, _ in made]
        for change in here:
            times = [reading.time for reading, shows in made if change.cause in shows]
            if times:
                first_seen.append((change, min(times)))
    return SimulatedFleet(readings, tuple(first_seen))


@dataclass(frozen=True)
class _Pool:
    number: int
    noise: Noise
    changes: list[Planted]
    kernel_weeks: list[int]
    variation: float
    week_variation: float
    workers: int
    machines: int  # 0: new ones each week
    second_kind: float  # part of the machines that are of another type
    second_ratios: _Values
    drift: float

    @classmethod
    def draw(
        cls,
        generator: np.random.Generator,
        number: int,
        noise: Noise,
        changes: list[Planted],
        kernel_weeks: list[int],
    ) -> "_Pool":
        workers = int(generator.integers(1, 6))
        stay = generator.random() < 0.4
        is_mixed = generator.random() < 0.15
        return cls(
            number=number,
            noise=noise,
            changes=changes,
            kernel_weeks=kernel_weeks,
            variation=float(generator.choice([0.02, 0.05, 0.10], p=[0.2, 0.65, 0.15])),
            week_variation=float(generator.uniform(0.01, 0.03)),
            workers=workers,
            machines=workers + int(generator.integers(0, 8)) if stay else 0,
            second_kind=float(generator.uniform(0.2, 0.5)) if is_mixed else 0.0,
            second_ratios=np.log(generator.uniform(0.8, 1.9, len(_NAMES))),
            drift=math.log1p(noise.drift) * float(generator.choice([-1.0, 1.0])),
        )

    def _spread(self, generator: np.random.Generator, count: int) -> _Values:
        """Return deviations of machines, alike in figures of one group."""
        single = self.noise.draw(generator, (count, len(_NAMES)))
        of_group = self.noise.draw(generator, (count, 2))
        groups = np.array([0 if name in _DISK else 1 for name in _NAMES])
        scales = np.array([scale for _, scale in _ALL.values()])
        mixed = math.sqrt(_OF_GROUP) * of_group[:, groups] + math.sqrt(1 - _OF_GROUP) * single
        result: _Values = self.variation * scales * mixed
        return result

    def weekly(
        self, generator: np.random.Generator, weeks: int
    ) -> Iterator[tuple[WorkerReading, set[str]]]:
        """Yield each worker's reading, and the causes that affect it."""
        staying = self._spread(generator, self.machines)
        ranks = _ranks(generator, self.machines)
        week_effect = np.zeros(len(_NAMES))
        for week in range(weeks):
            together = self.noise.draw(generator, (1,))
            innovation = 0.7 * together + 0.7 * self.noise.draw(generator, (len(_NAMES),))
            week_effect = 0.4 * week_effect + math.sqrt(1 - 0.4**2) * innovation
            if generator.random() < _MISSING:
                continue
            common = self.week_variation * week_effect + self.drift * week / WEEKS
            common = common + self.noise.season * math.sin(2 * math.pi * week / WEEKS + self.number)
            count = max(1, self.workers - int(generator.random() < _FAILED))
            if self.machines:
                chosen = generator.permutation(self.machines)[:count]
                deviations = math.sqrt(_OF_MACHINE) * staying[chosen]
                deviations = deviations + math.sqrt(1 - _OF_MACHINE) * self._spread(
                    generator, count
                )
                kinds, names = ranks[chosen], [f"m-{each}" for each in chosen]
            else:
                deviations = self._spread(generator, count)
                kinds = generator.random((count, 2))
                names = [f"i-{week}-{each}" for each in range(count)]
            for at, name in enumerate(names):
                logs = common + deviations[at]
                if generator.random() < self.noise.outliers:
                    logs = logs + self._neighbour(generator)
                yield self._reading(week, name, logs, kinds[at])

    def _neighbour(self, generator: np.random.Generator) -> _Values:
        """Return how much slower a noisy neighbour makes the figures that share what it uses."""
        slower = math.log(generator.uniform(1.3, 2.0))
        takes = generator.integers(0, 3)  # the disk, the CPU, or both
        hit = [takes == 2 or (takes == 0) == (name in _DISK) for name in _NAMES]
        return np.where(hit, slower, 0.0)

    def _reading(
        self, week: int, name: str, logs: _Values, ranks: _Values
    ) -> tuple[WorkerReading, set[str]]:
        """Return the reading; `ranks` decide which part of the machines this one belongs to."""
        is_second = ranks[0] < self.second_kind
        facts = {
            "disks": "2",
            "instance type": "n2d-standard-16" if is_second else "n2-standard-16",
            "kernel": f"6.8.{sum(week >= changed for changed in self.kernel_weeks)}",
            "zone": f"zone-{'abc'[int(30 * ranks[0]) % 3]}",
        }
        slower = logs + is_second * self.second_ratios
        price, shows = 0.4 + 0.01 * self.number, set()
        for change in self.changes:
            if week < change.week or ranks[1] >= change.part:
                continue
            shows.add(change.cause)
            if change.cause == "price":
                price *= change.ratios["price"]
            elif change.cause == "kernel":
                facts["kernel"] += "-slow"
            elif change.cause == "disk":
                facts["disks"] = "none" if change.ratios["write"] > 2 else "1"
            slower = slower + [math.log(change.ratios.get(figure, 1.0)) for figure in _NAMES]
        values = {}
        for log, (figure, (usual, _)) in zip(slower.tolist(), _ALL.items(), strict=True):
            sign = -1 if BY_NAME[figure].higher_is_better else 1
            values[figure] = usual * math.exp(sign * log)
        time = START + timedelta(weeks=week)
        pool = pool_name(self.number)
        return WorkerReading(
            pool=pool,
            time=time,
            group=f"group-{week}",
            task_id=f"{pool}-{week}-{name}",
            marks=MachineMarks(name, pool=pool),
            facts=tuple(facts.items()),
            values=values,
            work=dict.fromkeys(values, "1 GiB"),
            price=Price(price, "USD", "spot"),
        ), shows

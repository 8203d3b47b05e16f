# SPDX-License-Identifier: MPL-2.0
"""The workers of a pool that are slower than its others: a mean hides them.

Each part of a pool is a hypothesis: the workers that have a fact in common (no local SSD), and the
slowest one, two, three and so on, whatever their facts. The mean of the part is compared with that
of the rest by Student's t. How far workers usually vary is known by the rest, by the workers of
the other pool and by what is assumed; the part itself may vary in any way. The level is divided
among all parts that could have been found: by facts as many as there are, of the slowest k of n
workers as many as there are ways to choose k.
tests/simulation/test_gates.py has the rates.
"""

import math
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from statistics import fmean

from msgspec import Struct
from msgspec.structs import replace

from io_benchmark.analysis.model.run import Run
from io_benchmark.analysis.model.side import Side
from io_benchmark.analysis.reading.disks import LOCAL_SSD, PERSISTENT_DISK, stack_of
from io_benchmark.analysis.reading.machines import WINDOWS_FACTS, kind_of_machine
from io_benchmark.analysis.statistics.gate_sizes import FALSE_ALARMS
from io_benchmark.analysis.statistics.levels import DEFAULT_WORKER_VARIATION, LEVEL
from io_benchmark.analysis.statistics.variances import MeanVariance, tail

# The facts that an image or its start script decides.
_IMAGE_FACTS = ("disks", "disk models", "disk sizes", "file system", "kernel", *WINDOWS_FACTS)
# What a cloud happens to give describes slow workers, and is not the image's.
_GIVEN_FACTS = ("instance type", "CPU", "CPUs", "memory", "zone")
_MEDIUM = "medium"
_NO_SSD = "no local SSD"
_MEDIA = {LOCAL_SSD: "a local SSD", PERSISTENT_DISK: _NO_SSD}
_MOST_DEGREES = 8.0  # of freedom: the tails of pools are heavier than normal
# More slow workers than this show in the mean. Chosen: a pool of a thousand is still read at once.
_MOST_SLOW = 50
_MANY_WAYS = 10**300  # more do not fit into a float
_FEWEST_USUAL = 2  # of one other worker it is not known which of the two is as usual


class SlowPart(Struct, frozen=True):
    """A part of a side's workers, by their positions."""

    members: frozenset[int]
    log_ratio: float  # to the others
    facts: tuple[str, ...] = ()  # of all its workers, and of no other
    facts_of_others: tuple[str, ...] = ()
    is_proven: bool = True  # by the times
    has_no_ssd: bool = False  # and the others have one
    is_new: bool = False  # no worker of the other pool has one of these facts, of the image

    def split(self, side: Side) -> tuple[Side, Side]:
        """Return the part and the others."""
        runs = list(side.workers)
        part = [
            run for position, same in enumerate(runs) if position in self.members for run in same
        ]
        rest = [
            run
            for position, same in enumerate(runs)
            if position not in self.members
            for run in same
        ]
        return Side.of(part), Side.of(rest)


Facts = dict[str, str]


def find_slow_part(
    side: Side, other_side: Side, usual_logs: Sequence[float], tests: int
) -> SlowPart | None:
    """Return the slow part of a side, if it has one; the one by facts before one by times alone.

    A fact is new if no worker of the other side has it. `usual_logs` are ln of the means of that
    side's usual workers; `tests` is the number of measurements.
    """
    logs = list(side.log_means)
    facts = side.by_worker(_facts_of)
    known_facts = {item for machine in other_side.by_worker(_facts_of) for item in machine.items()}
    by_facts = _parts_by_facts(facts, (_MEDIUM, *_IMAGE_FACTS))
    level = (1 - LEVEL) / (tests * max(1, len(by_facts)))
    proven: list[SlowPart] = []
    suspicious: list[SlowPart] = []
    for members, names in by_facts.items():
        part = _described(members, names, logs, facts, known_facts)
        if _p_value(members, logs, usual_logs) <= level:
            proven.append(part)
        elif part.has_no_ssd and part.is_new:
            suspicious.append(part)
    slowest = _slowest_part(logs, usual_logs, FALSE_ALARMS / tests)
    if slowest is not None and not proven:
        names = by_facts.get(slowest) or _parts_by_facts(facts, _GIVEN_FACTS).get(slowest, ())
        proven.append(_described(slowest, names, logs, facts, known_facts))
    if proven:
        return max(proven, key=lambda part: part.log_ratio)
    if suspicious:
        return replace(max(suspicious, key=lambda part: part.log_ratio), is_proven=False)
    return None


def _facts_of(runs: Sequence[Run]) -> Facts:
    """Return what kind of machine this is."""
    facts: Facts = {}
    stacks = [stack_of(run) for run in runs]
    media = {stack.medium for stack in stacks if stack is not None}
    if len(media) == 1:
        medium = media.pop()
        if medium is not None:
            facts[_MEDIUM] = _MEDIA.get(medium, medium)
    return facts | kind_of_machine(runs)


def _parts_by_facts(
    facts: Sequence[Facts], names: Sequence[str]
) -> dict[frozenset[int], tuple[str, ...]]:
    """Return which of the facts of these names make each part of a side."""
    parts: dict[frozenset[int], tuple[str, ...]] = {}
    for name in names:
        values = [machine.get(name) for machine in facts]
        for value in sorted({value for value in values if value is not None}):
            members = frozenset(
                position for position, member in enumerate(values) if member == value
            )
            if None not in values and len(members) < len(values):
                parts[members] = (*parts.get(members, ()), name)
    return parts


def _described(
    members: frozenset[int],
    names: Sequence[str],
    logs: Sequence[float],
    facts: Sequence[Facts],
    known_facts: AbstractSet[tuple[str, str]],
) -> SlowPart:
    """Return a part with the facts that only it has."""
    first = min(members)
    rest = [position for position in range(len(logs)) if position not in members]
    # Where it has no local SSD, its disks' number, model and size say nothing more.
    named = [_MEDIUM] if _MEDIUM in names else names
    return SlowPart(
        members,
        _log_ratio(members, logs),
        tuple(facts[first][name] for name in named),
        tuple(" or ".join(sorted({facts[position][name] for position in rest})) for name in named),
        has_no_ssd=_MEDIUM in names and facts[first][_MEDIUM] == _NO_SSD,
        is_new=any(
            (name, facts[first][name]) not in known_facts
            for name in names
            if name not in _GIVEN_FACTS
        ),
    )


def _log_ratio(members: frozenset[int], logs: Sequence[float]) -> float:
    part = [log for position, log in enumerate(logs) if position in members]
    rest = [log for position, log in enumerate(logs) if position not in members]
    return fmean(part) - fmean(rest)


def _p_value(members: frozenset[int], logs: Sequence[float], usual_logs: Sequence[float]) -> float:
    """Return the chance that such a part is so much slower where all workers vary alike."""
    rest = [log for position, log in enumerate(logs) if position not in members]
    varied = [values for values in (rest, usual_logs) if len(values) > 1]
    variances = [
        MeanVariance.assumed(DEFAULT_WORKER_VARIATION),
        *map(MeanVariance.of_values, varied),
    ]
    usual = MeanVariance.combined(variances)
    error = math.sqrt(usual.variance * (1 / len(members) + 1 / len(rest)))
    distance = _log_ratio(members, logs) / error
    return tail(distance, min(usual.degrees, _MOST_DEGREES)) if distance > 0 else 1.0


def _slowest_part(
    logs: Sequence[float], usual_logs: Sequence[float], level: float
) -> frozenset[int] | None:
    """Return the slowest workers that are slower than the rest by more than chance, if any are."""
    chances = dict(_chances_of_slowest(logs, usual_logs))
    best = min(chances, key=lambda members: chances[members], default=None)
    return best if best is not None and chances[best] <= level else None


def _chances_of_slowest(
    logs: Sequence[float], usual_logs: Sequence[float]
) -> Iterator[tuple[frozenset[int], float]]:
    by_time = sorted(range(len(logs)), key=lambda position: -logs[position])
    most = min(len(logs) - _FEWEST_USUAL, _MOST_SLOW)
    for number in range(1, most + 1):
        members = frozenset(by_time[:number])
        ways = min(math.comb(len(logs), number) * most, _MANY_WAYS)
        yield members, ways * _p_value(members, logs, usual_logs)

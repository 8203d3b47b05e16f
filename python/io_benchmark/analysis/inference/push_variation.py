# SPDX-License-Identifier: MPL-2.0
"""How far a pool's level differs from push to push, where two sides were measured by different pushes.

A day, a region or a deployment shifts all workers of a push together. Workers of one push do not show that
shift, however many they are. Within one push it is the same for both sides, and cancels. So it counts by how
much more of one side's workers than of the other's each push has.

It is estimated from the pool's past, and from the sides themselves where they have several pushes. Otherwise
it is assumed, and the report says so. tests/simulation/test_push_variation.py has the rates.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean

from msgspec import Struct

from io_benchmark.analysis.inference.levels import DEFAULT_PUSH_VARIATION
from io_benchmark.analysis.inference.variances import ASSUMED_VARIATION_DEGREES, MeanVariance
from io_benchmark.analysis.model import Problem, Run, Severity
from io_benchmark.analysis.observed.machine_identity import by_machine
from io_benchmark.analysis.statements import Statement, count, share, statement

RULE = "pushes"
# The assumed variation counts as much as that of five pushes.
_PRIOR_DEGREES = 4.0
_Shares = Mapping[str | None, float]


class PushVariation(Struct, frozen=True):
    """A standard deviation of the logarithms of a pool's levels in different pushes."""

    ratio: float
    degrees: float  # how many pushes it rests on, less those that gave a level
    pushes: int  # earlier ones of the pool; 0: it is assumed
    unshared: float  # how many pushes' variances are in the ratio of the sides

    @property
    def variance(self) -> MeanVariance:
        """Return what it adds to the variance of the ratio's logarithm."""
        return MeanVariance(self.unshared * self.ratio**2, self.degrees)

    @property
    def obstacle(self) -> Statement:
        """Return why more workers would not decide."""
        return statement(
            "pushes vary by {variation}, whatever the number of workers; measure both again on another "
            "day, or in one push",
            variation=share(self.ratio),
        )

    @classmethod
    def between(
        cls,
        candidate: Sequence[Run],
        baseline: Sequence[Run],
        past: MeanVariance | None,
        pushes: int,
        *,
        is_change: bool,
    ) -> "PushVariation | None":
        """Return what is known of the pool; None where every push has the same part of both sides.

        Results that name no push are of one, or of one before and one after a change. Other CI systems
        may number the jobs of one push apart, so that their numbers count for changes alone.
        """
        sides = [
            _shares(runs, name if is_change else None)
            for runs, name in ((candidate, "after"), (baseline, "before"))
        ]
        groups = {*sides[0], *sides[1]}
        differences = (sides[0].get(group, 0.0) - sides[1].get(group, 0.0) for group in groups)
        unshared = math.fsum(difference**2 for difference in differences)
        if unshared < 1e-9:
            return None
        known = past or MeanVariance(DEFAULT_PUSH_VARIATION**2, _PRIOR_DEGREES)
        seen = MeanVariance.pooled([_levels(runs) for runs in (candidate, baseline)])
        combined = known if seen is None else MeanVariance.combined([known, seen])
        degrees = combined.degrees if past or seen else ASSUMED_VARIATION_DEGREES
        return cls(math.sqrt(combined.variance), degrees, pushes if past else 0, unshared)

    def problem(self, candidate: Sequence[Run], baseline: Sequence[Run]) -> Problem:
        """Return the note that says what the interval rests on."""
        basis: Statement | str = "which is assumed"
        if self.pushes:
            basis = statement("by {pushes} earlier pushes of the pool", pushes=count(self.pushes))
        message = statement(
            "{candidate} and {baseline} were measured by different pushes; pushes vary by {variation}, {basis}",
            candidate=candidate[0].worker.side,
            baseline=baseline[0].worker.side,
            variation=share(self.ratio),
            basis=basis,
        )
        known = "" if self.pushes else " --variation-from index reads how far earlier ones differ."
        explanation = statement(
            "A day or a deployment may shift all workers of a push. More workers in the same pushes do not "
            "show that: measure both again on another day, or both sides in one push." + known
        )
        sides = (baseline[0].worker.side, candidate[0].worker.side)
        subject = candidate[0].entry.subject
        return Problem(RULE, Severity.WARNING, subject, sides, message, explanation)


def _shares(runs: Sequence[Run], unknown: str | None) -> _Shares:
    """Return which part of a side's workers each push has; a machine of two pushes counts half in each."""
    machines = by_machine(runs)
    shares: dict[str | None, float] = defaultdict(float)
    for machine in machines:
        for run in machine:
            task = run.worker.result.task
            group = (task.group if unknown else task.task_group_id) or unknown
            shares[group] += 1 / len(machine) / len(machines)
    return shares


def _levels(runs: Iterable[Run]) -> list[float]:
    """Return ln of the level of each push of a side."""
    logs: dict[str | None, list[float]] = defaultdict(list)
    for run in runs:
        logs[run.worker.result.task.group].append(math.log(run.entry.mean_ns))
    return [fmean(group) for _, group in sorted(logs.items(), key=str)]

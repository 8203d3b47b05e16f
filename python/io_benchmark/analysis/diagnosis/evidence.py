# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Evidence as data: what each side's workers showed, and on how many of them.

Workers are counted, not runs: a worker has what any of its runs showed.
"""

from collections import Counter
from collections.abc import Callable, Sequence

from io_benchmark.analysis.diagnosis.case import Case
from io_benchmark.analysis.diagnosis.cause_rule import Sides
from io_benchmark.analysis.model import UNKNOWN, Evidence, Observation, Seen
from io_benchmark.analysis.observed.disk_waits import MIB
from io_benchmark.analysis.observed.machine_identity import by_machine
from io_benchmark.analysis.observed.worker_view import View
from io_benchmark.analysis.statements import Quantity, Range, Statement, Unit, Value, statement

Observe = Callable[[Sequence[View]], Observation]


def of_sides(case: Case, *observe: Observe, has_summary: bool = True) -> Sides:
    """Return both sides' evidence; the first observation is the summary, if there is one."""
    baseline, candidate = (
        evidence_of(*(each(views) for each in observe), has_summary=has_summary)
        for views in (case.baseline, case.candidate)
    )
    return Sides(baseline, candidate)


def evidence_of(*observations: Observation, has_summary: bool = True) -> Evidence:
    """Return one side's evidence; the first observation is what its summary says."""
    summary = observations[0].seen[0].value if observations and has_summary else None
    return Evidence(observations, summary)


def fact(name: str, value: Statement) -> Observation:
    """Return a figure of a whole side as an observation."""
    return Observation(name, (Seen(value, 0),), 0)


def tally(
    name: str, read: Callable[[View], Statement | None], template: str = "{value}"
) -> Observe:
    """Observe how many workers have which value; `template` is how an unknown one is written."""
    unknown = statement(template, value=UNKNOWN)

    def observe(views: Sequence[View]) -> Observation:
        workers = by_machine(views)
        if not workers:
            return Observation(name, (Seen(statement("no worker"), 0),), 0)
        if len(workers) == 1:
            (runs,) = workers
            counts = Counter(map(read, runs))
            total = len(runs)
        else:
            counts = Counter(each for runs in workers for each in _known(set(map(read, runs))))
            total = len(workers)
        if len(workers) == len(counts) == 1:
            counts, total = Counter(dict.fromkeys(counts, 1)), 1
        ordered = sorted(counts.items(), key=lambda item: (-item[1], str(item[0])))
        return Observation(
            name,
            tuple(Seen(value or unknown, count) for value, count in ordered),
            total,
            counts_runs=len(workers) == 1 and total > 1,
        )

    return observe


def _known(values: set[Statement | None]) -> set[Statement | None]:
    """Leave out that one of a worker's runs does not have the value, where another has it."""
    return values - {None} or values


def span(
    name: str, read: Callable[[View], float | None], unit: Unit, template: str = "{value}"
) -> Observe:
    """Observe the range of a number, and how many workers have it."""

    def observe(views: Sequence[View]) -> Observation:
        values = [
            [value for value in map(read, runs) if value is not None] for runs in by_machine(views)
        ]
        known = [value for runs in values for value in runs]
        if not known:
            return Observation(
                name, (Seen(statement(template, value=UNKNOWN), len(values)),), len(values)
            )
        low, high = min(known), max(known)
        value: Value = Quantity(low, unit) if low == high else Range(low, high, unit)
        seen = Seen(statement(template, value=value), sum(map(bool, values)))
        return Observation(name, (seen,), len(values))

    return observe


def rate(name: str, mib_per_s: Callable[[View], float | None], template: str) -> Observe:
    """Observe a rate that workers have in MiB/s."""

    def bytes_per_s(view: View) -> float | None:
        value = mib_per_s(view)
        return None if value is None else value * MIB

    return span(name, bytes_per_s, Unit.BYTES_PER_SECOND, template)


# The rate at which all disks of the place wrote.
WRITE_RATE = rate("write-rate", lambda view: view.written_mib_per_s, "write rate {value}")
WRITTEN_SHARE = span(
    "written-share",
    lambda view: view.written_share,
    Unit.SHARE,
    "{value} of the bytes copied were written to the disks",
)

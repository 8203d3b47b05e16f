# SPDX-License-Identifier: MPL-2.0
"""What a report says besides its measurements: findings, and what a rehearsal means."""

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import PurePath

from msgspec.structs import replace

from io_benchmark.analysis.comparing import figures
from io_benchmark.analysis.model.measurement import Measurement
from io_benchmark.analysis.model.report import SampledReport
from io_benchmark.analysis.model.run import Worker
from io_benchmark.analysis.model.statements import Statement, count, joined, statement
from io_benchmark.analysis.statistics import levels
from io_benchmark.number_text import plural
from io_benchmark.sources.run_results import parse_time

# From this many measurements on, a difference by chance is likely enough for a remark.
_MANY_SUBJECTS = 5


def named_as_rehearsal(report: SampledReport, workers: Sequence[Worker]) -> SampledReport:
    """Say so first if one machine rehearsed all runs; no queue names such a worker group.

    Then only its folders differ, or nothing does.
    """
    machines = {worker.worker_id for worker in workers}
    if len(machines) != 1 or not machines.pop().startswith("rehearsal/"):
        return report
    folders = {
        worker.side: str(PurePath(worker.result.config.places[0].path).parent) for worker in workers
    }
    is_only_noise = len(set(folders.values())) == 1
    title, remark = "Rehearsal on one machine", "Only the folders differ: {places}"
    if is_only_noise:
        title += ", where all differences are noise"
        remark = "What differs shows how far apart equal pools may look on this machine."
    places = (
        statement("{side} in {folder}", side=side, folder=folder)
        for side, folder in sorted(folders.items())
    )
    return replace(
        report,
        title=f"{title}: {report.title}",
        remarks=(statement(remark, places=joined(places)), *report.remarks),
        is_only_noise=is_only_noise,
    )


def days_of(workers: Sequence[Worker]) -> tuple[str, ...]:
    """Return the first and the last day on which a run started, or the day if it is one."""
    starts = (parse_time(worker.started) for worker in workers)
    days = sorted(start.date().isoformat() for start in starts if start is not None)
    return tuple(dict.fromkeys((days[0], days[-1]))) if days else ()


def footnotes(
    remarks: Sequence[str],
    measurements: Sequence[Measurement],
    read: Sequence[Worker],
    counted: Sequence[Worker],
) -> Iterator[Statement]:
    """Yield the user's remarks, what is remarkable about sides, and which runs do not count."""
    yield from (statement("{remark}", remark=remark) for remark in remarks)
    yield from figures.side_findings(measurements, counted)
    compared = sum(bool(measurement.comparisons) for measurement in measurements)
    # The tests are adjusted for several candidates, but not for several measurements.
    if compared >= _MANY_SUBJECTS:
        yield statement(
            "{measurements} measurements are compared, each by itself: where sides do not differ, "
            "about 1 in {chance} is called slower or faster by chance",
            measurements=count(compared),
            chance=count(round(1 / (1 - levels.LEVEL))),
        )
    held = Counter[str]()
    for worker in read:
        held[worker.side] += worker.result.sharing_violations or 0
    for side, number in sorted(held.items()):
        if number:
            yield statement(
                f"{{side}}: {{number}} {plural(number, 'time')} a file was held by another "
                "program, such as a scanner, and the call was repeated",
                side=side,
                number=count(number),
            )
    runs = Counter(worker.side for worker in read)
    for side, number in sorted((runs - Counter(worker.side for worker in counted)).items()):
        yield statement(
            f"{{side}}: {{left_out}} of {{runs}} runs {'was' if number == 1 else 'were'} made to "
            "confirm a cause; only the trials count",
            side=side,
            left_out=count(number),
            runs=count(runs[side]),
        )

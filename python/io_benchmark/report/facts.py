# SPDX-License-Identifier: MPL-2.0
"""Facts below a report's title: what was read, when it was measured, and by which program."""

from collections.abc import Iterator, Sequence

from io_benchmark import __version__
from io_benchmark.analysis.model.groups import by_machine
from io_benchmark.analysis.model.report import SampledReport
from io_benchmark.number_text import number_of
from io_benchmark.report import blocks
from io_benchmark.report.links import group_link

VERSION = f"io-benchmark {__version__}"
_LINKED = 4


def facts_of(report: SampledReport) -> Iterator[blocks.Line]:
    """Yield what was compared and measured, with links to the task groups."""
    measured = [part.subject for part in report.subjects]
    if len(measured) == 1:
        yield str(measured[0])
    elif measured:
        workloads = {subject.workload for subject in measured}
        measurements = number_of(len(measured), "measurement")
        yield f"{measurements} of {number_of(len(workloads), 'workload')}"
    links = sorted({group_link(run) for run in report.workers} - {""})
    groups = [blocks.Words(f"task group {link.rpartition('/')[2]}", link=link) for link in links]
    yield from _few(groups, "more task group")
    if report.days:
        yield f"measured {' to '.join(report.days)}"
    if report.workers:
        counted = [run for run in report.workers if run.is_counted]
        machines = by_machine(counted, lambda run: run.machine)
        yield f"{number_of(len(machines), 'worker')}, {number_of(len(report.workers), 'task')}"
    yield VERSION


def addresses_of(addresses: Sequence[str]) -> Iterator[blocks.Line]:
    """Yield addresses as a user typed them; those of a browser are links."""
    lines = [
        blocks.Words(
            address, blocks.CODE, address if address.startswith(("https://", "http://")) else ""
        )
        for address in addresses
    ]
    yield from _few(lines, "more address")


def _few(lines: Sequence[blocks.Line], noun: str) -> Iterator[blocks.Line]:
    yield from lines[:_LINKED]
    if len(lines) > _LINKED:
        yield f"and {number_of(len(lines) - _LINKED, noun)}"

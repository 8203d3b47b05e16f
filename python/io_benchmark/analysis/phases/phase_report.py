# SPDX-License-Identifier: MPL-2.0
"""The report of phases: what each run spent in each, and the mean of each pool's runs."""

from collections.abc import Sequence
from statistics import fmean

from msgspec import Struct

from io_benchmark.analysis.model.groups import grouped
from io_benchmark.analysis.phases.phase_model import PhaseName, RunPhases, Span, Waits

_NS_PER_S = 10**9


class PhaseTotal(Struct, frozen=True, kw_only=True):
    """All spans of a phase in a run, or their mean in the runs of a pool."""

    phase: PhaseName
    duration_ns: int
    share: float | None  # of the run; None: before it
    waits: Waits
    size_bytes: int | None = None  # that the log says were moved
    bytes_per_s: float | None = None


class ReportedRun(RunPhases, frozen=True, kw_only=True):
    """One run of a task, with its phases in the usual order."""

    phases: tuple[PhaseTotal, ...]


class PoolPhases(Struct, frozen=True, kw_only=True):
    """The means of a pool's complete runs; a run without a phase spent no time in it."""

    pool: str
    runs: int
    run_ns: int
    phases: tuple[PhaseTotal, ...]


class PhaseReport(Struct, frozen=True, kw_only=True, tag_field="version", tag=1):
    """Where the time of runs went, by their logs."""

    runs: tuple[ReportedRun, ...]
    pools: tuple[PoolPhases, ...]
    unreadable: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()


class ExplainedPhases(PhaseReport, frozen=True, kw_only=True):
    """A report with what only people need; it is not published as JSON."""

    addresses: tuple[str, ...]


def report_phases(
    runs: Sequence[RunPhases],
    unreadable: Sequence[str],
    remarks: Sequence[str],
    addresses: Sequence[str],
) -> ExplainedPhases:
    by_pool = grouped([run for run in runs if run.is_complete], lambda run: run.pool)
    return ExplainedPhases(
        runs=tuple(map(_reported, runs)),
        pools=tuple(_pool(pool, by_pool[pool]) for pool in sorted(by_pool)),
        unreadable=tuple(unreadable),
        remarks=tuple(remarks),
        addresses=tuple(addresses),
    )


def _reported(run: RunPhases) -> ReportedRun:
    totals = (
        _total(phase, [span for span in run.spans if span.phase is phase], run.run_ns)
        for phase in PhaseName
    )
    fields = {name: getattr(run, name) for name in RunPhases.__struct_fields__}
    return ReportedRun(**fields, phases=tuple(total for total in totals if total is not None))


def _total(phase: PhaseName, spans: Sequence[Span], run_ns: int) -> PhaseTotal | None:
    if not spans:
        return None
    duration_ns = sum(span.duration_ns for span in spans)
    sized = [span for span in spans if span.size_bytes is not None]
    size_bytes = sum(span.size_bytes or 0 for span in sized)
    # What was moved at once has the time of the span, and of one transfer its own.
    moved_ns = sum(min(span.busy_ns or span.duration_ns, span.duration_ns) for span in sized)
    return PhaseTotal(
        phase=phase,
        duration_ns=duration_ns,
        share=None if phase.is_before_run or not run_ns else duration_ns / run_ns,
        waits=phase.waits,
        size_bytes=size_bytes if sized else None,
        bytes_per_s=size_bytes * _NS_PER_S / moved_ns if moved_ns and size_bytes else None,
    )


def _pool(pool: str, runs: Sequence[RunPhases]) -> PoolPhases:
    run_ns = round(fmean(run.run_ns for run in runs))
    present = {span.phase for run in runs for span in run.spans}
    means_ns = {
        phase: round(fmean(run.duration_ns(phase) for run in runs))
        for phase in PhaseName
        if phase in present
    }
    totals = tuple(
        PhaseTotal(
            phase=phase,
            duration_ns=mean_ns,
            share=None if phase.is_before_run or not run_ns else mean_ns / run_ns,
            waits=phase.waits,
        )
        for phase, mean_ns in means_ns.items()
    )
    return PoolPhases(pool=pool, runs=len(runs), run_ns=run_ns, phases=totals)

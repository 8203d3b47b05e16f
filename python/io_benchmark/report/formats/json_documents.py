# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Comparisons and histories as JSON, for programs.

A document consists of the analysis' data classes. Declared here are only the top level and the
parts that publish more or less than the analysis has. Raw samples are only in the result files.

- The name of a number has its unit; a share is a part of one.
- A number is null where it could not be computed or has no bound.
- A sentence has its `text` and the `values` in it.
- Keys may be added within a version. A key that goes or changes its meaning makes a new version.

Versions of a comparison:
  1 (2026-11)     the first
  2 (2026-11-22)  `figures` is an object by side, and so is `bottlenecks`, with `bottleneck` and
                  `reason`, in place of `regimes` with `regime` and `why`. Figures have
                  `percentiles_ns` in place of `p50_ns` to `p99_ns`. A comparison has its `subject`.
                  A place has its `comparisons` in full, in place of `verdicts`; its sides have
                  `kind`, `not_compared` and `differences` in place of `what`, `not_held` and
                  `differs`. A cause has a `share` in place of `share_ratio`. Evidence is `text` and
                  observations. Messages, explanations, remarks, reasons, and the actions and
                  evidence of remedies are sentences with their values.
Versions of a history:
  1 (2026-11)     the first
  2 (2026-11-22)  Conditions, remarks and reasons are sentences with their values. Left-out results
                  have `source` and `reason` in place of `what` and `why`.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Literal

from msgspec import Struct
from msgspec.structs import asdict

from io_benchmark.analysis import model, report_model
from io_benchmark.analysis.evidence_model import Evidence
from io_benchmark.analysis.history import history_model
from io_benchmark.analysis.parts.division import Division
from io_benchmark.analysis.parts.time_parts import Kind, Phase
from io_benchmark.analysis.statements import Statement, Value
from io_benchmark.analysis.trials.confirm import Pace
from io_benchmark.costs.worker_time import Cost
from io_benchmark.report.content.statement_text import evidence_text, text_of
from io_benchmark.report.content.worker_rows import Replication
from io_benchmark.report.formats import PLAIN, Layout
from io_benchmark.report.formats.json_encoding import Rules
from io_benchmark.results import workloads

_REPORT_VERSION: Literal[2] = 2
_HISTORY_VERSION: Literal[2] = 2


class _FiguresInUnit(model.Figures, frozen=True, kw_only=True):
    """One side's times for one operation; `value` is the mean in the workload's own `unit`."""

    value: float
    unit: str
    higher_is_better: bool


class _PartDocument(Struct, frozen=True):
    """One part of a difference, in time per operation.

    The difference is between `low_ns` and `high_ns` with 95 % confidence. The share is signed, and null
    where the whole difference is zero; all shares add up to one.
    """

    phase: Phase
    kind: Kind
    baseline_ns: float
    candidate_ns: float
    difference_ns: float
    low_ns: float | None
    high_ns: float | None
    share: float | None


class _DivisionDocument(Struct, frozen=True):
    """The difference of two sides' mean times, and all its parts."""

    baseline: str
    candidate: str
    difference_ns: float
    parts: tuple[_PartDocument, ...]


class _SubjectDocument(report_model.SubjectReport, frozen=True):
    figures: Mapping[str, _FiguresInUnit]


class _ReportDocument(Struct, frozen=True):
    """A comparison, without its raw samples."""

    version: Literal[2]
    title: str
    baseline: str
    baseline_reason: str
    margin_ratio: float
    subjects: tuple[_SubjectDocument, ...]
    places: tuple[report_model.Places, ...]
    diagnoses: tuple[model.Diagnosis, ...]
    single_workers: tuple[report_model.SingleWorker, ...]
    problems: tuple[model.Problem, ...]
    confirming: tuple[Pace, ...]
    confirming_reasons: tuple[Statement, ...]
    replication: tuple[Replication, ...]
    decision_cost: Cost | None
    workers: tuple[report_model.WorkerLine, ...]
    unreadable: tuple[str, ...]
    remarks: tuple[Statement, ...]


class _PointDocument(Struct, frozen=True):
    """One push. `ratio`: to the level before the point's own; null on the first level."""

    time: datetime
    task_group_id: str
    revision: str | None
    mean_ns: float
    value: float
    ratio: float | None
    workers: tuple[history_model.WorkerMean, ...]


class _LevelInUnit(history_model.Level, frozen=True, kw_only=True):
    value: float


class _SeriesDocument(Struct, frozen=True):
    """Points that are alike but for the time; `conditions` by the rule's name.

    `mean_ns` is the time of one `operation`. `value` is the same in the workload's own `unit`,
    which may be a rate. Ratios are of times: above 1 is slower. `possible` is what may explain the
    points, and is not clear.
    """

    subject: model.Subject
    operation: str
    unit: str
    higher_is_better: bool
    conditions: Mapping[str, Statement]
    points: tuple[_PointDocument, ...]
    levels: tuple[_LevelInUnit, ...]
    changes: tuple[history_model.Change, ...]
    trend: history_model.Effect | None = None
    seasons: tuple[history_model.Effect, ...] = ()
    possible: tuple[str, ...] = ()
    autocorrelation: float | None = None


class _HistoryDocument(Struct, frozen=True):
    """A pool's history."""

    version: Literal[2]
    pool: str
    series: tuple[_SeriesDocument, ...]
    left_out: tuple[history_model.LeftOut, ...]
    unreadable: tuple[str, ...]
    remarks: tuple[Statement, ...]


class _StatementDocument(Struct, frozen=True):
    """A sentence, and the numbers and names in it."""

    text: str
    values: Mapping[str, Value]


class _EvidenceDocument(Evidence, frozen=True, kw_only=True):
    """What one side's workers showed: as reports write it, and as observations."""

    text: str


def render_report(report: report_model.Report, _layout: Layout = PLAIN) -> str:
    return RULES.encode(
        _ReportDocument(
            version=_REPORT_VERSION,
            title=report.title,
            baseline=report.baseline,
            baseline_reason=report.baseline_reason,
            margin_ratio=report.margin_ratio,
            subjects=tuple(_subject_document(part) for part in report.subjects),
            places=report.places,
            diagnoses=report.diagnoses,
            single_workers=report.single_workers,
            problems=report.problems,
            replication=Replication.of_sides(report.subjects, report.workers),
            confirming=report.confirming.paces,
            confirming_reasons=report.confirming.reasons,
            decision_cost=report.decision_cost,
            workers=report.workers,
            unreadable=report.unreadable,
            remarks=report.remarks,
        )
    )


def render_history(history: history_model.History, _layout: Layout = PLAIN) -> str:
    return RULES.encode(
        _HistoryDocument(
            version=_HISTORY_VERSION,
            pool=history.pool,
            series=tuple(_series_document(series) for series in history.series),
            left_out=history.left_out,
            unreadable=history.unreadable,
            remarks=history.remarks,
        )
    )


def _report_schema() -> dict[str, Any]:
    title = f"io-benchmark report, version {_REPORT_VERSION}"
    return RULES.schema(title, _ReportDocument)


def _history_schema() -> dict[str, Any]:
    title = f"io-benchmark history, version {_HISTORY_VERSION}"
    return RULES.schema(title, _HistoryDocument)


def _subject_document(part: report_model.SubjectReport) -> _SubjectDocument:
    workload = workloads.of(part.subject.workload)
    figures = {
        side: _FiguresInUnit(
            **asdict(figures),
            value=workload.shown(figures.mean_ns),
            unit=workload.unit,
            higher_is_better=workload.higher_is_better,
        )
        for side, figures in part.figures.items()
    }
    return _SubjectDocument(**{**asdict(part), "figures": figures})


def _division_document(divided: Division) -> _DivisionDocument:
    difference_ns = divided.difference_ns
    return _DivisionDocument(
        baseline=divided.baseline,
        candidate=divided.candidate,
        difference_ns=difference_ns,
        parts=tuple(
            _PartDocument(
                **asdict(part),
                difference_ns=part.difference_ns,
                share=part.difference_ns / difference_ns if difference_ns else None,
            )
            for part in divided.parts
        ),
    )


def _series_document(series: history_model.HistorySeries) -> _SeriesDocument:
    workload = workloads.of(series.subject.workload)
    return _SeriesDocument(
        subject=series.subject,
        operation=workload.operation,
        unit=workload.unit,
        higher_is_better=workload.higher_is_better,
        conditions=dict(series.conditions),
        points=tuple(
            _PointDocument(
                time=point.time,
                task_group_id=point.group,
                revision=point.revision,
                mean_ns=point.mean_ns,
                value=workload.shown(point.mean_ns),
                ratio=point.ratio,
                workers=point.workers,
            )
            for point in series.points
        ),
        levels=tuple(
            _LevelInUnit(**asdict(level), value=workload.shown(level.mean_ns))
            for level in series.levels
        ),
        changes=series.changes,
        trend=series.trend,
        seasons=series.seasons,
        possible=series.possible,
        autocorrelation=series.autocorrelation,
    )


def _statement_document(sentence: Statement) -> _StatementDocument:
    return _StatementDocument(text_of(sentence), dict(sentence.values))


def _evidence_document(evidence: Evidence) -> _EvidenceDocument:
    return _EvidenceDocument(**asdict(evidence), text=evidence_text(evidence))


RULES = Rules(
    substitutes={
        Statement: (_StatementDocument, _statement_document),
        Evidence: (_EvidenceDocument, _evidence_document),
        Division: (_DivisionDocument, _division_document),
    },
    # Each workload has only some of its fields; few series have a trend or a season.
    sparse=(model.Subject, _SeriesDocument),
)

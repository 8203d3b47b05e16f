# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""The report for programs. `json_format` says what is in it, and its history."""

import dataclasses
import json
import math
from numbers import Integral, Real
from typing import Any

import msgspec

from io_benchmark.analysis import model, report_model, workloads
from io_benchmark.analysis.statements import Quantity, Range, Statement, Value
from io_benchmark.json_schema import schema_of
from io_benchmark.report.content.evidence_text import FACT_LENGTH, evidence_text, summary_text
from io_benchmark.report.content.statement_text import text_of, value_text
from io_benchmark.report.content.worker_rows import count_replication
from io_benchmark.report.formats import json_format as to
from io_benchmark.report.formats.json_format import VERSION
from io_benchmark.text import LINE_LENGTH


def render(report: report_model.Report) -> str:
    return as_text(_document(report))


def json_schema() -> dict[str, Any]:
    return schema_of(f"io-benchmark report, version {VERSION}", to.Document)


def as_text(document: msgspec.Struct) -> str:
    """One document of ASCII: what a name holds can neither end a line nor steer a terminal."""
    facts = msgspec.to_builtins(document)
    text = json.dumps(facts, indent=2, ensure_ascii=True, allow_nan=False)
    return text.replace("\x7f", "\\u007f") + "\n"


def _document(report: report_model.Report) -> to.Document:
    return to.Document(
        version=VERSION,
        title=report.title,
        baseline=report.baseline,
        baseline_reason=report.baseline_reason,
        margin_ratio=_number(report.margin_ratio),
        subjects=[_subject_report(part) for part in report.subjects],
        places=[_places(places) for places in report.places],
        diagnoses=[_diagnosis(diagnosis) for diagnosis in report.diagnoses],
        problems=[_problem(problem) for problem in report.problems],
        replication=[
            to.Replication(**{**_shallow(row), "standing": row.standing.value})
            for row in count_replication(report.subjects, report.workers)
        ],
        workers=[to.Worker(**_shallow(worker)) for worker in report.workers],
        unreadable=list(report.unreadable),
        remarks=[text_of(remark) for remark in report.remarks],
    )


def _subject_report(part: report_model.SubjectReport) -> to.SubjectReport:
    return to.SubjectReport(
        subject=subject_of(part.subject),
        figures=[_figures(part, side, figures) for side, figures in part.figures.items()],
        comparisons=[_comparison(comparison) for comparison in part.comparisons],
        noise=[
            to.Noise(kind=floor.kind, low_ratio=_number(floor.low), high_ratio=_number(floor.high))
            for floor in part.noise
        ],
        regimes=[_regime(side, bottleneck) for side, bottleneck in part.bottlenecks.items()],
    )


def _regime(side: str, bottleneck: report_model.SideBottleneck) -> to.Regime:
    facts = _shallow(bottleneck)
    regime, why = facts.pop("bottleneck").value, text_of(facts.pop("reason"))
    return to.Regime(side=side, regime=regime, why=why, **facts)


def subject_of(subject: model.Subject) -> to.Subject:
    """What a workload does not have is left out."""
    return to.Subject(
        workload=subject.workload,
        place=subject.place,
        destination=subject.destination or None,
        fidelity=subject.fidelity or None,
        variant=subject.variant or None,
        threads=subject.threads or None,
    )


def _figures(part: report_model.SubjectReport, side: str, figures: model.Figures) -> to.Figures:
    workload = workloads.of(part.subject.workload)
    facts = _shallow(figures)
    percentiles_ns = facts.pop("percentiles_ns")
    facts |= {f"p{percent}_ns": _number(percentiles_ns[percent]) for percent in model.PERCENTILES}
    facts["details"] = [to.Detail(**_shallow(detail)) for detail in figures.details]
    return to.Figures(
        side=side,
        value=_number(workload.shown(figures.mean_ns)),
        unit=workload.unit,
        higher_is_better=workload.higher_is_better,
        **facts,
    )


def _comparison(comparison: model.Comparison) -> to.Comparison:
    facts = _shallow(comparison)
    del facts["subject"]
    facts["interval"] = _interval(comparison.interval)
    facts["interval_90"] = _interval(comparison.interval_90)
    facts["verdict"] = comparison.verdict.value
    advice = comparison.advice
    facts["advice"] = advice and to.Advice(
        **{
            **_shallow(advice),
            "leaning": advice.leaning.value,
            "message": text_of(advice.message),
        },
    )
    return to.Comparison(**facts)


def _interval(interval: model.Interval) -> to.Interval:
    return to.Interval(
        low_ratio=_number(interval.low),
        high_ratio=_number(interval.high),
        level_ratio=_number(interval.level),
    )


def _places(places: report_model.Places) -> to.Places:
    return to.Places(
        subject=subject_of(places.subject),
        rows=[
            to.PlaceRow(
                place=row.place,
                sides=[_at_place(one) for one in row.sides],
                verdicts=[
                    to.PlaceVerdict(
                        baseline=one.baseline,
                        candidate=one.candidate,
                        ratio=_number(one.ratio),
                        verdict=one.verdict.value,
                    )
                    for one in row.comparisons
                ],
            )
            for row in places.rows
        ],
    )


def _at_place(one: report_model.AtPlace) -> to.AtPlace:
    facts = _shallow(one)
    facts["interval"] = one.interval and _interval(one.interval)
    facts["what"] = facts.pop("kind")
    facts["missing"] = text_of(one.missing) if one.missing else ""
    facts["not_held"] = text_of(one.not_compared) if one.not_compared else ""
    facts["differs"] = [text_of(difference) for difference in one.differences]
    del facts["not_compared"], facts["differences"]
    return to.AtPlace(**facts)


def _diagnosis(diagnosis: model.Diagnosis) -> to.Diagnosis:
    return to.Diagnosis(
        candidate=diagnosis.candidate,
        subject=None if diagnosis.subject is None else subject_of(diagnosis.subject),
        causes=[_cause(cause) for cause in diagnosis.causes],
        remedies=[_remedy(remedy) for remedy in diagnosis.remedies],
    )


def _cause(cause: model.Cause) -> to.Cause:
    facts = _shallow(cause)
    facts["share_ratio"] = facts.pop("share")
    facts["state"] = cause.state.value
    facts["baseline_evidence"] = _evidence(cause.baseline_evidence)
    facts["candidate_evidence"] = _evidence(cause.candidate_evidence)
    facts["explanation"] = [_statement(each) for each in cause.explanation]
    return to.Cause(**facts)


def _remedy(remedy: model.Remedy) -> to.Remedy:
    facts = _shallow(remedy)
    facts["action"] = text_of(remedy.action)
    facts["evidence"] = [_statement(each) for each in remedy.evidence]
    return to.Remedy(**facts)


def _evidence(evidence: model.Evidence) -> to.Evidence:
    return to.Evidence(
        text=evidence_text(evidence),
        summary=summary_text(evidence),
        facts=[
            to.Fact(
                name=observation.name,
                text=text_of(seen.value, FACT_LENGTH),
                values=_values(seen.value, FACT_LENGTH),
                count=seen.count,
                total=observation.total,
                counts_runs=observation.counts_runs,
            )
            for observation in evidence.observations
            for seen in observation.seen
        ],
    )


def _statement(statement: Statement) -> to.Statement:
    return to.Statement(text=text_of(statement), values=_values(statement, LINE_LENGTH))


def _values(statement: Statement, length: int) -> list[to.Value]:
    return [
        to.Value(name=name, text=value_text(value, length), **_bounds(value))
        for name, value in statement.values
    ]


def _bounds(value: Value) -> dict[str, Any]:
    match value:
        case Quantity():
            low, high = value.value, value.value
        case Range():
            low, high = value.low, value.high
        case _:
            return {}
    return {"low": _number(low), "high": _number(high), "unit": value.unit.value}


def _problem(problem: model.Problem) -> to.Problem:
    return to.Problem(
        rule=problem.rule,
        severity=problem.severity.value,
        subject=None if problem.subject is None else subject_of(problem.subject),
        sides=list(problem.sides),
        message=text_of(problem.message),
    )


def _shallow(record: Any) -> dict[str, Any]:
    """A data class's own fields, its numbers made such as JSON has."""
    values = ((field.name, getattr(record, field.name)) for field in dataclasses.fields(record))
    return {name: _plain(value) for name, value in values}


def _plain(value: Any) -> Any:
    """numpy's numbers made Python's own."""
    if isinstance(value, bool) or not isinstance(value, Real):
        return value
    return int(value) if isinstance(value, Integral) else _number(float(value))


def _number(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None

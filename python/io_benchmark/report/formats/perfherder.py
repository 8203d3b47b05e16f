# SPDX-License-Identifier: MPL-2.0
"""Ratios between pools as Perfherder data. Workers publish their own times.

Treeherder keeps one series per suite, options and subtest. Without the candidate and the baseline
among the options, all comparisons would be one series.
"""

import hashlib
import json
import math
import re
from typing import Any

from io_benchmark.analysis.gate.gate_model import GateReport
from io_benchmark.analysis.model.comparison import Comparison
from io_benchmark.analysis.model.measurement import SubjectReport
from io_benchmark.analysis.model.report import Report
from io_benchmark.report.content import FIGURES
from io_benchmark.report.formats import Layout
from io_benchmark.results.workloads.cache_retrieve import SEED

_OPTION_LENGTH = 45  # Treeherder allows one option of up to 100 characters; this uses none
_LARGEST = 1e12
_NOT_ALLOWED = re.compile(r"[^A-Za-z0-9._-]")


def render(report: Report | GateReport, _layout: Layout) -> str:
    """Return a document, also without suites: a missing artifact would be an error."""
    if isinstance(report, GateReport):
        reports = [gate.comparison for gate in report.gates]
    else:
        reports = [report]
    suites = [
        _suite(part, comparison)
        for compared in reports
        for part in compared.subjects
        for comparison in part.comparisons
        if _publishable(comparison.ratio)
    ]
    # Treeherder knows a fixed list of frameworks.
    document = {"framework": {"name": "build_metrics"}, "suites": suites}
    return json.dumps(document, indent=2, allow_nan=False) + "\n"


def _option(text: str) -> str:
    """Return a name as an option; a changed name ends in a hash, so that it stays unique."""
    plain = _NOT_ALLOWED.sub("-", text)
    if plain == text and len(text) <= _OPTION_LENGTH:
        return text
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{plain[: _OPTION_LENGTH - len(digest) - 1]}-{digest}"


def _suite(part: SubjectReport, comparison: Comparison) -> dict[str, Any]:
    subject = part.subject
    options = [comparison.candidate, f"vs-{comparison.baseline}", subject.workload, subject.place]
    options.append(subject.destination or subject.variant)
    if subject.threads:
        options.append(f"threads-{subject.threads}")
    if subject.fidelity not in ("", SEED):
        options.append(f"fidelity-{subject.fidelity}")
    return {
        "name": "io-benchmark-comparison",
        **_series(comparison.ratio),
        "extraOptions": list(dict.fromkeys(map(_option, options))),
        "subtests": [
            {"name": name, **_series(value)}
            for name, value in _ratios(part, comparison).items()
            if _publishable(value)
        ],
    }


def _ratios(part: SubjectReport, comparison: Comparison) -> dict[str, float]:
    ratios = {
        "mean": comparison.ratio,
        "interval-low": comparison.interval.low_ratio,
        "interval-high": comparison.interval.high_ratio,
    }
    sides = [part.figures.get(side) for side in (comparison.candidate, comparison.baseline)]
    for figure in FIGURES:
        over, under = (None if side is None else figure.value_ns(side) for side in sides)
        if figure.series and over is not None and under:
            ratios[figure.series] = over / under
    return ratios


def _series(value: float) -> dict[str, Any]:
    rounded = round(float(value), 6)
    return {"value": rounded, "unit": "ratio", "lowerIsBetter": True, "shouldAlert": False}


def _publishable(value: float) -> bool:
    return math.isfinite(value) and abs(value) <= _LARGEST

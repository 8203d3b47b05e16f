# SPDX-License-Identifier: MPL-2.0
"""Every report as JSON, for programs: the analysis' data classes as msgspec encodes them.

- The name of a number has its unit; a share is a part of one.
- A number is null where it could not be computed or has no bound.
- A sentence has its `text` and the `values` in it.
- Raw samples are only in the result files.
- Keys may be added within a version. A key that goes or changes its meaning makes a new version.

Versions, since 2026-11: a comparison, a comparison of tasks and a history have the fourth,
investigations the third, predictions the second, a ranking, machines, gates, fleets and phases the
first. CHANGELOG.md says what each one changed.
"""

import json
from collections.abc import Mapping
from numbers import Integral, Real
from typing import TYPE_CHECKING, TypeVar

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from io_benchmark.analysis.gate.gate_model import GateReport
from io_benchmark.analysis.model.report import Report, SampledReport
from io_benchmark.analysis.model.statements import Statement, Value
from io_benchmark.analysis.phases.phase_report import ExplainedPhases, PhaseReport
from io_benchmark.analysis.prediction.prediction_model import ExplainedPredictions, Predictions
from io_benchmark.analysis.tasks.machines.machine_model import ExplainedMachines, MachineReport
from io_benchmark.analysis.tasks.ranking import ExplainedRanking, LabelRanking
from io_benchmark.analysis.tasks.task_model import ExplainedTasks, TaskReport
from io_benchmark.report.content import text_of
from io_benchmark.report.formats import Layout

if TYPE_CHECKING:
    from io_benchmark.report.formats import AnyReport

Kind = TypeVar("Kind", Report, LabelRanking, MachineReport, TaskReport, Predictions, PhaseReport)


class _Sentence(Struct, frozen=True):
    """A sentence, and the numbers and names in it."""

    text: str
    values: Mapping[str, Value]


def render(report: "AnyReport", _layout: Layout) -> str:
    """Return ASCII: what a name holds can neither end a line nor steer a terminal."""
    if isinstance(report, SampledReport):
        report = _published(report, Report)
    elif isinstance(report, ExplainedRanking):
        report = _published(report, LabelRanking)
    elif isinstance(report, ExplainedMachines):
        report = _published(report, MachineReport)
    elif isinstance(report, ExplainedTasks):
        report = _published(report, TaskReport)
    elif isinstance(report, ExplainedPredictions):
        report = _published(report, Predictions)
    elif isinstance(report, ExplainedPhases):
        report = _published(report, PhaseReport)
    elif isinstance(report, GateReport):
        gates = [
            replace(gate, comparison=_published(gate.comparison, Report)) for gate in report.gates
        ]
        report = replace(report, gates=tuple(gates))
    parts = msgspec.to_builtins(report, str_keys=True, enc_hook=_builtin)
    # Python writes numbers that JSON does not have as constants: they become null.
    document = json.loads(json.dumps(parts), parse_constant=lambda _constant: None)
    return json.dumps(document, indent=2).replace("\x7f", "\\u007f") + "\n"


def _published(report: Kind, kind: type[Kind]) -> Kind:
    """Return the fields that reports of this kind publish."""
    return kind(**{name: getattr(report, name) for name in kind.__struct_fields__})


def _builtin(value: object) -> object:
    match value:
        case Statement():
            return _Sentence(text_of(value), dict(value.values))
        case Integral():  # numpy's numbers
            return int(value)
        case Real():
            return float(value)
    raise TypeError(f"JSON has no {type(value).__name__}")

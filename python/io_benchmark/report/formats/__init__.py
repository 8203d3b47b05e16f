# SPDX-License-Identifier: MPL-2.0
"""Output formats: the registry for options, help and commands, and how a report is written.

A format for people renders the blocks of every report; one for programs writes the data of some
reports. A new one needs its module and its entry here. Modules are loaded on use.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple, TextIO, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping

    from io_benchmark.analysis.fleet.fleet_model import Fleet
    from io_benchmark.analysis.gate.gate_model import GateReport
    from io_benchmark.analysis.history.history_model import History
    from io_benchmark.analysis.investigation.investigation_model import Investigation
    from io_benchmark.analysis.model.report import Report
    from io_benchmark.analysis.phases.phase_report import PhaseReport
    from io_benchmark.analysis.prediction.prediction_model import Predictions
    from io_benchmark.analysis.tasks.machines.machine_model import MachineReport
    from io_benchmark.analysis.tasks.ranking import LabelRanking
    from io_benchmark.analysis.tasks.task_model import TaskReport
    from io_benchmark.report.blocks import Document

    AnyReport: TypeAlias = (
        Report
        | GateReport
        | History
        | TaskReport
        | Predictions
        | Investigation
        | LabelRanking
        | MachineReport
        | Fleet
        | PhaseReport
    )

# The modules of `sections` that write the blocks of each class
_SECTIONS = {
    "Fleet": "fleets.fleet_document",
    "GateReport": "gates.answers",
    "History": "history",
    "TaskReport": "real_tasks.tasks",
    "ExplainedTasks": "real_tasks.tasks",
    "Predictions": "real_tasks.predictions",
    "ExplainedPredictions": "real_tasks.predictions",
    "Investigation": "investigation",
    "ExplainedPhases": "real_tasks.phases",
    "PhaseReport": "real_tasks.phases",
    "LabelRanking": "real_tasks.ranking",
    "ExplainedRanking": "real_tasks.ranking",
    "MachineReport": "real_tasks.machines",
    "ExplainedMachines": "real_tasks.machines",
}


class _Format(NamedTuple):
    """An output format: `render` of its module gets a layout, and a document or the report."""

    module: str
    takes_data: bool = False  # the report, and not its document of blocks
    is_of_ratios: bool = False  # it has the ratios of a comparison alone
    is_of_fleet: bool = False  # it has the table of all pools alone
    lists_unreadable: bool = False  # it has a line for each result that could not be read


class Layout(NamedTuple):
    """How much to show, and on what. A format ignores what does not apply to it."""

    details: bool = False  # every measurement in full
    columns: int = 80  # of text that does not follow a terminal
    styles: bool = False  # the reader is a terminal that shows bold text
    colors: bool = False  # and colors
    page: str = ""  # the file that has the whole report as a page
    whole: str = ""  # the command that shows all of it, where the one that runs has no --details
    lines_below: int = 0  # that the command writes below the report


_DEFAULT = Layout()
ALL_FORMATS = {
    "text": _Format("text", lists_unreadable=True),
    "markdown": _Format("markdown"),
    "html": _Format("page"),
    "json": _Format("json_documents", takes_data=True, lists_unreadable=True),
    "perfherder": _Format("perfherder", takes_data=True, is_of_ratios=True),
    "csv": _Format("fleet_csv", takes_data=True, is_of_fleet=True),
    "openmetrics": _Format("openmetrics", takes_data=True, is_of_fleet=True),
}
# Those of comparisons; of the table of all pools; of histories, tasks and predictions
FORMATS = {name: entry for name, entry in ALL_FORMATS.items() if not entry.is_of_fleet}
FLEET_FORMATS = {name: entry for name, entry in ALL_FORMATS.items() if not entry.is_of_ratios}
GENERAL_FORMATS = {name: entry for name, entry in FORMATS.items() if name in FLEET_FORMATS}


def show(
    report: AnyReport, form: str, stream: TextIO, environment: Mapping[str, str], layout: Layout
) -> None:
    """Write to a stream; text follows the terminal behind it."""
    if form == "text":
        layout = _module("formats.text").on_terminal(layout, stream, environment)
    stream.write(rendered(report, form, layout))


def rendered(report: AnyReport, form: str, layout: Layout = _DEFAULT) -> str:
    """Return the whole text, which is the same each time."""
    entry = ALL_FORMATS[form]
    content = report if entry.takes_data else document_of(report)
    written: str = _module(f"formats.{entry.module}").render(content, layout)
    return written


def document_of(report: AnyReport) -> Document:
    section = _module(f"sections.{_SECTIONS.get(type(report).__name__, 'comparison')}")
    document: Document = section.document(_module("content").make_harmless(report))
    return document


def _module(name: str) -> Any:
    return import_module(f"io_benchmark.report.{name}")

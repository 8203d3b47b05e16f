# SPDX-License-Identifier: MPL-2.0
"""Golden outputs and published schemas: `python tests/helpers/golden.py` writes them all.

Look at what changed, then commit it. A golden file has one format and many sections: a changed
sentence changes one line of text, one of Markdown and one of the page, and each section is a test.
"""

import re
import sys
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import divided_reports
import many_measurements
import msgspec
import perfherder_files
import sample_fleet
import sample_gates
import sample_history
import sample_investigation
import sample_machines
import sample_phases
import sample_predictions
import sample_ranking
import sample_report
import sample_tasks
from checkout import ROOT
from json_schemas import TITLES, report_schema, schema_of

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
from io_benchmark.report.formats import Layout, rendered
from io_benchmark.results import format as result_format

FOLDER = ROOT / "tests/report/golden"
MARK = "%%%%% "
# The style sheets have a test of their own.
_STYLE = re.compile("<style>.*</style>", re.DOTALL)

Made = Callable[
    [],
    Report
    | GateReport
    | History
    | TaskReport
    | LabelRanking
    | MachineReport
    | Predictions
    | Investigation
    | Fleet
    | PhaseReport,
]
_DEFAULT = Layout()


# One of each kind, and some with hostile names, without results or with more than has room
REPORTS: Mapping[str, Callable[[], Report]] = {
    "seed-case": sample_report.seed_case,
    "before-and-after": sample_report.before_after,
    "one-bad-worker": divided_reports.one_bad_worker,
    "tried": divided_reports.tried_one_disk,
    "refused": sample_report.refused,
    "nothing-readable": sample_report.empty,
    "twelve-pools": sample_report.many_pools,
    "hostile-names": sample_report.hostile,
    "few-measurements": many_measurements.few_measurements,
    "every-workload": many_measurements.every_workload,
    "everything": many_measurements.everything,
    "1,000 workers": partial(sample_report.large, 1000),
}
HISTORIES: Mapping[str, Made] = {
    "history: one-change": sample_history.one_change,
    "history: trend-and-step": sample_history.trend_and_step,
    "history: two-series": sample_history.two_series,
    "history: unclear": sample_history.unclear,
    "history: nothing": sample_history.nothing,
    "history: hostile": sample_history.hostile,
}
TASKS: Mapping[str, Made] = {
    "tasks: the seed's": sample_tasks.seed,
    "tasks: labels that differ, on four pools": sample_tasks.many,
    "tasks: with logs": sample_tasks.phased,
    "tasks: nothing": sample_tasks.nothing,
    "tasks: hostile": sample_tasks.hostile,
}
RANKINGS: Mapping[str, Made] = {
    "ranking: seven labels": sample_ranking.seven_labels,
    "ranking: sixty pools": sample_ranking.sixty_pools,
    "ranking: nothing": sample_ranking.nothing,
    "ranking: hostile": sample_ranking.hostile,
}
MACHINES: Mapping[str, Made] = {
    "machines: hardware": sample_machines.hardware,
    "machines: several pools": sample_machines.many,
    "machines: nothing": sample_machines.nothing,
    "machines: hostile": sample_machines.hostile,
}
PREDICTIONS: Mapping[str, Made] = {
    "prediction: three pools": sample_predictions.three_pools,
    "prediction: sixty pools": sample_predictions.sixty_pools,
    "prediction: several tasks": sample_predictions.several_tasks,
    "prediction: nothing": sample_predictions.nothing,
    "prediction: hostile": sample_predictions.hostile,
}
INVESTIGATIONS: Mapping[str, Made] = {
    "investigation: a change": sample_investigation.change,
    "investigation: nothing": sample_investigation.nothing,
    "investigation: hostile": sample_investigation.hostile,
}
GATES: Mapping[str, Made] = {
    "gate: passed": partial(sample_gates.report, "equal"),
    "gate: failed": partial(sample_gates.report, "slower"),
    "gate: a mixed pool": partial(sample_gates.report, "mixed"),
    "gate: cut off": sample_gates.cut_off,
    "gate: several": partial(sample_gates.report, "equal", "mixed", "baseline mixed", "few"),
    "gate: hostile": sample_gates.hostile,
}
FLEETS: Mapping[str, Made] = {
    "fleet: six pools": sample_fleet.ordinary,
    "fleet: for a task": sample_fleet.predicted,
    "fleet: 60 pools": sample_fleet.many,
    "fleet: nothing": sample_fleet.nothing,
    "fleet: hostile": sample_fleet.hostile,
}
PHASES: Mapping[str, Made] = {
    "phases: one run": sample_phases.one_run,
    "phases: two pools": sample_phases.two_pools,
    "phases: nothing": sample_phases.nothing,
    "phases: hostile": sample_phases.hostile,
}
ALL = {
    **REPORTS,
    **HISTORIES,
    **TASKS,
    **RANKINGS,
    **MACHINES,
    **PREDICTIONS,
    **INVESTIGATIONS,
    **GATES,
    **FLEETS,
    **PHASES,
}
# A section per kind of report and of block; that nothing is lost is tested by properties.
FIRST_SCREENS = (
    "seed-case",
    "one-bad-worker",
    "refused",
    "twelve-pools",
    "hostile-names",
    "every-workload",
    "everything",
    *TASKS,
    *RANKINGS,
    *MACHINES,
    *PREDICTIONS,
    "history: one-change",
    "history: two-series",
    *GATES,
    *FLEETS,
    *PHASES,
)
IN_TEXT = (
    "seed-case",
    "tried",
    "few-measurements",
    "nothing-readable",
    "history: one-change",
    "history: trend-and-step",
    "history: two-series",
    "tasks: labels that differ, on four pools",
    "ranking: seven labels",
    "machines: hardware",
    "prediction: three pools",
    "investigation: a change",
    "phases: two pools",
)
IN_MARKDOWN = (
    "seed-case",
    "tried",
    "hostile-names",
    "history: one-change",
    "tasks: the seed's",
    "tasks: with logs",
    "tasks: nothing",
    "ranking: seven labels",
    "ranking: hostile",
    "machines: several pools",
    "machines: hostile",
    "prediction: three pools",
    "prediction: hostile",
    *INVESTIGATIONS,
    "gate: a mixed pool",
    "gate: hostile",
    "fleet: six pools",
    "fleet: hostile",
    "phases: two pools",
    "phases: hostile",
)
IN_HTML = (
    "tried",
    "nothing-readable",
    "history: one-change",
    "tasks: the seed's",
    "ranking: seven labels",
    "machines: hardware",
    "prediction: three pools",
    "investigation: a change",
    "gate: failed",
    "fleet: six pools",
    "phases: one run",
)


def golden_outputs() -> dict[str, dict[str, Callable[[], str]]]:
    """Return each file's sections, by their names."""
    screen, columns = Layout(columns=80), Layout(details=True, columns=80)
    return {
        "text.txt": {
            **{
                f"{name}, first screen": partial(_written, name, "text", screen)
                for name in FIRST_SCREENS
            },
            **{f"{name}, 80 columns": partial(_written, name, "text", columns) for name in IN_TEXT},
        },
        "markdown.txt": {name: partial(_written, name, "markdown") for name in IN_MARKDOWN},
        "html.txt": {name: partial(_written, name, "html") for name in IN_HTML},
        "perfherder.txt": {"series": perfherder_files.published},
        "fleets.txt": {
            f"{name}, {form}": partial(_written, name, form)
            for form in ("csv", "openmetrics")
            for name in ("fleet: six pools", "fleet: hostile")
        },
    }


def _written(name: str, form: str, layout: Layout = _DEFAULT) -> str:
    return _STYLE.sub("<style></style>", rendered(ALL[name](), form, layout=layout))


def schemas() -> dict[Path, dict[str, Any]]:
    """Return the published schemas."""
    docs = ROOT / "taskcluster/docs"
    return {
        **{docs / f"{title}.schema.json": report_schema(kind) for kind, title in TITLES.items()},
        docs / "result.schema.json": schema_of(
            f"io-benchmark result, version {result_format.VERSION}", result_format.Result
        ),
        docs / "task-profile.schema.json": schema_of(
            f"io-benchmark task profile, version {result_format.PROFILE_VERSION}",
            result_format.TaskProfile,
        ),
    }


def read_sections(name: str) -> dict[str, str]:
    """Read a golden file's sections."""
    _, *sections = (FOLDER / name).read_text(encoding="utf-8").split(MARK)
    return dict(section.split("\n", 1) for section in sections)


def main() -> None:
    """Write every file."""
    sys.path.append(str(ROOT / "scripts/io-benchmark"))
    outputs = golden_outputs()
    for path in FOLDER.iterdir():
        if path.name not in outputs:
            path.unlink()
    for name, sections in outputs.items():
        texts = (f"{MARK}{section}\n{make()}" for section, make in sections.items())
        (FOLDER / name).write_text("".join(texts), encoding="utf-8")
    for path, schema in schemas().items():
        text = msgspec.json.format(msgspec.json.encode(schema), indent=2).decode()
        path.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

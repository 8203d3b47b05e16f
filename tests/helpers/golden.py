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
import every_workload
import msgspec
import published_series
import sample_history
import sample_report
import sample_tasks
import several_places
from checkout import ROOT
from msgspec.structs import replace

from io_benchmark.analysis.history.history_model import History
from io_benchmark.analysis.prediction.prediction_model import Predictions
from io_benchmark.analysis.report_model import Report
from io_benchmark.analysis.tasks.task_model import TaskReport
from io_benchmark.report.formats import Layout, json_documents
from io_benchmark.report.formats.output import rendered
from io_benchmark.results import format as result_format
from io_benchmark.results import task_profile
from io_benchmark.results.schema import schema_of

FOLDER = ROOT / "tests/report/golden"
MARK = "%%%%% "
# The style sheets have a test of their own.
_STYLE = re.compile("<style>.*</style>", re.DOTALL)

Made = Callable[[], Report | History | TaskReport]
_few = sample_report.FEW_RETRIEVES
REPORTS: Mapping[str, Made] = {
    "seed-case": partial(sample_report.seed_case, _few),
    "one-bad-worker": divided_reports.one_bad_worker,
    "tried": divided_reports.tried_one_disk,
    "refused": partial(sample_report.refused, _few),
    "nothing-readable": sample_report.empty,
    "twelve-pools": partial(sample_report.many_pools, _few),
    "hostile-names": partial(sample_report.hostile, _few),
    "few-measurements": several_places.few_measurements,
    "every-workload": lambda: replace(every_workload.report(), diagnoses=()),
    "everything": several_places.everything,
    "history: one-change": sample_history.one_change,
    "history: trend-and-step": sample_history.trend_and_step,
    "history: two-series": sample_history.two_series,
    "history: nothing": sample_history.nothing,
}
TASKS: Mapping[str, Made] = {
    "tasks: the seed's": sample_tasks.seed,
    "tasks: labels that differ, on four pools": sample_tasks.many,
    "tasks: nothing": sample_tasks.nothing,
    "tasks: hostile": sample_tasks.hostile,
}
# A section per kind of report and of block; that nothing is lost is tested by properties.
FIRST_SCREENS = (
    *("seed-case", "one-bad-worker", "refused", "twelve-pools", "hostile-names"),
    *("every-workload", "everything"),
)
IN_TEXT = (
    *("seed-case", "tried", "few-measurements", "nothing-readable"),
    *("history: one-change", "history: trend-and-step", "history: two-series"),
)
IN_MARKDOWN = ("seed-case", "tried", "hostile-names", "history: one-change", "history: nothing")
IN_HTML = ("tried", "nothing-readable", "history: one-change")


def golden_outputs() -> dict[str, dict[str, Callable[[], str]]]:
    """Return each file's sections, by their names."""
    few = ("tasks: the seed's", "tasks: nothing")
    return {
        "text.txt": {
            **{
                f"{name}, first screen": partial(_text, REPORTS[name], 80, details=False)
                for name in FIRST_SCREENS
            },
            **{f"{name}, 80 columns": partial(_text, REPORTS[name], 80) for name in IN_TEXT},
            **{
                f"{name}, first screen": partial(_text, made, 80, details=False)
                for name, made in TASKS.items()
            },
            "tasks, details": partial(_text, sample_tasks.many, 80),
        },
        "markdown.txt": {
            **{name: partial(_markdown, REPORTS[name]) for name in IN_MARKDOWN},
            **{name: partial(_markdown, TASKS[name]) for name in few},
        },
        "html.txt": {
            **{name: partial(_page, REPORTS[name]) for name in IN_HTML},
            **{name: partial(_page, TASKS[name]) for name in few},
        },
        "perfherder.txt": {"series": published_series.published},
    }


def schemas() -> dict[Path, dict[str, Any]]:
    """Return the published schemas."""
    docs = ROOT / "taskcluster/docs"
    return {
        docs / "report.schema.json": json_documents.report_schema(Report),
        docs / "history.schema.json": json_documents.report_schema(History),
        docs / "predictions.schema.json": json_documents.report_schema(Predictions),
        docs / "tasks.schema.json": json_documents.report_schema(TaskReport),
        docs / "result.schema.json": schema_of(
            f"io-benchmark result, version {result_format.VERSION}", result_format.Result
        ),
        docs / "task-profile.schema.json": schema_of(
            f"io-benchmark task profile, version {task_profile.VERSION}", task_profile.TaskProfile
        ),
    }


def read_sections(name: str) -> dict[str, str]:
    """Read a golden file's sections."""
    _, *sections = (FOLDER / name).read_text(encoding="utf-8").split(MARK)
    return dict(section.split("\n", 1) for section in sections)


def _text(made: Made, columns: int, *, details: bool = True) -> str:
    return rendered(made(), "text", layout=Layout(details, columns))


def _markdown(made: Made) -> str:
    return rendered(made(), "markdown")


def _page(made: Made) -> str:
    page, styles = _STYLE.subn("<style></style>", rendered(made(), "html"))
    assert styles == 1
    return page


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

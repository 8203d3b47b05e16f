# SPDX-License-Identifier: MPL-2.0
"""A number is never written with the wrong form of its noun: "1 days"."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from checkout import ROOT

from io_benchmark.number_text import number_of, plural

PACKAGE = ROOT / "python/io_benchmark"
NOUNS = (
    "batch",
    "column",
    "copy",
    "CPU",
    "day",
    "disk",
    "file",
    "group",
    "hour",
    "job",
    "label",
    "line",
    "machine",
    "measurement",
    "message",
    "minute",
    "pair",
    "place",
    "point",
    "pool",
    "profile",
    "push",
    "repetition",
    "replicate",
    "result",
    "retrieve",
    "row",
    "run",
    "side",
    "task",
    "thread",
    "time",
    "worker",
)
BEFORE = "more|other|earlier|further|completed|compared|worker"
# A slot of a template, and what follows it
COUNTED = re.compile(
    rf"\{{\w*\}} (?:(?:{BEFORE}) )?(?:{'|'.join(plural(2, noun) for noun in NOUNS)})\b"
)
# Where the number is never 1, is written as 1.00, or counts something else; by module.
NEVER_ONE: dict[str, set[str]] = {
    "analysis/comparing/looks.py": {"{runs} runs"},
    "analysis/comparing/remarks.py": {"{measurements} measurements", "{runs} runs"},
    "analysis/explaining/causes/disks.py": {"{disks} disks"},
    "analysis/explaining/causes/ranked_settings.py": {"{cpus} CPUs"},
    "analysis/explaining/causes/drift.py": {"{kept} times"},
    "analysis/explaining/judging.py": {"{workers} workers"},
    "analysis/explaining/single_workers.py": {"{others} workers"},
    "analysis/statistics/advice.py": {"{last} workers"},
    "analysis/model/looks.py": {"{workers} workers"},
    "analysis/statistics/variations.py": {"{factor} times", "{workers} workers"},
    "analysis/investigation/conclusion.py": {"{theirs} workers"},
    "analysis/reading/machines.py": {"{} CPUs", "{} disks"},
    "analysis/fleet/flags.py": {"{all} machines", "{days} days", "{} local SSDs"},
    "analysis/prediction/profiled_run.py": {"{cpus} CPUs"},
    "analysis/prediction/refusals.py": {"{used} CPUs"},
    "analysis/gate/missing_results.py": {"{} runs"},
    "analysis/gate/wording.py": {
        "{measurements} measurements",
        "{most} workers",
        "{needed} workers",
        "{baseline_workers} workers",
    },
    "analysis/explaining/mixed_pools.py": {"{total} workers"},
    "analysis/tasks/compare_tasks.py": {"{labels} labels"},
    "analysis/validity/checks.py": {"{length} retrieves", "{planned} retrieves"},
    "analysis/validity/workers.py": {"{hours} hours", "{runs} runs"},
    "operations/until_decided.py": {"{} tasks", "{} workers"},
    "report/content.py": {"{} workers"},
    "report/sections/comparison.py": {"{} measurements"},
    "report/sections/fleets/fleet_answers.py": {"{} days"},
    "report/sections/history_answers.py": {"{} points"},
    "report/sections/investigation.py": {"{} CPUs", "{} workers"},
    "report/sections/measurements.py": {"{counts} workers", "{} sides", "{} workers"},
    "report/sections/notes.py": {"{} measurements"},
    "report/sections/real_tasks/predictions.py": {"{} CPUs"},
    "report/sections/real_tasks/profiled_task.py": {"{} tasks"},
    "report/sections/real_tasks/tasks.py": {"{} pools"},
    "report/sections/workers.py": {"{} workers"},
    "sources/folder_source.py": {"{} files"},
    "sources/protocol.py": {"{} runs"},
    "sources/requests.py": {"{} times"},
    "sources/taskcluster/listing.py": {"{} tasks"},
    "sources/taskcluster/queue_runs.py": {"{} runs"},
    "sources/taskcluster/task_results.py": {"{} runs"},
    "sources/web_client.py": {"{} times"},
    "submit/gate_tasks.py": {"{} tasks"},
    "submit/definitions.py": {"{} runs"},
}


def texts(path: Path) -> Iterator[str]:
    """Yield the texts of a module; of an f-string each value is a slot."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    parts = set[int]()
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            parts.update(id(part) for part in node.values)
            yield "".join(
                str(part.value) if isinstance(part, ast.Constant) else "{}" for part in node.values
            )
        elif isinstance(node, ast.Expr):
            parts.add(id(node.value))
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in parts:
            yield node.value


@pytest.mark.parametrize("path", sorted(PACKAGE.rglob("*.py")), ids=lambda path: path.stem)
def test_one_function_chooses_the_form(path: Path) -> None:
    """A noun behind a number is chosen by `plural`, or the number is never 1."""
    found = {match for text in texts(path) for match in COUNTED.findall(text)}
    assert found - NEVER_ONE.get(str(path.relative_to(PACKAGE)), set()) == set()


def test_the_expression() -> None:
    """It finds nouns behind numbers, with a word between them as well."""
    for text in ("{} days", "{add} more workers", "in {pushes} pushes."):
        assert COUNTED.search(text)
    for text in ("{} day", "{days} of runs", "the runs", "{} runsheets"):
        assert not COUNTED.search(text)


def test_the_function() -> None:
    """One has no s; a sibilant gets another syllable."""
    assert [number_of(number, "run") for number in (0, 1, 2, 1200)] == [
        "0 runs",
        "1 run",
        "2 runs",
        "1,200 runs",
    ]
    assert [plural(number, "push") for number in (1, 2)] == ["push", "pushes"]
    assert [plural(number, "CPU") for number in (0.5, 1.0)] == ["CPUs", "CPU"]

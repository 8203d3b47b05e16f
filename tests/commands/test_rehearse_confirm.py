# SPDX-License-Identifier: MPL-2.0
"""rehearse --confirm: all trials, then the faster pool once more.

Tasks leave the seed's figures.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import program
import pytest
import seed_case
import tried_workers
from checkout import ROOT

from io_benchmark.execute import local_run
from io_benchmark.execute.local_run import LocalRun

PACE = 391 * 1024**2


@pytest.fixture
def failing() -> set[str]:
    """Return the pools whose runs fail, and leave no result."""
    return set()


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch, failing: set[str]) -> list[LocalRun]:
    """Every run, in order. Each leaves its pool's result at once, with trials at its pace."""
    made: list[LocalRun] = []
    run = LocalRun.run

    def note(made_run: LocalRun, environment: Mapping[str, str]) -> Any:
        made.append(made_run)
        return run(made_run, environment)

    def execute(
        _words: object,
        _folder: Path,
        variables: Mapping[str, str],
        _log: object,
        _user: object,
    ) -> int:
        pool = made[-1].task.pool
        if pool in failing:
            return 1
        (document,) = seed_case.documents(1, pools=[pool])
        document["task"] |= {"task_id": variables["TASK_ID"], "run_id": 0}
        pace = variables.get("IO_BENCHMARK_PACE")
        tried_workers.add_trials(document, None if pace is None else int(pace))
        artifacts = Path(variables["IO_BENCHMARK_ARTIFACTS"])
        (artifacts / "perfherder-data-io-benchmark.json").touch()
        (artifacts / "io-benchmark").mkdir()
        (artifacts / "io-benchmark/io-benchmark.json").write_text(json.dumps(document))
        return 0

    monkeypatch.setattr(LocalRun, "run", note)
    monkeypatch.setattr(local_run, "_execute", execute)
    return made


def rehearse(folder: Path, *arguments: str, expected: int = 0) -> program.Finished:
    command = ("rehearse", "--root", str(ROOT), "--confirm", *arguments)
    return program.run(*command, folder=folder, expected=expected)


def variables(run: LocalRun) -> tuple[Any, Any]:
    environment = run.environment()
    return environment["IO_BENCHMARK_TRIALS"], environment.get("IO_BENCHMARK_PACE")


def test_confirmed(runs: list[LocalRun], tmp_path: Path) -> None:
    """Trials run in all pools, then in the faster pool again at the slower one's ceiling.

    No task of a report runs.
    """
    done = rehearse(tmp_path, "-j", "amd-16,intel,io-benchmark-report", "--output", "out", "--json")
    *pools, confirming = runs
    assert sorted(run.task.label for run in pools) == ["io-benchmark-amd-16", "io-benchmark-intel"]
    assert [variables(run) for run in pools] == [("always", None)] * 2
    assert (confirming.task.label, confirming.task.pool) == ("io-benchmark-intel-confirm", "intel")
    assert variables(confirming) == ("always", str(PACE))
    assert confirming.command() == next(run for run in pools if run.task.pool == "intel").command()
    document = json.loads(done.stdout)
    assert sorted(worker["pool"] for worker in document["workers"]) == ["amd-16", "intel", "intel"]
    assert "To confirm: intel once more, its copies limited to 391 MiB/s" in done.stderr
    assert "Running 1 task, profile twentieth: io-benchmark-intel-confirm\n" in done.stderr


def test_nothing_to_confirm(runs: list[LocalRun], tmp_path: Path) -> None:
    """Pools that no difference is proven of run once."""
    done = rehearse(tmp_path, "-j", "amd-30,intel")
    assert len(runs) == 2
    reason = "amd-30 against intel is inconclusive: measure more workers first."
    assert f"Nothing to confirm: {reason}\n" in done.stderr
    assert "Running 0" not in done.stderr


def test_what_fails_is_named(runs: list[LocalRun], failing: set[str], tmp_path: Path) -> None:
    """The others are compared, and their difference is confirmed; the exit code is 1."""
    failing.add("intel")
    done = rehearse(tmp_path, "--baseline", "intel", expected=1)
    first = " ".join(done.stdout.split())
    assert "amd-16 against amd-30 (baseline: instead of intel, which has no result)" in first
    assert "To confirm: amd-30 once more" in done.stderr
    assert len(runs) == 4
    assert "error: io-benchmark-intel: failed, exit code 1; its log is" in done.stderr

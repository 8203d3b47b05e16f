# SPDX-License-Identifier: MPL-2.0
"""The commands of the fleet's two tasks: what they run, publish, and say where people look."""

import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from pytest_taskgraph import make_task
from user_mistakes import WrongValues, mistake, wrong_values

from io_benchmark_taskgraph.mistakes import checked
from io_benchmark_taskgraph.transforms import fleet

PRICES = {"currency": "USD", "prices": {"it's": 0.5}}
WHOLE: dict[str, Any] = {
    "margin": "7.5%",
    "prices": PRICES,
    "notify-routes": ["notify.email.team@example.com.on-failed"],
}
NOTIFY = "is not a list of notify routes; write one, as [notify.email.team@example.com.on-failed]"
WRONG: WrongValues = {
    "margin": {"is not a percentage; write one such as 2%": [5, "0%"]},
    "notify-routes": {NOTIFY: ["notify.email.x", ["index.a.b"], [5], ["notify"]]},
}


@pytest.mark.parametrize(("key", "value", "text"), [*wrong_values(WRONG)])
def test_mistakes(key, value, text):
    """One line that names the key and says what to write instead."""
    assert mistake(checked, fleet.SCHEMA, {key: value}, "fleet") == f"fleet.{text}"


@pytest.fixture
def made(run_transform, make_transform_config):
    """Make the two tasks, with these changes, for a push of this kind."""

    def make(tasks_for="cron", pools=("amd",), **changes):
        dates = {
            "deadline": {"relative-datestamp": "1 day"},
            "expires": {"relative-datestamp": "28 days"},
        }
        dependencies = {
            f"b-{pool}": make_task(
                f"b-{pool}",
                kind="io-benchmark",
                attributes={"io_benchmark_pool": pool},
                task_def=dates,
            )
            for pool in pools
        }
        config = make_transform_config(kind_dependencies_tasks=dependencies)
        config.params["tasks_for"] = tasks_for
        task = {
            "name": "fleet",
            "label": "io-benchmark-fleet",
            "task-from": "kind.yml",
            "worker-type": "b-linux",
            "worker": {"max-run-time": 3600, "artifacts": [{"name": "public/io-benchmark"}]},
            "treeherder": {"symbol": "IOB(fleet)"},
            "run": {"using": "run-task"},
            **changes,
        }
        return run_transform(fleet.transforms, [task], config=config)

    return make


def test_without_pools(made):
    """A kind that names no kind with pools is a mistake."""
    message = mistake(made, pools=())
    assert message.endswith("fleet: no kind among kind-dependencies has pools; name io-benchmark")


def test_only_the_weekly_task_notifies(made):
    """A push by hand needs no scope for another person's address."""
    _, alert = made(fleet=WHOLE)
    assert alert["routes"] == WHOLE["notify-routes"]
    assert alert["extra"]["notify"]["email"]["subject"].endswith("has become slower")
    table, alert = made("github-push", fleet=WHOLE)
    assert "routes" not in alert
    assert "extra" not in alert
    assert all(route.startswith("index.") for route in table["routes"])


class Ran:
    """A command that bash ran, as run-task does; the program prints what it got, and more."""

    def __init__(self, folder: Path, command: str, stderr: str = "", code: int = 0) -> None:
        program = folder / "py thon"
        program.write_text(
            f'#!/bin/sh\nprintf "%s\\0" "$@" > arguments\ncat >&2 << "E"\n{stderr}E\nexit {code}\n'
        )
        program.chmod(0o755)
        self.artifacts = folder / "arti facts"
        self.done = subprocess.run(
            ["bash", "-cx", command],
            cwd=folder,
            env={
                "PATH": os.environ["PATH"],
                "IO_BENCHMARK_ARTIFACTS": str(self.artifacts),
                "IO_BENCHMARK_REPORT_PYTHON": str(program),
                "IO_BENCHMARK_FLEET": "Fqm6GL_zRPurCmd1rRuTRQ",
            },
            check=False,
            capture_output=True,
            text=True,
        )
        self.words = (folder / "arguments").read_text().split("\0")[:-1]

    @property
    def check(self) -> str:
        return (self.artifacts / "github/customCheckRunText.md").read_text()

    @property
    def reasons(self) -> list[str]:
        lines = self.done.stdout.splitlines()
        return [line for line in lines if line.startswith("TEST-UNEXPECTED-FAIL")]


ALERT = "alert: amd-16 is 1.2× slower at unpack since 2026-11-02"


@pytest.mark.parametrize(
    ("stderr", "code", "check", "reasons"),
    [
        ("note: 2 results\n", 0, "No pool has become slower.\n", []),
        (
            f"{ALERT}\nnote: 2 results\nalert: [x](y) **z**\n",
            3,
            # As code, in which Markdown means nothing.
            f"    {ALERT.removeprefix('alert: ')}\n    [x](y) **z**\n",
            [
                f"TEST-UNEXPECTED-FAIL | io-benchmark-fleet | {text}"
                for text in (ALERT.removeprefix("alert: "), "[x](y) **z**")
            ],
        ),
        (
            "error: no answer\n",
            1,
            "Not known: the table of all pools could not be read; see the log.\n",
            [],
        ),
    ],
    ids=["none", "alerts", "failure"],
)
def test_alerts(tmp_path, made, stderr, code, check, reasons):
    """Each sentence becomes a line for Treeherder and one of GitHub's check; the code is kept."""
    _, alert = made(fleet=WHOLE)
    ran = Ran(tmp_path, alert["run"]["command"], stderr, code)
    assert ran.done.returncode == code
    assert (ran.check, ran.reasons) == (check, reasons)
    assert stderr in ran.done.stderr

# SPDX-License-Identifier: MPL-2.0
"""The command fleet, as a user types it, and as the weekly task runs it."""

import subprocess
import sys
from datetime import date
from pathlib import Path

import msgspec
import program
import pytest
from fleet_pushes import LATEST, add_pushes, keep
from loopback import Loopback
from loopback_deployment import Deployment
from predicted_tasks import profile_document, result_documents, write_profile, write_results

from io_benchmark.analysis.fleet import fleet as analysis
from io_benchmark.analysis.fleet.fleet_model import FleetChange
from io_benchmark_taskgraph.transforms import fleet as transform

PRICES = '{"currency": "USD", "prices": {"intel": 9, "amd-16": 1}}'
TABLE = ("fleet", "--by", "retrieve", "--as-of", "2026-11-20")


@pytest.fixture
def loopback():
    """Return a project of two pools and three weeks."""
    deployment = Deployment()
    add_pushes(deployment, 3)
    with Loopback(deployment) as running:
        yield running


def ask(loopback, folder, *arguments, expected=0):
    return program.run(
        *arguments, folder=folder, expected=expected, environment=loopback.environment
    )


def test_every_format(loopback, tmp_path):
    """One reading writes all formats; the default project is this one's."""
    names = ("text", "markdown", "html", "json", "csv", "openmetrics")
    files = [word for name in names for word in ("--write", f"{name}={tmp_path / name}")]
    done = ask(loopback, tmp_path, *TABLE, *files)
    assert done.stderr == ""
    for name in names:
        assert "amd-16" in (tmp_path / name).read_text()
    assert len(loopback.asked("api", "/task-group/")) == 3


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--by", "writes"], "argument --by: 'writes' is not an order of pools; use one of"),
        (["--by", "price"], "error: --by price: no prices are known; give a file of them by"),
        (["--by", "minutes"], "error: --by minutes: this is of a predicted task; name its"),
        (["--requests", "0"], "argument --requests: '0' is not a number from 1 to 100,000"),
        (["none", "--readings", "."], "Is a directory; name another file"),
    ],
)
def test_mistakes(loopback, tmp_path, arguments, message):
    """A line, before anything is requested."""
    done = ask(loopback, tmp_path, "fleet", *arguments, expected=None)
    assert done.exit_code in (1, 2)
    assert message in done.stderr
    assert loopback.requests == []


def test_the_closest_order(loopback, tmp_path):
    """A misspelt figure is probably that one."""
    done = ask(loopback, tmp_path, "fleet", "--by", "writes", expected=2)
    assert "did you mean write?" in done.stderr


def test_nothing_is_there(loopback, tmp_path):
    """A project without results: the namespace that was looked up."""
    done = ask(loopback, tmp_path, "fleet", "none", expected=1)
    assert done.stderr == (
        "error: none was looked up as a project: index:gecko.v2.none.date.io-benchmark: "
        f"{loopback.url} has no results there; check the project\n"
    )


def test_what_cannot_be_read_is_a_note(loopback, tmp_path):
    """A pool's lost result leaves the others' table."""
    first = next(iter(loopback.deployment.groups.values()))[0]
    del loopback.deployment.artifacts[first, 0, "public/io-benchmark/io-benchmark.json"]
    done = ask(loopback, tmp_path, *TABLE)
    assert done.stderr.startswith(f"note: task {first} run 0 (io-benchmark-amd-16): left no")


@pytest.fixture
def _with_alert(monkeypatch):
    """Let each table have an alert that was not announced before."""
    whole = analysis.fleet

    def with_alert(readings, **settings):
        table = whole(readings, **settings)
        change = FleetChange(
            key="k",
            figure="retrieve",
            since=date(2026, 11, 16),
            found=date(2026, 11, 16),
            ratio=1.25,
            interval=None,
            is_alert="k" not in settings["announced"],
        )
        first, *rest = table.pools
        pools = (msgspec.structs.replace(first, changes=(change,)), *rest)
        return msgspec.structs.replace(table, pools=pools)

    monkeypatch.setattr(analysis, "fleet", with_alert)


@pytest.mark.usefixtures("_with_alert")
def test_a_pool_that_became_slower(loopback, tmp_path):
    """A line that begins with `alert`, and exit code 3, once; without the option, neither."""
    kept = ("--readings", "kept.json")
    assert "alert" not in ask(loopback, tmp_path, *TABLE).stderr
    done = ask(loopback, tmp_path, *TABLE, *kept, "--fail-on-slower", expected=3)
    (line,) = done.stderr.splitlines()
    assert line.startswith("alert: amd-16 is slower since 2026-11-16: Retrieve")
    assert ask(loopback, tmp_path, *TABLE, *kept, "--fail-on-slower").stderr == ""


def test_a_task_on_every_pool(tmp_path):
    """The pools' newest results are read in full; the fastest pool is first, or the cheapest."""
    pools = (result_documents("intel"), result_documents("amd-16", (50,)))
    write_results(tmp_path / "results", *pools)
    write_profile(tmp_path / "profile.json", profile_document((50, 50, 0, 0)))
    (tmp_path / "prices.json").write_text(PRICES)
    line = ("fleet", "results", "--for", "profile.json")
    table = program.document(*line, folder=tmp_path)
    assert (table["ordered_by"], table["program"]) == ("minutes", "tar")
    minutes = {pool["pool"]: pool["predicted"]["minutes"] for pool in table["pools"]}
    assert list(minutes) == ["intel", "amd-16"]
    assert minutes["intel"] == pytest.approx(2 / 60)
    assert minutes["amd-16"] > minutes["intel"]
    by_money = ("--prices", "prices.json", "--by", "money")
    table = program.document(*line, *by_money, folder=tmp_path)
    assert [pool["pool"] for pool in table["pools"]] == ["amd-16", "intel"]


def test_profiles_of_two_tasks(tmp_path):
    """The table has one task."""
    write_results(tmp_path / "results", result_documents("intel"))
    (tmp_path / "profiles").mkdir()
    for name, command in (("one", "0"), ("two", "1")):
        document = profile_document((50, 50, 0, 0), command=command)
        write_profile(tmp_path / "profiles" / f"profile-{name}.json", document)
    done = program.run("fleet", "results", "--for", "profiles", folder=tmp_path, expected=2)
    assert "--for: profiles of 2 tasks (tar, tar); give those of one task" in done.stderr


def test_a_task_of_a_project(loopback, tmp_path):
    """The pushes with the newest results are read; a pool without figures has a reason."""
    write_profile(tmp_path / "profile.json", profile_document((50, 50, 0, 0)))
    before = len(loopback.asked("storage"))
    table = program.document(
        *TABLE, "--for", "profile.json", folder=tmp_path, environment=loopback.environment
    )
    # Three pushes of two pools, and the newest again.
    assert len(loopback.asked("storage")) - before == 8
    reasons = {pool["pool"]: pool["predicted"]["reason"] for pool in table["pools"]}
    assert reasons["intel"] is None
    assert "intel has no write ceiling" in reasons["amd-16"]["text"]


def weekly(loopback, folder: Path, command: str, **variables: str):
    """Run a task's command, as run-task does, by the program of this checkout."""
    folder.mkdir()
    environment = {
        "PATH": "/usr/bin:/bin",
        "IO_BENCHMARK_ARTIFACTS": str(folder),
        "IO_BENCHMARK_REPORT_PYTHON": sys.executable,
        **loopback.environment,
        **variables,
    }
    return subprocess.run(
        ["bash", "-cx", command], env=environment, capture_output=True, text=True, check=False
    )


@pytest.mark.serial
def test_two_weeks_of_tasks(loopback, tmp_path):
    """The first task reads all and keeps it; its alert's task reads that; the next begins there."""
    settings = transform.SCHEMA({})
    table = transform._fleet_command(settings, "releng.v2.io-benchmark.date.io-benchmark")
    done = weekly(loopback, tmp_path / "first", table)
    assert done.returncode == 0, done.stderr
    for name in (*transform.FILES.values(), transform.READINGS):
        assert (tmp_path / "first" / name).stat().st_size
    kept = (tmp_path / "first" / transform.READINGS).read_bytes()
    task_id = keep(loopback.deployment, kept)
    alert = transform._alert_command(settings)
    done = weekly(loopback, tmp_path / "alert", alert, IO_BENCHMARK_FLEET=task_id)
    assert done.returncode == 0, done.stderr
    check = tmp_path / "alert/github/customCheckRunText.md"
    assert check.read_text() == "No pool has become slower.\n"
    before = len(loopback.asked("api", "/task-group/"))
    done = weekly(loopback, tmp_path / "second", table)
    assert done.returncode == 0, done.stderr
    assert len(loopback.asked("api", "/task-group/")) == before
    assert (tmp_path / "second" / transform.READINGS).read_bytes() == kept
    assert LATEST in loopback.deployment.index

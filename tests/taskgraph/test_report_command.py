# SPDX-License-Identifier: MPL-2.0
"""The report task's command: a call of `io-benchmark compare` that a person could type."""

import argparse
import os
import subprocess
import sys

import pytest
import seed_case

from io_benchmark.analysis.inference.looks import Schedule
from io_benchmark.commands import compare
from io_benchmark.commands.options import add_options
from io_benchmark.costs.worker_time import Price
from io_benchmark_taskgraph.report_stanza import FILES, PYTHON, ReportSettings

from .conftest import REPOSITORY

PLAIN = ReportSettings(30, None, None, ())
PRICES = '{"currency": "USD", "prices": {"it\'s": 0.5}}'
EXPECTED = ("amd-16/amd-30<1.05", " intel / amd-30 > 0.5")
FULL = ReportSettings(0, "amd-30", "2.5%", EXPECTED, "3,6,12", PRICES)
GROUP = "Fqm6GL_zRPurCmd1rRuTRQ"


def run(settings, folder, **variables):
    """By bash, as run-task does."""
    environment = {"PATH": os.environ["PATH"], "IO_BENCHMARK_ARTIFACTS": f"{folder}/arti facts"}
    done = subprocess.run(
        ["bash", "-cx", settings.command()],
        cwd=folder,
        env=environment | variables,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("settings", [PLAIN, FULL], ids=["plain", "full"])
def test_compare_understands_it(tmp_path, settings):
    """Every setting arrives as compare's own option, whatever is in it."""
    program = tmp_path / "py thon"
    program.write_text('#!/bin/sh\nprintf "%s\\0" "$@" > arguments\n')
    program.chmod(0o755)
    run(settings, tmp_path, IO_BENCHMARK_REPORT_PYTHON=str(program), TASK_GROUP_ID=GROUP)
    *words, _ = (tmp_path / "arguments").read_text().split("\0")
    assert words[:4] == ["-u", "-m", "io_benchmark.cli", "compare"]
    parser = argparse.ArgumentParser()
    add_options(parser, compare.OPTIONS)
    given = vars(parser.parse_args(words[4:]))
    assert given["addresses"] == [f"group:{GROUP}"]
    assert (given["wait"], given["partial"]) == (settings.wait_minutes, True)
    assert given.get("baseline") == settings.baseline
    assert given.get("margin") == (0.025 if settings.margin else None)
    looks = Schedule((3, 6, 12), is_declared=True) if settings.looks else None
    assert given.get("looks") == looks
    assert given.get("prices") == ({"it's": Price(0.5, "USD")} if settings.prices else None)
    assert [entry.written for entry in given.get("expect", [])] == list(settings.expectations)
    assert given["write"] == [
        (form, tmp_path / "arti facts" / path) for form, path in FILES.items()
    ]


def test_it_is_run(tmp_path):
    """With a folder of results in the group's place: the table in the log, every file written.

    None is for Perfherder, where a push without a report would be a change of -100 %.
    """
    results = tmp_path / "results"
    seed_case.write(results)
    python = {"IO_BENCHMARK_REPORT_PYTHON": sys.executable}
    output = run(PLAIN, tmp_path, IO_BENCHMARK_REPORT_OF=str(results), **python)
    assert "1.92×" in output
    # On a worker: the group that the task is in, the image's Python, the worker's artifacts.
    for default in (f"-{PYTHON}}}", "-group:$TASK_GROUP_ID}", "-/builds/worker/artifacts}"):
        assert default in PLAIN.command()
    dockerfile = REPOSITORY / "taskcluster/docker/io-benchmark-report/Dockerfile"
    assert f"{PYTHON} -m io_benchmark.cli" in dockerfile.read_text()
    artifacts = tmp_path / "arti facts"
    files = [path for path in artifacts.rglob("*") if path.is_file()]
    assert sorted(files) == sorted(artifacts / path for path in FILES.values())
    assert list(FILES) == ["html", "markdown", "json"]

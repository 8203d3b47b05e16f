# SPDX-License-Identifier: MPL-2.0
"""The report's task: its stanza, its command, and the time and the deadline that it needs."""

import argparse
import math
import os
import subprocess
from datetime import date
from typing import Any

import pytest
from checkout import ROOT
from pytest_taskgraph import make_task
from user_mistakes import WrongValues, mistake, wrong_values

from io_benchmark.analysis import expectations
from io_benchmark.analysis.gate.gate_model import Gate
from io_benchmark.analysis.model.looks import Schedule
from io_benchmark.commands import compare
from io_benchmark.commands.options.option import add_options
from io_benchmark.costs.worker_time import Price
from io_benchmark.errors import UsageError
from io_benchmark_taskgraph.transforms import report
from io_benchmark_taskgraph.transforms.report import FILES, PYTHON, checked_stanza, report_command

POOLS = ["intel", "amd-16", "amd-30", "amd-16"]  # with replicates a pool comes more than once
PRICES: dict[str, Any] = {
    "currency": "USD",
    "kind": "spot",
    "date": date(2026, 11, 1),
    "prices": {"it's": 0.5},
}
EXPECTATIONS = ["intel/amd-30<1.05 on spawn", " amd-16 / amd-30 > 0.5"]
WHOLE: dict[str, Any] = {
    "wait-minutes": 0,
    "baseline": "amd-30",
    "margin": "99.5%",
    "looks": [3, 6, 12],
    "prices": PRICES,
    "expectations": EXPECTATIONS,
}
KNOWN = "is not a pool; there are: amd-16, amd-30, intel"
CLOSE = "; did you mean amd-30?"
THERE_ARE = f"there are: {', '.join(map(str, report.SCHEMA.schema))}"
EXPECTATION = "is not a list of expectations; write one, as ['amd-30/intel<1.05 on sync-write']"
AGAINST = (
    "the pools are compared with intel; write CANDIDATE/intel or change report.baseline; "
    "there are: amd-16, amd-30"
)
LOOKS = "is not a rising list of numbers from 2 to 100; write one, as [3, 6, 12]"
PRICE = "is not a mapping of names to prices above 0; write one, as {amd-16: 0.31}"
WRONG_VALUES: WrongValues = {
    "wait-minutes": {"is not a whole number from 0 to 720": [721, -1, "30"]},
    "baseline": {KNOWN: ["arm"], KNOWN + CLOSE: ["amd-3"], "is not a pool's name": [16]},
    "margin": {"is not a percentage; write one such as 2%": [5, "0%", "100%"]},
    "looks": {LOOKS: ["3,6", [], [6, 3], [3, 3], [1, 3], [3, 101], [3, True], [3, 6.0]]},
    "gates": {
        "is not a list of gates; write one, as ['amd-16-alpha/amd-16<1.1']": [
            "amd-16/intel<1.1",
            ["amd-16/intel>1.1"],
            ["amd-16/intel<1.1 on spawn"],
        ]
    },
    # The last is what a comma leaves of a list.
    "expectations": {
        EXPECTATION: ["a/b<1", ["amd-30/intel"], ["amd-30/intel<0"], [{"a/b": 1}], ["a memory"]]
    },
}
WRONG_PRICES: WrongValues = {
    "currency": {"is not a currency's code; write one such as USD": ["$"]},
    "kind": {"is unknown; there are: spot, on-demand": ["cheap"]},
    "date": {"is not a date; write one such as 2026-11-01": [5]},
    "prices": {PRICE: [{}, {5: 1}, *({"a": price} for price in (0, 1_000_001, math.nan, True))]},
}


WRONG: list[tuple[dict[str, Any], str]] = [
    *(({key: value}, text) for key, value, text in wrong_values(WRONG_VALUES)),
    *(
        ({"prices": {**PRICES, key: value}}, f"prices.{text}")
        for key, value, text in wrong_values(WRONG_PRICES)
    ),
    *(
        ({"expectations": [value]}, f"expectations: {value!r}: {AGAINST}")
        for value in ("amd-31/intel<1 on spawn", "amd-16/amd-30<1.05", "intel/intel<1")
    ),
    ({"gates": ["amd-3/intel<1.1"]}, f"gates: 'amd-3/intel<1.1': 'amd-3' {KNOWN}{CLOSE}"),
    ({"gates": ["intel/arm<1.1"]}, f"gates: 'intel/arm<1.1': 'arm' {KNOWN}"),
    (
        {"gates": ["intel/amd-30<1.1"], "margin": "2%"},
        (
            "gates: cannot be combined with report.margin; a gate names both pools, and how much "
            "slower one may be"
        ),
    ),
    ({"wait": 3}, f"wait: unknown key; {THERE_ARE}"),
    ({"prices": {**PRICES, "price": 1}}, "prices.price: unknown key"),
    ({"prices": "x"}, "prices: is not a mapping"),
]


@pytest.mark.parametrize(("stanza", "text"), WRONG)
def test_mistakes(stanza, text):
    """One line that names the key and says what to write instead."""
    assert mistake(checked_stanza, stanza, POOLS) == f"report.{text}"


def test_without_pools():
    """A kind that compares nothing is a mistake."""
    text = "report: no kind among kind-dependencies has pools; name io-benchmark"
    assert mistake(checked_stanza, {}, []) == text


@pytest.mark.parametrize("bound", ["0", "0.00", "0.01"])
def test_what_is_accepted_here_compare_accepts(bound):
    """The two programs share no module, but one form: no push is refused by its own report."""
    assert report.EXPECTATION.pattern == expectations.FORM.pattern
    try:
        expectations.Expectation.parse(f"a/b<{bound}")
        is_accepted = True
    except UsageError:
        is_accepted = False
    assert report._is_expectation(f"a/b<{bound}") is is_accepted is (bound == "0.01")


def test_what_is_a_gate_here_is_one_there():
    """The form of a gate is that of `--gate`, with a limit."""
    gate = "a-alpha/a<1.12345678"
    assert report._is_gate(gate)
    assert Gate.parse(gate) == Gate("a-alpha", "a", 0.12345678)


@pytest.mark.parametrize("stanza", [{}, WHOLE], ids=["plain", "full"])
def test_compare_understands_it(tmp_path, stanza):
    """Every setting arrives as compare's own option, whatever is in it."""
    program = tmp_path / "py thon"
    program.write_text('#!/bin/sh\nprintf "%s\\0" "$@" > arguments\n')
    program.chmod(0o755)
    # By bash, as run-task does.
    subprocess.run(
        ["bash", "-cx", report_command(checked_stanza(stanza, POOLS))],
        cwd=tmp_path,
        env={
            "PATH": os.environ["PATH"],
            "IO_BENCHMARK_ARTIFACTS": f"{tmp_path}/arti facts",
            "IO_BENCHMARK_REPORT_PYTHON": str(program),
            "TASK_GROUP_ID": "Fqm6GL_zRPur",
        },
        check=True,
    )
    *words, _ = (tmp_path / "arguments").read_text().split("\0")
    assert words[:4] == ["-u", "-m", "io_benchmark.cli", "compare"]
    parser = argparse.ArgumentParser()
    add_options(parser, compare.OPTIONS)
    given = vars(parser.parse_args(words[4:]))
    assert given["addresses"] == ["group:Fqm6GL_zRPur"]
    assert (given["wait"], given["partial"]) == (0 if stanza else 30, True)
    assert given.get("baseline") == ("amd-30" if stanza else None)
    assert given.get("margin") == (0.995 if stanza else None)
    assert given.get("looks") == (Schedule((3, 6, 12), is_declared=True) if stanza else None)
    price = Price(0.5, "USD", "spot", "2026-11-01")
    assert given.get("prices") == ({"it's": price} if stanza else None)
    expectations = EXPECTATIONS if stanza else []
    assert [entry.written for entry in given.get("expect", [])] == expectations
    assert given["write"] == [
        (form, tmp_path / "arti facts" / path) for form, path in FILES.items()
    ]


def test_on_a_worker():
    """Without variables: the task's group, the image's Python, the worker's artifacts."""
    command = report_command(checked_stanza({}, POOLS))
    for default in (f"-{PYTHON}}}", "-group:$TASK_GROUP_ID}", "-/builds/worker/artifacts}"):
        assert default in command
    dockerfile = ROOT / "taskcluster/docker/io-benchmark-report/Dockerfile"
    assert f"{PYTHON} -m io_benchmark.cli" in dockerfile.read_text()


DAY = ("1 day", "28 days")
DAY_S = 24 * 3600
TASK = {
    "name": "report",
    "label": "io-benchmark-report",
    "task-from": "kind.yml",
    "worker-type": "b-linux",
    "report": {"wait-minutes": 5, "baseline": "amd"},
    "worker": {"max-run-time": 3600},
}


@pytest.fixture
def make_report(run_transform, make_transform_config):
    """Make the report of pools that have these deadlines and expiries."""

    def make(*times, named=None, **changes):
        dependencies = {"image": make_task("docker-image-x", kind="docker-image")}
        for number, (deadline, expires) in enumerate(times or [DAY, DAY, DAY]):
            label = f"b-{number}"
            dates = {"deadline": deadline, "expires": expires}
            dependencies[label] = make_task(
                label,
                kind="io-benchmark",
                attributes={"io_benchmark_pool": "intel" if number == 2 else "amd"},
                task_def={
                    **{key: {"relative-datestamp": value} for key, value in dates.items()},
                    "extra": {"io-benchmark": {"baseline": named}} if named else {},
                },
            )
        config = make_transform_config(kind_dependencies_tasks=dependencies)
        task = {**TASK, "run": {"using": "run-task"}, **changes}
        [made] = run_transform(report.transforms, [task], config=config)
        return made

    return make


@pytest.mark.parametrize(
    ("pools", "limit_s", "expected"),
    [
        # After the last, and kept as long as all results are.
        ([DAY, ("36 hours", "1 year"), ("90 minutes", "28 days")], 3600, (60 * 3600, "28 days")),
        # More than a day for the report itself: from 85,200 s on.
        ([("1 hour", "28 days")], 85_200, (3600 + DAY_S, "28 days")),
        ([("1 hour", "1 year")], 85_201, (3601 + DAY_S, "1 year")),
        # No later than the queue accepts, and than the results are kept.
        ([("97 hours", "1 year")], 3600, (5 * DAY_S, "1 year")),
        ([DAY, ("1 day", "47 hours")], 3600, (47 * 3600, "47 hours")),
    ],
)
def test_times(make_report, pools, limit_s, expected):
    """A day after the last pool's task, or as long as it runs where that is more."""
    task = make_report(*pools, worker={"max-run-time": limit_s})
    deadline_s, expires = expected
    assert (task["deadline-after"], task["expires-after"]) == (f"{deadline_s} seconds", expires)
    assert "--wait 5 --partial \\\n  --baseline amd \\\n" in task["run"]["command"]


@pytest.mark.parametrize(("named", "baseline"), [(None, "intel"), ("amd", "amd")])
def test_expectations_are_of_the_baseline_that_the_tasks_name(make_report, named, baseline):
    """As `compare` will choose it, without an option; the last by name if they name none."""
    other = "amd" if baseline == "intel" else "intel"
    made = make_report(named=named, report={"expectations": [f"{other}/{baseline}<1.05"]})
    assert "--baseline" not in made["run"]["command"]
    wrong = {"expectations": [f"{baseline}/{other}<1.05"]}
    message = mistake(make_report, named=named, report=wrong)
    assert f"the pools are compared with {baseline}; write CANDIDATE/{baseline} or" in message


@pytest.mark.parametrize("limit_s", [899, None, "900", True, 3600.0])
def test_enough_time(make_report, limit_s):
    """The waiting and ten minutes, and not a second less."""
    make_report(worker={"max-run-time": 900})
    assert mistake(make_report, worker={"max-run-time": limit_s}).endswith(
        f"kind.yml: task report: worker.max-run-time: {limit_s!r} does not hold 5 minutes of "
        "waiting and 600 s for the rest; raise it to 900 or lower report.wait-minutes"
    )

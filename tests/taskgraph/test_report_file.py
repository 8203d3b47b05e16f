# SPDX-License-Identifier: MPL-2.0
"""What the actions read of a report, as the program writes it or somebody else does."""

import copy
import functools
import json

import program
import pytest
import seed_case
import voluptuous

from io_benchmark_taskgraph import report_file


@pytest.fixture(scope="module")
def write(tmp_path_factory):
    """Reports of pools whose workers differ much; a gate needs more of them."""
    folder = tmp_path_factory.mktemp("results")
    seed_case.write(folder, 3, between=0.15, pools=["amd-30", "intel"])

    @functools.cache
    def write(*options):
        return json.loads(program.run("compare", folder, "--json", *options, expected=None).stdout)

    return lambda *options: copy.deepcopy(write(*options))


def test_a_comparison(write):
    """It is read as it is."""
    report = write()
    assert report_file.can_be_read(report)
    assert report_file.checked(report) == report
    assert not report_file.can_be_read({**report, "version": 3})


def test_gates(write):
    """They are one comparison of all their pools: what decides all gates is added to each."""
    report = write("--gate", "amd-30/intel", "--gate", "amd-30/intel<1.05", "--gate", "intel/none")
    assert report_file.can_be_read(report)
    assert not report_file.can_be_read({**report, "version": 4})
    needed = max(gate["workers_needed"] or 0 for gate in report["gates"])
    assert needed > 3
    merged = report_file.checked(report)
    rows = [
        {"side": "amd-30", "standing": "open", "workers_to_add": needed - 3},
        {"side": "intel", "standing": "open", "workers_to_add": needed - 3},
        {"side": "none", "standing": "open", "workers_to_add": 0},
    ]
    assert merged["replication"] == rows
    task_ids = {worker["task_id"] for worker in merged["workers"]}
    assert len(task_ids) == 6
    reasons = [reason["text"] for reason in merged["confirming"]["reasons"]]
    assert len(reasons) == len(set(reasons)) > 0


@pytest.mark.parametrize("answer", ["passed", "failed"])
def test_a_decided_gate(write, answer):
    """It needs no more workers."""
    report = write("--gate", "amd-30/intel")
    report["gates"][0]["answer"] = answer
    assert report_file.checked(report)["replication"] == []


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("candidate", "a\nb"),
        ("workers", [3]),
        ("workers", [3, -1]),
        ("workers_needed", "9"),
        ("comparison", {}),
    ],
)
def test_forged_gates(write, key, value):
    """The key of a wrong value is named."""
    report = write("--gate", "amd-30/intel")
    report["gates"][0][key] = value
    with pytest.raises(voluptuous.Invalid) as caught:
        report_file.checked(report)
    assert list(map(str, caught.value.path))[:3] == ["gates", "0", key]

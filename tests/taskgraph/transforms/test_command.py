# SPDX-License-Identifier: MPL-2.0
"""The command: its arguments, and what bash makes of them."""

import json
import os
import stat
import subprocess
from dataclasses import replace
from typing import Any

import pytest
from user_mistakes import mistake

from io_benchmark.sources.run_files import read_run
from io_benchmark_taskgraph import stanza, worker_program
from io_benchmark_taskgraph.engines import NATIVE
from io_benchmark_taskgraph.transforms.command import make_command
from io_benchmark_taskgraph.worker_program import MOUNTED_FILE, WorkerProgram

WORKLOADS = WorkerProgram.read().workload_names()
SMALLEST: dict[str, Any] = {"workloads": ["cache-retrieve"], "retrieves": 2000}
VERSION = 'SCRIPT_VERSION = "1.2"\n'
PRINTS_ARGUMENTS = {"__main__.py": f"import json, sys\n{VERSION}print(json.dumps(sys.argv[1:]))\n"}
CONTAINER = {"name": "con-tainer", "path": "/builds/worker/io-benchmark"}
USUAL = (
    "run --pool amd-16 --workload cache-retrieve --retrieves 2000 --seed 1 --destination overwrite "
    "--time-budget 3300 --place workspace=/builds/worker/workspace "
    "--output /builds/worker/artifacts --profile full --perfherder pool --trials never"
)


def embedded(modules):
    return WorkerProgram(modules).embedded("bench", ["cache-retrieve"])


def build(pool="amd-16", **changes):
    """Return the command of a benchmark with these changes; it prints its arguments."""
    benchmark = stanza.Benchmark.parse({**SMALLEST, **changes})
    return make_command(benchmark, embedded(PRINTS_ARGUMENTS), pool, time_budget_s=3300)


def start(command, folder, path="/usr/local/bin:/usr/bin:/bin", **environment):
    environment |= {"PATH": path, "TMPDIR": str(folder)}
    return subprocess.run(command, env=environment, capture_output=True, check=False, text=True)


def run(command, tmp_path, **environment):
    """Its arguments.

    Bash traces how it is started, and neither its text nor how it was unpacked.
    """
    folder = tmp_path / "the script's"
    folder.mkdir()
    done = start(command, folder, **environment)
    assert done.returncode == 0, done.stderr
    (unpacked,) = folder.iterdir()
    # Nobody else can change what is compared before it is started.
    assert stat.S_IMODE(unpacked.stat().st_mode) == 0o700
    assert len(done.stderr.splitlines()) == 1
    assert done.stderr.startswith("+ exec python3 -u -B ")
    return json.loads(done.stdout)


@pytest.mark.parametrize(
    ("changes", "environment", "old", "new"),
    [
        ({}, {}, "", ""),
        ({"destination": ["unlink", "fresh"]}, {}, "overwrite", "unlink --destination fresh"),
        ({"perfherder": "neutral"}, {}, "perfherder pool", "perfherder neutral"),
        # Without an image that is an artifact, there is nothing to download.
        (
            {"workloads": ["download"]},
            {},
            "cache-retrieve --retrieves 2000 --seed 1 --destination overwrite --time-budget 3300",
            (
                "download --retrieves 2000 --seed 1 --destination overwrite --time-budget 3300 "
                "--download-url none"
            ),
        ),
        (
            {"workloads": ["download"], "download-url": "/a?b=$c&d"},
            {"IO_BENCHMARK_DOWNLOAD_URL": "/image"},
            "cache-retrieve --retrieves 2000 --seed 1 --destination overwrite",
            "download --retrieves 2000 --seed 1 --destination overwrite --download-url /a?b=$c&d",
        ),
        # A task that confirms a cause.
        (
            {"trials": "auto"},
            {"IO_BENCHMARK_TRIALS": "always", "IO_BENCHMARK_PACE": "420000000"},
            "trials never",
            "trials always --pace 420000000",
        ),
        # A rehearsal.
        ({}, {"IO_BENCHMARK_PROFILE": "quick"}, "full", "quick"),
        ({}, {"IO_BENCHMARK_PERFHERDER": "neutral"}, "perfherder pool", "perfherder neutral"),
    ],
)
def test_arguments(tmp_path, changes, environment, old, new):
    """Without anything in the environment, the paths are a worker's."""
    expected = USUAL.replace(old, new) if old else USUAL
    assert run(build(**changes), tmp_path, **environment) == expected.split()


def test_a_native_worker(tmp_path):
    """The program comes as a file in the task's folder, where all relative places are."""
    places = [
        "workspace",
        {"name": "cache", "path": "cache"},
        {"name": "mem", "path": "/dev/shm/a"},
    ]
    benchmark = replace(stanza.Benchmark.parse({**SMALLEST, "places": places}), engine=NATIVE)
    program = embedded(PRINTS_ARGUMENTS)
    command = make_command(benchmark, program, "amd-16", time_budget_s=3300)
    (tmp_path / MOUNTED_FILE).write_text(program.mounted())
    # It need not start in the task's folder.
    done = start(command, tmp_path, TASK_WORKDIR=str(tmp_path))
    expected = USUAL.replace("/builds/worker", str(tmp_path)).replace(
        " --output", f" --place cache={tmp_path}/cache --place mem=/dev/shm/a --output"
    )
    assert json.loads(done.stdout) == expected.split()
    assert (tmp_path / "io-benchmark.pyz").read_bytes() == program.data
    # The worker did not write what the definition has.
    (tmp_path / MOUNTED_FILE).write_text(program.mounted()[:-50])
    done = start(command, tmp_path, TASK_WORKDIR=str(tmp_path))
    assert done.returncode == 1
    assert done.stdout == (
        f"TEST-UNEXPECTED-FAIL | amd-16: cannot unpack {tmp_path}/io-benchmark.pyz; see the lines "
        "above\n"
    )


def test_a_mount_has_a_limit(monkeypatch):
    """A worker takes no larger one; all workloads fit."""
    program = WorkerProgram.read().embedded("bench", WORKLOADS)
    length = len(program.mounted())
    assert length < 65_536
    monkeypatch.setattr(worker_program, "MOUNTED_LENGTH", length)
    program.mounted()
    monkeypatch.setattr(worker_program, "MOUNTED_LENGTH", length - 1)
    assert mistake(program.mounted) == (
        f"benchmark.workloads: their program has {length:,} characters, and a native worker takes "
        f"a file of at most {length - 1:,}; name fewer workloads"
    )


CAPACITIES = (
    "run --pool amd-16 --seed 1 --time-budget 300 --place workspace=/builds/worker/workspace "
    "--output /builds/worker/artifacts --capacities --perfherder pool"
)


@pytest.mark.parametrize("trials", ["auto", "never"])
def test_capacities(tmp_path, trials):
    """The script itself decides what it measures, and the time is that of a minute's work."""
    command = build(capacities=True, trials=trials)
    assert run(command, tmp_path, IO_BENCHMARK_PROFILE="quick") == CAPACITIES.split()


@pytest.mark.parametrize("odd", ["a b; touch c", "$(touch c)", "it's", "/*"])
def test_odd_texts_stay_arguments(tmp_path, odd):
    """A pool, a workload, an address or a path of the environment is one word, never shell."""
    url = "https://host.example/o?name={name}&a=" + odd.replace(" ", "${IFS}")
    changes = {"workloads": [odd], "upload-url": url, "places": ["workspace", CONTAINER]}
    paths = dict.fromkeys(
        ("IO_BENCHMARK_WORKSPACE", "IO_BENCHMARK_PLACE_CON_TAINER", "IO_BENCHMARK_ARTIFACTS"), odd
    )
    arguments = run(build(pool=odd, **changes), tmp_path, **paths)
    assert arguments[:5] == ["run", "--pool", odd, "--workload", odd]
    assert arguments[arguments.index("--upload-url") + 1] == url
    assert arguments[-12:-6] == [
        "--place",
        f"workspace={odd}",
        "--place",
        f"con-tainer={odd}",
        "--output",
        odd,
    ]


@pytest.mark.parametrize("damage", ["cut", "changed", "garbled", "missing"])
def test_a_damaged_application(tmp_path, damage):
    """What was not unpacked as it was built is not started; one line on stdout says so."""
    *command, encoded = build()
    # run-task prints the command, and Treeherder takes such a line for a failure.
    assert "TEST-UNEXPECTED" not in command[2]
    damaged = {
        "cut": encoded[: len(encoded) // 2],
        "changed": embedded({"__main__.py": VERSION}).argument,
        "garbled": "'" + encoded[1:],
        "missing": "",
    }
    done = start([*command, damaged[damage]], tmp_path)
    (folder,) = tmp_path.iterdir()
    assert done.returncode == 1
    assert done.stdout == (
        f"TEST-UNEXPECTED-FAIL | amd-16: cannot unpack {folder}/io-benchmark.pyz; "
        "see the lines above\n"
    )


@pytest.mark.parametrize("workloads", [WORKLOADS, ["cache-retrieve"]])
def test_a_quick_run(workloads, tmp_path):
    """All workloads fit one command and give a result.

    The usual task's log has at most 150 lines.
    """
    workspace, artifacts = tmp_path / "workspace", tmp_path / "artifacts"
    workspace.mkdir()
    benchmark = stanza.Benchmark.parse({**SMALLEST, "workloads": workloads, "retrieves": 20})
    modules = WorkerProgram.read()._modules
    # The rest of it is limited by its time already.
    unpack = modules["workloads/unpack.py"].replace('"samples": 20', '"samples": 2')
    assert unpack not in modules.values()
    modules = {**modules, "workloads/unpack.py": unpack}
    program = WorkerProgram(modules).embedded("bench", workloads)
    command = make_command(benchmark, program, pool="amd-16", time_budget_s=3300)
    variables = {"WORKSPACE": str(workspace), "ARTIFACTS": str(artifacts), "PROFILE": "quick"}
    environment = {f"IO_BENCHMARK_{name}": value for name, value in variables.items()}
    done = start(command, tmp_path, os.environ["PATH"], **environment)
    assert done.returncode == 0, done.stderr
    result = read_run(artifacts / "io-benchmark" / "io-benchmark.json").result
    assert result.outcome.state == "completed"
    assert result.config.workloads == workloads
    assert list(workspace.iterdir()) == []
    # run-task prints the command twice.
    lines = f"{' '.join(command)}\n{command!r}\n{done.stdout}{done.stderr}".splitlines()
    progress = [line for line in lines if line.startswith("  [")]
    assert len(workloads) > 1 or len(lines) - len(progress) <= 150

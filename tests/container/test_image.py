# SPDX-License-Identifier: MPL-2.0
"""The project's own image, built as taskgraph assembles it, and a command in it through run-task."""

import json
import os
import pickle
import re
import signal
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from io_benchmark.errors import ContainerError
from io_benchmark.execute.local_run import LocalRun, RunOutcome

pytestmark = [
    pytest.mark.container,
    pytest.mark.root,
    # taskgraph opens the files of the context and leaves it to the interpreter to close them.
    pytest.mark.filterwarnings("ignore:unclosed file:ResourceWarning"),
]

MakeRun = Callable[..., LocalRun]

DESCRIBE = """
    mkdir artifacts/io-benchmark
    python3 - > artifacts/io-benchmark/io-benchmark.json << 'EOF'
    import json, os, pwd, shutil
    from pathlib import Path

    mounts = [line.split() for line in Path("/proc/self/mounts").read_text().splitlines()]
    types = {fields[1]: fields[2] for fields in mounts}
    Path("/builds/worker/workspace/mine").write_text("")
    try:
        Path("/proc/sys/vm/drop_caches").write_text("3")
        dropped = "dropped"
    except OSError as error:
        dropped = type(error).__name__
    print(json.dumps({
        "user": [os.getuid(), os.getgid(), pwd.getpwuid(os.getuid()).pw_name],
        "folder": os.getcwd(),
        "environment": dict(os.environ),
        "owners": {
            name: Path("/builds/worker", name).owner()
            for name in ("artifacts", "checkouts", "tooltool-cache", "workspace")
        },
        "types": {path: types.get(path) for path in ("/", "/builds/worker/workspace")},
        "volumes": sorted(path for path in types if path.startswith("/builds/")),
        "tools": [name for name in ("cp", "curl", "fio", "findmnt", "grep", "hg", "ps", "sed")
                  if shutil.which(name)],
        "stdout_is_a_terminal": os.isatty(2),
        "dropped": dropped,
    }))
    EOF
"""


def ignore(_line: str) -> None:
    """A caller that shows nothing."""


@pytest.fixture
def described(lab: Any, make_run: MakeRun) -> dict[str, Any]:
    """What a task sees in the image."""
    run = make_run(DESCRIBE)
    outcome = lab.executor().run(run, ignore)
    assert replace(outcome, started="", resolved="") == RunOutcome(0, "completed", "", "", ())
    seen: dict[str, Any] = json.loads((run.output / "io-benchmark.json").read_text())
    return seen


def test_a_task_sees_what_it_would_on_a_worker(lab: Any, described: dict[str, Any]) -> None:
    """User worker, its volumes on the host's disk, its tools, its environment, a pipe to run-task."""
    environment = described.pop("environment")
    types = described.pop("types")
    assert described == {
        "user": [1000, 1000, "worker"],
        "folder": "/builds/worker",
        "owners": dict.fromkeys(
            ("artifacts", "checkouts", "tooltool-cache", "workspace"), "worker"
        ),
        "volumes": [
            f"/builds/worker/{name}" for name in ("checkouts", "tooltool-cache", "workspace")
        ],
        "tools": ["cp", "curl", "fio", "findmnt", "grep", "ps", "sed"],
        "stdout_is_a_terminal": False,
        "dropped": "OSError",
    }
    assert types["/"] == "overlay"
    assert types["/builds/worker/workspace"] not in {None, "overlay"}
    # Set by the engine, the shell and run-task.
    others = {
        "HOSTNAME",
        "OLDPWD",
        "PATH",
        "PWD",
        "SHLVL",
        "TERM",
        "_",
        "container",
        "TASK_WORKDIR",
    }
    assert {name: value for name, value in environment.items() if name not in others} == {
        "HOME": "/builds/worker",
        "IO_BENCHMARK_PROFILE": "quick",
        "LANG": "C.UTF-8",
        "LC_ALL": "C.UTF-8",
        "LOGNAME": "worker",
        "RUN_ID": "0",
        "SHELL": "/bin/bash",
        "TASKCLUSTER_ROOT_URL": "https://taskcluster.invalid",
        "TASK_GROUP_ID": "Prp_WpjGRx26VH-wA8fjTA",
        "TASK_ID": "Prp_WpjGRx26VH-wA8fjTA",
        "USER": "worker",
    }
    assert lab.left_over() == []


def test_log_is_run_tasks_own(lab: Any, make_run: MakeRun) -> None:
    """run-task's lines as it wrote them, volumes handed over first, no terminal's line ends."""
    lines: list[str] = []
    run = make_run("echo out; echo err >&2; exit 5")
    outcome = lab.executor().run(run, lines.append)
    assert (outcome.exit_code, outcome.state) == (5, "failed")
    assert outcome.missing_artifacts == ("public/io-benchmark",)
    said = [re.sub(r" [0-9T:.+-]+\]", "]", line) for line in lines]
    order = [
        "[setup] run-task started in /builds/worker",
        "[volume] changing ownership of volume /builds/worker/workspace to 1000:1000",
        "[setup] running as worker:worker",
        "[task] out",
        "[task] err",
        "[taskcluster:error] Could not upload artifact public/io-benchmark: it does not exist",
    ]
    assert [line for line in said if line in order] == order
    log = (run.output / "live.log").read_bytes()
    assert b"\r" not in log
    # The line that says where the image is comes before the run.
    assert log.decode().splitlines() == lines[1:]


def test_a_symlink_in_a_folder_is_an_error_artifact(lab: Any, make_run: MakeRun) -> None:
    """The engine copies the link, and nobody follows it here."""
    script = """
        mkdir artifacts/io-benchmark
        echo '{}' > artifacts/io-benchmark/io-benchmark.json
        ln -s /etc/passwd artifacts/io-benchmark/passwd
    """
    run = make_run(script)
    outcome = lab.executor().run(run, ignore)
    assert outcome.missing_artifacts == ("public/io-benchmark/passwd",)
    assert sorted(path.name for path in run.output.iterdir()) == ["io-benchmark.json", "live.log"]


def test_max_run_time_takes_the_container_away(lab: Any, make_run: MakeRun) -> None:
    """The script gets no signal; what it had put down by then is still taken."""
    script = """
        mkdir artifacts/io-benchmark
        echo '{}' > artifacts/io-benchmark/io-benchmark.json
        trap 'echo signalled > artifacts/io-benchmark/io-benchmark.json' INT TERM
        while :; do sleep 0.1; done
    """
    run = make_run(script, max_run_time_s=3)
    outcome = lab.executor().run(run, ignore)
    assert replace(outcome, started="", resolved="") == RunOutcome(
        137, "failed", "", "", (), explanation="stopped at its maxRunTime of 3 s"
    )
    assert (run.output / "io-benchmark.json").read_text() == "{}\n"
    assert lab.left_over() == []


def image_root(tmp_path: Path, step: str) -> Path:
    """A tree with an image of one step."""
    folder = tmp_path / "tree" / "taskcluster" / "docker" / "update-verify"
    folder.mkdir(parents=True)
    (folder / "Dockerfile").write_text(f"FROM docker.io/library/debian:12\nRUN {step}\n")
    return tmp_path / "tree"


def test_a_failing_build_is_one_line(lab: Any, tmp_path: Path) -> None:
    """What failed, the engine's last words, and what to look at; nothing stays."""
    root = image_root(tmp_path, "echo no such package; exit 100")
    lines: list[str] = []
    with pytest.raises(ContainerError) as raised:
        lab.executor().prepare("update-verify", root, lines.append)
    match = re.fullmatch(
        r"image update-verify cannot be built \(exit code [0-9]+\): podman printed: (.*); "
        r"check taskcluster/docker/update-verify/Dockerfile, and that its base image and packages "
        r"can be reached; --verbose shows the build",
        str(raised.value),
    )
    assert match is not None, str(raised.value)
    assert "exit status 100" in match[1]
    assert "no such package" in lines
    assert lab.left_over() == []


INTERRUPTED_PROGRAM = """
    import os, pickle, sys
    from pathlib import Path
    from io_benchmark.execute.container import ContainerExecutor
    from io_benchmark.graph.generate import create_context

    executor = ContainerExecutor("podman", create_context, os.environ)
    try:
        executor.run(pickle.loads(Path(sys.argv[1]).read_bytes()), lambda line: print(line, flush=True))
    except KeyboardInterrupt:
        print("re-raised", flush=True)
"""


def interrupt(lab: Any, run: LocalRun, folder: Path, mark: str) -> None:
    """Runs the task in a separate program, and presses Ctrl-C when it says `mark`."""
    given = folder / "given"
    given.write_bytes(pickle.dumps(run))
    environment = {**os.environ, **lab.environment, "PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(INTERRUPTED_PROGRAM), str(given)],
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
    ) as program:
        assert program.stdout is not None
        assert any(line.rstrip().endswith(mark) for line in program.stdout)
        program.send_signal(signal.SIGINT)
        rest = program.stdout.read().splitlines()
    assert (rest[-1], program.returncode) == ("re-raised", 0)


def processes(mark: str) -> list[str]:
    """Those with the mark in their arguments."""
    listed = subprocess.run(
        ["ps", "-eo", "stat=,args="], capture_output=True, text=True, check=True
    )
    lines = listed.stdout.splitlines()
    return [line for line in lines if mark in line and not line.startswith("Z")]


def test_ctrl_c_in_a_run_leaves_nothing(lab: Any, make_run: MakeRun, tmp_path: Path) -> None:
    """Container, volumes, mounts, processes and the output are gone."""
    run = make_run("trap '' INT TERM; echo now it runs; sleep 1234.625")
    interrupt(lab, run, tmp_path, "now it runs")
    assert lab.left_over() == []
    assert processes("1234.625") == []
    assert not run.output.exists()

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

import pytest
from msgspec.structs import replace

from io_benchmark.errors import ContainerError
from io_benchmark.execute.local_run import RunOutcome

pytestmark = [
    pytest.mark.container,
    pytest.mark.root,
    # taskgraph opens the files of the context and leaves it to the interpreter to close them.
    pytest.mark.filterwarnings("ignore:unclosed file:ResourceWarning"),
]

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
        "tools": [name for name in ("cp", "curl", "findmnt", "grep", "hg", "ps", "sed")
                  if shutil.which(name)],
        "stdout_is_a_terminal": os.isatty(2),
        "dropped": dropped,
    }))
    EOF
"""


def test_a_task_sees_what_it_would_on_a_worker(lab, make_run):
    """User worker, its volumes on the host's disk, its tools, its environment, a pipe to run-task."""
    run = make_run(DESCRIBE)
    outcome = lab.executor().run(run, print)
    assert replace(outcome, started="", resolved="") == RunOutcome(0, "completed", "", "", ())
    described = json.loads((run.output / "io-benchmark.json").read_text())
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
        "tools": ["cp", "curl", "findmnt", "grep", "ps", "sed"],
        "stdout_is_a_terminal": False,
        "dropped": "OSError",
    }
    assert types["/"] == "overlay"
    assert types["/builds/worker/workspace"] not in {None, "overlay"}
    # Set by the engine, the shell and run-task.
    names = ["HOSTNAME", "OLDPWD", "PATH", "PWD", "SHLVL", "TERM", "_", "container", "TASK_WORKDIR"]
    assert {name: value for name, value in environment.items() if name not in names} == {
        "HOME": "/builds/worker",
        "IO_BENCHMARK_PROFILE": "quick",
        "LANG": "C.UTF-8",
        "LC_ALL": "C.UTF-8",
        "LOGNAME": "worker",
        "RUN_ID": "0",
        "SHELL": "/bin/bash",
        "TASKCLUSTER_ROOT_URL": "https://taskcluster.invalid",
        "TASK_GROUP_ID": "BtHOXJfPTT6WmMQGAsQzUw",
        "TASK_ID": "Prp_WpjGRx26VH-wA8fjTA",
        "USER": "worker",
    }
    assert lab.left_over() == []


def test_log_and_artifacts(lab, make_run):
    """run-task's lines as it wrote them, volumes handed over first, no terminal's line ends.

    The engine copies a symlink as one, and nobody follows it here: it is an error artifact.
    """
    script = """
        mkdir artifacts/io-benchmark
        echo '{}' > artifacts/io-benchmark/io-benchmark.json
        ln -s /etc/passwd artifacts/io-benchmark/passwd
        echo out; echo err >&2; exit 5
    """
    lines: list[str] = []
    run = make_run(script)
    outcome = lab.executor().run(run, lines.append)
    assert (outcome.exit_code, outcome.state) == (5, "failed")
    link = "public/io-benchmark/passwd"
    assert outcome.missing_artifacts == (link,)
    assert sorted(path.name for path in run.output.iterdir()) == ["io-benchmark.json", "live.log"]
    messages = [re.sub(r" [0-9T:.+-]+\]", "]", line) for line in lines]
    order = [
        "[setup] run-task started in /builds/worker",
        "[volume] changing ownership of volume /builds/worker/workspace to 1000:1000",
        "[setup] running as worker:worker",
        "[task] out",
        "[task] err",
        f"[taskcluster:error] Could not upload artifact {link}: it is not a regular file",
    ]
    assert [message for message in messages if message in order] == order
    log = (run.output / "live.log").read_bytes()
    assert b"\r" not in log
    # The line that says where the image is comes before the run.
    assert log.decode().splitlines() == lines[1:]


def test_max_run_time_takes_the_container_away(lab, make_run):
    """The script gets no signal; what it had put down by then is still taken."""
    script = """
        mkdir artifacts/io-benchmark
        echo '{}' > artifacts/io-benchmark/io-benchmark.json
        trap 'echo signalled > artifacts/io-benchmark/io-benchmark.json' INT TERM
        while :; do sleep 0.1; done
    """
    run = make_run(script, max_run_time_s=3)
    outcome = lab.executor().run(run, print)
    assert replace(outcome, started="", resolved="") == RunOutcome(
        137, "failed", "", "", (), explanation="stopped at its maxRunTime of 3 s"
    )
    assert (run.output / "io-benchmark.json").read_text() == "{}\n"
    assert lab.left_over() == []


def test_a_failing_build_is_one_line(lab, tmp_path):
    """What failed, the engine's last words, and what to look at; nothing stays."""
    file = tmp_path / "taskcluster/docker/update-verify/Dockerfile"
    file.parent.mkdir(parents=True)
    file.write_text("FROM docker.io/library/debian:12\nRUN echo no such package; exit 100\n")
    lines: list[str] = []
    with pytest.raises(ContainerError) as caught:
        lab.executor().prepare("update-verify", tmp_path, lines.append)
    message = str(caught.value)
    assert message.startswith("image update-verify cannot be built (exit code ")
    assert "exit status 100; check taskcluster/docker/update-verify/Dockerfile, and " in message
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


def test_ctrl_c_in_a_run_leaves_nothing(lab, make_run, tmp_path):
    """Container, volumes, mounts, processes and the output are gone; the interruption is passed on."""
    run = make_run("trap '' INT TERM; echo now it runs; sleep 1234.625")
    file = tmp_path / "run"
    file.write_bytes(pickle.dumps(run))
    with subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(INTERRUPTED_PROGRAM), str(file)],
        env={**os.environ, **lab.environment, "PYTHONPATH": os.pathsep.join(sys.path)},
        stdout=subprocess.PIPE,
        text=True,
    ) as program:
        assert program.stdout is not None
        assert any(line.rstrip().endswith("now it runs") for line in program.stdout)
        program.send_signal(signal.SIGINT)
        rest = program.stdout.read().splitlines()
    assert (rest[-1], program.returncode) == ("re-raised", 0)
    assert lab.left_over() == []
    processes = subprocess.check_output(["ps", "-eo", "stat=,args="], text=True).splitlines()
    assert [line for line in processes if "1234.625" in line and line[0] != "Z"] == []
    assert not run.output.exists()

# SPDX-License-Identifier: MPL-2.0
"""The project's own image, built as taskgraph assembles it, and a command in it through run-task."""

import json

import pytest

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
    exit_code, lines = lab.run(lab.build("update-verify"), run)
    assert exit_code == 0, lines
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

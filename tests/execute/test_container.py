# SPDX-License-Identifier: MPL-2.0
"""What the engine is asked for, with an engine that only takes notes."""

import json
import os
import re
import shlex
import sys
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace

from io_benchmark.errors import ContainerError, GraphError
from io_benchmark.execute.container import ContainerExecutor
from io_benchmark.execute.local_run import LocalRun, RunOutcome
from io_benchmark.graph.image_context import create_context

MakeRun = Callable[..., LocalRun]
FAKE_ENGINE = Path(__file__).with_name("fake_engine.py")
REFERENCE = "localhost/io-benchmark/update-verify:0123456789abcdef"


def ignore(_line: str) -> None:
    """A caller that shows nothing."""


def small_context(_root: Path, _image: str, archive: Path) -> str:
    """Two files and a hash."""
    with tarfile.open(archive, "w:gz") as tar:
        tar.add(__file__, "Dockerfile")
        tar.add(__file__, "run-task/run-task")
    return "0123456789abcdef0123456789abcdef"


class Fake:
    """An executor with the fake engine, and what it noted."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder = folder
        folder.mkdir(parents=True)
        self._monkeypatch = monkeypatch
        monkeypatch.setenv("FAKE_ENGINE_STATE", str(folder))

    def executor(self, name: str = "podman", fails: str = "") -> ContainerExecutor:
        """One that fails at the named calls."""
        self._monkeypatch.setenv("FAKE_ENGINE_FAILS", fails)
        command = shlex.join([sys.executable, str(FAKE_ENGINE)])
        environment = {**os.environ, "IO_BENCHMARK_CONTAINER_ENGINE_COMMAND": command}
        return ContainerExecutor(name, small_context, environment)

    def calls(self) -> list[list[str]]:
        """All arguments so far."""
        return [json.loads(line) for line in (self.folder / "calls").read_text().splitlines()]

    def containers(self) -> list[Path]:
        """Those that are still there."""
        return list(self.folder.glob("container-*"))


@pytest.fixture
def fake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Fake:
    """A fresh one."""
    return Fake(tmp_path / "engine", monkeypatch)


@pytest.mark.parametrize(
    ("engine", "bind", "special"),
    [
        pytest.param("docker", False, [], id="docker"),
        pytest.param("docker", True, ["--mount", "BIND"], id="a place of the caller's"),
    ],
)
def test_calls_are_those_of_a_worker(
    make_run: MakeRun, fake: Fake, engine: str, bind: bool, special: list[str]
) -> None:
    """d2g's options, the whole command, every artifact by its path, and all removed at the end."""
    run = make_run("echo hello", bind_workspace=bind, changes={"cache": {"c": "/builds/cache"}})
    fake.executor(engine).run(run, ignore)
    calls = fake.calls()
    name = calls[4][-1]
    assert name.startswith("io-benchmark-Prp_WpjGRx26VH-wA8fjTA-0-")
    bound = f"type=bind,source={run.workspace},target=/builds/worker/workspace"
    options = ["--init", "--tty", "--name", name, "--label", "io-benchmark"]
    options += ["--memory-swap", "-1", "--pids-limit", "-1"]
    variables = [
        "MOZ_SCM_LEVEL=1",
        "TASKCLUSTER_VOLUMES=/builds/worker/workspace",
        "TASK_ID=Prp_WpjGRx26VH-wA8fjTA",
        "RUN_ID=0",
        "TASK_GROUP_ID=BtHOXJfPTT6WmMQGAsQzUw",
        "TASKCLUSTER_ROOT_URL=https://taskcluster.invalid",
        "IO_BENCHMARK_PROFILE=quick",
    ]
    command = ["/usr/local/bin/run-task", "--", "bash", "-c", "echo hello"]
    given = [bound if word == "BIND" else word for word in special]
    environment = [word for variable in variables for word in ("--env", variable)]
    mounts = ["--volume", "/builds/cache"]
    output = run.output / ".artifacts"
    assert calls == [
        ["version"],
        ["image", "inspect", REFERENCE],
        ["build", "--tag", REFERENCE, calls[2][3]],
        ["create", *options, *environment, *mounts, *given, REFERENCE, *command],
        ["start", "--attach", name],
        ["inspect", "--format", calls[5][2], name],
        ["cp", f"{name}:/builds/worker/artifacts/io-benchmark", f"{output}/artifact0"],
        [
            "cp",
            f"{name}:/builds/worker/artifacts/perfherder-data-io-benchmark.json",
            f"{output}/artifact1",
        ],
        ["kill", "--signal", "KILL", name],
        ["rm", "--force", "--volumes", name],
    ]
    assert not Path(calls[2][3]).exists()
    assert json.loads((fake.folder / "context").read_text()) == ["Dockerfile", "run-task/run-task"]


def test_outcome_and_output(make_run: MakeRun, fake: Fake) -> None:
    """The container's own exit code, the artifacts it had, and the log without a terminal's ends."""
    run = make_run()
    lines: list[str] = []
    outcome = fake.executor().run(run, lines.append)
    assert replace(outcome, started="", resolved="") == RunOutcome(
        3, "failed", "", "", missing_artifacts=("public/perfherder-data-io-benchmark.json",)
    )
    assert {path.name: path.read_text() for path in run.output.iterdir()} == {
        "io-benchmark.json": "{}",
        "live.log": "[task TIME] started\n[taskcluster:error] Could not upload artifact "
        "public/perfherder-data-io-benchmark.json: it does not exist\n",
    }
    assert lines[:3] == [
        f"Building image {REFERENCE}",
        "STEP 1/1: FROM nothing",
        "[task TIME] started",
    ]
    assert fake.containers() == []


def test_the_image_is_built_once(make_run: MakeRun, fake: Fake) -> None:
    """Not again for the next task, nor by the next program that finds it there."""
    executor = fake.executor()
    executor.run(make_run(), ignore)
    executor.run(make_run(task_id="BtHOXJfPTT6WmMQGAsQzUw"), ignore)
    lines: list[str] = []
    assert fake.executor().prepare("update-verify", Path("/"), lines.append) == REFERENCE
    assert lines == [f"Image {REFERENCE} exists already"]
    assert [call[0] for call in fake.calls()].count("build") == 1


@pytest.mark.parametrize(
    ("fails", "message"),
    [
        pytest.param(
            "version",
            r"podman does not work \(exit code 1\): podman printed: Cannot version: not today; "
            r"check that `.* version` works for this user",
            id="refusing",
        ),
        pytest.param(
            "build",
            r"image update-verify cannot be built \(exit code 1\): podman printed: Cannot build: "
            r"not today; check taskcluster/docker/update-verify/Dockerfile, and that its base image "
            r"and packages can be reached; --verbose shows the build",
            id="build",
        ),
        pytest.param(
            "create",
            r"io-benchmark-amd-16: cannot create a container from \S+ \(exit code 1\): podman printed: "
            r"Cannot create: not today; .*",
            id="create",
        ),
        pytest.param(
            "start",
            r"io-benchmark-amd-16: its container did not start \(exit code 1\): podman printed: "
            r"Cannot start: not today; .*",
            id="start",
        ),
        pytest.param(
            "rm",
            r"cannot remove container \S+ \(exit code 1\): podman printed: Cannot rm: not today; "
            r"remove it: .* rm --force --volumes \S+",
            id="rm",
        ),
    ],
)
def test_a_refusal_is_one_line(make_run: MakeRun, fake: Fake, fails: str, message: str) -> None:
    """It says what the engine said last, and what to do."""
    run = make_run()
    with pytest.raises(ContainerError) as raised:
        fake.executor(fails=fails).run(run, ignore)
    assert re.fullmatch(message, str(raised.value))
    assert not run.output.exists()


def test_a_command_that_the_container_has_not(make_run: MakeRun, fake: Fake) -> None:
    """A container that never ran has no exit code, whatever `start` ended with."""
    message = "io-benchmark-amd-16: its container did not start .* no such executable"
    with pytest.raises(ContainerError, match=message):
        fake.executor(fails="run").run(make_run(), ignore)
    assert fake.containers() == []


def test_max_run_time_takes_the_container_away(make_run: MakeRun, fake: Fake) -> None:
    """Killed, not signalled; artifacts are taken all the same, as d2g does."""
    run = make_run(changes={"maxRunTime": 0.5})
    outcome = fake.executor(fails="hang").run(run, ignore)
    assert replace(outcome, started="", resolved="") == RunOutcome(
        137,
        "failed",
        "",
        "",
        missing_artifacts=("public/perfherder-data-io-benchmark.json",),
        explanation="stopped at its maxRunTime of 0.5 s",
    )
    assert (run.output / "io-benchmark.json").exists()
    assert fake.containers() == []


@pytest.mark.parametrize("verb", ["version", "build", "create", "start", "inspect", "cp", "rm"])
def test_ctrl_c_at_any_call_leaves_nothing(make_run: MakeRun, fake: Fake, verb: str) -> None:
    """The container is removed, the output is gone, and the interruption is passed on."""
    run = make_run()
    with pytest.raises(KeyboardInterrupt):
        fake.executor(fails=f"interrupt-{verb}").run(run, ignore)
    assert fake.containers() == []
    assert not run.output.exists()


# taskgraph opens the files of the context and leaves it to the interpreter to close them.
@pytest.mark.filterwarnings("ignore:unclosed file:ResourceWarning")
def test_context_is_what_taskgraph_assembles(tmp_path: Path) -> None:
    """The Dockerfile with run-task's COPY lines in it, run-task itself, and a hash of it all."""
    folder = tmp_path / "taskcluster" / "docker" / "small"
    folder.mkdir(parents=True)
    (folder / "Dockerfile").write_text("FROM scratch\n# %include-run-task\n")
    archive = tmp_path / "context.tar.gz"
    digest = create_context(tmp_path, "small", archive)
    assert len(digest) == 64
    with tarfile.open(archive) as tar:
        modes = {member.name: member.mode & 0o111 for member in tar if "task" in member.name}
        dockerfile = tar.extractfile("Dockerfile")
        assert dockerfile is not None
        text = dockerfile.read().decode()
    assert modes["run-task/run-task"] == 0o111
    assert "\nCOPY run-task/run-task /usr/local/bin/run-task\n" in text


@pytest.mark.parametrize(
    ("dockerfile", "message"),
    [
        pytest.param(None, "no Dockerfile for image small; name an in-tree image", id="no file"),
        pytest.param("# %ARG X\n", "Dockerfile: missing argument: X", id="argument"),
    ],
)
def test_mistakes_in_a_dockerfile_are_one_line(
    tmp_path: Path, dockerfile: str | None, message: str
) -> None:
    """taskgraph's own words, with the file."""
    if dockerfile is not None:
        folder = tmp_path / "taskcluster" / "docker" / "small"
        folder.mkdir(parents=True)
        (folder / "Dockerfile").write_text(dockerfile)
    with pytest.raises(GraphError, match=message):
        create_context(tmp_path, "small", tmp_path / "context.tar.gz")

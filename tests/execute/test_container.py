# SPDX-License-Identifier: MPL-2.0
"""What the engine is asked for, with an engine that only takes notes."""

import io
import json
import os
import re
import sys
import tarfile
from pathlib import Path
from types import SimpleNamespace

import pytest
from msgspec.structs import replace

from io_benchmark.errors import ContainerError, GraphError
from io_benchmark.execute import container
from io_benchmark.execute.container import ContainerExecutor
from io_benchmark.execute.local_run import RunOutcome
from io_benchmark.graph.generate import create_context

FAKE_ENGINE = Path(__file__).with_name("fake_engine.py")
REFERENCE = "localhost/io-benchmark/update-verify:0123456789abcdef"
MISSING = ("public/perfherder-data-io-benchmark.json",)


def small_context(_root, _image, archive):
    """Write two files, and return a hash."""
    with tarfile.open(archive, "w:gz") as tar:
        for name in ("Dockerfile", "run-task/run-task"):
            member = tarfile.TarInfo(name)
            member.size = 4
            tar.addfile(member, io.BytesIO(b"FROM"))
    return "0123456789abcdef0123456789abcdef"


class Fake:
    """Executors with the fake engine, and what it noted."""

    def __init__(self, folder):
        self.folder = folder
        for name in ("podman", "docker"):
            file = folder / "bin" / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(f"#!{sys.executable}\n{FAKE_ENGINE.read_text()}")
            file.chmod(0o755)

    def executor(self, name="podman", fails=""):
        """Return an executor whose engine fails at the named calls."""
        environment = {"FAKE_ENGINE_STATE": str(self.folder), "FAKE_ENGINE_FAILS": fails}
        path = {"PATH": f"{self.folder}/bin:{os.environ['PATH']}"}
        return ContainerExecutor(name, small_context, {**os.environ, **environment, **path})

    def calls(self):
        return [json.loads(line) for line in (self.folder / "calls").read_text().splitlines()]

    def containers(self):
        """Return those that are still there."""
        return list(self.folder.glob("container-*"))


@pytest.fixture
def fake(tmp_path):
    return Fake(tmp_path / "engine")


@pytest.mark.parametrize(("engine", "is_bound"), [("docker", False), ("podman", True)])
def test_calls_are_those_of_a_worker(make_run, fake, engine, is_bound):
    """d2g's options, the whole command, every artifact by its path, and all removed at the end."""
    run = make_run("echo hello", bind_workspace=is_bound)
    fake.executor(engine).run(run, print)
    calls = fake.calls()
    name = calls[4][-1]
    assert name.startswith("io-benchmark-Prp_WpjGRx26VH-wA8fjTA-0-")
    bound = f"type=bind,source={run.workspace},target=/builds/worker/workspace"
    variables = [
        "MOZ_SCM_LEVEL=1",
        "TASKCLUSTER_VOLUMES=/builds/worker/workspace",
        "TASK_ID=Prp_WpjGRx26VH-wA8fjTA",
        "RUN_ID=0",
        "TASK_GROUP_ID=BtHOXJfPTT6WmMQGAsQzUw",
        "TASKCLUSTER_ROOT_URL=https://taskcluster.invalid",
        "IO_BENCHMARK_PROFILE=quick",
    ]
    options = [
        *("--name", name, "--init", "--tty", "--label", "io-benchmark"),
        *("--memory-swap", "-1", "--pids-limit", "-1"),
        *(["--mount", bound] if is_bound else []),
        *(word for variable in variables for word in ("--env", variable)),
    ]
    stage = Path(calls[5][2]).parent
    artifacts = ("io-benchmark", "perfherder-data-io-benchmark.json")
    assert calls == [
        ["version"],
        ["image", "inspect", REFERENCE],
        ["build", "--tag", REFERENCE, calls[2][3]],
        ["create", *options, REFERENCE, *run.command()],
        ["start", "--attach", name],
        *(
            ["cp", f"{name}:/builds/worker/artifacts/{artifact}", f"{stage}/artifact{number}"]
            for number, artifact in enumerate(artifacts)
        ),
        ["kill", "--signal", "KILL", name],
        ["rm", "--force", "--volumes", name],
    ]
    assert not Path(calls[2][3]).exists()
    assert json.loads((fake.folder / "image").read_text()) == ["Dockerfile", "run-task/run-task"]


def test_outcome_and_output(make_run, fake):
    """The exit code, the artifacts that there were, the log without a terminal's ends; one build."""
    run = make_run()
    lines: list[str] = []
    executor = fake.executor()
    outcome = executor.run(run, lines.append)
    assert replace(outcome, started="", resolved="") == RunOutcome(3, "failed", "", "", MISSING)
    assert {path.name: path.read_text() for path in run.output.iterdir()} == {
        "io-benchmark.json": "{}",
        "live.log": "[task TIME] started\n[taskcluster:error] Could not upload artifact "
        f"{MISSING[0]}: it does not exist\n",
    }
    start = [f"Building image {REFERENCE}", "STEP 1/1: FROM nothing", "[task TIME] started"]
    assert lines[:3] == start
    assert fake.containers() == []
    executor.run(make_run(task_id="BtHOXJfPTT6WmMQGAsQzUw"), lines.append)
    # The next program finds the image there.
    assert fake.executor().prepare("update-verify", Path("/"), lines.append) == REFERENCE
    assert lines[-1] == f"Image {REFERENCE} exists already"
    assert [call[0] for call in fake.calls()].count("build") == 1


@pytest.mark.parametrize(
    ("fails", "message"),
    [
        ("version", r"podman does not work X; check that `podman version` works for this user"),
        (
            "build",
            r"image update-verify cannot be built X; check taskcluster/docker/update-verify/.*",
        ),
        ("create", r"io-benchmark-amd-16: cannot create a container from \S+ X; check that .*"),
        ("rm", r"cannot remove container \S+ X; remove it: podman rm --force --volumes \S+"),
    ],
)
def test_a_refusal_is_one_line(make_run, fake, fails, message):
    """It says what the engine said last, and what to do."""
    run = make_run()
    with pytest.raises(ContainerError) as caught:
        fake.executor(fails=fails).run(run, print)
    reply = rf"\(exit code 125\): podman printed: Cannot {fails}: not today"
    assert re.fullmatch(message.replace("X", reply), str(caught.value))
    assert not run.output.exists()


def test_a_container_that_does_not_start(make_run, fake):
    """The run failed with the engine's exit code, and its log has the reason."""
    run = make_run()
    outcome = fake.executor(fails="start").run(run, print)
    assert (outcome.exit_code, outcome.state) == (125, "failed")
    assert "\nCannot start: not today\n" in (run.output / "live.log").read_text()
    assert fake.containers() == []


def test_max_run_time_takes_the_container_away(make_run, fake):
    """Killed, not signalled; artifacts are taken all the same, as d2g does."""
    run = make_run(changes={"maxRunTime": 0.5, "onExitStatus": {"retry": [137]}})
    outcome = fake.executor(fails="hang").run(run, print)
    assert replace(outcome, started="", resolved="") == RunOutcome(
        137, "failed", "", "", MISSING, explanation="stopped at its maxRunTime of 0.5 s"
    )
    assert (run.output / "io-benchmark.json").exists()
    assert fake.containers() == []


@pytest.mark.parametrize("verb", ["version", "build", "create", "start", "cp", "rm"])
def test_ctrl_c_at_any_call_leaves_nothing(make_run, fake, verb):
    """The container is removed, the output is gone, and the interruption is passed on."""
    run = make_run()
    with pytest.raises(KeyboardInterrupt):
        fake.executor(fails=f"interrupt-{verb}").run(run, print)
    assert fake.containers() == []
    assert not run.output.exists()


# taskgraph opens the files of the context and leaves it to the interpreter to close them.
@pytest.mark.filterwarnings("ignore:unclosed file:ResourceWarning")
def test_context_is_what_taskgraph_assembles(tmp_path):
    """The Dockerfile with run-task's COPY lines in it, run-task itself, and a hash of it all."""
    file = tmp_path / "taskcluster/docker/small/Dockerfile"
    archive = tmp_path / "context.tar.gz"
    with pytest.raises(GraphError, match="no Dockerfile for image small; name an in-tree image"):
        create_context(tmp_path, "small", archive)
    file.parent.mkdir(parents=True)
    file.write_text("# %ARG X\n")
    with pytest.raises(GraphError, match="Dockerfile: missing argument: X"):
        create_context(tmp_path, "small", archive)
    file.write_text("FROM scratch\n# %include-run-task\n")
    assert len(create_context(tmp_path, "small", archive)) == 64
    with tarfile.open(archive) as tar:
        assert tar.getmember("run-task/run-task").mode & 0o111 == 0o111
        dockerfile = tar.extractfile("Dockerfile")
        assert dockerfile is not None
        copied = b"\nCOPY run-task/run-task /usr/local/bin/run-task\n"
        assert copied in dockerfile.read()


# Deprecated since 3.12, which has filters; before 3.11.4 there is no other way.
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_python_without_filters(tmp_path, monkeypatch):
    """Debian 12 has Python 3.11.2, whose tarfile has no filters: the context is unpacked."""
    small_context(tmp_path, "", tmp_path / "context.tar.gz")
    monkeypatch.setattr(container, "tarfile", SimpleNamespace(open=tarfile.open))
    container._extract(tmp_path / "context.tar.gz", tmp_path / "context")
    assert (tmp_path / "context/Dockerfile").read_text() == "FROM"

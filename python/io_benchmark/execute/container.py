# SPDX-License-Identifier: MPL-2.0
"""Run a task's command in the image that it names, as d2g does on a worker.

d2g is generic-worker's translation of docker-worker payloads. It runs `docker run --init -t` with the
payload's command and variables, as root: the image's run-task gives the volumes to the user `worker`, and
continues as that user. Then d2g copies the artifacts out of the stopped container and removes it.
"""

import secrets
import shlex
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path

from io_benchmark.errors import ContainerError
from io_benchmark.execute.child import Child, hold_interrupts
from io_benchmark.execute.engine import CreateContext, Engine, Reply
from io_benchmark.execute.local_run import LocalRun, RunOutcome
from io_benchmark.execute.run_folder import RunOutput, remove

WORKER_WORKSPACE = "/builds/worker/workspace"
WORKER_RESULTS = "/builds/worker/results"

# Marks the line with the state in `inspect`'s output, which may also contain warnings.
STATE_MARK = "io-benchmark-state"

# Docker says "exited"; podman says "stopped" until its clean-up has ended.
ENDED_STATES = ("exited", "stopped")

# 128 and the number of SIGKILL.
KILLED_EXIT_CODE = 137

# With the anonymous volumes, also while it runs.
REMOVE = ("rm", "--force", "--volumes")

# The attached client ends by itself soon after its container.
CLIENT_PATIENCE_S = 5.0


class ContainerExecutor:
    """Runs tasks with one engine; images are built at the first task that names them."""

    def __init__(
        self,
        engine: str,
        create_context: CreateContext,
        environment: Mapping[str, str],
    ) -> None:
        self._name = engine
        self._create_context = create_context
        self._environment = environment
        self._references: dict[tuple[Path, str], str] = {}

    def prepare(self, image: str, root: Path, on_line: Callable[[str], None]) -> str:
        """Build the in-tree image where the engine does not have it; return its name there."""
        if (root, image) not in self._references:
            self._references[root, image] = self._engine.ensure_image(
                image, root, self._create_context, on_line
            )
        return self._references[root, image]

    def run(self, local_run: LocalRun, on_line: Callable[[str], None]) -> RunOutcome:
        """Run the command to its end, its maxRunTime or a Ctrl-C, and collect its artifacts."""
        if local_run.image is None:
            raise ContainerError(
                f"{local_run.label}: names no in-tree image to run in; run it without --container"
            )
        reference = self.prepare(local_run.image, local_run.root, on_line)
        with (
            RunOutput.in_folder(local_run.output, on_line) as output,
            _container(self._engine, local_run, reference) as name,
        ):
            started = datetime.now(UTC)
            exit_code, explanation = _run(self._engine, name, local_run, output)
            missing = _collect(self._engine, name, local_run, output)
            return local_run.outcome(exit_code, explanation, started, missing)

    @cached_property
    def _engine(self) -> Engine:
        return Engine.answering(self._name, self._environment)


@contextmanager
def _container(engine: Engine, local_run: LocalRun, reference: str) -> Iterator[str]:
    """Create the container; it and its anonymous volumes are gone after the block."""
    name = f"io-benchmark-{local_run.task_id}-{local_run.run_id}-{secrets.token_hex(4)}"
    try:
        _create(engine, local_run, name, reference)
        yield name
    except BaseException:
        with hold_interrupts(), suppress(ContainerError):
            _remove(engine, name)
        raise
    with hold_interrupts():
        _remove(engine, name)


def _create(engine: Engine, local_run: LocalRun, name: str, reference: str) -> None:
    created = engine.call(*_create_arguments(local_run, name, reference))
    if created.exit_code != 0:
        raise engine.refusal(
            f"{local_run.label}: cannot create a container from {reference}",
            created,
            f"check that `{shlex.join((*engine.command, 'run'))}` works for this user",
        )


def _remove(engine: Engine, name: str) -> None:
    # Without `kill`, the engine would wait ten seconds for a running container to end by itself.
    engine.call("kill", "--signal", "KILL", name)
    removed = engine.call(*REMOVE, name)
    if removed.exit_code != 0:
        raise engine.refusal(
            f"cannot remove container {name}",
            removed,
            f"remove it: {shlex.join((*engine.command, *REMOVE, name))}",
        )


def _create_arguments(local_run: LocalRun, name: str, reference: str) -> tuple[str, ...]:
    """Return d2g's options.

    `create` and `start` together do what `run` does, so that a Ctrl-C can be handled between them.
    """
    arguments = ["create", "--init", "--tty", "--name", name, "--label", "io-benchmark"]
    arguments += ["--memory-swap", "-1", "--pids-limit", "-1"]
    variables = local_run.environment() | {"IO_BENCHMARK_PROFILE": local_run.profile}
    if local_run.results is not None:
        variables["IO_BENCHMARK_REPORT_OF"] = WORKER_RESULTS
    for variable, value in variables.items():
        arguments += ["--env", f"{variable}={value}"]
    for path in local_run.cache_paths():
        # A worker mounts a cache here; an empty volume is what its first task finds.
        arguments += ["--volume", path]
    if local_run.bind_workspace:
        arguments += ["--mount", _bind(local_run.workspace, WORKER_WORKSPACE)]
    if local_run.results is not None:
        arguments += ["--mount", _bind(local_run.results, WORKER_RESULTS) + ",readonly"]
    return (*arguments, reference, *local_run.command())


def _bind(folder: Path, target: str) -> str:
    return f"type=bind,source={folder.resolve()},target={target}"


def _run(engine: Engine, name: str, local_run: LocalRun, output: RunOutput) -> tuple[int, str]:
    """Start the container and log until it ends; return the exit code and why it was stopped, if so."""
    limit_s = local_run.max_run_time_s()

    def take_away(client: Child) -> None:
        # As on a worker: run-task does not forward signals to the script.
        engine.call("kill", "--signal", "KILL", name)
        client.exits_before(time.monotonic() + CLIENT_PATIENCE_S)
        client.stop()

    arguments = ("start", "--attach", name)
    try:
        # run-task in the image has written the prefixes.
        started = engine.follow(arguments, time.monotonic() + limit_s, output.raw, take_away)
    except TimeoutError:
        return KILLED_EXIT_CODE, output.time_limit_exceeded(limit_s)
    return _exit_code(engine, name, local_run.label, started), ""


def _exit_code(engine: Engine, name: str, label: str, started: Reply) -> int:
    """Ask the engine, because `start` gives its own failures exit codes as well."""
    reply = engine.call(
        "inspect", "--format", f"{STATE_MARK} {{{{.State.Status}}}} {{{{.State.ExitCode}}}}", name
    )
    for line in reply.lines:
        if line.startswith(STATE_MARK):
            _, state, exit_code = line.split()
            if state in ENDED_STATES:
                return int(exit_code)
    raise engine.refusal(
        f"{label}: its container did not start",
        started,
        f"check that `{shlex.join((*engine.command, 'run'))}` works for this user",
    )


def _collect(engine: Engine, name: str, local_run: LocalRun, output: RunOutput) -> tuple[str, ...]:
    """Copy each artifact out by its path in the payload, as d2g does, and take it from there."""
    artifacts = local_run.artifacts()
    stage = local_run.output.resolve() / ".artifacts"
    stage.mkdir()
    try:
        staged = {
            artifact: stage / f"artifact{number}" for number, artifact in enumerate(artifacts)
        }
        for artifact, path in staged.items():
            # A path that is not in the container leaves nothing here: an error artifact.
            engine.call("cp", f"{name}:{artifact.path}", str(path))
        return output.collect(artifacts, staged.__getitem__)
    finally:
        with hold_interrupts():
            remove(stage)

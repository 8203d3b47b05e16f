# SPDX-License-Identifier: MPL-2.0
"""Run a task's command in the image that it names, as d2g does on a worker.

d2g is generic-worker's translation of docker-worker payloads. It runs `docker run --init -t` with the
payload's command and variables, as root: the image's run-task gives the volumes to the user `worker`, and
continues as that user. Then d2g copies the artifacts out of the stopped container and removes it.

podman and docker take the same arguments.
"""

import secrets
import tarfile
import tempfile
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from msgspec import Struct

from io_benchmark.errors import ContainerError
from io_benchmark.execute.child import Child, StartError, hold_interrupts
from io_benchmark.execute.local_run import LocalRun, RunOutcome
from io_benchmark.execute.run_folder import RunOutput, new_folder

# Root, image and the archive to write; returns the context's hash.
CreateContext = Callable[[Path, str, Path], str]

WORKER_WORKSPACE = "/builds/worker/workspace"
WORKER_RESULTS = "/builds/worker/results"
KILL = ("kill", "--signal", "KILL")
# With the anonymous volumes, also while it runs.
REMOVE = ("rm", "--force", "--volumes")
# 128 and the number of SIGKILL.
KILLED_EXIT_CODE = 137
# An engine that takes longer for a small call hangs.
SMALL_CALL_LIMIT_S = 120.0
# Enough to see what a failed build did.
KEPT_LINES = 2000


class _Reply(Struct, frozen=True):
    """The output of a call, stdout and stderr together, and its exit code."""

    exit_code: int
    lines: tuple[str, ...]


class _Engine(Struct, frozen=True):
    """`podman` or `docker`."""

    name: str
    environment: Mapping[str, str]

    def call(self, *arguments: str) -> _Reply:
        """Make a small call, which a Ctrl-C does not interrupt: it is handled afterwards."""
        try:
            with hold_interrupts():
                return self.follow(arguments, time.monotonic() + SMALL_CALL_LIMIT_S)
        except TimeoutError:
            raise ContainerError(
                f"{self.name} {arguments[0]}: no answer after {SMALL_CALL_LIMIT_S:g} s; "
                f"check that `{self.name} info` answers"
            ) from None

    def require(self, arguments: tuple[str, ...], problem: str, advice: str) -> None:
        """Make a small call that must succeed."""
        reply = self.call(*arguments)
        if reply.exit_code != 0:
            raise self.refusal(problem, reply, advice)

    def follow(
        self,
        arguments: tuple[str, ...],
        deadline_s: float | None = None,
        on_line: Callable[[bytes], None] = lambda _line: None,
        stopping: Callable[[Child], None] = Child.stop,
    ) -> _Reply:
        """Make a call; `on_line` gets each line of its output.

        `stopping` ends it after a Ctrl-C, and at the deadline, which raises TimeoutError.
        """
        lines: deque[bytes] = deque(maxlen=KEPT_LINES)
        command = (self.name, *arguments)
        try:
            with Child.started(command, environment=self.environment, stopping=stopping) as child:
                for line in child.lines(deadline_s):
                    lines.append(line)
                    on_line(line)
                exit_code = child.process.wait()
        except StartError as error:
            raise ContainerError(
                f"{self.name}: cannot be started: {error.strerror}; install it, or omit --container"
            ) from error
        return _Reply(exit_code, tuple(line.decode("utf-8", "replace").rstrip() for line in lines))

    def refusal(self, problem: str, reply: _Reply, advice: str) -> ContainerError:
        """Return the error for a call that failed, with the last line that it printed."""
        last_line = next((line for line in reversed(reply.lines) if line.strip()), "nothing")
        return ContainerError(
            f"{problem} (exit code {reply.exit_code}): {self.name} printed: {last_line.strip()}; "
            f"{advice}"
        )


class ContainerExecutor:
    """Runs tasks with one engine; images are built at the first task that names them."""

    def __init__(
        self, engine: str, create_context: CreateContext, environment: Mapping[str, str]
    ) -> None:
        self._engine = _Engine(engine, environment)
        self._create_context = create_context
        self._references: dict[str, str] = {}  # by image

    def prepare(self, image: str, root: Path, on_line: Callable[[str], None]) -> str:
        """Build the in-tree image where the engine does not have it; return its name there.

        It stays there and is built again only when its context changes, as on a Taskcluster.
        """
        if image not in self._references:
            name = self._engine.name
            advice = f"check that `{name} version` works for this user"
            self._engine.require(("version",), f"{name} does not work", advice)
            with new_folder(Path(tempfile.gettempdir()), "io-benchmark-context-") as folder:
                archive = folder / "context.tar.gz"
                digest = self._create_context(root, image, archive)
                reference = f"localhost/io-benchmark/{image}:{digest[:16]}"
                if self._engine.call("image", "inspect", reference).exit_code == 0:
                    on_line(f"Image {reference} exists already")
                else:
                    on_line(f"Building image {reference}")
                    _extract(archive, folder / "context")
                    self._build(image, reference, folder / "context", on_line)
            self._references[image] = reference
        return self._references[image]

    def _build(
        self, image: str, reference: str, context: Path, on_line: Callable[[str], None]
    ) -> None:
        reply = self._engine.follow(
            ("build", "--tag", reference, str(context)),
            on_line=lambda line: on_line(line.decode("utf-8", "replace").rstrip()),
        )
        if reply.exit_code != 0:
            raise self._engine.refusal(
                f"image {image} cannot be built",
                reply,
                f"check taskcluster/docker/{image}/Dockerfile, and that its base image and "
                "packages can be reached; --verbose shows the build",
            )

    def run(self, local_run: LocalRun, on_line: Callable[[str], None]) -> RunOutcome:
        """Run the command to its end, its maxRunTime or a Ctrl-C, and take its artifacts."""
        if local_run.image is None:
            raise ContainerError(
                f"{local_run.label}: names no in-tree image to run in; run it without --container"
            )
        reference = self.prepare(local_run.image, local_run.root, on_line)
        with (
            RunOutput.started(local_run, on_line) as output,
            self._container(local_run, reference) as name,
            new_folder(local_run.output, ".artifacts-") as stage,
        ):
            exit_code, is_late = self._start(name, local_run.max_run_time_s(), output)
            # By its path in the payload, as d2g does.
            paths = {}
            for number, artifact in enumerate(local_run.artifacts()):
                paths[artifact] = stage / f"artifact{number}"
                # A path that is not in the container leaves nothing here: an error artifact.
                self._engine.call("cp", f"{name}:{artifact.path}", str(paths[artifact]))
            return output.finish(exit_code, paths.__getitem__, is_late=is_late)

    @contextmanager
    def _container(self, local_run: LocalRun, reference: str) -> Iterator[str]:
        """Create the container; it and its anonymous volumes are gone after the block.

        `create` and `start` together do what `run` does, so that a Ctrl-C can be handled between them.
        """
        name = f"io-benchmark-{local_run.task_id}-{local_run.run_id}-{secrets.token_hex(4)}"
        try:
            self._engine.require(
                ("create", "--name", name, *_options(local_run), reference, *local_run.command()),
                f"{local_run.label}: cannot create a container from {reference}",
                f"check that `{self._engine.name} run` works for this user",
            )
            yield name
        except BaseException:
            with hold_interrupts(), suppress(ContainerError):
                self._remove(name)
            raise
        with hold_interrupts():
            self._remove(name)

    def _remove(self, name: str) -> None:
        # Without `kill`, the engine would wait ten seconds for a running container to end by itself.
        self._engine.call(*KILL, name)
        arguments = (*REMOVE, name)
        advice = f"remove it: {self._engine.name} {' '.join(arguments)}"
        self._engine.require(arguments, f"cannot remove container {name}", advice)

    def _start(self, name: str, limit_s: float, output: RunOutput) -> tuple[int, bool]:
        """Start the container and log until it ends; return the exit code, and whether it was late."""

        def take_away(client: Child) -> None:
            # As on a worker: run-task does not forward signals to the script.
            self._engine.call(*KILL, name)
            client.stop()

        try:
            # run-task in the image has written the prefixes.
            reply = self._engine.follow(
                ("start", "--attach", name), time.monotonic() + limit_s, output.write, take_away
            )
        except TimeoutError:
            return KILLED_EXIT_CODE, True
        return reply.exit_code, False


def _options(local_run: LocalRun) -> list[str]:
    """Return d2g's options."""
    options = ["--init", "--tty", "--label", "io-benchmark"]
    options += ["--memory-swap", "-1", "--pids-limit", "-1"]
    variables = local_run.environment()
    if local_run.bind_workspace:
        options += ["--mount", _bind(local_run.workspace, WORKER_WORKSPACE)]
    if local_run.results is not None:
        options += ["--mount", _bind(local_run.results, WORKER_RESULTS) + ",readonly"]
        variables["IO_BENCHMARK_REPORT_OF"] = WORKER_RESULTS
    for variable, value in variables.items():
        options += ["--env", f"{variable}={value}"]
    return options


def _bind(folder: Path, target: str) -> str:
    return f"type=bind,source={folder.resolve()},target={target}"


def _extract(archive: Path, context: Path) -> None:
    """Unpack to a folder, because docker takes a tar from its stdin and podman does not."""
    with tarfile.open(archive) as tar:
        # Python has filters since 3.11.4 (PEP 706), and warns without one since 3.12.
        if hasattr(tarfile, "data_filter"):
            tar.extraction_filter = tarfile.data_filter
        tar.extractall(context)  # noqa: S202 - made just now by taskgraph

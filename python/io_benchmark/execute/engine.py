# SPDX-License-Identifier: MPL-2.0
"""Call a container engine; a failed call is one line.

An in-tree image is built once, from the context that a worker's image builder would get.
"""

import shlex
import tarfile
import tempfile
import time
from collections import deque
from collections.abc import Callable, Mapping
from pathlib import Path

from msgspec import Struct

from io_benchmark.errors import ContainerError
from io_benchmark.execute.child import Child, StartError, hold_interrupts
from io_benchmark.execute.run_folder import remove

# Root, image and the archive to write; returns the context's hash.
CreateContext = Callable[[Path, str, Path], str]

# A command line to use instead of the engine's name, on hosts that need more than the name:
# `sudo podman`, `podman --remote`, a wrapper script.
COMMAND_VARIABLE = "IO_BENCHMARK_CONTAINER_ENGINE_COMMAND"

# An engine that takes longer for a small call hangs.
SMALL_CALL_LIMIT_S = 120.0

# Enough to see what a failed build did.
KEPT_LINES = 2000


class Reply(Struct, frozen=True):
    """The output of a call, stdout and stderr together, and its exit code."""

    exit_code: int
    lines: tuple[str, ...]


class Engine(Struct, frozen=True):
    """`podman` or `docker`, or a command from the environment that replaces it."""

    name: str
    command: tuple[str, ...]
    environment: Mapping[str, str]

    @classmethod
    def answering(cls, name: str, environment: Mapping[str, str]) -> "Engine":
        """Return the engine that the environment selects; raise where it does not answer."""
        command = tuple(shlex.split(environment.get(COMMAND_VARIABLE, ""))) or (name,)
        engine = cls(name, command, environment)
        reply = engine.call("version")
        if reply.exit_code != 0:
            raise engine.refusal(
                f"{name} does not work",
                reply,
                f"check that `{shlex.join(command)} version` works for this user",
            )
        return engine

    def call(self, *arguments: str) -> Reply:
        """Make a small call, which a Ctrl-C does not interrupt: it is handled afterwards."""
        try:
            with hold_interrupts():
                return self.follow(arguments, time.monotonic() + SMALL_CALL_LIMIT_S)
        except TimeoutError:
            raise ContainerError(
                f"{self.name} {arguments[0]}: no answer after {SMALL_CALL_LIMIT_S:g} s; "
                f"check that `{shlex.join((*self.command, 'info'))}` answers"
            ) from None

    def follow(
        self,
        arguments: tuple[str, ...],
        deadline_s: float | None = None,
        on_line: Callable[[bytes], None] = lambda _line: None,
        stopping: Callable[[Child], None] = Child.stop,
    ) -> Reply:
        """Make a call; `on_line` gets each line of its output.

        `stopping` ends it after a Ctrl-C, and at the deadline, which raises TimeoutError.
        """
        lines: deque[bytes] = deque(maxlen=KEPT_LINES)
        try:
            command = (*self.command, *arguments)
            with Child.started(command, environment=self.environment, stopping=stopping) as child:
                for line in child.lines(deadline_s):
                    lines.append(line)
                    on_line(line)
                exit_code = child.process.wait()
        except StartError as error:
            raise ContainerError(
                f"{self.command[0]}: cannot be started: {error.strerror}; install {self.name}, "
                "or omit --container"
            ) from error
        return Reply(exit_code, tuple(line.decode("utf-8", "replace").rstrip() for line in lines))

    def refusal(self, what: str, reply: Reply, advice: str) -> ContainerError:
        """Return the error for a call that failed, with the last line that it printed."""
        last_line = next(
            (line for line in reversed(reply.lines) if line.strip()), "nothing"
        ).strip()
        return ContainerError(
            f"{what} (exit code {reply.exit_code}): {self.name} printed: {last_line}; {advice}"
        )

    def ensure_image(
        self,
        image: str,
        root: Path,
        create_context: CreateContext,
        on_line: Callable[[str], None],
    ) -> str:
        """Return the name under which the engine has the image.

        It stays there and is built again only when its context changes, as on a Taskcluster.
        """
        folder = Path(tempfile.mkdtemp(prefix="io-benchmark-context-"))
        try:
            archive = folder / "context.tar.gz"
            digest = create_context(root, image, archive)
            reference = f"localhost/io-benchmark/{image}:{digest[:16]}"
            if self.call("image", "inspect", reference).exit_code == 0:
                on_line(f"Image {reference} exists already")
                return reference
            context = folder / "context"
            _extract(archive, context)
            on_line(f"Building image {reference}")
            self._build(image, reference, context, on_line)
            return reference
        finally:
            with hold_interrupts():
                remove(folder)

    def _build(
        self, image: str, reference: str, context: Path, on_line: Callable[[str], None]
    ) -> None:
        reply = self.follow(
            ("build", "--tag", reference, str(context)),
            on_line=lambda line: on_line(line.decode("utf-8", "replace").rstrip()),
        )
        if reply.exit_code != 0:
            raise self.refusal(
                f"image {image} cannot be built",
                reply,
                f"check taskcluster/docker/{image}/Dockerfile, and that its base image and "
                "packages can be reached; --verbose shows the build",
            )


def _extract(archive: Path, context: Path) -> None:
    """Unpack to a folder, because docker takes a tar from its stdin and podman does not."""
    with tarfile.open(archive) as tar:
        # Python has filters since 3.11.4 (PEP 706), and warns without one since 3.12.
        if hasattr(tarfile, "data_filter"):
            tar.extraction_filter = tarfile.data_filter
        tar.extractall(context)  # noqa: S202 - made just now by taskgraph

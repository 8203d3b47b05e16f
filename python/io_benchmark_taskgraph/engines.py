# SPDX-License-Identifier: MPL-2.0
"""What runs a pool's task: a docker image, or its worker itself. The pool's alias decides.

A kind has the paths of a docker image for all. On a native worker, what is below the image's home
folder is below the task's own folder, and other absolute paths stay what they are. Those of a
Windows worker begin with a drive.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from taskgraph.util.attributes import keymatch
from taskgraph.util.workertypes import worker_type_implementation

from io_benchmark_taskgraph.mistakes import BadKeyError, quoted, there_are

HOME = "/builds/worker"
WINDOWS_SYSTEM = "windows"


class Engine(NamedTuple):
    name: str
    home: str  # the folder in the place of HOME, as bash writes it, or cmd.exe of Windows
    takes_image: bool
    # Docker passes a large argument on; a native worker writes a file into the task's folder.
    mounts_program: bool
    system: str = "linux"

    @property
    def runs_windows(self) -> bool:
        return self.system == WINDOWS_SYSTEM

    def in_shell(self, path: str) -> str:
        """Return a path for a command's text, within double quotes."""
        return f"{self.home}{path[len(HOME) :]}" if is_below_home(path) else path

    def in_command(self, path: str) -> str:
        """Return a path for the benchmark's command, which on Windows has the task's folder."""
        return self.in_payload(path) if self.runs_windows else self.in_shell(path)

    def in_payload(self, path: str) -> str:
        """Return a path for the worker, which takes relative ones as below the task's folder."""
        is_moved = self.home != HOME and path.startswith(f"{HOME}/")
        return path[len(HOME) + 1 :] if is_moved else path


DOCKER = Engine("docker", HOME, takes_image=True, mounts_program=False)
# Set by workers and by run-task: a command may start elsewhere.
NATIVE = Engine("native", "$TASK_WORKDIR", takes_image=False, mounts_program=True)
WINDOWS = Engine("windows", "%TASK_WORKDIR%", False, True, WINDOWS_SYSTEM)
# No name of a worker type has one of these.
_MARKS_OF_PATTERNS = frozenset("()[]{}|*+?^$\\")
# By a worker's implementation, as taskgraph calls it, and its operating system.
ENGINES = {
    ("docker-worker", "linux"): DOCKER,
    ("generic-worker", "linux"): NATIVE,
    ("generic-worker", WINDOWS_SYSTEM): WINDOWS,
}


def is_below_home(path: str) -> bool:
    return path == HOME or path.startswith(f"{HOME}/")


def is_pattern(name: str) -> bool:
    return not _MARKS_OF_PATTERNS.isdisjoint(name)


def engine_of(graph_config: Any, alias: object) -> Engine:
    """Return what runs tasks of this worker type; a BadKeyError where nothing is known to."""
    aliases = graph_config["workers"]["aliases"]
    # A name in config.yml may be a pattern, and a worker type is what it matches.
    if isinstance(alias, str) and is_pattern(alias):
        problem = f"{quoted(alias)} is a pattern of aliases; name one alias that it matches"
        raise BadKeyError("worker-type", problem)
    if not isinstance(alias, str) or not keymatch(aliases, alias):
        problem = f"is not an alias of taskcluster/config.yml; {there_are(aliases, str(alias))}"
        raise BadKeyError("worker-type", f"{quoted(alias)} {problem}")
    implementation, system = worker_type_implementation(graph_config, alias)
    if (implementation, system) not in ENGINES:
        supported = ", ".join(f"{name} on {of_name}" for name, of_name in ENGINES)
        raise BadKeyError(
            "worker-type",
            f"{quoted(alias)} is {implementation} on {system}, where the benchmark does not run; "
            f"name an alias of one of: {supported}",
        )
    return ENGINES[implementation, system]


def first_with_images(graph_config: Any, aliases: Sequence[object]) -> object:
    """Return the first alias whose workers run docker images; the first of all if none does."""

    def has_images(alias: object) -> bool:
        try:
            return engine_of(graph_config, alias).takes_image
        except BadKeyError:
            return False  # the pool's own task says so

    return next(filter(has_images, aliases), aliases[0] if aliases else None)


def check_takes_image(graph_config: Any, alias: object) -> None:
    """Refuse a worker type whose workers run no docker image."""
    if engine_of(graph_config, alias).takes_image:
        return
    aliases = graph_config["workers"]["aliases"]
    implementations = {name: worker["implementation"] for name, worker in aliases.items()}
    others = [name for name in implementations if implementations[name] == "docker-worker"]
    raise BadKeyError(
        "worker-type",
        f"{quoted(alias)} runs no docker images, and this task needs one; name an alias of "
        f"docker-worker, as report: {{worker-type: ALIAS}}; {there_are(sorted(others))}",
    )

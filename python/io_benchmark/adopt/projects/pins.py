# SPDX-License-Identifier: MPL-2.0
"""Which taskgraph a project has: in its requirements, its decision image, a lock, or pyproject."""

import re
from collections.abc import Iterator, Sequence

from msgspec import Struct

from io_benchmark import __version__
from io_benchmark.adopt.changes import Tree
from io_benchmark.errors import IoBenchmarkError

PACKAGE = "io-benchmark-taskgraph"
DECISION = ".taskcluster.yml"
PYPROJECTS = ("pyproject.toml", "taskcluster/pyproject.toml")
# The oldest release that the package is for.
OLDEST_TASKGRAPH = 8
_NAME = r"taskcluster[-_.]taskgraph"
_VERSION = r"([0-9]{1,9}(?:\.[0-9]{1,9}){0,3})(?![0-9])"
_REQUIREMENT = rf"{_NAME}(?: *\[[^\]\n]*\])? *[=~]=+ *{_VERSION}"
_PINS = {
    "requirements": rf"^{_REQUIREMENT}",
    # The image has taskgraph and runs it.
    "decision image": rf"^[^#\n]*taskgraph:decision(?:-[a-z]+)?-v{_VERSION}",
    # uv's and poetry's locks.
    "lock": rf'^name = "{_NAME}"\r?\nversion = "{_VERSION}',
    "pyproject": rf"^[^#\n]*[\"']{_REQUIREMENT}|^ *{_NAME} *= *\"={{0,2}}{_VERSION}\"",
    # This image only starts what is installed.
    "run-task image": rf"^[^#\n]*taskgraph:run-task-v{_VERSION}",
}
_LOCKS = tuple(
    f"{folder}{name}" for folder in ("", "taskcluster/") for name in ("uv.lock", "poetry.lock")
)


# uv.lock of a repository with many packages has 0.7 MB.
_MOST_BYTES = 32 * 1024 * 1024


class Pin(Struct, frozen=True):
    path: str
    versions: list[str]

    def __str__(self) -> str:
        return f"{self.path} has taskgraph {' and '.join(self.versions)}"


class Taskgraph(Struct, frozen=True):
    """The version that decision tasks use; None where the project does not say it.

    An image that only has run-task does not say it, either.
    """

    version: str | None
    note: str | None = None


def find_taskgraph(tree: Tree, requirements: Sequence[str]) -> Taskgraph:
    """Return the version by the project's files; refuse one that is too old, or two in one file."""
    pins = list(_pins(tree, requirements))
    run_task = _pin(tree, DECISION, "run-task image")
    for pin in pins or filter(None, [run_task]):
        if any(int(version.split(".")[0]) < OLDEST_TASKGRAPH for version in pin.versions):
            raise IoBenchmarkError(
                f"{tree.path / pin.path}: has taskgraph {' and '.join(pin.versions)}, and "
                f"{PACKAGE} {__version__} needs {OLDEST_TASKGRAPH} or newer; renew it first"
            )
    if not pins:
        return Taskgraph(None)
    first = pins[0]
    if len(first.versions) > 1:
        raise IoBenchmarkError(
            f"{tree.path / first.path}: has taskgraph {' and '.join(first.versions)}; keep one and "
            "try again"
        )
    different = [str(pin) for pin in pins[1:] if pin.versions != first.versions]
    if not different:
        return Taskgraph(first.versions[0])
    return Taskgraph(
        first.versions[0], f"{first}, but {', '.join(different)}; the first one is used"
    )


def _pins(tree: Tree, requirements: Sequence[str]) -> Iterator[Pin]:
    """Yield the files that name a version, that which decision tasks use first."""
    places = [
        *((path, "requirements") for path in requirements),
        (DECISION, "decision image"),
        *((path, "lock") for path in _LOCKS),
        *((path, "pyproject") for path in PYPROJECTS),
    ]
    for path, kind in places:
        pin = _pin(tree, path, kind)
        if pin is not None:
            yield pin


def _pin(tree: Tree, path: str, kind: str) -> Pin | None:
    matches = re.finditer(_PINS[kind], tree.text(path, _MOST_BYTES), re.MULTILINE | re.IGNORECASE)
    versions = sorted({next(filter(None, match.groups())) for match in matches}, key=_numbers)
    return Pin(path, versions) if versions else None


def _numbers(version: str) -> list[int]:
    return [int(number) for number in version.split(".")]

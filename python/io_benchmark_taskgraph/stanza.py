# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""The `benchmark` stanza of a task: its schema, and what a mistake in it is called."""

import posixpath
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Callable, Optional
from urllib.parse import urlsplit

import voluptuous

from io_benchmark_taskgraph.mistakes import BadKeyError, suggestion

DESTINATIONS = ("overwrite", "unlink", "fresh")
FIDELITIES = ("seed", "real")
MAX_REPLICATES = 100  # as many as taskgraph's action "Retrigger" makes at once

WORKSPACE_PATH = "/builds/worker/workspace"
ARTIFACTS_PATH = "/builds/worker/artifacts"
SCRIPT_PATH = "/tmp/io-benchmark"  # noqa: S108 - in a container of the task's own

# Printable ASCII without spaces, and no user before the host.
_URL = re.compile(r"[a-z]+://[^\x00-\x20\x7f-\U0010ffff/@]+(/[\x21-\x7e]*)?")
_PLACE_NAME = re.compile(r"[a-z][a-z0-9-]{0,39}")
# The path stands in the command within "${NAME:-path}", where quotes would become part of it.
_PLACE_PATH = re.compile(r"(/[A-Za-z0-9_+-][A-Za-z0-9._+-]*)+")


@dataclass(frozen=True)
class Place:
    name: str
    path: str


WORKSPACE = Place("workspace", WORKSPACE_PATH)


@dataclass(frozen=True)
class Benchmark:
    """What a task measures, checked."""

    script: str
    workloads: tuple[str, ...]
    retrieves: int
    seed: int
    destinations: tuple[str, ...]
    fidelity: str
    precision: Optional[str]  # noqa: FA100 - `str | None` is Python 3.10
    upload_url: Optional[str]  # noqa: FA100
    replicates: int
    places: tuple[Place, ...]


def _whole_number(minimum: int, maximum: int) -> Callable[[object], int]:
    def check(value: object) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or not minimum <= value <= maximum:
            text = f"{value!r} is not a whole number from {minimum:,} to {maximum:,}"
            raise voluptuous.Invalid(text)
        return value

    return check


def _text(value: object) -> str:
    if not isinstance(value, str) or not value:
        raise voluptuous.Invalid(f"{value!r} is not a text")
    return value


def _one_of(known: Sequence[str]) -> Callable[[object], str]:
    def check(value: object) -> str:
        if not isinstance(value, str) or value not in known:
            raise voluptuous.Invalid(f"{value!r} is unknown; {suggestion(str(value), known)}")
        return value

    return check


def _folder(value: object) -> str:
    text = _text(value)
    if posixpath.isabs(text) or ".." in text.split("/"):
        raise voluptuous.Invalid(
            f"{text!r} is not a folder within the checkout; write its path from the checkout's root"
        )
    return posixpath.normpath(text)


def _percentage(value: object) -> str:
    match = re.fullmatch(r"([0-9]{1,2}(?:\.[0-9]{1,6})?)%", value if isinstance(value, str) else "")
    if not match or float(match.group(1)) == 0:
        raise voluptuous.Invalid(f"{value!r} is not a percentage; write one such as 2%")
    return match.group(0)


def _url(value: object) -> str:
    """No user and no password: a task's page is public, and so is the log."""
    text = value if isinstance(value, str) else ""
    try:
        parts = urlsplit(text)
        host = parts.hostname if parts.port != 0 else None
    except ValueError:
        host = None
    if not host or parts.scheme not in ("http", "https") or not _URL.fullmatch(text):
        raise voluptuous.Invalid(
            f"{value!r} is not an address to upload to; write one such as "
            "https://host.example/path, without a user or password"
        )
    return text


def _different(what: str, items: Sequence[Any]) -> None:
    for index, item in enumerate(items):
        if item in items[:index]:
            raise voluptuous.Invalid(
                f"{what} {item} stands twice; keep one (a task's list is added to task-defaults')"
            )


def _list(value: object, example: str) -> list[object]:
    if not isinstance(value, list) or not value:
        raise voluptuous.Invalid(f"{value!r} is not a list; write at least one, as [{example}]")
    return value


def _workloads(value: object) -> tuple[str, ...]:
    """Which ones there are is known where the script's folder is read."""
    workloads = tuple(_text(item) for item in _list(value, "cache-retrieve"))
    _different("the workload", workloads)
    return workloads


def _destinations(value: object) -> tuple[str, ...]:
    items = _list(value if isinstance(value, list) else [value], "overwrite")
    destinations = tuple(_one_of(DESTINATIONS)(item) for item in items)
    _different("the destination", destinations)
    return destinations


def _within(inner: str, outer: str) -> bool:
    return inner == outer or inner.startswith(outer + "/")


def _place(value: object) -> Place:
    if value == WORKSPACE.name:
        return WORKSPACE
    if not isinstance(value, dict) or sorted(map(str, value)) != ["name", "path"]:
        raise voluptuous.Invalid(
            f"{value!r} is not a place; write workspace, or {{name: NAME, path: /absolute/path}}"
        )
    name, path = value["name"], value["path"]
    if not isinstance(name, str) or not _PLACE_NAME.fullmatch(name):
        raise voluptuous.Invalid(
            f"{name!r} is not a place's name; write at most 40 lower-case letters, digits and "
            "hyphens, a letter first"
        )
    if name == WORKSPACE.name and path != WORKSPACE.path:
        raise voluptuous.Invalid(
            f"the name workspace means {WORKSPACE.path}; give the place at {path} another name"
        )
    if not isinstance(path, str) or not _PLACE_PATH.fullmatch(path):
        raise voluptuous.Invalid(
            f"{path!r} is not a place's path; write an absolute one of letters, digits and ._+- "
            "without a slash at its end"
        )
    for taken in (ARTIFACTS_PATH, SCRIPT_PATH):
        if _within(path, taken) or _within(taken, path):
            raise voluptuous.Invalid(
                f"{path} holds {taken} or lies in it, which the task needs itself; take another"
            )
    return Place(name, path)


def _places(value: object) -> tuple[Place, ...]:
    places = tuple(_place(item) for item in _list(value, "workspace"))
    _different("the place", [place.name for place in places])
    _different("the path", [place.path for place in places])
    return places


SCHEMA = voluptuous.Schema(
    {
        # The folder with the worker's script, from the root of the checkout.
        voluptuous.Required("script"): _folder,
        # Modules of the script's folder `workloads/`, with hyphens for underscores.
        voluptuous.Required("workloads"): _workloads,
        # How often a cached file is looked up and copied, for each place and destination.
        voluptuous.Required("retrieves"): _whole_number(1, 10_000_000),
        # Decides which file each retrieve takes; the same sequence on every pool.
        voluptuous.Optional("seed", default=1): _whole_number(0, 2**31 - 1),
        # What is at the destination of a copy: the last copy, nothing, or each time a new file.
        voluptuous.Optional("destination", default="overwrite"): _destinations,
        # How a file is looked up and copied: as the first investigation did, or as the real
        # update-verify tasks do.
        voluptuous.Optional("fidelity", default="seed"): _one_of(FIDELITIES),
        # Stop once the mean is known this well.
        voluptuous.Optional("precision"): _percentage,
        # Where the workload upload puts its objects, a few names again and again; without it, on
        # loopback. `{name}` in it stands for an object's name, which otherwise is added to it.
        voluptuous.Optional("upload-url"): _url,
        # How many tasks are made of the one, each for a worker of its own.
        voluptuous.Optional("replicates", default=1): _whole_number(1, MAX_REPLICATES),
        # The directories that are measured.
        voluptuous.Optional("places", default=lambda: ["workspace"]): _places,
    }
)
KEYS = tuple(str(key) for key in SCHEMA.schema)


def _dotted(path: Sequence[object]) -> str:
    return "benchmark" + "".join(f".{part}" for part in path)


def _as_problem(error: voluptuous.Invalid) -> BadKeyError:
    """Voluptuous says what its schema wanted; say what to write instead."""
    key = _dotted(error.path)
    if isinstance(error, voluptuous.RequiredFieldInvalid):
        return BadKeyError(key, "is missing; add it to the task or to task-defaults")
    if error.msg == "extra keys not allowed":
        return BadKeyError(key, f"unknown key; {suggestion(str(error.path[-1]), KEYS)}")
    if not error.path:
        return BadKeyError(key, f"is not a mapping; {suggestion('', KEYS)}")
    return BadKeyError(key, error.msg)


def parse(stanza: object) -> Benchmark:
    """The stanza, checked; a BadKeyError names the first key that is wrong."""
    if stanza is None:
        raise BadKeyError("benchmark", "is missing; add it to the task or to task-defaults")
    try:
        checked = SCHEMA(stanza)
    except voluptuous.MultipleInvalid as error:
        # Unknown keys first: what is missing may only be misspelt.
        errors = sorted(
            error.errors,
            key=lambda one: (isinstance(one, voluptuous.RequiredFieldInvalid), _dotted(one.path)),
        )
        raise _as_problem(errors[0]) from None
    return Benchmark(
        script=checked["script"],
        workloads=checked["workloads"],
        retrieves=checked["retrieves"],
        seed=checked["seed"],
        destinations=checked["destination"],
        fidelity=checked["fidelity"],
        precision=checked.get("precision"),
        upload_url=checked.get("upload-url"),
        replicates=checked["replicates"],
        places=checked["places"],
    )

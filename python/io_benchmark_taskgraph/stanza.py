# SPDX-License-Identifier: MPL-2.0
"""The `benchmark` stanza of a task, and its schema."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import Any, Callable, NamedTuple

import voluptuous

from io_benchmark_taskgraph.engines import DOCKER, HOME, Engine, is_below_home
from io_benchmark_taskgraph.mistakes import (
    BadKeyError,
    checked,
    choice,
    form,
    plain,
    quoted,
    whole_number,
    yes_or_no,
)

DESTINATIONS = ("overwrite", "unlink", "fresh")
PERFHERDER_MODES = ("pool", "neutral")
# The script's limit over all places and destinations: results with more would not be read.
MAX_RETRIEVES = 100_000
# The workload that has destinations, and whose time follows from its sizes; each other one has a
# maximum time.
CACHE_RETRIEVE = "cache-retrieve"
# What predictions use, and how long a worker takes for it at most in each place. A test compares
# the workloads with CAPACITIES in the script's settings.py.
CAPACITIES = (CACHE_RETRIEVE, "sync-write", "random-io", "metadata", "spawn")
CAPACITIES_S = 300
DOWNLOAD = "download"
# The workloads of which a Windows worker has nothing to measure.
NOT_ON_WINDOWS = ("exec",)
MAX_REPLICATES = 100  # as many as taskgraph's action "Retrigger" makes at once

ARTIFACTS_PATH = f"{HOME}/artifacts"

# Both are unquoted in the command: within "${NAME:-path}" quotes would become part of the path.
PLACE_NAME = r"[a-z][a-z0-9-]{0,39}"
_FOLDER_NAME = r"[A-Za-z0-9_+-][A-Za-z0-9._+-]{0,254}"
PLACE_PATH = rf"(?=.{{1,1000}}\Z)(/{_FOLDER_NAME})+"
# Windows ignores a dot at the end of a name.
DRIVE_PATH = rf"(?=.{{1,200}}\Z)[A-Za-z]:(/{_FOLDER_NAME}(?<!\.))+"


class TaskPlace(NamedTuple):
    name: str
    path: str


WORKSPACE = TaskPlace("workspace", f"{HOME}/workspace")


@dataclass(frozen=True)
class Benchmark:
    workloads: tuple[str, ...]
    retrieves: int
    seed: int
    destinations: tuple[str, ...]
    upload_url: str | None
    download_url: str | None
    replicates: int
    places: tuple[TaskPlace, ...]
    perfherder: str
    trials: str
    capacities: bool
    baseline: str | None = None
    engine: Engine = DOCKER  # by the pool's alias, not by the stanza

    @property
    def measured_workloads(self) -> tuple[str, ...]:
        return CAPACITIES if self.capacities else self.workloads

    @property
    def downloads_image(self) -> bool:
        """Return whether the docker image of the task is what it downloads."""
        return DOWNLOAD in self.measured_workloads and self.download_url is None

    @property
    def measurements(self) -> int:
        """Return how many a comparison has at least; only destinations are counted as variants."""
        has_retrieves = CACHE_RETRIEVE in self.workloads
        more_destinations = len(self.destinations) - 1 if has_retrieves else 0
        return len(self.places) * (len(self.workloads) + more_destinations)

    def on(self, engine: Engine, *, leaves_out: bool = False) -> Benchmark:
        """Return it for a pool's engine; refuse, or leave out, what is not on its system."""
        problems = {place: problem_of_path(place.path, engine) for place in self.places}
        places = tuple(place for place in self.places if problems[place] is None)
        if len(places) < len(self.places) and not (leaves_out and places):
            raise BadKeyError("benchmark.places", next(filter(None, problems.values())))
        workloads = self.workloads
        if engine.runs_windows:
            workloads = tuple(name for name in workloads if name not in NOT_ON_WINDOWS)
        if workloads != self.workloads and not (self.capacities or (leaves_out and workloads)):
            raise BadKeyError(
                "benchmark.workloads",
                f"{', '.join(NOT_ON_WINDOWS)} does not exist on Windows, and this pool runs "
                "Windows; name it for each other pool, and not in task-defaults",
            )
        return replace(self, engine=engine, places=places, workloads=workloads)

    @classmethod
    def parse(cls, stanza: object) -> Benchmark:
        values = checked(SCHEMA, stanza, "benchmark")
        urls = {
            "upload_url": values.pop("upload-url", None),
            "download_url": values.pop("download-url", None),
        }
        return cls(destinations=values.pop("destination"), **urls, **values)


_place_name = form(
    PLACE_NAME,
    "is not a place's name; write at most 40 lower-case letters, digits and hyphens, a letter "
    "first",
)
_place_path = form(
    rf"{PLACE_PATH}|{DRIVE_PATH}|{_FOLDER_NAME}({PLACE_PATH})?",
    "is not a place's path; write one of letters, digits and ._+- without a slash at its end, on "
    "Windows as D:/place",
)


def problem_of_path(path: str, engine: Engine) -> str | None:
    """Return why the workers of an engine do not have a path of the kind; None where they may."""
    is_of_drive = ":" in path
    if is_of_drive and not engine.runs_windows:
        return f"{path} is a path of Windows, and this pool runs Linux; write one such as /mnt/x"
    if engine.runs_windows and not is_of_drive and not is_below_home(path):
        return (
            f"{path} is a path of Linux, and this pool runs Windows; write one such as D:/x, or "
            f"one below {HOME}, which is the task's folder there"
        )
    return None


def _distinct(kind: str, items: tuple[str, ...]) -> tuple[str, ...]:
    """Return the items; refuse one that is given twice."""
    for item, count in Counter(items).items():
        if count > 1:
            raise voluptuous.Invalid(
                f"{kind} {plain(item)} is given twice; keep one (a task's list is added to "
                "task-defaults')"
            )
    return items


def _list(value: object, check: Callable[[Any], Any], example: str) -> tuple[Any, ...]:
    if isinstance(value, list) and value:
        return tuple(map(check, value))
    raise voluptuous.Invalid(f"{quoted(value)} is not a list; write at least one, as [{example}]")


def _workloads(value: object) -> tuple[str, ...]:
    """Check a list of names; whether they exist is checked where the program's folder is read."""
    check = form("(?s:.+)", "is not a text")
    return _distinct("the workload", _list(value, check, "cache-retrieve"))


def _destinations(value: object) -> tuple[str, ...]:
    items = value if isinstance(value, list) else [value]
    return _distinct("the destination", _list(items, choice(DESTINATIONS), "overwrite"))


def _place(value: object) -> TaskPlace:
    if value == WORKSPACE.name:
        return WORKSPACE
    if not isinstance(value, dict) or sorted(map(str, value)) != ["name", "path"]:
        raise voluptuous.Invalid(
            f"{quoted(value)} is not a place; write workspace, or "
            "{name: NAME, path: /absolute/path}"
        )
    name, path = _place_name(value["name"]), _place_path(value["path"])
    if not path.startswith("/") and ":" not in path:
        path = f"{HOME}/{path}"
    if name == WORKSPACE.name and path != WORKSPACE.path:
        raise voluptuous.Invalid(
            f"the name workspace means {WORKSPACE.path}; give the place at {plain(path)} "
            "another name"
        )
    is_of_artifacts = f"{path}/".startswith(f"{ARTIFACTS_PATH}/")
    if is_of_artifacts or f"{ARTIFACTS_PATH}/".startswith(f"{path}/"):
        raise voluptuous.Invalid(
            f"{plain(path)} contains {ARTIFACTS_PATH} or is inside it, which the task itself "
            "needs; use another path"
        )
    return TaskPlace(name, path)


def _places(value: object) -> tuple[TaskPlace, ...]:
    places = _list(value, _place, "workspace")
    _distinct("the place", tuple(place.name for place in places))
    _distinct("the path", tuple(place.path for place in places))
    return places


SCHEMA = voluptuous.Schema({
    # Modules of the program's folder `workloads/`, with hyphens for underscores.
    voluptuous.Required("workloads"): _workloads,
    # Number of retrieves (look a file up, copy it) per place and destination.
    voluptuous.Required("retrieves"): whole_number(1, MAX_RETRIEVES),
    # Decides the file of each retrieve; the same sequence on every pool.
    voluptuous.Optional("seed", default=1): whole_number(0, 2**31 - 1),
    # Where a copy goes: over the last copy, to a removed name, or each time to a new file.
    voluptuous.Optional("destination", default="overwrite"): _destinations,
    # Where the workload upload puts its objects, reusing few names; default: loopback. `{name}` is
    # replaced by an object's name; without it, the name is appended.
    voluptuous.Optional("upload-url"): form(
        # Without user and password, since a task's page and log are public.
        r"https?://[A-Za-z0-9._-]+(:(?!0)[0-9]{1,5})?([/?][!-~]*)?",
        "is not an address to upload to; write one such as https://host.example/path, without a "
        "user or password",
    ),
    # What the workload download downloads; a path is one of the deployment, such as an artifact's.
    # Default: the docker image of the task, where that is an artifact.
    voluptuous.Optional("download-url"): form(
        r"(https?://[A-Za-z0-9._-]+(:(?!0)[0-9]{1,5})?)?/[!-~]*",
        "is not an address to download from; write one such as https://host.example/path, or "
        "/api/index/v1/task/NAME/artifacts/public/FILE, without a user or password",
    ),
    # Number of tasks that are made of this one, each for a separate worker.
    voluptuous.Optional("replicates", default=1): whole_number(1, MAX_REPLICATES),
    # The directories to measure.
    voluptuous.Optional("places", default=lambda: ["workspace"]): _places,
    # The series in Perfherder: one per pool, or one that all pools share.
    voluptuous.Optional("perfherder", default="pool"): choice(PERFHERDER_MODES),
    # Small experiments after the retrieves, which test causes: within 15 % of their time, always,
    # or not at all.
    voluptuous.Optional("trials", default="never"): choice(("auto", "always", "never")),
    # The pool that reports compare the others with; the same in all tasks of a kind.
    voluptuous.Optional("baseline"): form("(?s:.+)", "is not a pool's name"),
    # Instead of all these, what predictions use, in about a minute per place.
    voluptuous.Optional("capacities", default=False): yes_or_no(),
})

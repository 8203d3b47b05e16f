# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""The transforms of the kind in Firefox's tree, in place of this project's `transforms/`.

`io-benchmark firefox` writes one module there: this one, with the definitions of other modules that it
uses. The `benchmark` stanza means the same in both trees; only the script's folder is fixed there.
People review that tree, so voluptuous's own validators are enough, and messages have no length limit.
What Firefox's own transforms and verifications check, such as symbols, is not checked here.
"""

from __future__ import annotations

from collections.abc import Iterator
from os.path import commonpath
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import voluptuous
from taskgraph.transforms.base import TransformSequence
from voluptuous import All, In, Length, Match, Optional, Required, Unique
from voluptuous import Any as AnyOf

from io_benchmark_taskgraph.checks import PERCENTAGE, whole_number
from io_benchmark_taskgraph.estimate import time_budget_s
from io_benchmark_taskgraph.mistakes import BadKeyError, UserMistake
from io_benchmark_taskgraph.stanza import (
    ARTIFACTS_PATH,
    DESTINATIONS,
    FIDELITIES,
    MAX_REPLICATES,
    MAX_RETRIEVES,
    PERFHERDER_MODES,
    PLACE_NAME,
    PLACE_PATH,
    TRIALS,
    WORKSPACE,
    TaskPlace,
)
from io_benchmark_taskgraph.task_command import make_command
from io_benchmark_taskgraph.transforms.index import rank_by_push
from io_benchmark_taskgraph.transforms.replicates import numbered
from io_benchmark_taskgraph.zip_application import ZipApplication

SCRIPT = "taskcluster/scripts/misc/io-benchmark"
# Without user and password, since a task's page and log are public.
URL = r"https?://[A-Za-z0-9._-]+(:(?!0)[0-9]{1,5})?([/?][!-~]*)?\Z"
ROUTES = (
    "index.{trust-domain}.v2.{project}.latest.io-benchmark.{pool}",
    "index.{trust-domain}.v2.{project}.revision.{head_rev}.io-benchmark.{pool}",
    "index.{trust-domain}.v2.{project}.date.io-benchmark.{pool}.{moz_build_date}",
)
PLACE = {Required("name"): Match(PLACE_NAME), Required("path"): Match(PLACE_PATH)}
shown = repr


class Benchmark(SimpleNamespace):
    precision = upload_url = None  # unless the stanza has them


def _places_of(items: list[Any]) -> tuple[TaskPlace, ...]:
    places = [WORKSPACE if item == "workspace" else TaskPlace(**item) for item in items]
    Unique()([place.path for place in places])
    Unique()([place.name for place in {WORKSPACE, *places}])
    for path in (place.path for place in places):
        if commonpath([path, ARTIFACTS_PATH]) in (path, ARTIFACTS_PATH):
            raise voluptuous.Invalid(f"{path}: the task needs {ARTIFACTS_PATH} itself")
    return tuple(places)


KEYS = {
    # Modules of the script's folder `workloads/`, with hyphens for underscores.
    Required("workloads"): All([str], Length(min=1), Unique()),
    # Number of retrieves (look a file up, copy it) per place and destination.
    Required("retrieves"): whole_number(1, MAX_RETRIEVES),
    # Decides the file of each retrieve; the same sequence on every pool.
    Optional("seed", default=1): whole_number(0, 2**31 - 1),
    # Where a copy goes: over the last copy, to a removed name, or to a new file.
    Optional("destination", default="overwrite"): AnyOf(
        In(DESTINATIONS), All([In(DESTINATIONS)], Length(min=1), Unique())
    ),
    # How a file is copied: as a first investigation did, or as update-verify does.
    Optional("fidelity", default="seed"): In(FIDELITIES),
    # Stop when the mean is known this precisely, such as 2%.
    Optional("precision"): Match(PERCENTAGE),
    # Where the workload `upload` puts its objects; default: loopback.
    Optional("upload-url"): Match(URL),
    # Number of tasks that are made of this one, each for a separate worker.
    Optional("replicates", default=1): whole_number(1, MAX_REPLICATES),
    # The directories to measure: workspace, or {name: NAME, path: /PATH}.
    Optional("places", default=lambda: [WORKSPACE.name]): All(
        [AnyOf(WORKSPACE.name, PLACE)], Length(min=1), _places_of
    ),
    # One series per pool in Perfherder, or one series for all pools.
    Optional("perfherder", default="pool"): In(PERFHERDER_MODES),
    # Experiments after the retrieves: within 15 % of their time, always or never.
    Optional("trials", default="never"): In(TRIALS),
}


def _parse(stanza: Any) -> Any:
    try:
        checked = voluptuous.Schema(KEYS)(stanza)
    except voluptuous.MultipleInvalid as error:
        key = ".".join(["benchmark", *map(str, error.path)])
        raise BadKeyError(key, error.msg) from None
    values = {key.replace("-", "_"): value for key, value in checked.items()}
    destination = values.pop("destination")
    several = destination if isinstance(destination, list) else [destination]
    return Benchmark(script=SCRIPT, destinations=several, **values)


def _make_tasks(config: Any, tasks: Any) -> Iterator[dict[str, Any]]:
    """Make the tasks of each pool; report a mistake in kind.yml in one line."""
    folder = Path(config.graph_config.root_dir).parent / SCRIPT
    files = {
        path.relative_to(folder).as_posix(): path.read_bytes().decode("utf-8")
        for path in folder.rglob("*.py")
    }
    application = ZipApplication(files)
    for task in tasks:
        pool = task["name"]
        where = f"{config.path}: task {pool}"
        try:
            benchmark = _parse(task.pop("benchmark", None))
            budget_s = time_budget_s(task.get("worker", {}).get("max-run-time"))
        except BadKeyError as problem:
            raise UserMistake(f"{where}: {problem}") from None
        for name in benchmark.workloads:
            if f"workloads/{name.replace('-', '_')}.py" not in files:
                text = f"benchmark.workloads: {name!r} is not in {SCRIPT}/workloads"
                raise UserMistake(f"{where}: {text}")
        command = make_command(benchmark, application, pool, budget_s)
        task.setdefault("run", {})["command"] = command
        # `io-benchmark history` finds the results by these.
        names = {"trust-domain": config.graph_config["trust-domain"], **config.params}
        routes = [path.format(pool=pool.replace(".", "~"), **names) for path in ROUTES]
        for number, copy in enumerate(numbered(task, benchmark.replicates)):
            if number == 0:  # a route can belong to one task of a graph only
                copy.setdefault("routes", []).extend(routes)
            yield copy


transforms = TransformSequence()
transforms.add(_make_tasks)
ranks = TransformSequence()
ranks.add(rank_by_push)

# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""The transforms of the kind in Firefox's tree, in place of this project's `transforms/`.

`io-benchmark firefox` writes one module there: this one, and of the others the definitions that it
uses. The `benchmark` stanza means the same in both trees. What Firefox's own transforms and
verifications check, such as symbols, is not checked here.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import voluptuous
from taskgraph.transforms.base import TransformSequence
from voluptuous import All, In, Length, Optional, Required, Unique
from voluptuous import Any as AnyOf

from io_benchmark_taskgraph.application import Application, Module, make_application
from io_benchmark_taskgraph.checks import percentage, whole_number
from io_benchmark_taskgraph.command import make_command
from io_benchmark_taskgraph.estimate import check_duration, time_budget_s
from io_benchmark_taskgraph.mistakes import BadKeyError, UserMistake
from io_benchmark_taskgraph.stanza import (
    DESTINATIONS,
    FIDELITIES,
    MAX_REPLICATES,
    MAX_RETRIEVES,
    PERFHERDER_MODES,
    Benchmark,
    benchmark_of,
    folder_of,
    places_of,
    upload_url_of,
)
from io_benchmark_taskgraph.transforms.replicates import numbered

KEYS = {
    # The folder with the worker's script. Each of its modules goes into the command.
    Required("script"): folder_of,
    # Modules of that folder's `workloads/`, with hyphens for underscores.
    Required("workloads"): All([str], Length(min=1), Unique()),
    # How often a cached file is looked up and copied, for each place and destination.
    Required("retrieves"): whole_number(1, MAX_RETRIEVES),
    # Decides which file each retrieve takes; the same sequence on every pool.
    Optional("seed", default=1): whole_number(0, 2**31 - 1),
    # What is at the destination of a copy: the last copy, nothing, or a new file.
    Optional("destination", default="overwrite"): AnyOf(
        In(DESTINATIONS), All([In(DESTINATIONS)], Length(min=1), Unique())
    ),
    # How a file is copied: as a first investigation did, or as update-verify does.
    Optional("fidelity", default="seed"): In(FIDELITIES),
    # Stop once the mean is known this well, such as 2%.
    Optional("precision"): percentage,
    # Where the workload `upload` puts its objects; default: a server of its own.
    Optional("upload-url"): upload_url_of,
    # So many tasks instead of one, each for a worker of its own.
    Optional("replicates", default=1): whole_number(1, MAX_REPLICATES),
    # The directories that are measured.
    Optional("places", default=lambda: ["workspace"]): places_of,
    # One series per pool in Perfherder, or one series for all pools.
    Optional("perfherder", default="pool"): In(PERFHERDER_MODES),
}


def parse(stanza: Any) -> Benchmark:
    try:
        return benchmark_of(voluptuous.Schema(KEYS)(stanza))
    except voluptuous.MultipleInvalid as error:
        key = ".".join(["benchmark", *map(str, error.path)])
        raise BadKeyError(key, error.msg) from None


def read_modules(folder: Path) -> list[Module]:
    if not (folder / "__main__.py").is_file():
        raise BadKeyError("benchmark.script", f"{folder} has no __main__.py")
    return [
        Module(file.relative_to(folder).as_posix(), file.read_bytes().decode("utf-8"))
        for file in sorted(folder.rglob("*.py"))
    ]


def check_workloads(benchmark: Benchmark, application: Application) -> None:
    paths = [module.path for module in application.modules]
    for workload in benchmark.workloads:
        path = f"workloads/{workload.replace('-', '_')}.py"
        if path not in paths:
            text = f"{workload!r} is unknown: there is no {benchmark.script}/{path}"
            raise BadKeyError("benchmark.workloads", text)


def routes(config: Any, pool: str) -> list[str]:
    """By which `io-benchmark history` finds the results."""
    name = f"io-benchmark.{pool.replace('.', '~')}"
    paths = [
        f"latest.{name}",
        f"revision.{config.params['head_rev']}.{name}",
        f"date.{name}.{config.params['moz_build_date']}",
    ]
    index = f"index.{config.graph_config['trust-domain']}.v2.{config.params['project']}"
    return [f"{index}.{path}" for path in paths]


def make_tasks(
    config: Any, tasks: Iterator[dict[str, Any]]
) -> Iterator[dict[str, Any]]:
    """From a pool to its tasks. A mistake in kind.yml ends in one line."""
    root = Path(config.graph_config.root_dir).parent

    built: dict[str, Application] = {}  # by the script's folder
    for task in tasks:
        pool = task["name"]
        try:
            benchmark = parse(task.pop("benchmark", None))
            script = benchmark.script
            if script not in built:
                built[script] = make_application(read_modules(root / script))
            check_workloads(benchmark, built[script])
            budget_s = time_budget_s(task.get("worker", {}).get("max-run-time"))
            check_duration(benchmark, budget_s)
            command = make_command(benchmark, built[script], pool, budget_s)
        except BadKeyError as problem:
            raise UserMistake(f"{config.path}: task {pool}: {problem}") from None
        task.setdefault("run", {})["command"] = command
        for number, copy in enumerate(numbered(task, benchmark.replicates)):
            if number == 0:  # the index takes a route of one task of a graph only
                copy.setdefault("routes", []).extend(routes(config, pool))
            yield copy


transforms = TransformSequence()
transforms.add(make_tasks)

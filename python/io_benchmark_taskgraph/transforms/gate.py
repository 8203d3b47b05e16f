# SPDX-License-Identifier: MPL-2.0
"""The kind `io-benchmark-gate`: is a pool's new image as fast as the image that it replaces?

`gate.pairs` in kind.yml names pools that have the new image, each with the pool that has the old
one. Both are aliases of workers, and the results use these names. A pool in several pairs is
measured once. No task has a route of the index: there the pools have their usual results.
"""

from __future__ import annotations

from typing import Any

import voluptuous
from taskgraph.transforms import run, task
from taskgraph.transforms.base import TransformSequence
from taskgraph.util.attributes import keymatch
from taskgraph.util.templates import merge
from taskgraph.util.workertypes import get_worker_type

from io_benchmark_taskgraph.engines import engine_of, first_with_images
from io_benchmark_taskgraph.loader import merged_defaults
from io_benchmark_taskgraph.mistakes import (
    BadKeyError,
    checked,
    in_kind,
    plain,
    quoted,
    there_are,
    whole_number,
)
from io_benchmark_taskgraph.names import POOL_SYMBOL_LENGTH
from io_benchmark_taskgraph.parameters import GATE_JOB, JOB, JOB_ATTRIBUTE, JOBS
from io_benchmark_taskgraph.replicates import replicates_for
from io_benchmark_taskgraph.stanza import MAX_REPLICATES, Benchmark
from io_benchmark_taskgraph.transforms import Tasks, benchmark, command
from io_benchmark_taskgraph.transforms.kind import REPORT_KIND, with_report
from io_benchmark_taskgraph.transforms.report import STANZA as REPORT_STANZA
from io_benchmark_taskgraph.transforms.report import percentage, share

STANZA = "gate"
GROUP = "IOBG"
_EXAMPLE = "{b-linux-alpha: b-linux}"


def _pairs(value: object) -> dict[str, str]:
    if not isinstance(value, dict) or not value:
        raise voluptuous.Invalid(
            f"{quoted(value)} names no pools; write the pool with the new image, and the one with "
            f"the old image, as {_EXAMPLE}"
        )
    for alpha, production in value.items():
        for alias in (alpha, production):
            if not isinstance(alias, str):
                problem = "is not the alias of a pool's workers; write text"
                raise voluptuous.Invalid(f"{quoted(alias)} {problem}")
        if alpha == production:
            problem = "is compared with itself; name the pool that has the old image"
            raise voluptuous.Invalid(f"{plain(alpha)} {problem}")
    return value


SCHEMA = voluptuous.Schema({
    # Aliases of workers: the pools with the old images, by the pools with the new ones.
    voluptuous.Optional("pairs", default=dict): _pairs,
    # The new image passes if it is surely not slower by this.
    voluptuous.Optional("margin", default="10%"): percentage,
    # How far the workers of a pool vary; the default number of replicates follows from it.
    voluptuous.Optional("variation", default="5%"): percentage,
    # The tasks per pool.
    voluptuous.Optional("replicates"): whole_number(2, MAX_REPLICATES),
})


def _make_gate(config: Any, tasks: Tasks) -> Tasks:
    """Yield the tasks of all pools, and the report that answers all pairs."""
    with in_kind(config):
        if list(tasks):
            raise BadKeyError("tasks", f"a gate's tasks follow from {STANZA}.pairs; remove the key")
        settings = checked(SCHEMA, config.config.get(STANZA) or {}, STANZA)
        pairs: dict[str, str] = settings["pairs"]
        _check_pools(config, pairs)
        defaults = _task_defaults(config, settings)
    symbols = _symbols(pairs)
    chosen = _chosen(config, pairs)
    measuring = []
    for alias in symbols:
        # The names by which `-j` selects the task, besides its label.
        names = [f"{GATE_JOB}-{alpha}" for alpha in chosen if alias in (alpha, chosen[alpha])]
        if names:
            pool_task = {
                "name": alias,
                "description": f"I/O benchmark on {alias}, for a gate",
                "worker-type": alias,
                "task-from": "kind.yml",
                "attributes": {JOB_ATTRIBUTE: [GATE_JOB, *names]},
                "treeherder": {"symbol": f"{GROUP}({symbols[alias]})"},
            }
            measuring.append(merge(defaults, pool_task))
    report = _report_task(config, chosen, settings)
    yield from with_report(config, measuring, _measured, report)


def _check_pools(config: Any, pairs: dict[str, str]) -> None:
    """Refuse an alias that the project does not have, and two aliases of one pool."""
    aliases = config.graph_config["workers"]["aliases"]
    level = config.params["level"]
    for alpha, production in pairs.items():
        for alias in (alpha, production):
            if len(keymatch(aliases, alias)) != 1:
                problem = f"{plain(alias)} is not one of workers.aliases in taskcluster/config.yml"
                raise BadKeyError(f"{STANZA}.pairs", f"{problem}; {there_are(aliases, alias)}")
        queue = get_worker_type(config.graph_config, alpha, level)
        if queue == get_worker_type(config.graph_config, production, level):
            raise BadKeyError(
                f"{STANZA}.pairs",
                f"{plain(alpha)} and {plain(production)} are one pool, {'/'.join(queue)}; correct "
                "an alias in taskcluster/config.yml",
            )


def _task_defaults(config: Any, settings: dict[str, Any]) -> dict[str, Any]:
    """Return what the pools' tasks have in common, with their number of replicates."""
    kinds_defaults = config.config.get("task-defaults") or {}
    if "replicates" in (kinds_defaults.get("benchmark") or {}):
        problem = f"a gate has its number in {STANZA}.replicates; move it there"
        raise BadKeyError("task-defaults.benchmark.replicates", problem)
    defaults = merged_defaults(JOB, kinds_defaults)
    pools = [alias for pair in settings["pairs"].items() for alias in pair]
    has_docker = any(engine_of(config.graph_config, alias).takes_image for alias in pools)
    if has_docker and "docker-image" not in defaults["worker"]:
        problem = "is missing; name the image in which the pools are measured, as {in-tree: linux}"
        raise BadKeyError("task-defaults.worker.docker-image", problem)
    count = settings.get("replicates")
    if count is None:
        margin, variation = share(settings["margin"]), share(settings["variation"])
        measurements = Benchmark.parse(defaults["benchmark"]).measurements
        count = replicates_for(margin, variation, measurements)
        if count > MAX_REPLICATES:
            raise BadKeyError(
                f"{STANZA}.margin",
                f"{settings['margin']} needs {count} tasks per pool where workers vary by "
                f"{settings['variation']}, and {MAX_REPLICATES} are the most; raise it",
            )
    return dict(merge(defaults, {"benchmark": {"replicates": count}}))


def _symbols(pairs: dict[str, str]) -> dict[str, str]:
    """Return a symbol for each pool: its alias, with a number where that is too long."""
    pools = dict.fromkeys(alias for pair in pairs.items() for alias in pair)
    symbols = {}
    for number, alias in enumerate(pools, 1):
        is_short = len(alias) <= POOL_SYMBOL_LENGTH
        symbols[alias] = alias if is_short else f"{number}-{alias}"[:POOL_SYMBOL_LENGTH]
    return symbols


def _chosen(config: Any, pairs: dict[str, str]) -> dict[str, str]:
    """Return the pairs that the push names by the pool with the new image, else all."""
    jobs = config.params.get(JOBS) or []
    named = {alpha: pairs[alpha] for alpha in pairs if f"{GATE_JOB}-{alpha}" in jobs}
    return pairs if GATE_JOB in jobs or not named else named


def _report_task(config: Any, chosen: dict[str, str], settings: dict[str, Any]) -> dict[str, Any]:
    """Return the report's task, which does not run on a new image: that may be broken."""
    # Also of pairs that are not chosen, because it needs docker.
    productions = list(settings["pairs"].values())
    limit = f"{1 + share(settings['margin']):.8g}"
    report_defaults = {
        "label": f"{config.kind}-report",
        "description": "Whether each new image is as fast as the image that it replaces",
        "worker-type": first_with_images(config.graph_config, productions),
        "report": {"gates": [f"{alpha}/{chosen[alpha]}<{limit}" for alpha in chosen]},
        "treeherder": {"symbol": f"{GROUP}(report)"},
    }
    differences = config.config.get(REPORT_STANZA) or {}
    report: dict[str, Any] = merge(merged_defaults(REPORT_KIND, report_defaults), differences)
    report["attributes"][JOB_ATTRIBUTE] = [GATE_JOB, *(f"{GATE_JOB}-{alpha}" for alpha in chosen)]
    return report


_measured = TransformSequence([
    *(part.transforms for part in (benchmark, command, run, task)),
    command.mounts,
])
transforms = TransformSequence([_make_gate])

# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""From a pool in the kind io-benchmark to its task, and the task that compares them."""

import base64
import bz2
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from gecko_taskgraph.transforms.task import transforms as task_transforms
from taskgraph.transforms.base import TransformSequence

# `io-benchmark history` finds the results by these.
ROUTES = (
    "index.{domain}.v2.{project}.latest.io-benchmark.{pool}",
    "index.{domain}.v2.{project}.revision.{head_rev}.io-benchmark.{pool}",
    "index.{domain}.v2.{project}.date.io-benchmark.{pool}.{moz_build_date}",
)


def _fill_in(config: Any, tasks: Any) -> Iterator[Any]:
    """Put the pool into its command; also the program, if it is next to kind.yml."""
    names = {**config.params, "domain": config.graph_config["trust-domain"]}
    for task in tasks:
        run = task["run"]
        run["command"] = run["command"].replace("@pool@", task["name"])
        for file in Path(config.path).glob("*.pyz"):
            program = base64.b85encode(bz2.compress(file.read_bytes())).decode()
            run["command"] = ["bash", "-ec", run["command"], "io-benchmark", program]
        # The index splits a name at dots, and no pool's name has a tilde.
        names["pool"] = task["name"].replace(".", "~")
        task.setdefault("routes", []).extend(route.format(**names) for route in ROUTES)
        yield task


def _add_report(config: Any, tasks: Any) -> Iterator[Any]:
    """Rank results by the push's date; compare them after all of their tasks."""
    labels = []
    for task in tasks:
        task["task"]["extra"]["index"]["rank"] = config.params["build_date"]
        labels.append(task["label"])
        yield task
    report = {**config.config["report"], "soft-dependencies": sorted(labels)}
    yield from task_transforms(config, iter([report]))


transforms = TransformSequence([_fill_in])
reports = TransformSequence([_add_report])

# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""
From a pool in the kind io-benchmark to its task: its command, its routes and their rank.

`io-benchmark firefox` of https://github.com/mozilla-releng/io-benchmark writes this file
to Firefox's tree, with kind.yml and the program: change them there. The command in
kind.yml says what is measured. It unpacks the program, which is added here as arguments.
"""

import base64
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from taskgraph.transforms.base import TransformSequence

PROGRAM = "io-benchmark.pyz"  # next to kind.yml
POOL_MARK = "@pool@"  # where kind.yml's command has the name of the task
# The most bytes that Linux takes in one argument.
MAX_ARGUMENT_BYTES = 131_071
# `io-benchmark history` finds the results by these.
ROUTES = (
    "index.{trust-domain}.v2.{project}.latest.io-benchmark.{pool}",
    "index.{trust-domain}.v2.{project}.revision.{head_rev}.io-benchmark.{pool}",
    "index.{trust-domain}.v2.{project}.date.io-benchmark.{pool}.{moz_build_date}",
)


def add_program(config: Any, tasks: Any) -> Iterator[Any]:
    data = Path(config.path, PROGRAM).read_bytes()
    encoded = base64.b64encode(zlib.compress(data, 9)).decode("ascii")
    starts = range(0, len(encoded), MAX_ARGUMENT_BYTES)
    program = [encoded[start : start + MAX_ARGUMENT_BYTES] for start in starts]
    names = {"trust-domain": config.graph_config["trust-domain"], **config.params}
    for task in tasks:
        pool = task["name"]
        text = task["run"]["command"].replace(POOL_MARK, pool)
        task["run"]["command"] = ["bash", "-ec", text, "io-benchmark", *program]
        # The index splits a name at dots, and no pool's name has a tilde.
        route_pool = pool.replace(".", "~")
        routes = [route.format(pool=route_pool, **names) for route in ROUTES]
        task.setdefault("routes", []).extend(routes)
        yield task


def rank_by_push(config: Any, tasks: Any) -> Iterator[Any]:
    """Rank by the push's date, so that an old push never replaces a newer one in the index."""
    for task in tasks:
        task["task"]["extra"]["index"]["rank"] = config.params["build_date"]
        yield task


transforms = TransformSequence()
transforms.add(add_program)
ranks = TransformSequence()
ranks.add(rank_by_push)

# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Check the `benchmark` stanza; from here on it is a `Benchmark`."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from taskgraph.transforms.base import TransformSequence

from io_benchmark_taskgraph import overrides, stanza
from io_benchmark_taskgraph.mistakes import BadKeyError, in_task


def check_stanza(
    config: Any, tasks: Iterator[dict[str, Any]]
) -> Iterator[dict[str, Any]]:
    perfherder = overrides.perfherder(config.params)
    for task in tasks:
        try:
            benchmark = stanza.parse(task.get("benchmark"))
        except BadKeyError as problem:
            raise in_task(config, task, problem) from None
        task["benchmark"] = (
            replace(benchmark, perfherder=perfherder) if perfherder else benchmark
        )
        yield task


transforms = TransformSequence()
transforms.add(check_stanza)

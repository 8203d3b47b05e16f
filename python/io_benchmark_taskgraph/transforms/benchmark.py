# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Check the `benchmark` stanza; from here on it is a `Benchmark`."""

from dataclasses import replace
from typing import Any

from taskgraph.transforms.base import TransformSequence

from io_benchmark_taskgraph import overrides, stanza
from io_benchmark_taskgraph.mistakes import in_task
from io_benchmark_taskgraph.transforms import Tasks


def _check_stanza(config: Any, tasks: Tasks) -> Tasks:
    perfherder = overrides.perfherder(config.params)
    for task in tasks:
        with in_task(config, task):
            benchmark = stanza.parse(task.get("benchmark"))
        if perfherder:
            benchmark = replace(benchmark, perfherder=perfherder)
        task["benchmark"] = benchmark
        yield task


transforms = TransformSequence()
transforms.add(_check_stanza)

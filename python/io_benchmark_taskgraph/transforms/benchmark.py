# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Check the `benchmark` stanza; from here on it is a `Benchmark`."""

from collections.abc import Iterator
from typing import Any

from taskgraph.transforms.base import TransformSequence

from io_benchmark_taskgraph import stanza
from io_benchmark_taskgraph.mistakes import BadKeyError, in_task


def check_stanza(config: Any, tasks: Iterator[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for task in tasks:
        try:
            task["benchmark"] = stanza.parse(task.get("benchmark"))
        except BadKeyError as problem:
            raise in_task(config, task, problem) from None
        yield task


transforms = TransformSequence()
transforms.add(check_stanza)

# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""What a task may take at worst, against its time."""

import ast
import re
from statistics import mean

import pytest

from io_benchmark_taskgraph import estimate, stanza
from io_benchmark_taskgraph.mistakes import BadKeyError

from .conftest import REPOSITORY

SMALLEST = {"script": "scripts/io-benchmark", "workloads": ["cache-retrieve"], "retrieves": 2000}
CONTAINER = {"name": "container", "path": "/builds/worker/io-benchmark"}


@pytest.mark.parametrize(
    ("changes", "budget_s"),
    [
        # (5,700 + 2,000 x 57) / 50 = 2,394
        pytest.param({}, 2394, id="the kind's own"),
        # 2 x (5,700 + 2,000 x 57) / 50 = 4,788
        pytest.param({"places": ["workspace", CONTAINER]}, 4788, id="two places"),
        # (5,700 + 3 x 2,000 x 57) / 50 = 6,954
        pytest.param({"destination": ["overwrite", "unlink", "fresh"]}, 6954, id="destinations"),
        # (5,700 + 57) / 50 = 115.14
        pytest.param({"retrieves": 1}, 116, id="one retrieve"),
    ],
)
def test_exactly_enough(changes, budget_s):
    """A budget of the estimate holds the workload, one second less does not."""
    benchmark = stanza.parse({**SMALLEST, **changes})
    estimate.check(benchmark, budget_s)
    with pytest.raises(BadKeyError, match=f"take {budget_s} s at 50 MiB/s"):
        estimate.check(benchmark, budget_s - 1)


def test_message_names_estimate_budget_and_remedy():
    """Both remedies are numbers that work."""
    benchmark = stanza.parse({**SMALLEST, "places": ["workspace", CONTAINER]})
    with pytest.raises(BadKeyError) as caught:
        estimate.check(benchmark, 3300)
    assert caught.value.key == "benchmark.retrieves"
    assert caught.value.text == (
        "2000 retrieves x 2 place(s) x 1 destination(s) of cache-retrieve take 4788 s at 50 MiB/s "
        "and the time budget is 3300 s; raise worker.max-run-time to 5088 or lower "
        "benchmark.retrieves to 1347"
    )
    estimate.check(benchmark, 5088 - 300)
    fitting = stanza.parse({**SMALLEST, "places": ["workspace", CONTAINER], "retrieves": 1347})
    estimate.check(fitting, 3300)
    one_more = stanza.parse({**SMALLEST, "places": ["workspace", CONTAINER], "retrieves": 1348})
    with pytest.raises(BadKeyError):
        estimate.check(one_more, 3300)


def test_no_retrieves_fit():
    """Where not even the cache fits, only more time helps."""
    with pytest.raises(BadKeyError) as caught:
        estimate.check(stanza.parse(SMALLEST), 100)
    assert caught.value.text.endswith("is 100 s; raise worker.max-run-time to 2694")


def test_other_workloads_are_not_estimated():
    """Only what is known to write much is held against the time."""
    estimate.check(stanza.parse({**SMALLEST, "workloads": ["spawn"]}), 1)


def test_budget_is_five_minutes_less():
    """The script stops 300 s before its task would be stopped."""
    assert estimate.time_budget_s(3600) == 3300
    assert estimate.time_budget_s(301) == 1


@pytest.mark.parametrize(
    ("value", "text"),
    [
        pytest.param(
            300,
            "300 leaves no time to measure, since the script stops 300 s before it; write one such "
            "as 3600",
            id="300",
        ),
        pytest.param(None, "None is not a number of seconds; write one such as 3600", id="none"),
        pytest.param(True, "True is not a number of seconds; write one such as 3600", id="truth"),
        pytest.param("1h", "'1h' is not a number of seconds; write one such as 3600", id="text"),
    ],
)
def test_no_time(value, text):
    """A max-run-time that leaves nothing is refused, with one that would do."""
    with pytest.raises(BadKeyError) as caught:
        estimate.time_budget_s(value)
    assert (caught.value.key, caught.value.text) == ("worker.max-run-time", text)


def test_sizes_are_the_scripts():
    """The estimate's sizes are those of the script's workload."""
    file = REPOSITORY / "scripts" / "io-benchmark" / "workloads" / "cache_retrieve.py"
    assignment = next(
        node
        for node in ast.parse(file.read_text()).body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "CACHE_SIZES_MIB"
    )
    text = ast.unparse(assignment.value)
    assert re.fullmatch(r"[\d\s()+*,\[\]]+", text)
    sizes_mib = eval(text)  # noqa: S307 - numbers and their arithmetic alone, as asserted above
    assert (sum(sizes_mib), mean(sizes_mib)) == (estimate.CACHE_MIB, estimate.RETRIEVE_MIB)

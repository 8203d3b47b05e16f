# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Which pools must run once more: the action's rule, compared with that of `submit --confirm`."""

import copy
import json

import pytest
import seed_case
import seed_workers
import trial_records

from io_benchmark.analysis.trials import recorded_trials
from io_benchmark.commands.confirmation import find_confirmation
from io_benchmark_taskgraph import paces as rule
from io_benchmark_taskgraph.paces import Pace, entries_of

MIB = 1024**2
POOLS = ("amd-16", "amd-30", "intel")


def documents(pools=POOLS, workers=1, paced=()):
    made = seed_case.documents(workers, pools=pools)
    for document in made:
        trial_records.add_trials(document)
    for pool, rate in paced:
        (document,) = seed_case.documents(1, seed=7, pools=[pool])
        trial_records.add_trials(document, rate)
        document["task"]["task_id"] = "Yx4AjHXCRfyptBUIPTPtEg"
        made.append(document)
    return made


def renamed(made, pool):
    for document in made:
        document["task"] |= {"pool": pool, "task_id": "Qh77Ox1nTlqlkGLffMbrXg"}
    return made


def paces(made, baseline=None):
    entries = [entry for document in made for entry in entries_of(document)]
    return Pace.missing(entries, baseline)


CASES = [
    pytest.param(documents(), None, [("intel", 391 * MIB, "amd-16")], id="seed"),
    pytest.param(documents(workers=3), None, [("intel", 391 * MIB, "amd-16")], id="replicates"),
    pytest.param(documents(), "amd-16", [("amd-30", 391 * MIB), ("intel", 391 * MIB)], id="slow"),
    pytest.param(documents(), "amd-30", [("amd-30", 391 * MIB, "amd-16")], id="other baseline"),
    pytest.param(documents(["amd-30", "intel"]), None, [], id="alike"),
    pytest.param(documents(["intel"]), None, [], id="one pool"),
    pytest.param(
        [*documents(["amd-16", "intel"]), *renamed(documents(["amd-16"]), "amd-30")],
        None,
        [("intel", 391 * MIB, "amd-16")],
        id="one run for two pools",
    ),
    pytest.param(documents(paced=[("intel", 391 * MIB)]), None, [], id="paced"),
    pytest.param(documents(paced=[("intel", 400 * MIB)]), None, [], id="paced nearly"),
    pytest.param(
        documents(paced=[("intel", 500 * MIB)]),
        None,
        [("intel", 391 * MIB, "amd-16")],
        id="paced at another rate",
    ),
]


@pytest.mark.parametrize(("made", "baseline", "expected"), CASES)
def test_same_as_submit(made, baseline, expected):
    """Both rules name the same pools, at the same pace."""
    found = paces(made, baseline)
    workers = [seed_workers.worker(document) for document in made]
    judged = find_confirmation(workers, baseline).paces
    assert found == [Pace(pace.pool, pace.bytes_per_s, pace.against) for pace in judged]
    assert [tuple(pace)[: len(expected[0])] for pace in found] == expected


def test_same_limits():
    """The two rules have the same numbers."""
    assert rule.LEAST_RATIO == recorded_trials.LEAST_GAP_RATIO
    assert rule.CEILINGS_DIFFER_RATIO == recorded_trials.CEILINGS_DIFFER_RATIO
    assert rule.SAME_PACE_RATIO == recorded_trials.SAME_PACE_RATIO


def test_unknown_baseline():
    """A pool without results is no baseline: the last by name is."""
    assert paces(documents(), "gone") == paces(documents())


def test_equal_ceilings():
    """A pool that is slower with disks as fast is not limited."""
    made = documents(["amd-16", "intel"])
    for document in made:
        document["workloads"][0]["trials"] = trial_records.trials(400, 100)
    assert paces(made) == []


def test_places_apart():
    """Each place has its own ceilings; one that is alike needs no run."""
    made = documents(["amd-16", "intel"])
    for document in made:
        entry = copy.deepcopy(document["workloads"][0])
        entry["place"], entry["trials"] = "container", trial_records.trials(200, 100)
        document["workloads"].append(entry)
    assert paces(made) == [Pace("intel", 391 * MIB, "amd-16")]


@pytest.mark.parametrize(
    "text",
    [
        "5",
        "null",
        "[]",
        '{"task": {"pool": "x"}}',
        '{"task": {"pool": "x"}, "workloads": [5]}',
        '{"task": {"pool": "x"}, "workloads": [{"name": "cache-retrieve", "trials": 5}]}',
    ],
)
def test_malformed_results(text):
    """They have no entries."""
    assert entries_of(json.loads(text)) == []


def test_not_run():
    """Trials that were not run have no ceiling; a result without trials has no entry."""
    (document,) = documents(["intel"])
    trials = document["workloads"][0]["trials"]
    trials.update(state="not-run", reason="no time", ceilings=[], blocks=[])
    assert [entry.ceiling for entry in entries_of(document)] == [None]
    document["workloads"][0]["trials"] = None
    assert entries_of(document) == []

# SPDX-License-Identifier: MPL-2.0
"""Causes that cache-retrieve shows: evidence, predictions and the words.

test_deciding has the states; the recorded trees prove each cause end to end (tests/trees).
"""

import re
from typing import Any

import pytest
import seed_case
from checkout import ROOT
from seed_facts import (
    PLACE,
    both_disks,
    io_limit,
    options,
    scheduler,
    times_written,
)
from seed_workers import (
    SUBJECT,
    baseline_text,
    candidate_text,
    causes_of,
    explanation_text,
    workers_of,
)

from io_benchmark.analysis.diagnosis.case import Case
from io_benchmark.analysis.diagnosis.causes import RULES
from io_benchmark.analysis.diagnosis.deciding import judge
from io_benchmark.analysis.diagnosis_model import State
from io_benchmark.analysis.observed.side_views import SideViews

SUPPORTED, RULED_OUT, NOT_OBSERVABLE = State.SUPPORTED, State.RULED_OUT, State.NOT_OBSERVABLE
NOT_SEPARABLE, NOT_JUDGED = State.NOT_SEPARABLE, State.NOT_JUDGED
LINEAR = {f"{PLACE}.devices.0.stripe_count": None} | both_disks(0.5)
LINEAR |= options("rw,nobarrier,data=writeback,commit=60")
IDLES = scheduler("bfq", slice_idle=8, low_latency=1)
ROOT_GROUP = {"host.container": None}
OWN_RULES = [rule for rule in RULES if "cache-retrieve" in rule.workloads]


def a(change: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Only the slower side is changed."""
    return {"amd-16": change}


def both(change: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {"amd-16": change, "intel": change}


def test_a_cgroups_cap_predicts_as_a_published_one_does():
    """Each disk held to 40 MiB/s by its cgroup: one against two striped predicts 2.00x."""
    cap = 40 * 1024 * 1024
    limits = [io_limit(cap, name=name)["limits.io"][0] for name in ("nvme0n1", "nvme0n2")]
    found = causes_of({"amd-16": io_limit(cap), "intel": {"limits.io": limits}})["device-count"]
    assert (found.state, found.predicted_ratio) == (SUPPORTED, 2.0)


def test_a_cap_on_one_of_two_disks_does_not_limit_the_stripe():
    """The other disk is not limited, so the cap of the whole stripe is not known."""
    found = causes_of({"intel": io_limit(1024, name="nvme0n1")})["device-count"]
    assert baseline_text(found).endswith("published cap 700 MiB/s")


def test_a_busy_neighbour_hides_no_wait():
    """PSI's `full` stays at 0 while any process computes, although the copies waited."""
    still = {"timeline.columns.psi_io_full_us": lambda column: [column[0]] * len(column)}
    found = causes_of(both({**still, "task.instance_type": "m5.large"}))["device-count"]
    assert found.state is SUPPORTED


def test_nothing_is_supported_without_a_difference():
    """AMD-30 is another machine with another CPU, but as fast: there is no difference to explain."""
    causes = causes_of(candidate="amd-30", ratio=1.0138)
    states = {name: cause.state for name, cause in causes.items()}
    assert states.pop("random-io") is NOT_OBSERVABLE
    assert set(states) == {rule.name for rule in OWN_RULES} - {"random-io"}
    # What is the same on both sides explains no difference, however large; the rest is not judged.
    assert set(states.values()) == {RULED_OUT, NOT_JUDGED}
    assert states["lookup-cost"] is NOT_JUDGED
    assert states["cgroup-io-limit"] is RULED_OUT


UNPUBLISHED = "from the number of disks, because the cap of a side is not known."


@pytest.mark.parametrize(
    ("change", "ratio", "share", "sentence"),
    [
        pytest.param({}, 2.2, 0.88, "this explains 88 %", id="a part"),
        pytest.param({"task.instance_type": None}, 1.92, 1, "known write caps", id="unknown"),
        pytest.param({"task.instance_type": "z3-highmem-88"}, 1.92, 1, UNPUBLISHED, id="no cap"),
        pytest.param({f"{PLACE}.devices.1.model": "Samsung"}, 1.92, 1, UNPUBLISHED, id="no SSD"),
    ],
)
def test_the_device_counts_prediction(change, ratio, share, sentence):
    """From the published caps of the striped disks, else from their number."""
    cause = causes_of(a(change), ratio=ratio)["device-count"]
    assert (cause.state, cause.predicted_ratio) == (SUPPORTED, 2.0)
    assert cause.share == pytest.approx(share, abs=0.005)
    assert sentence in explanation_text(cause)


def test_a_linear_volumes_prediction():
    """It is what the slower side's disks would reach as a stripe; none where no side is slower."""
    found = causes_of({"amd-30": LINEAR}, candidate="amd-30", ratio=1.9)["linear-volume"]
    assert (found.predicted_ratio, f"{found.share:.0%}") == (2.0, "99%")
    assert candidate_text(found) == "2 disks, linear: the bandwidth of 1"
    pair = causes_of({"amd-30": LINEAR}, baseline="amd-30", candidate="intel", ratio=1 / 1.9)
    found = pair["linear-volume"]
    assert (found.predicted_ratio, f"{found.share:.0%}") == (0.5, "99%")
    found = causes_of({"amd-30": LINEAR}, candidate="amd-30", ratio=None)["linear-volume"]
    assert (found.predicted_ratio, found.share) == (None, None)


def test_a_journal_with_the_data_must_write_it():
    """Where the disks wrote no more than on the other side, the journal cost nothing."""
    writeback, journal = (
        options(f"rw,nobarrier,data={mode},commit=60") for mode in ("writeback", "journal")
    )
    change = {"intel": writeback, "amd-30": journal}
    found = causes_of(change, candidate="amd-30")["mount-options"]
    assert found.state is RULED_OUT
    assert "it predicts 1.0" in explanation_text(found)


@pytest.mark.parametrize(
    "option",
    [
        *("sync", "dirsync", "discard", "strictatime", "nodelalloc"),
        *("data=ordered", "data=journal", "barrier=1", "commit=5"),
    ],
)
def test_each_mount_option_that_costs_time(option):
    """On the slower side alone it may be the cause, on the faster side alone it is not.

    Only a journal with the data has a size: the bytes that it writes once more.
    """
    name = option.partition("=")[0]
    others = [
        default for default in ("nobarrier", "data=writeback", "commit=60") if name not in default
    ]
    same_cpu = {"host.cpu_model": "the same", "host.cpu_count": 16}
    tuned, costly = (
        same_cpu | options(",".join(names))
        for names in (("nobarrier", "data=writeback", "commit=60"), (*others, option))
    )
    # Both have two disks, so that nothing else acts through the same part of the time.
    moved = times_written(2) if option == "data=journal" else {}
    change = {"intel": tuned, "amd-30": {**costly, **moved}}
    found = causes_of(change, candidate="amd-30")["mount-options"]
    state = SUPPORTED if option == "data=journal" else NOT_SEPARABLE
    assert (found.state, option.removesuffix("=1") in candidate_text(found)) == (state, True)
    found = causes_of({"intel": costly, "amd-30": tuned}, candidate="amd-30")["mount-options"]
    assert found.state is RULED_OUT


def test_the_schedulers_idling():
    """Seed 001's four preconditions, each met or not on each side; sync-write's times would prove it."""
    found = causes_of(a(IDLES))["scheduler-idling"]
    assert baseline_text(found) == (
        "a separate cgroup: met (a container); ext3 or ext4, its journal in the root group: met (ext4); "
        "bfq or cfq: not met (none); idle settings above 0: not met (none)"
    )
    assert candidate_text(found) == (
        "a separate cgroup: met (a container); ext3 or ext4, its journal in the root group: met (ext4); "
        "bfq or cfq: met (bfq); idle settings above 0: met (slice_idle=8)"
    )
    # The seed's case has fewer disks as well.
    assert found.state is NOT_SEPARABLE
    assert " Times of the workload sync-write would prove it." in explanation_text(found)


@pytest.mark.parametrize(
    ("groups", "state"),
    [
        pytest.param({"blkio": "/sys/fs/cgroup/blkio/user.slice"}, NOT_SEPARABLE, id="v1"),
        pytest.param({"unified": "/sys/fs/cgroup/user.slice"}, NOT_SEPARABLE, id="v2"),
        pytest.param({"blkio": "/sys/fs/cgroup/blkio"}, RULED_OUT, id="v1's root"),
        pytest.param(
            {"blkio": "/sys/fs/cgroup/blkio", "unified": "/sys/fs/cgroup/unified/user.slice"},
            RULED_OUT,
            id="v1 has the say where both are mounted",
        ),
        pytest.param({}, NOT_OBSERVABLE, id="none seen"),
    ],
)
def test_the_group_that_io_counts_for(groups, state):
    """Outside a container the cgroup's path shows whether it is the root group."""
    found = causes_of(a(IDLES | ROOT_GROUP | {"limits.groups": groups}))["scheduler-idling"]
    assert found.state is state


def test_workers_without_a_value():
    """The other workers decide, and the evidence counts those without a value."""
    found = causes_of({"amd-16/2": {"host": None}}, workers=3)["kernel"]
    assert found.state is RULED_OUT
    assert candidate_text(found).endswith("on 2 of 3 workers, unknown on 1 of 3 workers")


def test_a_side_without_workers():
    """Nothing is supported, nothing fails."""
    sides = workers_of(seed_case.documents(pools=["amd-16"]))
    nobody, slow = (SideViews.of_workers(each, SUBJECT) for each in ([], sides["amd-16"]))
    causes = judge(Case(SUBJECT, 1.92, nobody, slow))
    assert SUPPORTED not in {cause.state for cause in causes}


def test_documented():
    """taskcluster/docs/causes.md has every cause, in the report's order, with what decides its state."""
    text = (ROOT / "taskcluster" / "docs" / "causes.md").read_text()
    table = text.partition("## Causes")[2].partition("## ")[0]
    rows = re.findall(r"^\| `([a-z0-9-]+)` \|(.+)\|$", table, re.MULTILINE)
    assert [name for name, _ in rows] == [rule.name for rule in RULES]
    assert {row.count("|") for _, row in rows} == {2}

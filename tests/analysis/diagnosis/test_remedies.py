# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Remedies: tied to a supported cause, with the gain that was measured or predicted."""

import re
from dataclasses import replace

import pytest
from checkout import ROOT
from seed_workers import SUBJECT, causes_of

from io_benchmark.analysis.diagnosis.causes import RULES
from io_benchmark.analysis.diagnosis.remedies import PLANS, suggest
from io_benchmark.analysis.model import Cause, Remedy, State

MS = 1_000_000
UNLINK = replace(SUBJECT, destination="unlink")
ELSEWHERE = replace(SUBJECT, place="container")
SEED = {
    "intel": {SUBJECT: 75.96 * MS},
    "amd-30": {SUBJECT: 77.0 * MS},
    "amd-16": {SUBJECT: 145.7 * MS},
}
MACHINES = {
    "intel": "c2-standard-16",
    "amd-30": "c3d-standard-30-lssd",
    "amd-16": "c3d-standard-16-lssd",
}
REMOVE = "remove the destination before copying (cp --remove-destination, or unlink it first)"


def supported(name: str, predicted: float | None = None) -> Cause:
    return Cause(name, "", State.SUPPORTED, "", "", "", predicted_ratio=predicted)


def remedies(*causes: Cause, measured=SEED, candidate="amd-16", baseline="intel", machines=None):
    return suggest(causes, SUBJECT, measured, candidate, baseline, machines=machines)


def test_the_seeds_case():
    """A machine with two disks, measured on AMD-30; removing the destination; a mount option."""
    measured = {**SEED, "amd-16": {SUBJECT: 145.7 * MS, UNLINK: 29.14 * MS}}
    found = suggest(
        list(causes_of(ratio=1.918).values()),
        SUBJECT,
        measured,
        "amd-16",
        "intel",
        machines=MACHINES,
    )
    assert found == (
        Remedy(
            "device-count",
            "use a machine type with more local SSDs, striped, such as c3d-standard-30-lssd",
            145.7 * MS / (77.0 * MS),
            True,
            "the pool amd-30 is such a machine and takes 77.0 ms instead of 145.7 ms",
        ),
        Remedy(
            "ext4-flush",
            REMOVE,
            145.7 * MS / (29.14 * MS),
            True,
            "amd-16: destination unlink takes 29.1 ms instead of 145.7 ms",
        ),
        Remedy(
            "ext4-flush",
            "mount the place with noauto_da_alloc",
            None,
            False,
            "ext4 then leaves a rewritten file in memory when it is closed, as it does any other; "
            "not measured here",
        ),
    )


def test_more_disks_predicted():
    """Without a pool that is such a machine, the published caps tell."""
    (found,) = remedies(supported("device-count", 2.0), machines={"amd-16": "c3d-standard-16-lssd"})
    assert (found.action, found.gain_ratio, found.measured, found.evidence) == (
        "use a machine type with more local SSDs, striped, such as c3d-standard-30-lssd",
        2.0,
        False,
        "predicted from the write caps; intel takes 76.0 ms",
    )


def test_more_disks_neither_predicted_nor_named():
    """No cap and no machine type: what the other pool reaches is the evidence."""
    (found,) = remedies(supported("device-count"))
    assert (found.action, found.gain_ratio, found.measured, found.evidence) == (
        "use a machine type with more local SSDs, striped",
        145.7 * MS / (75.96 * MS),
        True,
        "intel, which has it so, takes 76.0 ms instead of 145.7 ms",
    )


@pytest.mark.parametrize("unused", ["linear-volume", "boot-disk-fallback"])
def test_no_more_disks_where_there_are_enough(unused):
    """Disks that are there and not used are mended first."""
    found = remedies(supported("device-count", 2.0), supported(unused, 2.0), machines=MACHINES)
    assert [remedy.cause for remedy in found] == [unused]


def test_the_destination_unmeasured():
    """It is named, without a number, and how to measure it."""
    found = remedies(supported("ext4-flush"))[0]
    assert (found.action, found.gain_ratio, found.measured) == (REMOVE, None, False)
    assert "destination unlink in the same push would tell" in found.evidence


def test_what_was_measured_and_does_not_help_is_not_named():
    """The same push tried it."""
    measured = {**SEED, "amd-16": {SUBJECT: 145.7 * MS, UNLINK: 145.0 * MS}}
    found = remedies(supported("ext4-flush"), measured=measured)
    assert [remedy.action for remedy in found] == ["mount the place with noauto_da_alloc"]


def test_another_place_measured():
    """The best of the other places on the same side."""
    measured = {
        **SEED,
        "amd-16": {
            SUBJECT: 145.7 * MS,
            ELSEWHERE: 100 * MS,
            replace(ELSEWHERE, place="third"): 90 * MS,
            replace(ELSEWHERE, destination="unlink"): 1 * MS,
        },
    }
    (found,) = remedies(supported("storage-place"), measured=measured)
    assert (found.gain_ratio, found.measured, found.evidence) == (
        145.7 * MS / (90 * MS),
        True,
        "amd-16: place third takes 90.0 ms instead of 145.7 ms",
    )


def test_another_pools_gain_belongs_to_one_cause():
    """Where several causes have a part in the difference, none claims all of it."""
    (alone, _, _) = remedies(supported("scheduler"), supported("ext4-flush"))
    assert (alone.gain_ratio, alone.measured) == (145.7 * MS / (75.96 * MS), True)
    (first, second) = remedies(supported("scheduler"), supported("mount-options"))
    assert {first.gain_ratio, second.gain_ratio} == {None}
    assert first.evidence == (
        "intel, which has it so, takes 76.0 ms instead of 145.7 ms; other causes have a part in that"
    )


def test_a_candidate_that_is_faster():
    """The remedy is for the slower side, and compares with the faster one."""
    (found,) = remedies(supported("linear-volume", 0.5), candidate="intel", baseline="amd-16")
    assert (found.gain_ratio, found.measured) == (2.0, False)
    (found,) = remedies(supported("kernel"), candidate="intel", baseline="amd-16")
    assert found.evidence == "intel, which has it so, takes 76.0 ms instead of 145.7 ms"


@pytest.mark.parametrize("state", [State.RULED_OUT, State.NOT_OBSERVABLE])
@pytest.mark.parametrize("name", [rule.name for rule in RULES])
def test_only_supported_causes(name, state):
    """Nothing else is worth trying."""
    assert remedies(replace(supported(name), state=state)) == ()


@pytest.mark.parametrize("name", sorted({plan.cause for plan in PLANS}))
def test_every_remedy_has_evidence(name):
    """Also where nothing was measured at all."""
    found = remedies(supported(name), measured={})
    assert [remedy.action for remedy in found] == [
        plan.action for plan in PLANS if plan.cause == name
    ]
    assert all(remedy.evidence and remedy.gain_ratio is None for remedy in found)


def test_names_stay_plain_text():
    """A side's or a place's name is shown, never interpreted."""
    name = "\x1b[31m" + "x" * 500
    measured = {name: {SUBJECT: 2.0 * MS, replace(SUBJECT, place=name): 1.0 * MS}}
    (found,) = remedies(supported("storage-place"), measured=measured, candidate=name)
    assert found.evidence.isprintable()
    assert len(found.evidence) < 200


def test_documented():
    """taskcluster/docs/causes.md has every remedy, in order."""
    text = (ROOT / "taskcluster" / "docs" / "causes.md").read_text()
    table = text.partition("## Remedies")[2]
    rows = re.findall(r"^\| `([a-z0-9-]+)` \| ([^|]+) \|", table, re.MULTILINE)
    assert rows == [(plan.cause, plan.action) for plan in PLANS]

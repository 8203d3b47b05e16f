# SPDX-License-Identifier: MPL-2.0
"""Remedies: tied to a supported cause, with the gain that was measured or predicted."""

import re

import pytest
from checkout import ROOT
from msgspec.structs import replace
from seed_workers import SUBJECT, causes_of, remedy_text

from io_benchmark.analysis.diagnosis.causes import RULES
from io_benchmark.analysis.diagnosis.diagnoses import suggest_remedies
from io_benchmark.analysis.evidence_model import Evidence
from io_benchmark.analysis.model import Cause, Remedy, State
from io_benchmark.report.content.statement_text import text_of

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
    return Cause(name, "", State.SUPPORTED, Evidence(), Evidence(), (), predicted_ratio=predicted)


def shown(remedy: Remedy) -> tuple[str, float | None, bool, str]:
    """A remedy as reports write it."""
    evidence = remedy_text(remedy.evidence)
    return text_of(remedy.action), remedy.gain_ratio, remedy.measured, evidence


def remedies(
    *causes: Cause,
    measured=SEED,
    candidate="amd-16",
    baseline="intel",
    machines=None,
    place_kinds=None,
):
    return suggest_remedies(
        causes,
        SUBJECT,
        measured,
        candidate,
        baseline,
        machines=machines or {},
        place_kinds=place_kinds or {},
    )


def test_what_both_sides_share_helps_whichever_of_several_causes_it_is() -> None:
    """Neither of the two is supported, so none of their own remedies is suggested."""
    found = remedies(
        replace(supported("disk-speed"), state=State.NOT_SEPARABLE),
        replace(supported("scheduler"), state=State.NOT_SEPARABLE),
        replace(supported("ext4-flush"), state=State.RULED_OUT, is_shared=True),
    )
    assert [(each.cause, text_of(each.action)) for each in found][:1] == [("ext4-flush", REMOVE)]
    assert {each.cause for each in found} == {"ext4-flush"}


def test_the_seeds_case():
    """A machine with two disks, measured on AMD-30; removing the destination; a mount option."""
    measured = {**SEED, "amd-16": {SUBJECT: 145.7 * MS, UNLINK: 29.14 * MS}}
    found = suggest_remedies(
        list(causes_of(ratio=1.918).values()),
        SUBJECT,
        measured,
        "amd-16",
        "intel",
        machines=MACHINES,
    )
    assert [shown(remedy) for remedy in found] == [
        (
            "use a machine type with more local SSDs, striped, such as c3d-standard-30-lssd with 2",
            145.7 * MS / (77.0 * MS),
            True,
            "The pool amd-30 has this machine type and takes 77.0 ms instead of 146 ms.",
        ),
        (
            REMOVE,
            145.7 * MS / (29.14 * MS),
            True,
            "amd-16: destination unlink takes 29.1 ms instead of 146 ms.",
        ),
        (
            "mount the place with noauto_da_alloc",
            None,
            False,
            "ext4 then keeps a rewritten file in memory when it is closed. This is not measured here.",
        ),
    ]
    assert [remedy.cause for remedy in found] == ["device-count", "device-count", "device-count"]


def test_more_disks_predicted():
    """Without a pool of that machine type, the published caps predict the gain."""
    (found,) = remedies(supported("device-count", 2.0), machines={"amd-16": "c3d-standard-16-lssd"})
    assert shown(found) == (
        "use a machine type with more local SSDs, striped, such as c3d-standard-30-lssd with 2",
        2.0,
        False,
        "Predicted from the bandwidth of the disks. intel takes 76.0 ms.",
    )


def test_more_disks_of_a_machine_type_that_needs_none():
    """Fxci-config's check fails such a pool: the report says what it needs."""
    (found,) = remedies(supported("device-count", 2.0), machines={"amd-16": "n2-standard-16"})
    assert shown(found)[3].endswith("as an exception of fxci-config's check_gcp_ssds.")


def test_more_disks_neither_predicted_nor_named():
    """No cap and no machine type: what the other pool reaches is the evidence, no measurement."""
    (found,) = remedies(supported("device-count"))
    assert (found.gain_ratio, found.measured) == (pytest.approx(145.7 / 75.96), False)
    assert (shown(found)[0], shown(found)[3]) == (
        "use a machine type with more local SSDs, striped",
        "intel, which is set up this way, takes 76.0 ms instead of 146 ms.",
    )


@pytest.mark.parametrize("unused", ["linear-volume", "boot-disk-fallback"])
def test_no_more_disks_where_there_are_enough(unused):
    """Disks that are not used must be fixed first."""
    found = remedies(supported("device-count", 2.0), supported(unused, 2.0), machines=MACHINES)
    assert [remedy.cause for remedy in found] == [unused]


def test_the_destination_unmeasured():
    """The remedy has no gain, and its evidence says how to measure it."""
    found = remedies(supported("ext4-flush"))[0]
    assert shown(found)[:3] == (REMOVE, None, False)
    assert "destination unlink in the same push would show it" in shown(found)[3]


def test_a_remedy_that_was_measured_and_does_not_help():
    """A remedy is left out where the same push measured that it does not help."""
    measured = {**SEED, "amd-16": {SUBJECT: 145.7 * MS, UNLINK: 145.0 * MS}}
    found = remedies(supported("ext4-flush"), measured=measured)
    assert [shown(remedy)[0] for remedy in found] == ["mount the place with noauto_da_alloc"]


def test_another_place_measured():
    """The best of the other volumes on the same side; memory and an overlay are no volumes."""
    measured = {
        **SEED,
        "amd-16": {
            SUBJECT: 145.7 * MS,
            ELSEWHERE: 100 * MS,
            replace(ELSEWHERE, place="third"): 90 * MS,
            replace(ELSEWHERE, place="memory"): 10 * MS,
            replace(ELSEWHERE, place="layers"): 20 * MS,
            replace(ELSEWHERE, destination="unlink"): 1 * MS,
        },
    }
    kinds = {"container": "directory", "third": "volume", "memory": "memory", "layers": "overlay"}
    (found,) = remedies(
        supported("storage-place"),
        measured=measured,
        place_kinds={("amd-16", name): kind for name, kind in kinds.items()},
    )
    assert shown(found)[1:] == (
        145.7 * MS / (90 * MS),
        True,
        "amd-16: place third takes 90.0 ms instead of 146 ms.",
    )


WHOLE = 145.7 / 75.96


def test_another_pool_measures_no_remedy():
    """The pools may differ in more than the remedy, so its gain is predicted."""
    (found, _, _) = remedies(supported("scheduler"), supported("ext4-flush"))
    assert (found.gain_ratio, found.measured) == (pytest.approx(WHOLE), False)
    assert shown(found)[3] == "intel, which is set up this way, takes 76.0 ms instead of 146 ms."


def test_another_pools_gain_belongs_to_one_cause():
    """Where several causes of unknown size contribute to the difference, none gets the gain."""
    (first, second) = remedies(supported("scheduler"), supported("mount-options"))
    assert {first.gain_ratio, second.gain_ratio} == {None}
    assert shown(first)[3] == (
        "intel, which is set up this way, takes 76.0 ms instead of 146 ms. Other causes contribute to "
        "that."
    )


def test_two_causes_share_the_gain():
    """Each gains what it explains; together they gain the whole difference."""
    shares = (0.25, 0.75)
    causes = [
        replace(supported(name), share=share)
        for name, share in zip(("kernel", "scheduler"), shares, strict=True)
    ]
    gains = [remedy.gain_ratio for remedy in remedies(*causes)]
    assert gains == [pytest.approx(WHOLE**share) for share in shares]
    assert shown(remedies(*causes)[0])[3].endswith("This cause explains 25 % of that.")


def test_the_gain_is_what_the_part_of_the_time_allows():
    """A cause without a size gains at most what its parts make up of the difference."""
    (found,) = remedies(replace(supported("kernel"), share_at_most=0.3))
    assert (found.gain_ratio, found.measured) == (pytest.approx(WHOLE**0.3), False)
    assert shown(found)[3].endswith("This cause explains at most 30 % of that.")


@pytest.mark.parametrize(
    ("predicted", "allowed"), [(1.3, 1.3), (None, (145.7 / 75.96) ** 0.4)], ids=["caps", "parts"]
)
def test_a_larger_machine_that_is_faster_in_something_else(predicted, allowed):
    """With a fast grep as well, a pool with more disks does not measure what more disks gain."""
    cause = replace(supported("device-count", predicted), share=0.4)
    (found,) = remedies(cause, machines=MACHINES)
    assert (found.gain_ratio, found.measured) == (pytest.approx(allowed), False)
    assert shown(found)[3].startswith(
        "The pool amd-30 has this machine type and takes 77.0 ms instead of 146 ms. It is faster in "
        "something else, too: more disks allow less."
    )


def test_a_candidate_that_is_faster():
    """The remedy is for the slower side, and compares with the faster one."""
    (found,) = remedies(supported("linear-volume", 0.5), candidate="intel", baseline="amd-16")
    assert (found.gain_ratio, found.measured) == (2.0, False)
    (found,) = remedies(supported("kernel"), candidate="intel", baseline="amd-16")
    assert shown(found)[3] == "intel, which is set up this way, takes 76.0 ms instead of 146 ms."


@pytest.mark.parametrize("state", [State.RULED_OUT, State.NOT_OBSERVABLE])
@pytest.mark.parametrize("name", [rule.name for rule in RULES])
def test_only_supported_causes(name, state):
    """Causes in another state have no remedy."""
    assert remedies(replace(supported(name), state=state)) == ()


@pytest.mark.parametrize("name", [rule.name for rule in RULES if rule.remedies])
def test_every_remedy_has_evidence(name):
    """Also where nothing was measured at all."""
    found = remedies(supported(name), measured={})
    (rule,) = [rule for rule in RULES if rule.name == name]
    assert [shown(remedy)[0] for remedy in found] == list(rule.remedies)
    assert all(shown(remedy)[3] and remedy.gain_ratio is None for remedy in found)


def test_names_stay_plain_text():
    """A side's or a place's name is shown, never interpreted."""
    name = "\x1b[31m" + "x" * 500
    measured = {name: {SUBJECT: 2.0 * MS, replace(SUBJECT, place=name): 1.0 * MS}}
    (found,) = remedies(supported("storage-place"), measured=measured, candidate=name)
    assert shown(found)[3].isprintable()
    assert len(shown(found)[3]) < 1500


def test_documented():
    """taskcluster/docs/causes.md has every remedy, in order."""
    text = (ROOT / "taskcluster" / "docs" / "causes.md").read_text()
    table = text.partition("## Remedies")[2]
    rows = re.findall(r"^\| `([a-z0-9-]+)` \| ([^|]+) \|", table, re.MULTILINE)
    assert rows == [(rule.name, action) for rule in RULES for action in rule.remedies]

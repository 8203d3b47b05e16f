# SPDX-License-Identifier: MPL-2.0
"""Remedies: tied to a supported cause, with the gain that was measured or predicted."""

import pytest
from msgspec.structs import replace
from seed_workers import SUBJECT, remedy_text

from io_benchmark.analysis.explaining.causes import RULES
from io_benchmark.analysis.explaining.diagnoses import suggest_remedies
from io_benchmark.analysis.explaining.measured_gains import Push
from io_benchmark.analysis.model.cause import (
    Cause,
    Evidence,
    Remedy,
    State,
    TrialOutcome,
    TrialState,
)
from io_benchmark.analysis.model.statements import statement
from io_benchmark.report.content import text_of
from io_benchmark.results.workloads.cache_retrieve import TrialKind

MS = 1_000_000
UNLINK = replace(SUBJECT, destination="unlink")
SEED = {
    ("intel", SUBJECT): 75.96 * MS,
    ("amd-30", SUBJECT): 77.0 * MS,
    ("amd-16", SUBJECT): 145.7 * MS,
}
MACHINES = {
    "intel": "c2-standard-16",
    "amd-30": "c3d-standard-30-lssd",
    "amd-16": "c3d-standard-16-lssd",
}
REMOVE = "remove the destination before copying (cp --remove-destination, or unlink it first)"
NO_ALLOC = "where it is ext4, mount the place with noauto_da_alloc"


def supported(name: str, predicted: float | None = None) -> Cause:
    return Cause(name, "", State.SUPPORTED, Evidence(), Evidence(), (), predicted_ratio=predicted)


def shown(remedy: Remedy) -> tuple[str, float | None, bool, str]:
    """A remedy as reports write it."""
    evidence = remedy_text(remedy.evidence)
    return text_of(remedy.action), remedy.gain_ratio, remedy.measured, evidence


def remedies(
    *causes: Cause,
    measured=SEED,
    slow="amd-16",
    fast="intel",
    machines=None,
    kinds=None,
    trials=(),
):
    push = Push(SUBJECT, slow, fast, measured, machines or {}, kinds or {}, trials)
    return suggest_remedies(causes, push)


def of_amd_16(**times_ms):
    """The seed's times, and what amd-16 also measured."""
    subjects = {"unlink": UNLINK} | {
        name: replace(SUBJECT, place=name) for name in times_ms if name != "unlink"
    }
    return SEED | {("amd-16", subjects[name]): ms * MS for name, ms in times_ms.items()}


def test_what_both_sides_share_helps_whichever_of_several_causes_it_is() -> None:
    """Neither of the two is supported, so none of their own remedies is suggested."""
    found = remedies(
        replace(supported("disk-speed"), state=State.NOT_SEPARABLE),
        replace(supported("scheduler"), state=State.NOT_SEPARABLE),
        replace(supported("ext4-flush"), state=State.RULED_OUT, is_shared=True),
    )
    assert [(each.cause, text_of(each.action)) for each in found][:1] == [("ext4-flush", REMOVE)]
    assert {each.cause for each in found} == {"ext4-flush"}


def test_a_refuted_trial_removes_what_it_tried() -> None:
    """Both sides flush alike, and copies without the flush differ as much."""
    causes = [
        replace(supported("disk-speed"), state=State.NOT_SEPARABLE),
        replace(supported("ext4-flush"), state=State.RULED_OUT, is_shared=True),
    ]
    causes[1] = replace(causes[1], tried_by=TrialKind.UNLINK)
    for state, expected in ((TrialState.UNDECIDED, {"ext4-flush"}), (TrialState.REFUTED, set())):
        trial = TrialOutcome(TrialKind.UNLINK, state, statement("The gap."), gain_ratio=1.5)
        found = remedies(*causes, trials=(trial,))
        assert {remedy.cause for remedy in found} == expected


@pytest.mark.parametrize(("gain_ratio", "number"), [(1.019, 0), (1.021, 2)])
def test_a_trial_that_gains_nothing_removes_what_acts_alike(gain_ratio: float, number: int) -> None:
    """A synchronous mount waits for each byte, with the flush and without it."""
    causes = [
        replace(supported("mount-options"), state=State.NOT_SEPARABLE),
        replace(supported("ext4-flush"), state=State.RULED_OUT, is_shared=True),
    ]
    trial = TrialOutcome(
        TrialKind.UNLINK, TrialState.UNDECIDED, statement("The gap."), gain_ratio=gain_ratio
    )
    found = remedies(*causes, trials=(trial,))
    assert len(found) == number


MORE_DISKS = "use a machine type with more local SSDs, striped"
FASTER = "intel, which is set up this way, takes 76.0 ms instead of 146 ms."
ELSE = (
    "The pool amd-30 has this machine type and takes 77.0 ms instead of 146 ms. It is faster in "
    "something else, too: more disks allow less."
)
WHOLE = 145.7 / 75.96
DEVICES, SCHEDULER = supported("device-count", 2.0), supported("scheduler")
KINDS = {"container": "directory", "third": "volume", "memory": "memory", "layers": "overlay"}
PLACES = of_amd_16(container=100, third=90, memory=10, layers=20)
# The causes, what else is known, and the first remedy: its gain, if measured, and its evidence.


def of_size(share: float, name: str = "kernel", predicted: float | None = None) -> Cause:
    return replace(supported(name, predicted), share=share)


FIRST = {
    "more disks, by the published caps": (
        (DEVICES,),
        {"machines": {"amd-16": "c3d-standard-16-lssd"}},
        (2.0, False, "Predicted from the bandwidth of the disks. intel takes 76.0 ms."),
    ),
    "a larger machine gains more than its caps": (
        (of_size(0.4, "device-count", 1.3),),
        {"machines": MACHINES},
        (1.3, False, f"{ELSE}*"),
    ),
    "a larger machine gains more than its parts": (
        (of_size(0.4, "device-count"),),
        {"machines": MACHINES},
        (WHOLE**0.4, False, f"{ELSE}*"),
    ),
    "the best of the other volumes": (
        (supported("storage-place"),),
        {"measured": PLACES, "kinds": {("amd-16", name): kind for name, kind in KINDS.items()}},
        (145.7 / 90, True, "amd-16: place third takes 90.0 ms instead of 146 ms."),
    ),
    "another pool may differ in more than the remedy": (
        (SCHEDULER, supported("ext4-flush")),
        {},
        (WHOLE, False, FASTER),
    ),
    "several causes of unknown size": (
        (SCHEDULER, supported("mount-options")),
        {},
        (None, False, f"{FASTER} Other causes contribute to that."),
    ),
    "a cause gains what it explains": (
        (of_size(0.25), of_size(0.75, "scheduler")),
        {},
        (WHOLE**0.25, False, f"{FASTER} This cause explains 25 % of that."),
    ),
    "a cause gains nearly all": ((of_size(0.81),), {}, (WHOLE**0.81, False, FASTER)),
    "a cause gains less than all": (
        (of_size(0.79),),
        {},
        (WHOLE**0.79, False, f"{FASTER} This cause explains 79 % of that."),
    ),
    "a cause without a size gains what its parts allow": (
        (replace(supported("kernel"), share_at_most=0.3),),
        {},
        (WHOLE**0.3, False, f"{FASTER} This cause explains at most 30 % of that."),
    ),
}


@pytest.mark.parametrize(("causes", "keywords", "expected"), FIRST.values(), ids=FIRST)
def test_the_first_remedy(causes, keywords, expected):
    """Its gain is measured by the same push, predicted, or what the other side shows at most."""
    gain, measured, evidence = expected
    _, ratio, is_measured, text = shown(remedies(*causes, **keywords)[0])
    assert (ratio, is_measured) == (gain if gain is None else pytest.approx(gain), measured)
    assert text == evidence or (evidence.endswith("*") and text.startswith(evidence[:-1]))


def test_more_disks_of_a_machine_type():
    """The next larger one is named."""
    (found,) = remedies(DEVICES, machines={"amd-16": "c3d-standard-16-lssd"})
    assert shown(found)[0] == f"{MORE_DISKS}, such as c3d-standard-30-lssd with 2"
    (found,) = remedies(DEVICES, machines={"amd-16": "n2-standard-16"})
    assert shown(found)[0] == MORE_DISKS


@pytest.mark.parametrize(
    ("unlink_ms", "actions"),
    [
        pytest.param({}, [REMOVE, NO_ALLOC], id="not measured"),
        # A gain of 2 % is the least.
        pytest.param({"unlink": 142.8}, [REMOVE, NO_ALLOC], id="helps a little"),
        pytest.param({"unlink": 142.9}, [NO_ALLOC], id="does not help"),
    ],
)
def test_another_destination(unlink_ms, actions):
    """A remedy is left out where the same push measured that it does not help."""
    found = remedies(supported("ext4-flush"), measured=of_amd_16(**unlink_ms))
    assert [shown(remedy)[0] for remedy in found] == actions
    if not unlink_ms:
        assert (found[0].gain_ratio, found[0].measured) == (None, False)
        assert "destination unlink in the same push would show it" in shown(found[0])[3]


def test_every_remedy_has_evidence():
    """Also where the push measured nothing else than the two sides."""
    for rule in RULES:
        found = remedies(supported(rule.name))
        assert [shown(remedy)[0] for remedy in found] == [remedy.action for remedy in rule.remedies]
        assert all(shown(remedy)[3] and not remedy.measured for remedy in found)


def test_a_remedy_of_another_system_is_not_suggested() -> None:
    """Storage drivers of containers are no way out on Windows."""
    measured = {("amd-16", SUBJECT): 2.0, ("intel", SUBJECT): 1.0}
    for system, number in (("linux", 1), ("windows", 0)):
        push = Push(SUBJECT, "amd-16", "intel", measured, {}, system=system)
        assert len(suggest_remedies([supported("metadata-lock")], push)) == number

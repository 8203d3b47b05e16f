# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""What the same push says of a remedy: another destination, variant, place or pool that it measured."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from io_benchmark.analysis import words
from io_benchmark.analysis.diagnosis.evidence import plain
from io_benchmark.analysis.model import Cause, Subject
from io_benchmark.analysis.observed import published_caps

GAIN_AT_LEAST = 1.02
# What explains less than this leaves a part to something that was not found.
WHOLE_SHARE = 0.8
MS = 1_000_000
# What makes another cause matter is none that competes with it for the gain.
MECHANISMS = frozenset({"ext4-flush", "random-io"})
MORE_DISKS = "use a machine type with more local SSDs, striped"

Measured = Mapping[str, Mapping[Subject, float]]


@dataclass(frozen=True)
class Push:
    """What was measured beside the comparison; `slow` is the side that a remedy is for."""

    subject: Subject
    measured: Measured
    machines: Mapping[str, str | None]  # side -> machine type
    slow: str
    fast: str
    supported: frozenset[str]

    def mean_ns(self, side: str, subject: Subject) -> float | None:
        value = self.measured.get(side, {}).get(subject)
        return value if value is not None and value > 0 else None

    @property
    def now_ns(self) -> float | None:
        return self.mean_ns(self.slow, self.subject)


@dataclass(frozen=True)
class Gain:
    """None as ratio: it is not known how much, and the evidence says why it may help."""

    ratio: float | None
    measured: bool
    evidence: str


# What a push says of one remedy. None: nothing speaks for it, or it was measured and does not help.
Try = Callable[[Push, Cause], Gain | None]


def other_destination(destination: str) -> Try:
    """The same copies on the same side, to another destination."""

    def look(push: Push, _cause: Cause) -> Gain | None:
        other = replace(push.subject, destination=destination)
        then_ns = push.mean_ns(push.slow, other)
        if then_ns is None or push.now_ns is None:
            return Gain(
                None,
                False,
                f"not measured here: destination {destination} in the same push would tell. A file "
                "that is removed while its pages are dirty is never written",
            )
        ratio = push.now_ns / then_ns
        return _worth(
            ratio,
            f"{_name(push.slow)}: destination {destination} takes {_ms(then_ns)} instead of "
            f"{_ms(push.now_ns)}",
        )

    return look


def other_variant(variant: str, instead: str) -> Try:
    """The same work on the same side, done in another way."""

    def look(push: Push, _cause: Cause) -> Gain | None:
        then_ns = push.mean_ns(push.slow, replace(push.subject, variant=variant))
        if then_ns is None or push.now_ns is None:
            return Gain(None, False, f"not measured here: {instead} in the same push would tell")
        return _worth(
            push.now_ns / then_ns,
            f"{_name(push.slow)}: {instead} takes {_ms(then_ns)} instead of {_ms(push.now_ns)}",
        )

    return look


def other_place(push: Push, cause: Cause) -> Gain | None:
    """The same copies on the same side, at another place; else as the other pool has it."""
    now_ns = push.now_ns
    others = {
        subject: time_ns
        for subject, time_ns in push.measured.get(push.slow, {}).items()
        if subject == replace(push.subject, place=subject.place)
        and subject.place != push.subject.place
        and time_ns > 0
    }
    if now_ns is None or not others:
        return as_other_pool(push, cause)
    best = min(others, key=lambda subject: (others[subject], subject))
    return _worth(
        now_ns / others[best],
        f"{_name(push.slow)}: place {_name(best.place)} takes {_ms(others[best])} instead of "
        f"{_ms(now_ns)}",
    )


def as_other_pool(push: Push, cause: Cause) -> Gain | None:
    """The faster side has it so. Its gain is this one's only where it explains the difference."""
    now_ns, then_ns = push.now_ns, push.mean_ns(push.fast, push.subject)
    if now_ns is None or then_ns is None:
        return Gain(None, False, f"{_name(push.fast)} has it so")
    evidence = f"{_name(push.fast)}, which has it so, takes {_ms(then_ns)} instead of {_ms(now_ns)}"
    if len(push.supported - MECHANISMS) > 1:
        return Gain(None, False, f"{evidence}; other causes have a part in that")
    if cause.share is not None and cause.share < WHOLE_SHARE:
        part = words.percent(cause.share)
        return Gain(None, False, f"{evidence}; this cause explains {part} of that")
    return _worth(now_ns / then_ns, evidence)


def predicted(push: Push, cause: Cause) -> Gain | None:
    """What the published caps promise; else what the other pool shows."""
    ratio = cause.predicted_ratio
    if ratio is None or ratio <= 0:
        return as_other_pool(push, cause)
    return _worth(max(ratio, 1 / ratio), "predicted from the write caps", measured=False)


def more_disks(push: Push, cause: Cause) -> Gain | None:
    """Another machine type: measured where another pool of the push has it."""
    if push.supported & {"linear-volume", "boot-disk-fallback"}:
        return None  # there are disks enough: they are not used
    machine, now_ns = _machine(push), push.now_ns
    for side, found in push.machines.items():
        then_ns = push.mean_ns(side, push.subject)
        such = machine is not None and published_caps.machine_name(found or "") == machine
        if such and now_ns is not None and then_ns is not None:
            return _worth(
                now_ns / then_ns,
                f"the pool {_name(side)} is such a machine and takes {_ms(then_ns)} instead of "
                f"{_ms(now_ns)}",
            )
    gain = predicted(push, cause)
    then_ns = push.mean_ns(push.fast, push.subject)
    if gain is None or gain.measured or then_ns is None:
        return gain
    return replace(gain, evidence=f"{gain.evidence}; {_name(push.fast)} takes {_ms(then_ns)}")


def unless(cause: str, look: Try) -> Try:
    """Where another cause is supported, what to try stands there."""

    def other(push: Push, own: Cause) -> Gain | None:
        return None if cause in push.supported else look(push, own)

    return other


def follows(evidence: str) -> Try:
    """The cause itself is the evidence; how much it gains is not known."""

    def look(_push: Push, _cause: Cause) -> Gain | None:
        return Gain(None, False, evidence)

    return look


def _worth(ratio: float, evidence: str, *, measured: bool = True) -> Gain | None:
    return Gain(ratio, measured, evidence) if ratio >= GAIN_AT_LEAST else None


def _machine(push: Push) -> str | None:
    """The next machine type of the slow side's series with more disks, where that is published."""
    instance_type = push.machines.get(push.slow)
    disks = published_caps.disks_of_machine(instance_type)
    if disks is None:
        return None
    return published_caps.machine_with_disks(instance_type, disks + 1)


def machine_action(push: Push, action: str) -> str:
    machine = _machine(push)
    if action != MORE_DISKS or machine is None:
        return action
    return f"{action}, such as {machine}"


def _ms(time_ns: float) -> str:
    return f"{time_ns / MS:.1f} ms" if time_ns >= MS else words.time(time_ns)


def _name(text: str) -> str:
    return plain(text, 60)

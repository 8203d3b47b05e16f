# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""What the same push shows of a remedy: another destination, variant, place or pool that it measured."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from io_benchmark.analysis.model import Cause, Subject
from io_benchmark.analysis.observed.published_caps import MachineType
from io_benchmark.analysis.statements import Quantity, Statement, Unit, Value, statement

_GAIN_AT_LEAST = 1.02
# A cause with a smaller share leaves a part of the difference to something unknown.
_WHOLE_SHARE = 0.8
# Causes through which other causes act: they do not compete with those for the gain.
_MECHANISMS = frozenset({"ext4-flush", "random-io"})
_INSTEAD = "takes {then} instead of {now}"

MeansBySide = Mapping[str, Mapping[Subject, float]]


@dataclass(frozen=True)
class Push:
    """What was measured in the same push; `slow` is the side that a remedy is for."""

    subject: Subject
    measured: MeansBySide
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
    """How much faster a remedy makes the slower side; None as ratio: not known."""

    ratio: float | None
    measured: bool
    evidence: tuple[Statement, ...]
    such_as: str | None = None  # an example for the action: a machine type

    def also(self, template: str, **values: Value) -> "Gain":
        """Return the gain with a further sentence."""
        return replace(self, evidence=(*self.evidence, statement(template, **values)))


# None: nothing supports the remedy, or it was measured and does not help.
FindGain = Callable[[Push, Cause], Gain | None]


def other_destination(destination: str) -> FindGain:
    """Compare with the same copies on the same side, to another destination."""

    def find(push: Push, _cause: Cause) -> Gain | None:
        then_ns = push.mean_ns(push.slow, replace(push.subject, destination=destination))
        if then_ns is None or push.now_ns is None:
            return _unknown_gain(
                "Not measured here: destination {destination} in the same push would show it.",
                destination=destination,
            ).also("A file that is removed while its pages are dirty is never written.")
        return _measured_gain(
            push.now_ns,
            then_ns,
            f"{{side}}: destination {{destination}} {_INSTEAD}.",
            side=push.slow,
            destination=destination,
        )

    return find


def other_variant(variant: str, instead: str) -> FindGain:
    """Compare with the same work on the same side in another variant; `instead` describes it."""

    def find(push: Push, _cause: Cause) -> Gain | None:
        then_ns = push.mean_ns(push.slow, replace(push.subject, variant=variant))
        if then_ns is None or push.now_ns is None:
            return _unknown_gain(
                "Not measured here: variant {variant} in the same push would show it.",
                variant=variant,
            )
        return _measured_gain(
            push.now_ns, then_ns, f"{{side}}: {instead} {_INSTEAD}.", side=push.slow
        )

    return find


def other_place(push: Push, cause: Cause) -> Gain | None:
    """Compare with the same copies on the same side at another place, else with the other pool."""
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
    return _measured_gain(
        now_ns,
        others[best],
        f"{{side}}: place {{place}} {_INSTEAD}.",
        side=push.slow,
        place=best.place,
    )


def as_other_pool(push: Push, cause: Cause) -> Gain | None:
    """Compare with the faster side; its gain counts only where this cause alone explains it."""
    now_ns, then_ns = push.now_ns, push.mean_ns(push.fast, push.subject)
    if now_ns is None or then_ns is None:
        return _unknown_gain("{side} is set up this way.", side=push.fast)
    gain = _gain(
        now_ns, then_ns, f"{{side}}, which is set up this way, {_INSTEAD}.", side=push.fast
    )
    unknown = replace(gain, ratio=None, measured=False)
    if len(push.supported - _MECHANISMS) > 1:
        return unknown.also("Other causes contribute to that.")
    if cause.share is not None and cause.share < _WHOLE_SHARE:
        return unknown.also(
            "This cause explains {share} of that.", share=Quantity(cause.share, Unit.SHARE)
        )
    return _if_worth_it(gain)


def predicted(push: Push, cause: Cause) -> Gain | None:
    """Predict by the write caps, else compare with the other pool."""
    ratio = cause.predicted_ratio
    if ratio is None or ratio <= 0:
        return as_other_pool(push, cause)
    evidence = (statement("Predicted from the write caps."),)
    return _if_worth_it(Gain(max(ratio, 1 / ratio), measured=False, evidence=evidence))


def more_disks(push: Push, cause: Cause) -> Gain | None:
    """Compare with a pool of the next larger machine type, else predict."""
    if push.supported & {"linear-volume", "boot-disk-fallback"}:
        return None  # there are enough disks: they are not used
    machine, now_ns = _next_machine(push), push.now_ns
    for side, machine_type in push.machines.items():
        then_ns = push.mean_ns(side, push.subject)
        such = machine is not None and MachineType(machine_type).name == machine
        if such and now_ns is not None and then_ns is not None:
            return _such_as(
                machine,
                _measured_gain(
                    now_ns,
                    then_ns,
                    f"The pool {{side}} has this machine type and {_INSTEAD}.",
                    side=side,
                ),
            )
    gain = predicted(push, cause)
    then_ns = push.mean_ns(push.fast, push.subject)
    if gain is not None and not gain.measured and then_ns is not None and gain.ratio is not None:
        gain = gain.also(
            "{side} takes {then}.", side=push.fast, then=Quantity(then_ns, Unit.NANOSECONDS)
        )
    return _such_as(machine, gain)


def follows(template: str) -> FindGain:
    """Suggest a remedy because of the cause alone; its gain is not known."""
    return lambda _push, _cause: _unknown_gain(template)


def _unknown_gain(template: str, **values: Value) -> Gain:
    return Gain(None, measured=False, evidence=(statement(template, **values),))


def _measured_gain(now_ns: float, then_ns: float, template: str, **values: Value) -> Gain | None:
    return _if_worth_it(_gain(now_ns, then_ns, template, **values))


def _gain(now_ns: float, then_ns: float, template: str, **values: Value) -> Gain:
    values["then"] = Quantity(then_ns, Unit.NANOSECONDS)
    values["now"] = Quantity(now_ns, Unit.NANOSECONDS)
    return Gain(now_ns / then_ns, measured=True, evidence=(statement(template, **values),))


def _if_worth_it(gain: Gain) -> Gain | None:
    return gain if gain.ratio is not None and gain.ratio >= _GAIN_AT_LEAST else None


def _such_as(machine: str | None, gain: Gain | None) -> Gain | None:
    return None if gain is None else replace(gain, such_as=machine)


def _next_machine(push: Push) -> str | None:
    """Return the next machine type of the slow side's series with more disks, where published."""
    larger = MachineType(push.machines.get(push.slow)).with_more_disks
    return None if larger is None else larger.name

# SPDX-License-Identifier: MPL-2.0
"""What the same push shows of a remedy, by another destination, variant, place or pool."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Literal

from msgspec import Struct, field
from msgspec.structs import replace

from io_benchmark.analysis.model.cause import Cause, DiskChange, TrialOutcome
from io_benchmark.analysis.model.statements import (
    Quantity,
    Statement,
    Unit,
    count,
    share,
    statement,
)
from io_benchmark.analysis.model.subject import Subject
from io_benchmark.analysis.reading.disks import MachineType
from io_benchmark.results.machine import LINUX

_GAIN_AT_LEAST = 1.02
_WHOLE_SHARE = 0.8  # a cause with a smaller share leaves a part of the difference to something else
_SAME_GAIN_RATIO = 1.1  # a larger machine that gains more is faster in something else, too
_VOLUMES = ("volume", "directory")  # of "work on a volume": memory is faster and keeps nothing
_INSTEAD = "takes {then} instead of {now}"


class Gain(Struct, frozen=True):
    """How much faster a remedy makes the slower side; None as ratio: not known."""

    ratio: float | None
    measured: bool
    evidence: tuple[Statement, ...]
    such_as: Statement | None = None  # an example for the action
    disk_change: DiskChange | None = None

    def also(self, template: str, **values: Quantity | str) -> "Gain":
        return replace(self, evidence=(*self.evidence, statement(template, **values)))

    @property
    def if_worth_it(self) -> "Gain | None":
        return self if self.ratio is not None and self.ratio >= _GAIN_AT_LEAST else None


class Push(Struct, frozen=True):
    """What was measured in the push of two sides, and shows of remedies for the slow one."""

    subject: Subject
    slow: str
    fast: str
    measured: Mapping[tuple[str, Subject], float]  # by side: means in nanoseconds
    machines: Mapping[str, str | None]  # side -> machine type
    place_kinds: Mapping[tuple[str, str], str | None] = field(default_factory=dict)  # (side, place)
    trials: Sequence[TrialOutcome] = ()
    larger_network_disk: Gain | None = None  # in the place of the slow side's
    system: str = LINUX  # of both sides
    competing_causes: int = 0  # how many supported causes may contribute to the same gain

    def gain_of_trial(self, name: str) -> float | None:
        """Return how many times as fast a trial makes the slow side; None: not known."""
        gains = (trial.gain_ratio for trial in self.trials if trial.kind.value == name)
        return next(gains, None)

    def allowed_ratio(self, cause: Cause) -> float:
        """Return how much faster the slow side gets at most without what the cause explains."""
        slow_ns, fast_ns = (self.measured[side, self.subject] for side in (self.slow, self.fast))
        part = cause.share if cause.share is not None else cause.share_at_most
        return math.exp(math.log(slow_ns / fast_ns) * (1.0 if part is None else part))

    def gain(self, side: str, subject: Subject, template: str, **values: Quantity | str) -> Gain:
        """Compare a measurement of a side with the slow side's."""
        now_ns, then_ns = self.measured[self.slow, self.subject], self.measured[side, subject]
        then, now = (Quantity(time_ns, Unit.NANOSECONDS) for time_ns in (then_ns, now_ns))
        evidence = statement(template, side=side, then=then, now=now, **values)
        return Gain(now_ns / then_ns, measured=True, evidence=(evidence,))

    def other_place(self, cause: Cause) -> Gain | None:
        """Compare with the same copies on a volume of the same side, else with the other pool."""
        others = [
            (time_ns, subject)
            for (side, subject), time_ns in self.measured.items()
            if side == self.slow
            and subject == replace(self.subject, place=subject.place)
            and subject.place != self.subject.place
            and self.place_kinds.get((self.slow, subject.place)) in _VOLUMES
        ]
        if not others:
            return self.other_pool(cause)
        _, best = min(others)
        template = f"{{side}}: place {{place}} {_INSTEAD}."
        return self.gain(self.slow, best, template, place=best.place).if_worth_it

    def other_pool(self, cause: Cause) -> Gain | None:
        """Predict what the cause's part of the time allows, with the faster side as the evidence.

        The sides may differ in more than the remedy, so this is never a measurement of it.
        """
        template = f"{{side}}, which is set up this way, {_INSTEAD}."
        gain = self.gain(self.fast, self.subject, template)
        allowed = replace(gain, ratio=self.allowed_ratio(cause), measured=False)
        if cause.share is None and self.competing_causes > 1:
            return replace(allowed, ratio=None).also("Other causes contribute to that.")
        at_most = "at most " if cause.share is None else ""
        part = cause.share_at_most if cause.share is None else cause.share
        if part is not None and part < _WHOLE_SHARE:
            allowed = allowed.also(
                f"This cause explains {at_most}{{share}} of that.", share=share(part)
            )
        return allowed.if_worth_it

    def predict(self, cause: Cause) -> Gain | None:
        """Predict by the bandwidth of the disks, else compare with the other pool."""
        ratio = cause.predicted_ratio
        if ratio is None:
            return self.other_pool(cause)
        evidence = (statement("Predicted from the bandwidth of the disks."),)
        return Gain(max(ratio, 1 / ratio), measured=False, evidence=evidence).if_worth_it

    def more_disks(self, cause: Cause) -> Gain | None:
        """Compare with a pool of the next larger machine type, else predict."""
        slow, fast = (MachineType(self.machines.get(side)) for side in (self.slow, self.fast))
        if slow.name and slow.name == fast.name:
            return None  # another machine type has nothing to do with it
        larger = slow.with_more_disks
        gain = self._by_larger_machine(larger, cause) if larger is not None else None
        gain = self.predict(cause) if gain is None else gain.if_worth_it
        if gain is None:
            return None
        if not gain.measured and cause.predicted_ratio is not None:
            then = Quantity(self.measured[self.fast, self.subject], Unit.NANOSECONDS)
            gain = gain.also("{side} takes {then}.", side=self.fast, then=then)
        if larger is not None:
            disks = count(larger.disks or 0)
            such_as = statement("{machine} with {disks}", machine=larger.name, disks=disks)
            gain = replace(gain, such_as=such_as)
        return gain

    def larger_disk(self, cause: Cause) -> Gain | None:
        """Predict by what a larger or faster network disk may do; else by that of the faster side.

        Nothing where no usual disk does more on this machine.
        """
        larger = self.larger_network_disk
        return self.predict(cause) if larger is None else larger.if_worth_it

    def other_machine(self, cause: Cause) -> Gain | None:
        """Predict by the bandwidth of the disks, with the faster side's machine as an example."""
        gain = self.predict(cause)
        if gain is None:
            return None
        gain = gain.also("A larger disk on the same machine does not help.")
        slow, fast = (MachineType(self.machines.get(side)).name for side in (self.slow, self.fast))
        such_as = statement("{machine}", machine=fast) if fast not in ("", slow) else None
        return replace(gain, such_as=such_as)

    def _by_larger_machine(self, larger: MachineType, cause: Cause) -> Gain | None:
        """Compare with a pool of this machine type, unless it gains more than its disks can."""
        pools = (
            side
            for side, machine_type in self.machines.items()
            if MachineType(machine_type).name == larger.name
            and (side, self.subject) in self.measured
        )
        pool = next(pools, None)
        if pool is None:
            return None
        template = f"The pool {{side}} has this machine type and {_INSTEAD}."
        gain, ratio = self.gain(pool, self.subject, template), cause.predicted_ratio
        allowed = self.allowed_ratio(cause) if ratio is None else max(ratio, 1 / ratio)
        if gain.ratio is None or gain.ratio <= _SAME_GAIN_RATIO * allowed:
            return gain
        return replace(gain, ratio=allowed, measured=False).also(
            "It is faster in something else, too: more disks allow less."
        )


# None: nothing supports the remedy, or it was measured and does not help.
FindGain = Callable[[Push, Cause], Gain | None]


def other_subject(
    name: Literal["destination", "variant"], value: str, instead: str, remark: str = ""
) -> FindGain:
    """Compare with the same side to another destination, or in another variant.

    `instead` describes that. A trial of the same name measures it, too. The remark is for a push
    that did neither.
    """

    def find(push: Push, _cause: Cause) -> Gain | None:
        subject = replace(push.subject, **{name: value})
        if (push.slow, subject) in push.measured:
            return push.gain(push.slow, subject, f"{{side}}: {instead} {_INSTEAD}.").if_worth_it
        ratio = push.gain_of_trial(value)
        if ratio:
            template = "{side}: a retrieve in trial {trial} takes {part} of its usual time."
            evidence = statement(template, side=push.slow, trial=value, part=share(1 / ratio))
            return Gain(ratio, measured=True, evidence=(evidence,)).if_worth_it
        unknown = _unknown_gain(
            f"Not measured here: {name} {{value}} in the same push would show it.", value=value
        )
        return unknown.also(remark) if remark else unknown

    return find


def follows(template: str, trial: str = "") -> FindGain:
    """Suggest a remedy because of the cause alone; its gain is not known.

    Where a trial that acts in the same way gains nothing, neither does the remedy.
    """

    def find(push: Push, _cause: Cause) -> Gain | None:
        is_useless = (push.gain_of_trial(trial) or math.inf) < _GAIN_AT_LEAST
        return None if is_useless else _unknown_gain(template)

    return find


def _unknown_gain(template: str, **values: Quantity | str) -> Gain:
    return Gain(None, measured=False, evidence=(statement(template, **values),))

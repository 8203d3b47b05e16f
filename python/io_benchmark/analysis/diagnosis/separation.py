# SPDX-License-Identifier: MPL-2.0
"""Causes that the data cannot tell apart, because they act through the same part of the time.

Some causes are known by a setting alone: one value is slower, but nobody knows by how much. Such a
setting may cost much or nothing, so it is never supported. Another supported cause of the same part may
explain all of the difference. So may something that no worker can record, such as a cap of the cloud.
Other causes are supported only because nothing else differs. They are the first ones to be withdrawn.
"""

from collections.abc import Sequence
from typing import NamedTuple

from io_benchmark.analysis.diagnosis.case import Case
from io_benchmark.analysis.diagnosis.cause_rule import CauseJudgement, CauseRule, is_enough
from io_benchmark.analysis.model import State
from io_benchmark.analysis.parts.time_parts import Part
from io_benchmark.analysis.statements import Statement, statement


class Judged(NamedTuple):
    rule: CauseRule
    judgement: CauseJudgement

    def now(self, state: State, reason: Statement) -> "Judged":
        """Return it in another state, with a further reason."""
        explanation = (*self.judgement.explanation, reason)
        return self._replace(judgement=self.judgement.now(state, *explanation))


def separate(judged: Sequence[Judged], case: Case) -> list[Judged]:
    """Return the judgements, with those that have a rival as not separable."""
    supported = [each for each in judged if each.judgement.state is State.SUPPORTED]
    return [_separated(each, supported, case) for each in judged]


def _separated(each: Judged, supported: Sequence[Judged], case: Case) -> Judged:
    is_sized = each.judgement.predicted_ratio is not None
    by_setting = each.judgement.by_setting_alone or (each.rule.by_setting_alone and not is_sized)
    has_no_size = by_setting and not is_sized
    is_certain = not by_setting and not each.judgement.is_leftover
    if each.judgement.state is not State.SUPPORTED or is_certain:
        return each
    rivals = [
        other.rule.name
        for other in supported
        if other.rule is not each.rule
        # A leftover is a rival only of a setting without a size, which may cost nothing.
        and (has_no_size or not other.judgement.is_leftover)
        and _meet(each.rule.acts_through & other.rule.acts_through, case)
    ]
    if not rivals and has_no_size:
        reason = statement(
            "Nothing shows how much this costs, and what no worker records, such as a cap of the cloud, "
            "acts through the same part of the time: only a run with this alone changed would show it."
        )
        return each.now(State.NOT_SEPARABLE, reason)
    if not rivals:
        return each
    reason = statement(
        "Nothing shows how much this costs, and it acts through the same part of the time as "
        "{rivals}: only a run with this alone changed would separate them.",
        rivals=", ".join(rivals),
    )
    return each.now(State.NOT_SEPARABLE, reason)


def _meet(parts: frozenset[Part], case: Case) -> bool:
    """Return whether the parts that two causes have in common matter for the difference."""
    share = case.share_at_most(parts) if parts else 0.0
    return share is None or is_enough(share)

# SPDX-License-Identifier: MPL-2.0
"""How to confirm the cause of a difference: by one more run of a pool, and the command for it."""

import re

from io_benchmark.analysis.model.cause import OWN_REASON, Diagnosis, Pace, State
from io_benchmark.analysis.model.comparison import Comparison
from io_benchmark.analysis.model.report import Report
from io_benchmark.command_lines import confirm_causes
from io_benchmark.report import content
from io_benchmark.results.format import SLUG_PATTERN
from io_benchmark.results.workloads.cache_retrieve import TrialKind

# A pool's name that an option takes as it is, and that no cut has changed
_POOL = re.compile("[A-Za-z0-9][A-Za-z0-9_.-]*")


def how_to_confirm(report: Report, diagnosis: Diagnosis, comparison: Comparison) -> str:
    """Write how to confirm a cause of a difference, or nothing if no run would."""
    sides = {comparison.candidate, comparison.baseline}
    paces = [pace for pace in report.confirming.paces if {pace.pool, pace.against} == sides]
    states = {cause.state for cause in diagnosis.causes if cause.tried_by is TrialKind.PACE}
    untried = [trial for trial in diagnosis.trials if trial.meaning.template == OWN_REASON]
    if untried and not paces:
        kinds = ", ".join(trial.kind.value for trial in untried)
        reason = content.text_of(untried[0].meaning).removesuffix(".")
        return f"measure again with `trials: always` in the kind; not tried: {kinds} ({reason})"
    if not paces or states.isdisjoint((State.SUPPORTED, State.NOT_SEPARABLE)):
        return ""
    pace = paces[0]
    # Before and after a change, a side is not a pool of one group.
    runs = [run for run in report.workers if run.side == run.pool == pace.pool]
    group_id = _common_group(pace, report)
    # No queue started a run of this worker group.
    if runs and all(run.worker_id.startswith("rehearsal/") for run in runs):
        command = "add --confirm to this rehearse"
    elif group_id and _POOL.fullmatch(comparison.baseline):
        command_line = confirm_causes(group_id, comparison.baseline)
        command = f'`{command_line}`, or the action "Confirm the cause"'
    else:
        return ""
    return f"run {pace.pool} once more with copies at {content.pace_rate(pace)} ({command})"


def _common_group(pace: Pace, report: Report) -> str:
    """Return the task group that measured both pools of a pace; nothing if none did.

    The worker may have written the name of the group: only what is an id becomes a part of a
    command.
    """
    groups = [
        {run.group_id for run in report.workers if run.side == run.pool == pool}
        for pool in (pace.pool, pace.against)
    ]
    ids = [name for name in set.intersection(*groups) if name and re.fullmatch(SLUG_PATTERN, name)]
    return min(ids, default="")

# SPDX-License-Identifier: MPL-2.0
"""How to confirm a cause: the run that is missing, and what creates it."""

import re

from io_benchmark.analysis.diagnosis_model import OWN_REASON, Diagnosis, State
from io_benchmark.analysis.model import Comparison
from io_benchmark.analysis.report_model import Report
from io_benchmark.analysis.trials.confirm import Confirming, Pace
from io_benchmark.number_text import compact
from io_benchmark.report.content.statement_text import text_of
from io_benchmark.results.trials import TrialKind

_MIB = 1024**2
_TASK_ID = re.compile("[A-Za-z0-9_-]{22}")
_TO_CONFIRM = (State.SUPPORTED, State.NOT_SEPARABLE)


def pace_text(pace: Pace) -> str:
    """Return 'intel once more, its copies limited to 371 MiB/s, the ceiling of amd-16'."""
    return (
        f"{pace.pool} once more, its copies limited to {_rate(pace)}, the ceiling of {pace.against}"
    )


def reasons_text(confirming: Confirming) -> str:
    """Return why comparisons need no run."""
    return " ".join(map(text_of, confirming.reasons))


def how_to_confirm(report: Report, diagnosis: Diagnosis, comparison: Comparison) -> str:
    """Write how to confirm a cause of a difference, without a full stop; nothing if no run would."""
    sides = {comparison.candidate, comparison.baseline}
    paces = [pace for pace in report.confirming.paces if {pace.pool, pace.against} == sides]
    states = [cause.state for cause in diagnosis.causes if cause.tried_by is TrialKind.PACE]
    untried = [trial for trial in diagnosis.trials if trial.meaning.template == OWN_REASON]
    if untried and not paces:
        kinds = ", ".join(trial.kind.value for trial in untried)
        reason = text_of(untried[0].meaning).removesuffix(".")
        return f"measure again with `trials: always` in the kind; not tried: {kinds} ({reason})"
    if not paces or set(states).isdisjoint(_TO_CONFIRM):
        return ""
    pace = paces[0]
    # Before and after a change, a side is not a pool of one group.
    runs = [run for run in report.workers if run.side == run.pool == pace.pool]
    # The name of a task is from a result: only what is an id becomes a part of a command.
    ids = [run.task_id for run in runs if _TASK_ID.fullmatch(run.task_id)]
    # No queue started a run of this worker group.
    if runs and all(run.worker_id.startswith("rehearsal/") for run in runs):
        command = "add --confirm to this rehearse"
    elif ids:
        command = f'submit --confirm task:{ids[0]}, or the action "Confirm the cause"'
    else:
        return ""
    return f"run {pace.pool} once more with copies at {_rate(pace)} ({command})"


def _rate(pace: Pace) -> str:
    return f"{compact(pace.bytes_per_s / _MIB)} MiB/s"

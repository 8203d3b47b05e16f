# SPDX-License-Identifier: MPL-2.0
"""Validity before statistics: what is not compared, and what the reader should know.

Each rule has a name, a line in taskcluster/docs/validity.md, and a function, here or in
`comparability`. A rule about one worker's run refuses that run; a rule about two sides refuses their
comparison. `--allow RULE` allows a refused comparison, and the report names the rule.
"""

from collections.abc import Callable

from io_benchmark.analysis.inference.moving_blocks import FEWEST_RETRIEVES
from io_benchmark.analysis.model import Entry, Run, Severity, Worker
from io_benchmark.analysis.statements import Quantity, Statement, Unit, count, share, statement
from io_benchmark.analysis.validity.comparability import SIDE_RULES
from io_benchmark.resolutions import in_words
from io_benchmark.results import workloads
from io_benchmark.results.common_types import OutcomeState

# Samples that a run needs for a verdict, and from which on it has no warning. A batch is an average.
_RETRIEVES_NEEDED, _BATCHES_NEEDED = (FEWEST_RETRIEVES, 100), (3, 20)
_NOISY_RATIO = 0.05
_DRIFT_RATIO = 0.10

SKIPPED_RULE = "skipped"


def _samples(entry: Entry) -> str:
    return workloads.of(entry.subject.workload).samples


def _needed(entry: Entry) -> tuple[int, int]:
    return _BATCHES_NEEDED if entry.retrieves is None else _RETRIEVES_NEEDED


# Rules about one run: the message, or None where the run keeps the rule.


def _skipped(run: Run) -> Statement | None:
    # The worker could not measure this at all, and gave the reason: not a failure.
    outcome = run.entry.facts.outcome
    if outcome.state is not OutcomeState.SKIPPED or len(run.entry.total_ns):
        return None
    return statement("not measured: {reason}", reason=str(outcome.explanation))


def _incomplete(run: Run) -> Statement | None:
    is_complete = run.entry.facts.outcome.state is OutcomeState.COMPLETED
    if is_complete or cut_short(run) is not None:
        return None
    message = _with_reason(run)
    if run.worker.state in ("failed", "exception"):
        ending = in_words(run.worker.state, run.worker.reason)
        return statement("{message}; the run {ending}", message=message, ending=ending)
    return message


def _too_few_retrieves(run: Run) -> Statement | None:
    return _fewer_than(run, _needed(run.entry)[0], "at least {needed} are needed")


def _few_retrieves(run: Run) -> Statement | None:
    return _fewer_than(run, _needed(run.entry)[1], "{needed} or more give steadier figures")


def _fewer_than(run: Run, least: int, advice: str) -> Statement | None:
    if len(run.entry.total_ns) >= least:
        return None
    return statement(
        "{count} {samples}; " + advice,
        count=count(len(run.entry.total_ns)),
        samples=_samples(run.entry),
        needed=count(least),
    )


def cut_short(run: Run) -> Statement | None:
    """Return how much was measured where time ran out after enough of it: that is not a failure."""
    is_enough = len(run.entry.total_ns) >= _needed(run.entry)[1]
    is_out_of_time = run.entry.facts.outcome.state is OutcomeState.TIME_BUDGET
    return _with_reason(run) if is_enough and is_out_of_time else None


def _with_reason(run: Run) -> Statement:
    return statement(
        "{done} of {planned} {samples}: {reason}",
        done=count(len(run.entry.total_ns)),
        planned=count(run.entry.planned),
        samples=_samples(run.entry),
        reason=str(run.entry.facts.outcome.explanation),
    )


def reason_left_out(run: Run) -> Statement:
    messages = (rule(run) for rule in (_skipped, _incomplete, _too_few_retrieves))
    length = statement("left out: the other runs planned a different number of retrieves")
    return next(filter(None, messages), length)


def _noisy(run: Run) -> Statement | None:
    error = run.entry.relative_times.error_of_mean
    if error <= _NOISY_RATIO:
        return None
    return statement(
        "the mean of this run is known only to ±{error}; take more {samples}",
        error=share(2 * error),
        samples=_samples(run.entry),
    )


def _drift(run: Run) -> Statement | None:
    step = run.entry.relative_times.step
    if step is None or not step.is_clear or abs(step.ratio - 1) <= _DRIFT_RATIO:
        return None
    return statement(
        "after {done} of {all} {samples}, each took {times} times as long",
        done=count(step.index),
        all=count(len(run.entry.total_ns)),
        samples=_samples(run.entry),
        times=Quantity(step.ratio, Unit.NUMBER),
    )


def worker_warnings(worker: Worker) -> list[Statement]:
    """Return what a worker itself warns about, whatever it measured."""
    skips = any(_skipped(Run(worker, entry)) for entry in worker.entries)
    return [
        statement("{name}: {message}", name=warning.name, message=warning.message)
        for warning in worker.result.warnings
        if not (skips and warning.name == SKIPPED_RULE)
    ]


RUN_RULES: dict[str, tuple[Severity, Callable[[Run], Statement | None]]] = {
    SKIPPED_RULE: (Severity.WARNING, _skipped),
    "incomplete": (Severity.REFUSED, _incomplete),
    "too-few-retrieves": (Severity.REFUSED, _too_few_retrieves),
    "cut-short": (Severity.WARNING, cut_short),
    "few-retrieves": (Severity.WARNING, _few_retrieves),
    "noisy": (Severity.WARNING, _noisy),
    "drift": (Severity.WARNING, _drift),
}
# Judged by the comparison itself, because they need more than a run or two sides.
COMPARISON_RULES = (
    "nothing-in-common",
    "unequal-length",
    "survivors",
    "same-worker",
    "one-worker",
    "zones",
    "measured-apart",
    "pushes",
    "shared-worker",
)
RULES = (*RUN_RULES, "worker-warning", *SIDE_RULES, *COMPARISON_RULES)

# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Validity before statistics: what may not be compared, and what the reader should know.

Each rule has a name, a line in taskcluster/docs/validity.md, and a function, here or in
`likeness`. A rule about one worker's run refuses that run; a rule about two sides refuses their
comparison. `--allow RULE` lets it through, named.
"""

from collections.abc import Callable, Iterable, Sequence

from io_benchmark.analysis.inference import moving_blocks
from io_benchmark.analysis.model import Entry, Problem, Severity, Subject, Worker
from io_benchmark.analysis.validity import comparability
from io_benchmark.analysis.validity.comparability import Run as Run  # noqa: PLC0414 - others import it here
from io_benchmark.analysis.words import percent
from io_benchmark.resolutions import in_words
from io_benchmark.results import workloads
from io_benchmark.results.parts import RunState

RETRIEVES_TO_JUDGE = moving_blocks.RETRIEVES_AT_LEAST
RETRIEVES_TO_TRUST = 100
# A batch is an average already.
BATCHES_TO_JUDGE, BATCHES_TO_TRUST = 3, 20
NOISY_RATIO = 0.05
DRIFT_RATIO = 0.10

SKIPPED_RULE = "skipped"
RETRIEVES_RULE = "retrieves"


def task_name(worker: Worker) -> str:
    run = "" if worker.run_id is None else f" run {worker.run_id}"
    return f"{worker.side}, task {worker.task_id}{run}"


def counted(entry: Entry) -> str:
    """'12 of 100 batches'."""
    names = workloads.of(entry.subject.workload).samples
    return f"{len(entry.total_ns)} of {entry.planned} {names}"


# Rules about one run: a message, or None where the run keeps the rule.


def skipped(run: Run) -> str | None:
    """The worker could not do this at all, and said why: no failure, and nothing to compare."""
    outcome = run[1].facts.outcome
    if outcome.state is not RunState.SKIPPED or len(run[1].total_ns):
        return None
    return f"not measured: {outcome.explanation}"


def incomplete(run: Run) -> str | None:
    outcome = run[1].facts.outcome
    if outcome.state is RunState.COMPLETED or _cut_short(run):
        return None
    text = f"{counted(run[1])}: {outcome.explanation}"
    if run[0].state in ("failed", "exception"):
        text += f"; the run {in_words(run[0].state, run[0].reason)}"
    return text


def too_few_retrieves(run: Run) -> str | None:
    count, enough = len(run[1].total_ns), _enough(run[1])[0]
    if count >= enough:
        return None
    return f"{count} {workloads.of(run[1].subject.workload).samples}; needs {enough}"


def cut_short(run: Run) -> str | None:
    if not _cut_short(run):
        return None
    return f"{counted(run[1])}: {run[1].facts.outcome.explanation}"


def _cut_short(run: Run) -> bool:
    """Out of time with enough measured: less than planned, but nothing went wrong."""
    enough = len(run[1].total_ns) >= _enough(run[1])[1]
    return enough and run[1].facts.outcome.state is RunState.TIME_BUDGET


def _enough(entry: Entry) -> tuple[int, int]:
    """For a verdict at all, and for one without a remark."""
    if entry.retrieves is None:
        return BATCHES_TO_JUDGE, BATCHES_TO_TRUST
    return RETRIEVES_TO_JUDGE, RETRIEVES_TO_TRUST


def left_out(run: Run) -> str:
    """Why a run is not compared."""
    words = (rule(run) for rule in (skipped, incomplete, too_few_retrieves))
    return next(filter(None, words), "left out: the other runs planned another number of retrieves")


def few_retrieves(run: Run) -> str | None:
    count, enough = len(run[1].total_ns), _enough(run[1])[1]
    if count >= enough:
        return None
    names = workloads.of(run[1].subject.workload).samples
    return f"{count} {names}; {enough} or more give steadier figures"


def noisy(run: Run) -> str | None:
    error = moving_blocks.relative_error_of_mean(run[1])
    if error <= NOISY_RATIO:
        return None
    names = workloads.of(run[1].subject.workload).samples
    return f"this run's own mean is known to ± {percent(2 * error)} only; take more {names}"


def drift(run: Run) -> str | None:
    change = moving_blocks.last_third_over_first(run[1]) - 1
    error = moving_blocks.relative_error_of_mean(run[1])
    if abs(change) <= max(DRIFT_RATIO, 4 * error):
        return None
    how = "slower" if change > 0 else "faster"
    return f"the last third is {percent(abs(change))} {how} than the first"


# A rule about a worker, whatever it measured.


def worker_warning(worker: Worker) -> str | None:
    skips = any(skipped((worker, entry)) for entry in worker.entries)
    warnings = [one for one in worker.result.warnings if not (skips and one.name == "skipped")]
    if not warnings:
        return None
    return "; ".join(f"{warning.name}: {warning.message}" for warning in warnings)


RunRule = Callable[[Run], str | None]
SideRule = Callable[[Run], str | None]

RUN_RULES: dict[str, tuple[Severity, RunRule]] = {
    SKIPPED_RULE: (Severity.WARNING, skipped),
    "incomplete": (Severity.REFUSED, incomplete),
    "too-few-retrieves": (Severity.REFUSED, too_few_retrieves),
    "cut-short": (Severity.WARNING, cut_short),
    "few-retrieves": (Severity.WARNING, few_retrieves),
    "noisy": (Severity.WARNING, noisy),
    "drift": (Severity.WARNING, drift),
}
WORKER_RULES: dict[str, tuple[Severity, Callable[[Worker], str | None]]] = {
    "worker-warning": (Severity.WARNING, worker_warning),
}
SIDE_RULES: dict[str, tuple[Severity, SideRule]] = {
    "profile": (Severity.REFUSED, comparability.profile),
    "sequence": (Severity.REFUSED, comparability.sequence),
    "sizes": (Severity.REFUSED, comparability.sizes),
    RETRIEVES_RULE: (Severity.REFUSED, comparability.retrieves),
    "copy-method": (Severity.REFUSED, comparability.copy_method),
    "lookup-method": (Severity.REFUSED, comparability.lookup_method),
    "reflink": (Severity.REFUSED, comparability.reflink),
    "cache-state": (Severity.REFUSED, comparability.cache_state),
    "parameters": (Severity.REFUSED, comparability.parameters),
    "method": (Severity.REFUSED, comparability.method),
    "http-version": (Severity.REFUSED, comparability.http_version),
    "interpreter": (Severity.WARNING, comparability.interpreter),
    "place-kind": (Severity.REFUSED, comparability.place_kind),
    "script-version": (Severity.WARNING, comparability.script_version),
}
# Judged by the comparison itself: what no rule about runs can see.
OTHER_RULES: dict[str, Severity] = {
    "nothing-in-common": Severity.REFUSED,
    "same-worker": Severity.WARNING,
    "one-worker": Severity.WARNING,
    "shared-worker": Severity.WARNING,
}
RULES = (*RUN_RULES, *WORKER_RULES, *SIDE_RULES, *OTHER_RULES)


def check_runs(runs: Iterable[Run], allowed: frozenset[str]) -> tuple[list[Run], list[Problem]]:
    """The runs that may be compared, and every rule that a run breaks."""
    kept, problems = [], []
    for run in runs:
        # Nothing at all cannot be compared, whatever is allowed.
        allowed_here = allowed if len(run[1].total_ns) > 1 else frozenset[str]()
        for name, (severity, rule) in RUN_RULES.items():
            message = rule(run)
            if message is None:
                continue
            given = _after_allowing(name, severity, allowed_here)
            sides = (run[0].side,)
            text = f"{task_name(run[0])}: {message}"
            problems.append(Problem(name, given, run[1].subject, sides, text))
            if given is Severity.REFUSED or name == SKIPPED_RULE:
                break  # what is not compared needs no further judgement
        else:
            kept.append(run)
    return kept, problems


def of_one_length(runs: Sequence[Run], allowed: frozenset[str]) -> tuple[list[Run], list[Problem]]:
    """The longest runs of retrieves that every side has; a side's others are left out, and named.

    A push of both kinds has 2,000 and 200 of the same. Where sides have none in common, the rule
    about sides refuses.
    """
    by_side: dict[str, set[int]] = {}
    for worker, entry in runs:
        if entry.retrieves is not None:
            by_side.setdefault(worker.side, set()).add(entry.planned)
    common = set.intersection(*by_side.values()) if by_side else set()
    alike = len(set().union(*by_side.values())) == 1
    if alike or not common or RETRIEVES_RULE in allowed:
        return list(runs), []
    length = max(common)
    problems = [
        Problem(
            RETRIEVES_RULE,
            Severity.WARNING,
            entry.subject,
            (worker.side,),
            f"{task_name(worker)}: left out: {entry.planned:,} retrieves were planned, and every side "
            f"has runs of {length:,}",
        )
        for worker, entry in runs
        if entry.planned != length
    ]
    return [run for run in runs if run[1].planned == length], problems


def check_workers(workers: Iterable[Worker]) -> list[Problem]:
    """What concerns everything that a worker measured."""
    return [
        Problem(name, severity, None, (worker.side,), f"{task_name(worker)}: {message}")
        for worker in workers
        for name, (severity, rule) in WORKER_RULES.items()
        if (message := rule(worker)) is not None
    ]


def check_sides(
    subject: Subject,
    candidate: Sequence[Run],
    baseline: Sequence[Run],
    allowed: frozenset[str],
) -> list[Problem]:
    """Rules that the two sides break against each other, or one within itself."""
    problems = []
    for name, (severity, rule) in SIDE_RULES.items():
        ours = sorted(filter(None, {rule(run) for run in candidate}))
        theirs = sorted(filter(None, {rule(run) for run in baseline}))
        if ours == theirs and len(ours) <= 1:
            continue
        if name == "parameters":
            ours, theirs = comparability.without_common(ours, theirs)
        problems.append(
            Problem(
                name,
                _after_allowing(name, severity, allowed),
                subject,
                (baseline[0][0].side, candidate[0][0].side),
                f"{baseline[0][0].side}: {' and '.join(theirs)}; "
                f"{candidate[0][0].side}: {' and '.join(ours)}",
            )
        )
    return problems


def _after_allowing(name: str, severity: Severity, allowed: frozenset[str]) -> Severity:
    if severity is Severity.REFUSED and name in allowed:
        return Severity.ALLOWED
    return severity

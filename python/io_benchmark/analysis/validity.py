# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Validity before statistics: what may not be compared, and what the reader should know.

Each rule has a name, a line in taskcluster/docs/validity.md, and a function here. A rule about one
worker's run refuses that run; a rule about two sides refuses their comparison. `--allow RULE` lets
it through, named.
"""

from collections.abc import Callable, Iterable, Sequence

from io_benchmark.analysis import moving_blocks
from io_benchmark.analysis.model import Entry, Problem, Severity, Subject, Worker
from io_benchmark.analysis.words import percent
from io_benchmark.sources.resolutions import in_words

RETRIEVES_TO_JUDGE = moving_blocks.RETRIEVES_AT_LEAST
RETRIEVES_TO_TRUST = 100
NOISY_RATIO = 0.05
DRIFT_RATIO = 0.10
COLD_SHARE, WARM_SHARE = 0.05, 0.50

Run = tuple[Worker, Entry]


def task_name(worker: Worker) -> str:
    run = "" if worker.run_id is None else f" run {worker.run_id}"
    return f"{worker.side}, task {worker.task_id}{run}"


# Rules about one run: a message, or None where the run keeps the rule.


def incomplete(run: Run) -> str | None:
    facts = run[1].facts
    if facts.completed or _cut_short(run):
        return None
    count = len(run[1].copy_ns)
    text = f"{count} of {facts.retrieves_planned} retrieves: {facts.incomplete_reason}"
    if run[0].state in ("failed", "exception"):
        text += f"; the run {in_words(run[0].state, run[0].reason)}"
    return text


def too_few_retrieves(run: Run) -> str | None:
    count = len(run[1].copy_ns)
    if count >= RETRIEVES_TO_JUDGE:
        return None
    return f"{count} retrieves; needs {RETRIEVES_TO_JUDGE}"


def cut_short(run: Run) -> str | None:
    if not _cut_short(run):
        return None
    count, facts = len(run[1].copy_ns), run[1].facts
    return f"{count} of {facts.retrieves_planned} retrieves: {facts.incomplete_reason}"


def _cut_short(run: Run) -> bool:
    """Out of time with enough measured: less than planned, but nothing went wrong."""
    facts = run[1].facts
    enough = len(run[1].copy_ns) >= RETRIEVES_TO_TRUST
    return not facts.completed and enough and "time budget" in (facts.incomplete_reason or "")


def few_retrieves(run: Run) -> str | None:
    count = len(run[1].copy_ns)
    if count >= RETRIEVES_TO_TRUST:
        return None
    return f"{count} retrieves; {RETRIEVES_TO_TRUST} or more give steadier figures"


def noisy(run: Run) -> str | None:
    error = moving_blocks.relative_error_of_mean(run[1])
    if error <= NOISY_RATIO:
        return None
    return f"this run's own mean is known to ± {percent(2 * error)} only; take more retrieves"


def drift(run: Run) -> str | None:
    values = moving_blocks.normalised(run[1])
    third = len(values) // 3
    change = float(values[-third:].mean() / values[:third].mean()) - 1
    error = moving_blocks.relative_error_of_mean(run[1])
    if abs(change) <= max(DRIFT_RATIO, 4 * error):
        return None
    how = "slower" if change > 0 else "faster"
    return f"the last third is {percent(abs(change))} {how} than the first"


def worker_warning(run: Run) -> str | None:
    warnings = run[0].result.warnings
    if not warnings:
        return None
    return "; ".join(f"{warning.name}: {warning.message}" for warning in warnings)


# Rules about two sides: what each run has of the thing that must be alike.


def sequence(run: Run) -> str:
    config = run[0].result.config
    return f"seed {config.seed}, sequence over {len(run[1].facts.file_sizes_bytes)} files"


def sizes(run: Run) -> str:
    found = sorted(set(run[1].facts.file_sizes_bytes), reverse=True)
    return "files of " + ", ".join(f"{size / 1024 / 1024:g} MiB" for size in found[:6])


def copy_method(run: Run) -> str:
    return f"copied by {run[1].facts.copy_method}"


def lookup_method(run: Run) -> str:
    return f"looked up by {run[1].facts.lookup_method}"


def reflink(run: Run) -> str:
    return "copies share extents" if run[1].facts.shares_extents else "copies move bytes"


def cache_state(run: Run) -> str:
    state = run[1].facts.cache_state
    if state is None or state.resident_bytes is None or state.cache_bytes == 0:
        return "cache state unknown"
    share = state.resident_bytes / state.cache_bytes
    if share < COLD_SHARE:
        return "cold cache"
    return "warm cache" if share > WARM_SHARE else "half-warm cache"


def place_kind(run: Run) -> str:
    for place in run[0].result.storage.places:
        if place.name == run[1].subject.place:
            return f"a place on {place.kind}"
    return "a place unknown"


def script_version(run: Run) -> str:
    script = run[0].result.script
    return f"script {script.version} {script.sha256[:12]}"


RunRule = Callable[[Run], str | None]
SideRule = Callable[[Run], str]

RUN_RULES: dict[str, tuple[Severity, RunRule]] = {
    "incomplete": (Severity.REFUSED, incomplete),
    "too-few-retrieves": (Severity.REFUSED, too_few_retrieves),
    "cut-short": (Severity.WARNING, cut_short),
    "few-retrieves": (Severity.WARNING, few_retrieves),
    "noisy": (Severity.WARNING, noisy),
    "drift": (Severity.WARNING, drift),
    "worker-warning": (Severity.WARNING, worker_warning),
}
SIDE_RULES: dict[str, tuple[Severity, SideRule]] = {
    "sequence": (Severity.REFUSED, sequence),
    "sizes": (Severity.REFUSED, sizes),
    "copy-method": (Severity.REFUSED, copy_method),
    "lookup-method": (Severity.REFUSED, lookup_method),
    "reflink": (Severity.REFUSED, reflink),
    "cache-state": (Severity.REFUSED, cache_state),
    "place-kind": (Severity.REFUSED, place_kind),
    "script-version": (Severity.WARNING, script_version),
}
# Judged by the comparison itself: what no rule about runs can see.
OTHER_RULES: dict[str, Severity] = {
    "nothing-in-common": Severity.REFUSED,
    "same-worker": Severity.WARNING,
    "one-worker": Severity.WARNING,
}
RULES = (*RUN_RULES, *SIDE_RULES, *OTHER_RULES)


def check_runs(runs: Iterable[Run], allowed: frozenset[str]) -> tuple[list[Run], list[Problem]]:
    """The runs that may be compared, and every rule that a run breaks."""
    kept, problems = [], []
    for run in runs:
        # Nothing at all cannot be compared, whatever is allowed.
        allowed_here = allowed if len(run[1].copy_ns) > 1 else frozenset[str]()
        for name, (severity, rule) in RUN_RULES.items():
            message = rule(run)
            if message is None:
                continue
            given = _after_allowing(name, severity, allowed_here)
            sides = (run[0].side,)
            text = f"{task_name(run[0])}: {message}"
            problems.append(Problem(name, given, run[1].subject, sides, text))
            if given is Severity.REFUSED:
                break  # what is not compared needs no further judgement
        else:
            kept.append(run)
    return kept, problems


def check_sides(
    subject: Subject,
    candidate: Sequence[Run],
    baseline: Sequence[Run],
    allowed: frozenset[str],
) -> list[Problem]:
    """Rules that the two sides break against each other, or one within itself."""
    problems = []
    for name, (severity, rule) in SIDE_RULES.items():
        ours = sorted({rule(run) for run in candidate})
        theirs = sorted({rule(run) for run in baseline})
        if ours == theirs and len(ours) == 1:
            continue
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

# SPDX-License-Identifier: MPL-2.0
"""Validity before statistics: what is not compared, and what the reader should know.

Each rule has a name, a line in taskcluster/docs/validity.md, and a function. A rule about one
worker's run refuses that run. A rule about two sides compares traits, which its function returns
for a run, and refuses their comparison; a workload that has nothing of the kind has no traits.
`--allow RULE` allows a refused comparison, and the report names the rule.
"""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from hashlib import sha256

import msgspec

from io_benchmark.analysis.model.comparison import Severity
from io_benchmark.analysis.model.run import Run
from io_benchmark.analysis.model.statements import (
    Quantity,
    Statement,
    Unit,
    count,
    joined,
    ratio_of,
    share,
    statement,
)
from io_benchmark.analysis.statistics.noise import FEWEST_RETRIEVES, relative_times
from io_benchmark.analysis.validity.engines import engine_traits, place_traits
from io_benchmark.analysis.validity.systems import SYSTEM_RULE, system_traits
from io_benchmark.number_text import plural
from io_benchmark.results import BatchEntry, CacheRetrieveEntry, workloads
from io_benchmark.results.parts import OutcomeState
from io_benchmark.text import ending_in_words

# Samples that a run needs for a verdict, and for no warning. A batch is an average.
_RETRIEVES_NEEDED, _BATCHES_NEEDED = (FEWEST_RETRIEVES, 100), (3, 20)
_NOISY_RATIO = 0.05
_DRIFT_RATIO = 0.10
# Parts of the cache that are in memory before the first retrieve.
COLD_SHARE, _WARM_SHARE = 0.05, 0.50
# Parameters that decide how much is measured. The others decide what is measured.
_AMOUNTS = frozenset(("time_limit_s", "samples_planned", "objects_planned"))
_SIZES_SHOWN = 6

Traits = tuple[Statement, ...]
TraitRule = Callable[[Run], Traits]
SKIPPED_RULE, RETRIEVES_RULE, PLACE_KIND_RULE = "skipped", "retrieves", "place-kind"


def _samples(entry: Run) -> str:
    return workloads.of(entry.subject.workload).samples


def _needed(entry: Run) -> tuple[int, int]:
    return _BATCHES_NEEDED if entry.retrieves is None else _RETRIEVES_NEEDED


# Rules about one run: the message, or None where the run keeps the rule.


def _skipped(run: Run) -> Statement | None:
    # The worker could not measure this at all, and gave the reason: not a failure.
    outcome = run.outcome
    if outcome.state is not OutcomeState.SKIPPED or len(run.total_ns):
        return None
    return statement("not measured: {reason}", reason=str(outcome.explanation))


def _incomplete(run: Run) -> Statement | None:
    if run.outcome.state is OutcomeState.COMPLETED or cut_short(run) is not None:
        return None
    message = _with_reason(run)
    if run.worker.state not in ("failed", "exception"):
        return message
    return statement(
        "{message}; the run {ending}",
        message=message,
        ending=ending_in_words(run.worker.state, run.worker.reason),
    )


def _fewer_than(position: int, advice: str, run: Run) -> Statement | None:
    least = _needed(run)[position]
    if len(run.total_ns) >= least:
        return None
    return statement(
        "{count} {samples}; " + advice,
        count=count(len(run.total_ns)),
        samples=_samples(run),
        needed=count(least),
    )


_too_few_retrieves = partial(_fewer_than, 0, "at least {needed} are needed")
_few_retrieves = partial(_fewer_than, 1, "{needed} or more give steadier figures")


def cut_short(run: Run) -> Statement | None:
    """Return how much was measured where time ran out after enough of it: that is not a failure."""
    is_enough = len(run.total_ns) >= _needed(run)[1]
    is_out_of_time = run.outcome.state is OutcomeState.TIME_BUDGET
    return _with_reason(run) if is_enough and is_out_of_time else None


def _with_reason(run: Run) -> Statement:
    return statement(
        "{done} of {planned} {samples}: {reason}",
        done=count(len(run.total_ns)),
        planned=count(run.planned),
        samples=_samples(run),
        reason=str(run.outcome.explanation),
    )


def reason_left_out(run: Run) -> Statement:
    return (
        _skipped(run)
        or _incomplete(run)
        or _too_few_retrieves(run)
        or statement("left out: the other runs planned a different number of retrieves")
    )


def _noisy(run: Run) -> Statement | None:
    error = relative_times(run).error_of_mean
    if error <= _NOISY_RATIO:
        return None
    return statement(
        "the mean of this run is known only to ±{error}; take more {samples}",
        error=share(2 * error),
        samples=_samples(run),
    )


def _drift(run: Run) -> Statement | None:
    step = relative_times(run).step
    if step is None or abs(step.ratio - 1) <= _DRIFT_RATIO:
        return None
    return statement(
        "the {samples} after the first {done} of {all} took {times} as long as those before",
        done=count(step.index),
        all=count(len(run.total_ns)),
        samples=_samples(run),
        times=ratio_of(step.ratio),
    )


RUN_RULES: dict[str, tuple[Severity, Callable[[Run], Statement | None]]] = {
    SKIPPED_RULE: (Severity.WARNING, _skipped),
    "incomplete": (Severity.REFUSED, _incomplete),
    "too-few-retrieves": (Severity.REFUSED, _too_few_retrieves),
    "cut-short": (Severity.WARNING, cut_short),
    "few-retrieves": (Severity.WARNING, _few_retrieves),
    "noisy": (Severity.WARNING, _noisy),
    "drift": (Severity.WARNING, _drift),
}


# Rules about two sides: the traits of a run.


def distinct_traits(several: Sequence[Traits]) -> list[Statement]:
    """Return each run's traits as one statement, without those that all of them have."""
    common = set.intersection(*map(set, several))
    distinct = [[trait for trait in traits if trait not in common] for traits in several]
    return [joined(traits) if traits else statement("nothing") for traits in distinct]


def _profile(run: Run) -> Traits:
    # A quick run measures smaller files and waits for less: it is not a short form of a full one.
    return (statement("profile {profile}", profile=run.worker.result.config.profile),)


def _sequence(run: Run) -> Traits:
    if run.retrieves is None:
        return ()
    files = len(run.retrieves.file_sizes_bytes)
    return (
        statement("seed {seed}", seed=str(run.worker.result.config.seed)),
        statement(f"sequence over {{files}} {plural(files, 'file')}", files=count(files)),
    )


def _retrieves(traits: Callable[[CacheRetrieveEntry], Traits]) -> TraitRule:
    """Make a rule from traits that only retrieves have."""
    return lambda run: () if run.retrieves is None else traits(run.retrieves)


def _batches(traits: Callable[[BatchEntry], Traits]) -> TraitRule:
    """Make a rule from traits that only batches of operations have."""
    return lambda run: () if run.measured is None else traits(run.measured)


def _sizes(entry: CacheRetrieveEntry) -> Traits:
    mix = [
        statement("{files} × {size}", files=count(files), size=Quantity(size, Unit.BYTES))
        for size, files in sorted(Counter(entry.file_sizes_bytes).items(), reverse=True)
    ]
    # Mixes may differ only in sizes that are not shown, or in which file has which size.
    digest = sha256(str(list(entry.file_sizes_bytes)).encode()).hexdigest()[:12]
    return *mix[:_SIZES_SHOWN], statement("list of sizes {digest}", digest=digest)


def _cache_state(entry: CacheRetrieveEntry) -> Traits:
    resident = entry.resident_share
    if resident is None:
        return (statement("cache state unknown"),)
    if resident < COLD_SHARE:
        return (statement("cold cache"),)
    return (statement("warm cache" if resident > _WARM_SHARE else "half-warm cache"),)


def _parameters(entry: BatchEntry) -> Traits:
    return tuple(
        statement("{name} {value}", name=name, value="none" if value is None else str(value))
        for name, value in msgspec.to_builtins(entry.parameters).items()
        if name not in _AMOUNTS
    )


# An observation that a workload does not have is the same unknown one on both sides.


def _method(entry: BatchEntry) -> Traits:
    # curl-8.5 and curl-8.9 measure the same way.
    method = re.sub(r"(?<=.)-[0-9][^-]*$", "", entry.observed.method or "an unknown method")
    return (statement("measured by {method}", method=method),)


def _interpreter(entry: BatchEntry) -> Traits:
    version = ".".join((entry.observed.python or "unknown").split(".")[:2])
    return (statement("by Python {version}", version=version),)


def _http_version(entry: BatchEntry) -> Traits:
    return (statement("HTTP/{version}", version=entry.observed.http_version or "unknown"),)


def _script_version(run: Run) -> Traits:
    script = run.worker.result.script
    return (
        statement("script {version} {digest}", version=script.version, digest=script.sha256[:12]),
    )


def _planned(entry: CacheRetrieveEntry) -> Traits:
    # The first retrieve of a file reads the disk: of fewer retrieves, more are such.
    return (
        statement(
            f"{{count}} {plural(entry.retrieves_planned, 'retrieve')} planned",
            count=count(entry.retrieves_planned),
        ),
        statement("sequence {digest}", digest=entry.sequence_sha256[:12]),
    )


def _copy_method(entry: CacheRetrieveEntry) -> Traits:
    return (statement("copied by {method}", method=str(entry.copy_method)),)


def _lookup_method(entry: CacheRetrieveEntry) -> Traits:
    return (statement("looked up by {method}", method=str(entry.lookup_method)),)


def _reflink(entry: CacheRetrieveEntry) -> Traits:
    return (statement("copies share extents" if entry.shares_extents else "copies move bytes"),)


def _turns(entry: BatchEntry) -> Traits:
    # Between turns a machine recovers: on a throttled disk an fsync took a quarter of the time, and
    # retrieves the same.
    return (statement("measured in turns" if entry.turn_ends else "measured in one pass"),)


SIDE_RULES: dict[str, tuple[Severity, TraitRule]] = {
    SYSTEM_RULE: (Severity.REFUSED, system_traits),
    "profile": (Severity.REFUSED, _profile),
    "sequence": (Severity.REFUSED, _sequence),
    "sizes": (Severity.REFUSED, _retrieves(_sizes)),
    RETRIEVES_RULE: (Severity.REFUSED, _retrieves(_planned)),
    "copy-method": (Severity.REFUSED, _retrieves(_copy_method)),
    "lookup-method": (Severity.REFUSED, _retrieves(_lookup_method)),
    "reflink": (Severity.REFUSED, _retrieves(_reflink)),
    "cache-state": (Severity.REFUSED, _retrieves(_cache_state)),
    "parameters": (Severity.REFUSED, _batches(_parameters)),
    "method": (Severity.REFUSED, _batches(_method)),
    "http-version": (Severity.REFUSED, _batches(_http_version)),
    "interpreter": (Severity.WARNING, _batches(_interpreter)),
    PLACE_KIND_RULE: (Severity.REFUSED, place_traits),
    "engine": (Severity.WARNING, engine_traits),
    "turns": (Severity.REFUSED, _batches(_turns)),
    "script-version": (Severity.WARNING, _script_version),
}
# Places of a task are compared only where these traits agree: they decide what is measured.
SAME_WORK = [SIDE_RULES[name][1] for name in ("sequence", "sizes", RETRIEVES_RULE, "parameters")]
# These may differ between places of one task: they are part of how a place does the work.
SAME_METHOD = [
    SIDE_RULES[name][1]
    for name in ("copy-method", "lookup-method", "reflink", "cache-state", "method")
]
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

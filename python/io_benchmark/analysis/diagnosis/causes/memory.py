# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Memory: what was cached at the start, and what touching new memory costs."""

from statistics import median

from io_benchmark.analysis.diagnosis.case import Case, Finding, Rule, View, of_workers
from io_benchmark.analysis.diagnosis.evidence import span
from io_benchmark.analysis.diagnosis.judging import (
    NOTHING_TO_EXPLAIN,
    Reading,
    Words,
    by_rank,
    explained_share,
    explains,
    percent,
)
from io_benchmark.analysis.model import State

MIB = 1024 * 1024
# Steps of cache residency that are told apart.
RESIDENT_STEP = 0.10
AS_DEAR_RATIO = 1.25


def _cached(view: View) -> Reading | None:
    state = view.retrieves.facts.cache_state if view.retrieves is not None else None
    if state is None or state.resident_bytes is None or not state.cache_bytes:
        return None
    share = min(1.0, state.resident_bytes / state.cache_bytes)
    step = round(share / RESIDENT_STEP)
    return Reading(f"{step * RESIDENT_STEP * 100:.0f} % of the cache in memory", -float(step))


def _reading_in_ns(view: View) -> float | None:
    """What reading the rest of the cache costs a retrieve, at the rate at which the disks wrote."""
    state = view.retrieves.facts.cache_state if view.retrieves is not None else None
    rate = view.written_mib_per_s
    if view.entry is None or state is None or state.resident_bytes is None or not rate:
        return None
    missing_mib = max(0, state.cache_bytes - state.resident_bytes) / MIB
    return missing_mib / rate * 1e9 / len(view.entry.total_ns)


def page_cache_state(case: Case) -> Finding:
    finding = _by_residency(case)
    share = explained_share(case, _reading_in_ns)
    if finding.state is not State.SUPPORTED or share is None:
        return finding
    evidence = finding.baseline_evidence, finding.candidate_evidence
    if not explains(share):
        return Finding(
            State.RULED_OUT,
            *evidence,
            "the slower side began with less of the cache in memory, but reading that in once makes "
            f"up only {percent(share)} of the difference",
        )
    return Finding(
        State.SUPPORTED,
        *evidence,
        f"{finding.explanation}; that makes up {percent(share)} of the difference",
    )


def _by_residency(case: Case) -> Finding:
    return by_rank(
        case,
        _cached,
        Words(
            supported="the slower side began with less of the cache in memory and read it from its "
            "disks",
            missing="the kernel did not say how much of the cache was in memory at the start",
            same="as much of the cache was in memory at the start on both sides",
        ),
    )


def _touch_ns(view: View) -> float | None:
    costs = view.host.first_touch_ns_per_mib if view.host is not None else []
    return float(median(costs)) if costs else None


def _touch_in_a_retrieve_ns(view: View) -> float | None:
    cost = _touch_ns(view)
    if cost is None or view.entry is None or view.copied_bytes is None:
        return None
    return cost * view.copied_bytes / MIB / len(view.entry.total_ns)


def memory_first_touch(case: Case) -> Finding:
    evidence = tuple(
        span(views, lambda view: None if (ns := _touch_ns(view)) is None else ns / 1000, "µs a MiB")
        for views in (case.baseline, case.candidate)
    )
    baseline, candidate = evidence
    slower, faster = of_workers(case.slower, _touch_ns), of_workers(case.faster, _touch_ns)
    if not slower or not faster:
        return Finding(
            State.NOT_OBSERVABLE,
            baseline,
            candidate,
            "what touching new memory costs was not measured",
        )
    if not case.differs:
        return Finding(State.RULED_OUT, baseline, candidate, NOTHING_TO_EXPLAIN)
    if median(slower) <= AS_DEAR_RATIO * median(faster):
        return Finding(
            State.RULED_OUT, baseline, candidate, "new memory costs the slower side no more"
        )
    share = explained_share(case, _touch_in_a_retrieve_ns)
    if share is None:
        return Finding(
            State.NOT_OBSERVABLE, baseline, candidate, "there are no times to hold it against"
        )
    if not explains(share):
        return Finding(
            State.RULED_OUT,
            baseline,
            candidate,
            f"dearer, but for a whole file it makes up only {percent(share)} of the difference",
        )
    return Finding(
        State.SUPPORTED,
        baseline,
        candidate,
        "the slower side's guest pays more for each new page of memory; for a whole file it makes up "
        f"{percent(share)} of the difference",
    )


RULES = (
    Rule(
        "page-cache-state",
        "The slower side began with less of the cache in memory.",
        page_cache_state,
    ),
    Rule(
        "memory-first-touch",
        "Touching new memory is dearer on the slower side's machine.",
        memory_first_touch,
    ),
)

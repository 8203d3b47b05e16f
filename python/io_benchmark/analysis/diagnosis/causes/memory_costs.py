# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Memory: what was cached at the start, and what touching new memory costs."""

from statistics import median

from io_benchmark.analysis.diagnosis.case import Case
from io_benchmark.analysis.diagnosis.cause_rule import CauseJudgement, CauseRule, Sides
from io_benchmark.analysis.diagnosis.evidence import span
from io_benchmark.analysis.diagnosis.ranking import RankedFact, by_rank
from io_benchmark.analysis.observed.worker_view import View
from io_benchmark.analysis.parts.time_parts import Kind, in_copies
from io_benchmark.analysis.statements import MIB, Quantity, Unit, statement

ORDER = 70
# Cache residency is compared in steps of this size.
_RESIDENT_STEP = 0.10
# A page that costs at most this many times as much costs the same.
_SAME_COST_RATIO = 1.25


def _cached(view: View) -> RankedFact | None:
    state = view.retrieves.cache_state if view.retrieves is not None else None
    if state is None or state.resident_bytes is None or not state.cache_bytes:
        return None
    step = round(min(1.0, state.resident_bytes / state.cache_bytes) / _RESIDENT_STEP)
    share = Quantity(step * _RESIDENT_STEP, Unit.SHARE)
    return RankedFact(statement("{share} of the cache in memory", share=share), -float(step))


def _reading_ns(view: View) -> float | None:
    """Return what reading the rest of the cache costs per retrieve, at the disks' write rate."""
    state = view.retrieves.cache_state if view.retrieves is not None else None
    rate = view.written_bytes_per_s
    if view.entry is None or state is None or state.resident_bytes is None or not rate:
        return None
    missing_bytes = max(0, state.cache_bytes - state.resident_bytes)
    return missing_bytes / rate * 1e9 / len(view.entry.total_ns)


def _page_cache_state(case: Case) -> CauseJudgement:
    return by_rank(
        case,
        _cached,
        supported="The slower side started with less of the cache in memory and read it from "
        "its disks.",
        unseen="The kernel did not report how much of the cache was in memory at the start.",
        same="As much of the cache was in memory at the start on both sides.",
        name="cache-in-memory",
    ).if_enough(
        case,
        case.explained_share(_reading_ns),
        "The slower side started with less of the cache in memory, but reading the rest once "
        "makes up only {share} of the difference.",
    )


def _touch_ns(view: View) -> float | None:
    costs = view.host.first_touch_ns_per_mib if view.host is not None else []
    return float(median(costs)) if costs else None


def _touch_per_retrieve_ns(view: View) -> float | None:
    cost = _touch_ns(view)
    if cost is None or view.entry is None or view.copied_bytes is None:
        return None
    return cost * view.copied_bytes / MIB / len(view.entry.total_ns)


def _memory_first_touch(case: Case) -> CauseJudgement:
    evidence = Sides.of(
        case, span("first-touch-per-mib", _touch_ns, Unit.NANOSECONDS, "{value} per MiB")
    )
    slower, faster = case.slower.median(_touch_ns), case.faster.median(_touch_ns)
    if slower is None or faster is None:
        return evidence.not_observable("The cost of touching new memory was not measured.")
    if not case.differs:
        return evidence.nothing_to_explain()
    if slower <= _SAME_COST_RATIO * faster:
        return evidence.ruled_out("New memory costs the slower side no more.")
    share = case.explained_share(_touch_per_retrieve_ns)
    if share is None:
        return evidence.not_observable("The workload has no times to compare this cost with.")
    return evidence.supported("Each new page of memory costs the slower side more.").if_enough(
        case,
        share,
        "New memory costs the slower side more, but per file this makes up only {share} of the "
        "difference.",
    )


RULES = (
    CauseRule(
        "page-cache-state",
        "The slower side started with less of the cache in memory.",
        _page_cache_state,
        acts_through=in_copies(Kind.BLOCKED),
    ),
    CauseRule(
        "memory-first-touch",
        "Touching new memory costs more on the slower side's machine.",
        _memory_first_touch,
        acts_through=in_copies(Kind.KERNEL),
    ),
)

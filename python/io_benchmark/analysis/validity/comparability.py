# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""What must be alike on both sides: what each run has of it, in words that can be laid side by side.

None: a workload that has nothing of the kind.
"""

from collections.abc import Callable, Sequence

import msgspec

from io_benchmark.analysis.model import Entry, Worker
from io_benchmark.results import workloads

COLD_SHARE, WARM_SHARE = 0.05, 0.50
# Parameters that say how much is measured, not what.
HOW_MUCH = frozenset(("time_limit_s", "samples_planned", "objects_planned"))

Run = tuple[Worker, Entry]


def profile(run: Run) -> str | None:
    """A quick run measures smaller files and waits for less: it is no short form of a full one."""
    return f"profile {run[0].result.config.profile}"


def sequence(run: Run) -> str | None:
    if run[1].retrieves is None:
        return None
    config = run[0].result.config
    return f"seed {config.seed}, sequence over {len(run[1].retrieves.facts.file_sizes_bytes)} files"


def sizes(run: Run) -> str | None:
    if run[1].retrieves is None:
        return None
    found = sorted(set(run[1].retrieves.facts.file_sizes_bytes), reverse=True)
    return "files of " + ", ".join(f"{size / 1024 / 1024:g} MiB" for size in found[:6])


def retrieves(run: Run) -> str | None:
    """First looks at a file read the disk: the fewer retrieves, the more of them are such."""
    return None if run[1].retrieves is None else f"{run[1].planned:,} retrieves planned"


def copy_method(run: Run) -> str | None:
    entry = run[1].retrieves
    return None if entry is None else f"copied by {entry.facts.copy_method}"


def lookup_method(run: Run) -> str | None:
    entry = run[1].retrieves
    return None if entry is None else f"looked up by {entry.facts.lookup_method}"


def reflink(run: Run) -> str | None:
    if run[1].retrieves is None:
        return None
    return "copies share extents" if run[1].retrieves.facts.shares_extents else "copies move bytes"


def cache_state(run: Run) -> str | None:
    if run[1].retrieves is None:
        return None
    state = run[1].retrieves.facts.cache_state
    if state is None or state.resident_bytes is None or state.cache_bytes == 0:
        return "cache state unknown"
    share = state.resident_bytes / state.cache_bytes
    if share < COLD_SHARE:
        return "cold cache"
    return "warm cache" if share > WARM_SHARE else "half-warm cache"


def parameters(run: Run) -> str | None:
    """How much is measured may differ, what is measured may not."""
    measured = run[1].measured
    if measured is None:
        return None
    chosen = msgspec.to_builtins(measured.parameters)
    return ", ".join(
        f"{name} {'none' if value is None else value}"
        for name, value in chosen.items()
        if name not in HOW_MUCH
    )


def without_common(ours: Sequence[str], theirs: Sequence[str]) -> tuple[list[str], list[str]]:
    """Lists of parameters, without what is the same in all of them."""
    common = set.intersection(*(set(text.split(", ")) for text in (*ours, *theirs)))

    def rest(text: str) -> str:
        return ", ".join(part for part in text.split(", ") if part not in common)

    return [rest(text) for text in ours], [rest(text) for text in theirs]


def method(run: Run) -> str | None:
    if not _observes(run, "method"):
        return None
    by = f"measured by {_without_version(_observed(run, 'method'))}"
    engine = _observed(run, "io_engine")
    return f"{by} with {engine}" if engine else by


def _observes(run: Run, name: str) -> bool:
    """Return whether this workload has such an observation, known or not."""
    measured = run[1].measured
    return measured is not None and hasattr(measured.observed, name)


def _observed(run: Run, name: str) -> str | None:
    measured = run[1].measured
    found: str | None = getattr(measured.observed, name, None) if measured is not None else None
    return found


def _without_version(method: str | None) -> str:
    """fio-3.33 and fio-3.36 measure the same way; fio and a loop of Python do not."""
    name, _, rest = (method or "an unknown method").rpartition("-")
    return name if name and rest[:1].isdigit() else method or "an unknown method"


def interpreter(run: Run) -> str | None:
    if not _observes(run, "python"):
        return None
    version = ".".join((_observed(run, "python") or "unknown").split(".")[:2])
    return f"by Python {version}"


def http_version(run: Run) -> str | None:
    if not _observes(run, "http_version"):
        return None
    return f"HTTP/{_observed(run, 'http_version') or 'unknown'}"


def place_kind(run: Run) -> str | None:
    if not workloads.of(run[1].subject.workload).per_place:
        return None
    for place in run[0].result.storage.places:
        if place.name == run[1].subject.place:
            return f"a place on {place.kind}"
    return "a place unknown"


# Between places of one task: what may not differ for it to be the same work, and what is part of how
# a place does that work.
SAME_WORK: tuple[Callable[[Run], str | None], ...] = (sequence, sizes, retrieves, parameters)
WAYS: tuple[Callable[[Run], str | None], ...] = (
    copy_method,
    lookup_method,
    reflink,
    cache_state,
    method,
)


def script_version(run: Run) -> str | None:
    script = run[0].result.script
    return f"script {script.version} {script.sha256[:12]}"

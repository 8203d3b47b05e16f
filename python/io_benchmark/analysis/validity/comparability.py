# SPDX-License-Identifier: MPL-2.0
"""Rules about sides: what identical measurements have in common.

Each rule compares traits, which its function returns for a run. A workload that has nothing of the
kind has no traits.
"""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from hashlib import sha256

import msgspec

from io_benchmark.analysis.model import Run, Severity
from io_benchmark.analysis.statements import Quantity, Statement, Unit, count, joined, statement
from io_benchmark.results import CacheRetrieveEntry, workloads

# Parts of the cache that are in memory before the first retrieve.
_COLD_SHARE, _WARM_SHARE = 0.05, 0.50
# Parameters that decide how much is measured. The others decide what is measured.
_AMOUNTS = frozenset(("time_limit_s", "samples_planned", "objects_planned"))
_SIZES_SHOWN = 6

Traits = tuple[Statement, ...]
TraitRule = Callable[[Run], Traits]
RETRIEVES_RULE = "retrieves"


def distinct_traits(several: Sequence[Traits]) -> list[Statement]:
    """Return each run's traits as one statement, without those that all of them have."""
    common = set.intersection(*map(set, several))
    distinct = [[trait for trait in traits if trait not in common] for traits in several]
    return [joined(traits) if traits else statement("nothing") for traits in distinct]


def _profile(run: Run) -> Traits:
    # A quick run measures smaller files and waits for less: it is not a short form of a full one.
    return (statement("profile {profile}", profile=run.worker.result.config.profile),)


def _sequence(run: Run) -> Traits:
    if run.entry.retrieves is None:
        return ()
    files = len(run.entry.retrieves.file_sizes_bytes)
    return (
        statement("seed {seed}", seed=str(run.worker.result.config.seed)),
        statement("sequence over {files} files", files=count(files)),
    )


def _retrieves(traits: Callable[[CacheRetrieveEntry], Traits]) -> TraitRule:
    """Make a rule from traits that only retrieves have."""
    return lambda run: () if run.entry.retrieves is None else traits(run.entry.retrieves)


def _sizes(entry: CacheRetrieveEntry) -> Traits:
    mix = [
        statement("{files} × {size}", files=count(files), size=Quantity(size, Unit.BYTES))
        for size, files in sorted(Counter(entry.file_sizes_bytes).items(), reverse=True)
    ]
    # Mixes may differ only in sizes that are not shown, or in which file has which size.
    digest = sha256(str(list(entry.file_sizes_bytes)).encode()).hexdigest()[:12]
    return *mix[:_SIZES_SHOWN], statement("list of sizes {digest}", digest=digest)


def _cache_state(entry: CacheRetrieveEntry) -> Traits:
    state = entry.cache_state
    if state is None or state.resident_bytes is None or state.cache_bytes == 0:
        return (statement("cache state unknown"),)
    resident = state.resident_bytes / state.cache_bytes
    warmth = "warm" if resident > _WARM_SHARE else "half-warm"
    return (statement("cold cache" if resident < _COLD_SHARE else f"{warmth} cache"),)


def _parameters(run: Run) -> Traits:
    if run.entry.measured is None:
        return ()
    chosen = msgspec.to_builtins(run.entry.measured.parameters)
    return tuple(
        statement("{name} {value}", name=name, value="none" if value is None else str(value))
        for name, value in chosen.items()
        if name not in _AMOUNTS
    )


def _observed(run: Run, name: str, unknown: str = "unknown") -> str | None:
    """Return an observation, or that it is unknown; None where this workload does not have it."""
    measured = run.entry.measured
    if measured is None or not hasattr(measured.observed, name):
        return None
    value: str | None = getattr(measured.observed, name)
    return value or unknown


def _method(run: Run) -> Traits:
    method = _observed(run, "method", "an unknown method")
    if method is None:
        return ()
    # curl-8.5 and curl-8.9 measure the same way.
    method = re.sub(r"(?<=.)-[0-9][^-]*$", "", method)
    return (statement("measured by {method}", method=method),)


def _interpreter(run: Run) -> Traits:
    version = _observed(run, "python")
    minor = ".".join((version or "").split(".")[:2])
    return () if version is None else (statement("by Python {version}", version=minor),)


def _http_version(run: Run) -> Traits:
    version = _observed(run, "http_version")
    return () if version is None else (statement("HTTP/{version}", version=version),)


def _place_kind(run: Run) -> Traits:
    subject = run.entry.subject
    if not workloads.of(subject.workload).per_place:
        return ()
    kinds = {place.name: str(place.kind) for place in run.worker.result.storage.places}
    return (statement("a place on {kind}", kind=kinds.get(subject.place, "an unknown disk")),)


def _script_version(run: Run) -> Traits:
    script = run.worker.result.script
    return (
        statement("script {version} {digest}", version=script.version, digest=script.sha256[:12]),
    )


def _planned(entry: CacheRetrieveEntry) -> Traits:
    # The first retrieve of a file reads the disk: of fewer retrieves, more are such.
    return (
        statement("{count} retrieves planned", count=count(entry.retrieves_planned)),
        statement("sequence {digest}", digest=entry.sequence_sha256[:12]),
    )


def _copy_method(entry: CacheRetrieveEntry) -> Traits:
    return (statement("copied by {method}", method=str(entry.copy_method)),)


def _lookup_method(entry: CacheRetrieveEntry) -> Traits:
    return (statement("looked up by {method}", method=str(entry.lookup_method)),)


def _reflink(entry: CacheRetrieveEntry) -> Traits:
    return (statement("copies share extents" if entry.shares_extents else "copies move bytes"),)


SIDE_RULES: dict[str, tuple[Severity, TraitRule]] = {
    "profile": (Severity.REFUSED, _profile),
    "sequence": (Severity.REFUSED, _sequence),
    "sizes": (Severity.REFUSED, _retrieves(_sizes)),
    RETRIEVES_RULE: (Severity.REFUSED, _retrieves(_planned)),
    "copy-method": (Severity.REFUSED, _retrieves(_copy_method)),
    "lookup-method": (Severity.REFUSED, _retrieves(_lookup_method)),
    "reflink": (Severity.REFUSED, _retrieves(_reflink)),
    "cache-state": (Severity.REFUSED, _retrieves(_cache_state)),
    "parameters": (Severity.REFUSED, _parameters),
    "method": (Severity.REFUSED, _method),
    "http-version": (Severity.REFUSED, _http_version),
    "interpreter": (Severity.WARNING, _interpreter),
    "place-kind": (Severity.REFUSED, _place_kind),
    "script-version": (Severity.WARNING, _script_version),
}
# Places of one task are compared only where these traits are the same: they decide what is measured.
SAME_WORK = [SIDE_RULES[name][1] for name in ("sequence", "sizes", RETRIEVES_RULE, "parameters")]
# These may differ between places of one task: they are part of how a place does the work.
SAME_METHOD = [
    SIDE_RULES[name][1]
    for name in ("copy-method", "lookup-method", "reflink", "cache-state", "method")
]

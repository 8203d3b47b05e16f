# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Traits: what identical measurements have in common, one function per rule about sides.

Each function returns the traits of a run, or none where its workload has nothing of the kind.
"""

from collections.abc import Callable, Sequence

import msgspec

from io_benchmark.analysis.model import Run
from io_benchmark.analysis.statements import Quantity, Statement, Unit, count, joined, statement
from io_benchmark.results.workloads import (
    RandomIoObserved,
    SpawnObserved,
    SyncWriteObserved,
    UploadObserved,
)

# Parts of the cache that are in memory before the first retrieve.
_COLD_SHARE, _WARM_SHARE = 0.05, 0.50
# Parameters that decide how much is measured. The others decide what is measured.
_AMOUNTS = frozenset(("time_limit_s", "samples_planned", "objects_planned"))
# What these workloads measure is not in a place.
_WITHOUT_PLACE = frozenset(("spawn", "upload"))
_SIZES_SHOWN = 6
_UNKNOWN_METHOD = "an unknown method"

Traits = tuple[Statement, ...]
TraitRule = Callable[[Run], Traits]


def traits_text(traits: Traits) -> Statement:
    """Return a run's traits as one statement."""
    return joined(traits) if traits else statement("nothing")


def distinct_traits(several: Sequence[Traits]) -> list[Traits]:
    """Return the traits of several runs without those that all of them have."""
    common = set.intersection(*map(set, several))
    return [tuple(trait for trait in traits if trait not in common) for traits in several]


def profile(run: Run) -> Traits:
    """A quick run measures smaller files and waits for less: it is not a short form of a full one."""
    return (statement("profile {profile}", profile=run.worker.result.config.profile),)


def sequence(run: Run) -> Traits:
    if run.entry.retrieves is None:
        return ()
    files = len(run.entry.retrieves.facts.file_sizes_bytes)
    return (
        statement("seed {seed}", seed=str(run.worker.result.config.seed)),
        statement("sequence over {files} files", files=count(files)),
    )


def sizes(run: Run) -> Traits:
    if run.entry.retrieves is None:
        return ()
    largest = sorted(set(run.entry.retrieves.facts.file_sizes_bytes), reverse=True)[:_SIZES_SHOWN]
    listed = joined(Quantity(size, Unit.BYTES) for size in largest)
    return (statement("files of {sizes}", sizes=listed),)


def retrieves(run: Run) -> Traits:
    """The first retrieve of a file reads the disk: of fewer retrieves, more are such."""
    if run.entry.retrieves is None:
        return ()
    return (statement("{count} retrieves planned", count=count(run.entry.planned)),)


def copy_method(run: Run) -> Traits:
    if run.entry.retrieves is None:
        return ()
    return (statement("copied by {method}", method=str(run.entry.retrieves.facts.copy_method)),)


def lookup_method(run: Run) -> Traits:
    if run.entry.retrieves is None:
        return ()
    return (
        statement("looked up by {method}", method=str(run.entry.retrieves.facts.lookup_method)),
    )


def reflink(run: Run) -> Traits:
    if run.entry.retrieves is None:
        return ()
    shared = run.entry.retrieves.facts.shares_extents
    return (statement("copies share extents" if shared else "copies move bytes"),)


def cache_state(run: Run) -> Traits:
    if run.entry.retrieves is None:
        return ()
    state = run.entry.retrieves.facts.cache_state
    if state is None or state.resident_bytes is None or state.cache_bytes == 0:
        return (statement("cache state unknown"),)
    resident = state.resident_bytes / state.cache_bytes
    if resident < _COLD_SHARE:
        return (statement("cold cache"),)
    return (statement("warm cache" if resident > _WARM_SHARE else "half-warm cache"),)


def parameters(run: Run) -> Traits:
    """How much is measured may differ, what is measured may not."""
    if run.entry.measured is None:
        return ()
    chosen = msgspec.to_builtins(run.entry.measured.parameters)
    return tuple(
        statement("{name} {value}", name=name, value="none" if value is None else str(value))
        for name, value in chosen.items()
        if name not in _AMOUNTS
    )


def method(run: Run) -> Traits:
    observed = run.entry.measured.observed if run.entry.measured is not None else None
    if isinstance(observed, RandomIoObserved):
        name = _without_version(observed.method)
        if observed.io_engine:
            return (
                statement(
                    "measured by {method} with {engine}", method=name, engine=observed.io_engine
                ),
            )
        return (statement("measured by {method}", method=name),)
    if isinstance(observed, SpawnObserved | UploadObserved):
        return (statement("measured by {method}", method=_without_version(observed.method)),)
    return ()


def _without_version(method: str | None) -> str:
    """fio-3.33 and fio-3.36 measure the same way; fio and a loop of Python do not."""
    name, _, version = (method or _UNKNOWN_METHOD).rpartition("-")
    return name if name and version[:1].isdigit() else method or _UNKNOWN_METHOD


def interpreter(run: Run) -> Traits:
    observed = run.entry.measured.observed if run.entry.measured is not None else None
    if not isinstance(observed, SpawnObserved | SyncWriteObserved):
        return ()
    version = ".".join((observed.python or "unknown").split(".")[:2])
    return (statement("by Python {version}", version=version),)


def http_version(run: Run) -> Traits:
    observed = run.entry.measured.observed if run.entry.measured is not None else None
    if not isinstance(observed, UploadObserved):
        return ()
    return (statement("HTTP/{version}", version=observed.http_version or "unknown"),)


def place_kind(run: Run) -> Traits:
    if run.entry.subject.workload in _WITHOUT_PLACE:
        return ()
    for place in run.worker.result.storage.places:
        if place.name == run.entry.subject.place:
            return (statement("a place on {kind}", kind=str(place.kind)),)
    return (statement("a place unknown"),)


def script_version(run: Run) -> Traits:
    script = run.worker.result.script
    return (
        statement("script {version} {digest}", version=script.version, digest=script.sha256[:12]),
    )


# Places of one task are compared only where these traits are the same: they decide what is measured.
SAME_WORK: tuple[TraitRule, ...] = (sequence, sizes, retrieves, parameters)
# These may differ between places of one task: they are part of how a place does the work.
SAME_METHOD: tuple[TraitRule, ...] = (copy_method, lookup_method, reflink, cache_state, method)

# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""The `report` stanza of a task: its schema, and the messages about mistakes in it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import voluptuous

from io_benchmark_taskgraph.checks import checked, percentage, whole_number
from io_benchmark_taskgraph.mistakes import BadKeyError, plain, shown, suggestion

STANZA = "report"
MAX_WAIT_MINUTES = 720
# For the steps after waiting: reading results, comparing, drawing, uploading.
MARGIN_S = 600
# A test compares this with FORM in io_benchmark/analysis/expectations.py.
EXPECTATION = re.compile(
    r"\s*([A-Za-z0-9_.-]+(?: +[A-Za-z0-9_.-]+)*)\s*/"
    r"\s*([A-Za-z0-9_.-]+(?: +[A-Za-z0-9_.-]+)*)\s*(<|>)\s*([0-9]+(?:\.[0-9]+)?)"
    r"(?:\s+on\s+([A-Za-z0-9_.-]+(?:(?: |\s*,\s*)[A-Za-z0-9_.-]+)*))?\s*"
)
EXAMPLES = "'amd-30/intel<1.05' or 'amd-30/intel<1.05 on sync-write, dsync-append'"


@dataclass(frozen=True)
class ReportSettings:
    """The checked stanza: how the results are compared."""

    wait_minutes: int
    baseline: str | None
    margin: str | None
    expectations: tuple[str, ...]


def _is_expectation(text: str) -> bool:
    match = EXPECTATION.fullmatch(text)
    return match is not None and float(match.group(4)) > 0


def _expectations(value: object) -> tuple[str, ...]:
    if not isinstance(value, list):
        text = "is not a list; write one, as ['amd-30/intel<1.05']"
        raise voluptuous.Invalid(f"{shown(value)} {text}")
    for item in value:
        if not isinstance(item, str) or not _is_expectation(item):
            raise voluptuous.Invalid(f"{shown(item)}: write it like {EXAMPLES}")
    return tuple(value)


def _name(value: object) -> str:
    if not isinstance(value, str) or not value:
        raise voluptuous.Invalid(f"{shown(value)} is not a pool's name")
    return value


SCHEMA = voluptuous.Schema({
    # Wait at most this long for results that the task does not depend on: those of retriggers and
    # duplicates.
    voluptuous.Optional("wait-minutes", default=30): whole_number(0, MAX_WAIT_MINUTES),
    # The pool that the other pools are compared with.
    voluptuous.Optional("baseline"): _name,
    # Differences within this count as equivalent.
    voluptuous.Optional("margin"): percentage,
    # The task fails unless the interval meets these.
    voluptuous.Optional("expectations", default=list): _expectations,
})
KEYS = tuple(str(key) for key in SCHEMA.schema)


def parse(stanza: object, pools: Sequence[str]) -> ReportSettings:
    """Check the stanza, also that it names existing pools."""
    values = checked(SCHEMA, stanza, STANZA)
    settings = ReportSettings(
        wait_minutes=values["wait-minutes"],
        baseline=values.get("baseline"),
        margin=values.get("margin"),
        expectations=values["expectations"],
    )
    _check_pools(settings, pools)
    return settings


def _check_pools(settings: ReportSettings, pools: Sequence[str]) -> None:
    known = sorted(set(pools))
    if not known:
        text = "no kind among kind-dependencies has pools; name io-benchmark"
        raise BadKeyError(STANZA, text)
    key = f"{STANZA}.baseline"
    if settings.baseline is not None and settings.baseline not in known:
        raise BadKeyError(key, _not_a_pool(settings.baseline, known))
    # As `io-benchmark compare` chooses it.
    baseline = settings.baseline or known[-1]
    for text in settings.expectations:
        problem = _expectation_problem(text, baseline, known)
        if problem is not None:
            raise BadKeyError(f"{STANZA}.expectations", f"{shown(text)}: {problem}")


def _not_a_pool(name: str, known: Sequence[str]) -> str:
    return f"{shown(name)} is not a pool; {suggestion(name, known)}"


def _expectation_problem(text: str, baseline: str, known: Sequence[str]) -> str | None:
    match = EXPECTATION.fullmatch(text)
    names = match.group(1, 2) if match else ()
    for name in names:
        if name not in known:
            return _not_a_pool(name, known)
    candidate, against = names
    if against != baseline:
        return (
            f"the pools are compared with {baseline}; write CANDIDATE/{plain(baseline)}, or set "
            f"{STANZA}.baseline to {plain(against)}"
        )
    if candidate == baseline:
        return "a pool is not compared with itself; name another"
    return None


def check_time(settings: ReportSettings, max_run_time_s: object) -> None:
    """Refuse a limit that is too short: a task that is stopped at its limit uploads nothing."""
    key = "worker.max-run-time"
    if isinstance(max_run_time_s, bool) or not isinstance(max_run_time_s, int):
        text = "is not a number of seconds; write one such as 3600"
        raise BadKeyError(key, f"{shown(max_run_time_s)} {text}")
    needed_s = settings.wait_minutes * 60 + MARGIN_S
    if max_run_time_s < needed_s:
        raise BadKeyError(
            key,
            f"{max_run_time_s} does not hold {settings.wait_minutes} minutes of waiting and "
            f"{MARGIN_S} s for the rest; raise it to {needed_s} or lower {STANZA}.wait-minutes",
        )

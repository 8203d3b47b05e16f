# SPDX-License-Identifier: MPL-2.0
"""The `report` stanza of a task: its schema, mistakes in it, and the command that it makes.

The command is an ordinary `io-benchmark compare`. IO_BENCHMARK_REPORT_OF, IO_BENCHMARK_REPORT_PYTHON and
IO_BENCHMARK_ARTIFACTS are for trying it elsewhere; on a worker they are not set.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

import voluptuous

from io_benchmark_taskgraph.mistakes import (
    BadKeyError,
    checked,
    choice,
    form,
    percentage,
    plain,
    quoted,
    there_are,
    whole_number,
)
from io_benchmark_taskgraph.stanza import ARTIFACTS_PATH

STANZA = "report"
MAX_WAIT_MINUTES = 720
PYTHON = "/opt/io-benchmark/bin/python3"  # in the image io-benchmark-report
FOLDER = "io-benchmark"
PRICES_FILE = f"{FOLDER}/prices.json"
# With one worker per pool, a look cannot estimate its error.
FEWEST_WORKERS, MOST_WORKERS = 2, 100
MOST_PER_HOUR = 1_000_000
NAME_LENGTH = 200
# What is written, by the format's name, below the artifacts.
FILES = {
    "html": f"{FOLDER}/report.html",
    "markdown": f"{FOLDER}/report.md",
    "json": f"{FOLDER}/report.json",
}
# A test compares this with FORM in io_benchmark/analysis/plan.py.
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
    baseline: str | None = None
    margin: str | None = None
    expectations: tuple[str, ...] = ()
    looks: str | None = None  # 3,6,12
    prices: str | None = None  # as JSON

    @classmethod
    def parse(cls, stanza: object, pools: Sequence[str]) -> ReportSettings:
        """Check the stanza, also that it names existing pools."""
        values = checked(SCHEMA, stanza, STANZA)
        settings = cls(wait_minutes=values.pop("wait-minutes"), **values)
        _check_pools(settings, pools)
        return settings

    def command(self, python: str = f'"${{IO_BENCHMARK_REPORT_PYTHON:-{PYTHON}}}"') -> str:
        """Return the whole command, for `bash -c`; `python` starts a Python that has the program."""
        prices_file = f'"$artifacts/{PRICES_FILE}"'
        given = {
            "--baseline": self.baseline and shlex.quote(self.baseline),
            "--margin": self.margin,
            "--looks": self.looks,
            "--prices": self.prices and prices_file,
        }
        options = [
            *(f"{name} {value}" for name, value in given.items() if value is not None),
            # With an equals sign, because a value may begin with a hyphen.
            *(f"--expect={shlex.quote(expectation)}" for expectation in self.expectations),
            *(f'--write {name}="$artifacts/{path}"' for name, path in FILES.items()),
        ]
        start = (
            f"exec {python} -u -m io_benchmark.cli compare",
            f'"${{IO_BENCHMARK_REPORT_OF:-group:$TASK_GROUP_ID}}" --wait {self.wait_minutes} --partial',
        )
        lines = [
            "set -e",
            f'artifacts="${{IO_BENCHMARK_ARTIFACTS:-{ARTIFACTS_PATH}}}"',
            f'mkdir -p "$artifacts/{FOLDER}"',
        ]
        if self.prices is not None:
            # Published next to the report that uses them.
            lines.append(f"printf '%s\\n' {shlex.quote(self.prices)} > {prices_file}")
        return "\n".join([*lines, " \\\n  ".join([*start, *options])]) + "\n"


def _is_expectation(value: object) -> bool:
    match = EXPECTATION.fullmatch(value) if isinstance(value, str) else None
    return match is not None and float(match.group(4)) > 0


def _expectations(value: object) -> tuple[str, ...]:
    if not isinstance(value, list):
        problem = "is not a list; write one, as ['amd-30/intel<1.05']"
        raise voluptuous.Invalid(f"{quoted(value)} {problem}")
    for item in value:
        if not _is_expectation(item):
            raise voluptuous.Invalid(f"{quoted(item)}: write it like {EXAMPLES}")
    return tuple(value)


def _looks(value: object) -> str:
    numbers = value if isinstance(value, list) else []
    are_counts = all(
        type(number) is int and FEWEST_WORKERS <= number <= MOST_WORKERS for number in numbers
    )
    if not numbers or not are_counts or numbers != sorted(set(numbers)):
        problem = f"is not a rising list of numbers from {FEWEST_WORKERS} to {MOST_WORKERS}"
        raise voluptuous.Invalid(f"{quoted(value)} {problem}; write one, as [3, 6, 12]")
    return ",".join(map(str, numbers))


def _date(value: Any) -> str:
    try:
        # YAML reads a date as a date.
        return date.fromisoformat(str(value)).isoformat()
    except ValueError:
        problem = "is not a date; write one such as 2026-11-01"
        raise voluptuous.Invalid(f"{quoted(value)} {problem}") from None


def _prices_by_name(value: object) -> dict[str, float]:
    if not isinstance(value, dict) or not value:
        problem = "is not a mapping of names to prices; write one, as {amd-16: 0.31}"
        raise voluptuous.Invalid(f"{quoted(value)} {problem}")
    for name, price in value.items():
        is_price = type(price) in (int, float) and 0 < price <= MOST_PER_HOUR
        if not isinstance(name, str) or not 0 < len(name) <= NAME_LENGTH or not is_price:
            problem = f"is not a price per hour of {plain(name)}; write a number above 0"
            raise voluptuous.Invalid(f"{quoted(price)} {problem}, such as 0.31")
    return value


PRICES = voluptuous.Schema({
    voluptuous.Required("currency"): form(
        "[A-Z]{3}", "is not a currency's code; write one such as USD"
    ),
    voluptuous.Optional("kind"): choice(("spot", "on-demand")),
    voluptuous.Optional("date"): _date,
    voluptuous.Required("prices"): _prices_by_name,
})


def _prices(value: object) -> str:
    """Return the prices in the form that `compare --prices` reads."""
    return json.dumps(checked(PRICES, value, f"{STANZA}.prices"), sort_keys=True)


SCHEMA = voluptuous.Schema({
    # Wait at most this long for results that the task does not depend on: those of retriggers and
    # duplicates.
    voluptuous.Optional("wait-minutes", default=30): whole_number(0, MAX_WAIT_MINUTES),
    # The pool that the other pools are compared with.
    voluptuous.Optional("baseline"): form("(?s:.+)", "is not a pool's name"),
    # Differences within this count as equivalent.
    voluptuous.Optional("margin"): percentage,
    # Workers per pool at each planned comparison.
    voluptuous.Optional("looks"): _looks,
    # What an hour of a worker costs, by pool, worker type or type of machine.
    voluptuous.Optional("prices"): _prices,
    # The task fails unless the interval meets these.
    voluptuous.Optional("expectations", default=list): _expectations,
})


def _check_pools(settings: ReportSettings, pools: Sequence[str]) -> None:
    pools = sorted(set(pools))
    if not pools:
        raise BadKeyError(STANZA, "no kind among kind-dependencies has pools; name io-benchmark")
    if settings.baseline is not None and settings.baseline not in pools:
        raise BadKeyError(f"{STANZA}.baseline", _not_a_pool(settings.baseline, pools))
    # As `io-benchmark compare` chooses it.
    baseline = settings.baseline or pools[-1]
    for expectation in settings.expectations:
        problem = _expectation_problem(expectation, baseline, pools)
        if problem is not None:
            raise BadKeyError(f"{STANZA}.expectations", f"{quoted(expectation)}: {problem}")


def _not_a_pool(name: str, pools: Sequence[str]) -> str:
    return f"{quoted(name)} is not a pool; {there_are(pools)}"


def _expectation_problem(expectation: str, baseline: str, pools: Sequence[str]) -> str | None:
    candidate, against = (name.strip() for name in re.split("[/<>]", expectation)[:2])
    for name in (candidate, against):
        if name not in pools:
            return _not_a_pool(name, pools)
    if against != baseline:
        return (
            f"the pools are compared with {baseline}; write CANDIDATE/{plain(baseline)}, or set "
            f"{STANZA}.baseline to {plain(against)}"
        )
    if candidate == baseline:
        return "a pool is not compared with itself; name another"
    return None

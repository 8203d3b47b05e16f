# SPDX-License-Identifier: MPL-2.0
"""The `report` stanza of a task: its schema, mistakes in it, and the command that it makes.

The command is an ordinary `io-benchmark compare`. IO_BENCHMARK_REPORT_OF, IO_BENCHMARK_REPORT_PYTHON and
IO_BENCHMARK_ARTIFACTS are for a rehearsal; on a worker they are not set.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

import voluptuous

from io_benchmark_taskgraph.checks import checked, form, percentage, whole_number
from io_benchmark_taskgraph.mistakes import BadKeyError, plain, shown, there_are
from io_benchmark_taskgraph.stanza import ARTIFACTS_PATH

STANZA = "report"
MAX_WAIT_MINUTES = 720
# For the steps after waiting: reading results, comparing, drawing, uploading.
MARGIN_S = 600
PYTHON = "/opt/io-benchmark/bin/python3"  # in the image io-benchmark-report
FOLDER = "io-benchmark"
PRICES_FILE = f"{FOLDER}/prices.json"
# With one worker per pool, a look cannot estimate its error.
FEWEST_WORKERS, MOST_WORKERS = 2, 100
MOST_PER_HOUR = 1_000_000
NAME_LENGTH = 200
PRICE_KEYS = ("currency", "kind", "date", "prices")
PRICE_KINDS = ("spot", "on-demand")
# What is written, by the format's name, below the artifacts.
FILES = {
    "html": f"{FOLDER}/report.html",
    "markdown": f"{FOLDER}/report.md",
    "json": f"{FOLDER}/report.json",
}
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

    def check_time(self, max_run_time_s: object) -> None:
        """Refuse a limit that is too short: a task that is stopped at its limit uploads nothing."""
        key = "worker.max-run-time"
        if isinstance(max_run_time_s, bool) or not isinstance(max_run_time_s, int):
            text = "is not a number of seconds; write one such as 3600"
            raise BadKeyError(key, f"{shown(max_run_time_s)} {text}")
        needed_s = self.wait_minutes * 60 + MARGIN_S
        if max_run_time_s < needed_s:
            raise BadKeyError(
                key,
                f"{max_run_time_s} does not hold {self.wait_minutes} minutes of waiting and "
                f"{MARGIN_S} s for the rest; raise it to {needed_s} or lower {STANZA}.wait-minutes",
            )

    def command(self) -> str:
        """Return the whole command, for `bash -c`."""
        quote = shlex.quote
        options = [f"--wait {self.wait_minutes} --partial"]
        if self.baseline is not None:
            options.append(f"--baseline {quote(self.baseline)}")
        if self.margin is not None:
            options.append(f"--margin {quote(self.margin)}")
        if self.looks is not None:
            options.append(f"--looks {self.looks}")
        prices = []
        if self.prices is not None:
            # Published next to the report that uses them.
            file = f'"$artifacts/{PRICES_FILE}"'
            prices = [f"printf '%s\\n' {quote(self.prices)} > {file}"]
            options.append(f"--prices {file}")
        # With an equals sign, because a value may begin with a hyphen.
        options += [f"--expect={quote(text)}" for text in self.expectations]
        options += [
            f'--write {form}="$artifacts/{path}"' for form, path in FILES.items()
        ]
        start = [
            f'exec "${{IO_BENCHMARK_REPORT_PYTHON:-{PYTHON}}}" -u -m io_benchmark.cli compare',
            '"${IO_BENCHMARK_REPORT_OF:-group:$TASK_GROUP_ID}"',
        ]
        lines = [
            "set -e",
            f'artifacts="${{IO_BENCHMARK_ARTIFACTS:-{ARTIFACTS_PATH}}}"',
            f'mkdir -p "$artifacts/{FOLDER}"',
            *prices,
            " \\\n  ".join([*start, *options]),
        ]
        return "\n".join(lines) + "\n"


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


def _looks(value: object) -> str:
    numbers = value if isinstance(value, list) else []
    are_counts = all(
        type(number) is int and FEWEST_WORKERS <= number <= MOST_WORKERS
        for number in numbers
    )
    if not numbers or not are_counts or numbers != sorted(set(numbers)):
        text = (
            f"is not a rising list of numbers from {FEWEST_WORKERS} to {MOST_WORKERS}"
        )
        raise voluptuous.Invalid(f"{shown(value)} {text}; write one, as [3, 6, 12]")
    return ",".join(map(str, numbers))


def _prices(value: object) -> str:
    """Return them in the form that `compare --prices` reads."""
    if not isinstance(value, dict) or not set(value) <= set(PRICE_KEYS):
        text = f"is not a mapping with the keys {', '.join(PRICE_KEYS)}"
        raise voluptuous.Invalid(f"{shown(value)} {text}")
    about = {key: str(value[key]) for key in ("kind", "date") if key in value}
    about["currency"] = str(value.get("currency"))
    if not re.fullmatch("[A-Z]{3}", about["currency"]):
        text = "is not a currency's code; write one such as USD"
        raise voluptuous.Invalid(f"currency: {shown(value.get('currency'))} {text}")
    if about.get("kind", PRICE_KINDS[0]) not in PRICE_KINDS:
        text = f"is not a kind; write {' or '.join(PRICE_KINDS)}"
        raise voluptuous.Invalid(f"kind: {shown(value['kind'])} {text}")
    try:
        date.fromisoformat(about.get("date", "2026-11-01"))
    except ValueError:
        text = "is not a date; write one such as 2026-11-01"
        raise voluptuous.Invalid(f"date: {shown(value['date'])} {text}") from None
    prices = value.get("prices")
    if not isinstance(prices, dict) or not prices:
        text = "is not a mapping of names to prices; write one, as {amd-16: 0.31}"
        raise voluptuous.Invalid(f"prices: {shown(prices)} {text}")
    for name, price in prices.items():
        is_number = type(price) in (int, float) and 0 < price <= MOST_PER_HOUR
        is_name = isinstance(name, str) and 0 < len(name) <= NAME_LENGTH
        if not is_name or not is_number:
            text = f"is not a price per hour of {plain(name)}; write a number above 0"
            raise voluptuous.Invalid(f"prices: {shown(price)} {text}, such as 0.31")
    return json.dumps({**about, "prices": prices}, sort_keys=True)


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
KEYS = tuple(str(key) for key in SCHEMA.schema)


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
    return f"{shown(name)} is not a pool; {there_are(known)}"


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

# SPDX-License-Identifier: MPL-2.0
"""The options that more than one command has."""

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from io_benchmark.analysis.statistics.levels import DEFAULT_MARGIN
from io_benchmark.commands.options.option import Option, flag, option, repeatable, several
from io_benchmark.commands.options.values import (
    parse_expectation,
    parse_gate,
    parse_name,
    parse_names,
    parse_path,
    parse_percentage,
    parse_prices,
    wrong_value,
)
from io_benchmark.report.formats import FLEET_FORMATS, FORMATS, GENERAL_FORMATS
from io_benchmark.suggestions import did_you_mean

if TYPE_CHECKING:  # --help needs no data classes
    from io_benchmark.costs.worker_time import Price

ADDRESSES = several("addresses", "ADDRESS", "where the results are", parse_name)
AGAINST = several(
    "--against",
    "ADDRESS",
    "compare each pool with what it has there",
    parse_name,
    excludes={"--baseline": "each pool is its own baseline"},
)
BASELINE = option("--baseline", "POOL", "pool to compare the others with", parse_name, default=None)
MARGIN = option(
    "--margin",
    "PERCENT",
    f"smaller differences count as equal (default: {100 * DEFAULT_MARGIN:g}%%)",
    parse_percentage,
    default=DEFAULT_MARGIN,
)
EXPECT = repeatable(
    "--expect",
    "A/B<RATIO",
    "exit 3 if 'a/b<1.05 on sync-write' is not met *",
    parse_expectation,
)
GATE = repeatable(
    "--gate",
    "A/B[<RATIO]",
    "is A at most so much slower? (default: 1.10) *",
    parse_gate,
    excludes={
        "--baseline": "a gate names both pools",
        "--margin": "a gate has its own",
        "--expect": "a gate is the whole question",
    },
)
PROJECT = option(
    "--project",
    "NAME",
    "project in the index (default: io-benchmark)",
    parse_name,
    default="io-benchmark",
)
PRICES: Option[Mapping[str, "Price"]] = option(
    "--prices", "FILE", "prices of worker hours, to show costs in money", parse_prices, default={}
)
POOLS_FILE = option(
    "--pools-file",
    "FILE",
    "worker-pools.yml, which defines the pools' disks",
    parse_path,
    default=None,
)
JOBS: Option[Sequence[str]] = option(
    "-j, --jobs",
    "NAME[,NAME]",
    "tasks by job_try_name, label or pool",
    parse_names,
    default=("io-benchmark",),
)
ROOT = option(
    "--root",
    "DIR",
    "tree with taskcluster/ (default: the checkout around this folder, else the installed copy)",
    parse_path,
    default=None,
)


def _format_option(formats: Collection[str]) -> Option[str]:
    summary = f"format printed to stdout: {', '.join(formats)} (default: text)"
    return option("--format", "FORMAT", summary, parse_name, default="text", choices=formats)


def _write_option(formats: Collection[str]) -> Option[Sequence[tuple[str, Path]]]:
    def parse_target(value: str) -> tuple[str, Path]:
        form, equals, path = value.partition("=")
        if form not in formats or not equals or not path:
            problem = f"is not FORMAT=FILE; use one of these formats: {', '.join(formats)}"
            raise wrong_value(value, problem + did_you_mean(form, formats))
        if path == "-":
            raise wrong_value(value, f"is not a file; --format {form} prints to stdout")
        return form, Path(path)

    return repeatable("--write", "FORMAT=FILE", "also write this format to FILE *", parse_target)


# The options of commands that end in a report. `output.py` reads them.
REPORT_OUTPUT = "output (* can be given more than once)"
PARTIAL = flag("--partial", "name missing results instead of failing")
DETAILS = flag("--details", "show everything, with every measurement in full")
JSON = flag("--json", "same as --format json", excludes={"--format": ""})
FORMAT, WRITE = _format_option(FORMATS), _write_option(FORMATS)
COMPARISON_OUTPUT = (FORMAT, JSON, WRITE)
# Other reports have fewer formats.
GENERAL_OUTPUT = (_format_option(GENERAL_FORMATS), JSON, _write_option(GENERAL_FORMATS))
FLEET_OUTPUT = (_format_option(FLEET_FORMATS), JSON, _write_option(FLEET_FORMATS))

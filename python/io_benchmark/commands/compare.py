# SPDX-License-Identifier: MPL-2.0
"""Compare pools, or two pushes: which is slower, by how much, how sure, and why.

ADDRESS is a folder or file of results, or (with io-benchmark[all]) task:ID,
group:ID, index:ROUTE, or an address pasted from Taskcluster or Treeherder.
Each pool is compared with the baseline pool; with --against, with itself there.

Exit code: 0 done, 1 failed, 2 wrong usage, 3 not as expected, or not passed.
"""

from typing import TYPE_CHECKING

from io_benchmark.analysis.statistics import levels
from io_benchmark.commands.options import common
from io_benchmark.commands.options.option import Given, option, repeatable
from io_benchmark.commands.options.values import parse_minutes, parse_percentage, wrong_value
from io_benchmark.context import Context
from io_benchmark.errors import UsageError
from io_benchmark.suggestions import did_you_mean

if TYPE_CHECKING:
    from io_benchmark.analysis.model.comparison import WorkerVariation
    from io_benchmark.analysis.model.looks import Schedule

USAGE = "ADDRESS ... [OPTION ...]"
EXAMPLES = (
    "io-benchmark compare group:Fqm6GL_zRPurCmd1rRuTRQ --write html=report.html",
    "io-benchmark compare after --against before",
)
MANUAL = "comparing.md"


def _parse_variation(value: str) -> "WorkerVariation":
    from io_benchmark.analysis.statistics import variations

    return variations.given(parse_percentage(value))


def _parse_looks(value: str) -> "Schedule":
    from io_benchmark.analysis.model.looks import Schedule

    looks = Schedule.parse(value)
    if looks is None:
        raise wrong_value(value, "is not a rising list of numbers from 2 to 100, such as 3,6,12")
    return looks


def _parse_rule(value: str) -> str:
    from io_benchmark.analysis.validity.rules import RULES

    if value not in RULES:
        known = f"not a validity rule; choose one of {', '.join(RULES)}"
        raise UsageError(f"--allow {value}: {known}{did_you_mean(value, RULES)}")
    return value


WAIT = option(
    "--wait", "MINUTES", "wait at most this long for the tasks to end", parse_minutes, default=None
)
WORKER_VARIATION = option(
    "--worker-variation",
    "PERCENT",
    "assumed variation between workers (default: "
    f"{100 * levels.DEFAULT_WORKER_VARIATION:g}%%; at least "
    f"{100 * levels.SINGLE_WORKER_VARIATION:g}%% of a single one)",
    _parse_variation,
    default=None,
)
LOOKS = option(
    "--looks", "N[,N...]", "workers per pool at each planned comparison", _parse_looks, default=None
)
ALLOW = repeatable("--allow", "RULE", "ignore this validity rule *", _parse_rule)
OPTIONS = {
    "what to compare": (
        common.ADDRESSES,
        common.AGAINST,
        common.BASELINE,
        WAIT,
        common.PARTIAL,
        common.POOLS_FILE,
    ),
    "how to judge": (common.MARGIN, WORKER_VARIATION, LOOKS, ALLOW, common.EXPECT, common.GATE),
    common.REPORT_OUTPUT: (common.DETAILS, common.PRICES, *common.COMPARISON_OUTPUT),
}


def run(given: Given, context: Context) -> int:
    from io_benchmark.analysis.comparing.pairs import Options
    from io_benchmark.analysis.model.looks import Schedule
    from io_benchmark.commands.output import print_comparison, print_gates
    from io_benchmark.operations.compare import compare
    from io_benchmark.operations.gate import answer_gates

    options = Options(
        margin=given[common.MARGIN],
        worker_variation=given[WORKER_VARIATION],
        allow=frozenset(given[ALLOW]),
        looks=given[LOOKS] or Schedule(),
    )
    if given[common.GATE]:
        answers = answer_gates(
            context,
            given[common.ADDRESSES],
            given[common.GATE],
            against=given[common.AGAINST],
            wait_minutes=given[WAIT],
            options=options,
            prices=given[common.PRICES],
            pools_file=given[common.POOLS_FILE],
        )
        return print_gates(answers, given, context)
    report = compare(
        context,
        given[common.ADDRESSES],
        against=given[common.AGAINST],
        baseline=given[common.BASELINE],
        wait_minutes=given[WAIT],
        partial=given[common.PARTIAL],
        options=options,
        prices=given[common.PRICES],
        pools_file=given[common.POOLS_FILE],
    )
    return print_comparison(report, given, context)

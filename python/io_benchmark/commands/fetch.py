# SPDX-License-Identifier: MPL-2.0
"""Download results from Taskcluster to compare them offline.

ADDRESS is task:ID, group:ID, index:ROUTE, or an address pasted from
Taskcluster or Treeherder. Each run becomes a folder TASKID.RUNID. Runs that
were already fetched are skipped, so the same command resumes where it stopped.
Needs io-benchmark[all].

Exit code: 0 all fetched, 1 something is missing, 2 wrong usage.
"""

from io_benchmark.commands.options.common import ADDRESSES
from io_benchmark.commands.options.option import Given, option
from io_benchmark.commands.options.values import parse_path
from io_benchmark.context import Context
from io_benchmark.errors import UsageError
from io_benchmark.number_text import number_of
from io_benchmark.paths import DEFAULT_FOLDER, default_output_folder

USAGE = "ADDRESS ... [OPTION ...]"
EXAMPLES = (
    "io-benchmark fetch group:Fqm6GL_zRPurCmd1rRuTRQ --output results",
    "io-benchmark fetch task:intelAAARPurCmd1rRuTRQ",
)
MANUAL = "sources.md"
_FOLDER = f"folder for the runs (default: a new one, {DEFAULT_FOLDER}/fetch-TIME)"
OUTPUT = option("--output", "DIR", _FOLDER, parse_path, default=None)
OPTIONS = {"what to fetch": (ADDRESSES,), "output": (OUTPUT,)}
# Chosen: ten thousand results, which have 0.2 MB each.
_FETCHED_BYTES = 2_000_000_000


def run(given: Given, context: Context) -> int:
    from io_benchmark.commands.output import EXIT_FAILED
    from io_benchmark.sources.budget import Budget
    from io_benchmark.sources.gather import address_forms, parse_addresses
    from io_benchmark.sources.protocol import Reading
    from io_benchmark.sources.run_files import RunStore

    remote = parse_addresses(given[ADDRESSES], context.environment)
    for source, addresses in remote.items():
        if source.is_local:
            raise UsageError(
                f"{addresses[0].text}: is a path on this machine, which need not be fetched; give "
                f"{address_forms(local=False)}"
            )
    store = RunStore(given[OUTPUT] or default_output_folder("fetch"))
    with context.progress() as progress:
        environment, budget = context.environment, Budget(read_bytes=_FETCHED_BYTES)
        reading = Reading(environment, progress, budget, accept=store.accept, has_run=store.has_run)
        for source, addresses in remote.items():
            source.read(addresses, reading)
    store.add_without_result(reading.without_result)
    if store.fetched or store.skipped:
        context.print(str(store.folder))
    for remark in reading.remark_lines():
        context.tell(f"note: {remark}")
    problems = reading.take_problem_lines()
    context.tell_errors(problems)
    already = f", {store.skipped} skipped" if store.skipped else ""
    missing = f", {len(problems)} could not be fetched" if problems else ""
    context.tell(f"{number_of(store.fetched, 'run')} fetched{already}{missing}")
    has_runs = store.fetched or store.skipped
    return EXIT_FAILED if problems or not has_runs else 0

# SPDX-License-Identifier: MPL-2.0
"""Read the results at addresses, or fetch them into a folder; the shared defaults of readings."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

from io_benchmark.analysis.intake import worker_of
from io_benchmark.analysis.model import Worker
from io_benchmark.context import Context
from io_benchmark.errors import UsageError
from io_benchmark.paths import default_output_folder
from io_benchmark.sources.budget import Budget
from io_benchmark.sources.gather import (
    Gathered,
    address_forms,
    gather,
    parse_addresses,
    read_addresses,
)
from io_benchmark.sources.protocol import ReadRequest
from io_benchmark.sources.run_files import RunStore
from io_benchmark.sources.run_results import RunResult

T = TypeVar("T")

# Results of 0.2 MB: ten thousand of them.
_FETCHED_BYTES = 2_000_000_000


def read_results(
    addresses: Sequence[str],
    context: Context,
    convert: Callable[[RunResult], T],
    budget: Budget | None = None,
) -> Gathered[T]:
    """Read the results at all addresses, and show how far that is."""
    with context.progress() as progress:
        return gather(addresses, context.environment, progress, convert, budget=budget)


def read_workers(
    addresses: Sequence[str],
    context: Context,
    side: Callable[[RunResult], str] = lambda measured: measured.pool,
    budget: Budget | None = None,
) -> Gathered[Worker]:
    """Read the workers at all addresses, each on its side."""
    return read_results(
        addresses, context, lambda measured: worker_of(measured, side(measured)), budget
    )


def fetch(
    addresses: Sequence[str], folder: Path | None, context: Context
) -> tuple[RunStore, ReadRequest]:
    """Fetch the runs that the folder does not have; without a folder, into a new one."""
    remote = parse_addresses(addresses, context.environment)
    for address in remote:
        if address.source.is_local:
            raise UsageError(
                f"{address.text}: is a path on this machine, which need not be fetched; give "
                f"{address_forms(local=False)}"
            )
    store = RunStore(folder if folder is not None else default_output_folder("fetch"))
    budget = Budget(read_bytes=_FETCHED_BYTES)
    with context.progress() as progress:
        request = ReadRequest(
            context.environment, progress, budget, accept=store.accept, has_run=store.has_run
        )
        read_addresses(remote, request)
    store.add_without_result(request.without_result)
    return store, request

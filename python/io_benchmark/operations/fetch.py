# SPDX-License-Identifier: MPL-2.0
"""Download the results at addresses of a deployment into a folder."""

from collections.abc import Sequence
from pathlib import Path

from io_benchmark.context import Context
from io_benchmark.errors import UsageError
from io_benchmark.sources.budget import Budget
from io_benchmark.sources.folder.output_folder import default_output_folder
from io_benchmark.sources.folder.run_store import RunStore
from io_benchmark.sources.gather import address_forms, parse_addresses, read_addresses
from io_benchmark.sources.protocol import ReadLog, ReadRequest

# Results of 0.2 MB: ten thousand of them.
_READ_BYTES = 2_000_000_000


def fetch(
    addresses: Sequence[str], folder: Path | None, context: Context
) -> tuple[RunStore, ReadLog]:
    """Fetch the runs that the folder does not have; without a folder, into a new one."""
    remote = parse_addresses(addresses, context.environment)
    for address in remote:
        if address.source.is_local:
            raise UsageError(
                f"{address.text}: is a path on this machine, which need not be fetched; give "
                f"{address_forms(local=False)}"
            )
    store = RunStore(folder if folder is not None else default_output_folder("fetch"))
    budget = Budget(read_bytes=_READ_BYTES)
    with context.progress() as progress:
        request = ReadRequest(
            context.environment, store.accept, progress, has_run=store.has_run, budget=budget
        )
        log = read_addresses(remote, request)
    store.add_without_result(log.without_result)
    return store, log

# SPDX-License-Identifier: MPL-2.0
"""Download the results at addresses of a deployment into a folder."""

from collections.abc import Sequence
from pathlib import Path

from io_benchmark.errors import UsageError
from io_benchmark.operations.reading import Environment, Progress
from io_benchmark.sources.budget import Budget
from io_benchmark.sources.folder.output_folder import default_output_folder
from io_benchmark.sources.folder.run_files import RunStore
from io_benchmark.sources.gather import address_forms, parse_addresses, read_addresses
from io_benchmark.sources.protocol import ReadLog, ReadRequest

# Results of 0.2 MB: ten thousand of them.
_READ_BYTES = 2_000_000_000


def fetch(
    addresses: Sequence[str], folder: Path | None, environment: Environment, progress: Progress
) -> tuple[RunStore, ReadLog]:
    """Fetch the runs that the folder does not have; without a folder, into a new one."""
    remote = parse_addresses(addresses, environment)
    for address in remote:
        if address.source.is_local:
            raise UsageError(
                f"{address.text}: is a path on this machine, which need not be fetched; give "
                f"{address_forms(local=False)}"
            )
    store = RunStore(folder if folder is not None else default_output_folder("fetch"))
    request = ReadRequest(
        environment,
        store.accept,
        progress,
        has_run=store.has_run,
        budget=Budget(read_bytes=_READ_BYTES),
    )
    log = read_addresses(remote, request)
    store.add_without_result(log.without_result)
    return store, log

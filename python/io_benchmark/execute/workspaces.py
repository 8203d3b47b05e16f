# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Folders that stand for the pools' workspaces on this machine: made for a run, removed after it."""

import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from io_benchmark.errors import ExecutionError
from io_benchmark.execute.child import hold_interrupts
from io_benchmark.execute.run_folder import remove


@contextmanager
def workspace(pool: str, default: Path, by_pool: Mapping[str, Path]) -> Iterator[Path]:
    """An empty folder for one task, in the folder that its pool was given, else in the default."""
    parent = by_pool.get(pool, default)
    made: Path | None = None
    try:
        with hold_interrupts():
            made = Path(tempfile.mkdtemp(prefix=f"io-benchmark-{pool}-", dir=parent))
        yield made
    except PermissionError as error:
        raise ExecutionError(
            f"{parent}: cannot create a workspace for {pool}: {error.strerror}; name another folder"
        ) from None
    finally:
        if made is not None:
            with hold_interrupts():
                remove(made)

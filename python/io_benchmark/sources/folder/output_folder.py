# SPDX-License-Identifier: MPL-2.0
"""The folder that results are put into: a new one, which is removed when the work is interrupted."""

import secrets
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from io_benchmark.errors import UsageError
from io_benchmark.paths import resolve_path

DEFAULT_FOLDER = "io-benchmark-results"


def default_output_folder(kind: str) -> Path:
    """Return a name from the kind of work and the time, which no other command chooses."""
    name = time.strftime(f"{kind}-%Y%m%dT%H%M%SZ", time.gmtime())
    return Path(DEFAULT_FOLDER) / f"{name}-{secrets.token_hex(4)}"


@contextmanager
def new_output_folder(wanted: Path | None, kind: str) -> Iterator[Path]:
    """Yield a folder that only this command fills; undo everything after an error or an interruption."""
    folder = wanted if wanted is not None else default_output_folder(kind)
    shown, folder = folder, resolve_path(folder, f"--output {folder}")
    missing = [path for path in (folder, *folder.parents) if not path.exists()]
    in_use = folder / ".io-benchmark-in-use"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        filled = any(folder.iterdir())
        if not filled:
            in_use.mkdir()  # fails for the second of two commands
    except OSError as error:
        raise UsageError(
            f"--output {shown}: cannot be created ({error.strerror}); name another folder"
        ) from None
    if filled:
        raise UsageError(
            f"--output {shown}: is not empty, or another command uses it; name a new folder"
        )
    try:
        yield folder
    except BaseException:
        for path in folder.iterdir():
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        for path in missing:
            # Another run may have created a folder next to this one meanwhile: then this one stays.
            with suppress(OSError):
                path.rmdir()
        raise
    shutil.rmtree(in_use, ignore_errors=True)

# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Takes a run's artifacts into its output folder, as a worker would upload them.

A worker uploads regular files alone. A missing file, a symlink or anything else becomes an *error
artifact* and the task still completes; here it is named in the outcome and in the log.
"""

import os
import shutil
import stat
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path, PurePosixPath

from io_benchmark.errors import ExecutionError
from io_benchmark.execute.run_folder import LIVE_LOG, LiveLog
from io_benchmark.execute.task_run import Artifact

# The caller writes the second one.
RESERVED_NAMES = frozenset({LIVE_LOG, "task.json"})


class _ErrorArtifactError(Exception):
    """The reason why the worker would upload an error artifact."""


def collect(
    artifacts: Sequence[Artifact],
    locate: Callable[[Artifact], Path | None],
    output: Path,
    log: LiveLog,
) -> tuple[str, ...]:
    """Copy every artifact; return the names of those that could not be taken.

    `locate` returns where an artifact's path is here, None where it does not exist. A folder's files
    keep their place below the folder: public/io-benchmark/x.json becomes x.json.
    """
    missing = []
    for artifact in artifacts:
        for name, source, target in _files(artifact, locate(artifact)):
            try:
                _copy(name, source, output / target)
            except _ErrorArtifactError as reason:
                missing.append(name)
                log.worker_error(f"Could not upload artifact {name}: {reason}")
    return tuple(missing)


def _files(artifact: Artifact, source: Path | None) -> Iterator[tuple[str, Path | None, str]]:
    """Return name, place and target of every file; an artifact that cannot be one yields itself."""
    if artifact.is_directory and source is not None and _is_plain_directory(source):
        for folder, folders, files in os.walk(source):
            folders.sort()
            links = [name for name in folders if Path(folder, name).is_symlink()]
            for file in sorted(files + links):
                path = Path(folder, file)
                inside = path.relative_to(source).as_posix()
                yield f"{artifact.name}/{inside}", path, inside
    else:
        # A file in a folder's place is as wrong as no folder.
        place = None if artifact.is_directory else source
        yield artifact.name, place, PurePosixPath(artifact.name).name


def _is_plain_directory(path: Path) -> bool:
    return path.is_dir() and path.resolve() == path


def _copy(name: str, source: Path | None, target: Path) -> None:
    if source is None:
        raise _ErrorArtifactError("it does not exist")
    with open(_open_regular(source), "rb") as reader:
        if target.name in {"", ".."} or target.name in RESERVED_NAMES or target.exists():
            raise ExecutionError(
                f"artifact {name}: a file {target.name} already exists; "
                "give the artifact another name in kind.yml"
            )
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            with target.open("xb") as writer:
                shutil.copyfileobj(reader, writer)
        except OSError as error:
            raise ExecutionError(
                f"{target}: {error.strerror}; the run is incomplete, run it again"
            ) from error


def _open_regular(source: Path) -> int:
    """Open without following a link and without waiting for a pipe's other end."""
    try:
        if source.parent.resolve() != source.parent:
            raise _ErrorArtifactError("a symlink leads to it")
        descriptor = os.open(source, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        raise _ErrorArtifactError("it does not exist") from None
    except OSError as error:
        reason = "it is a symlink" if source.is_symlink() else error.strerror
        raise _ErrorArtifactError(reason) from error
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise _ErrorArtifactError("it is not a regular file")
    return descriptor

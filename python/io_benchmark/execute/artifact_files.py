# SPDX-License-Identifier: MPL-2.0
"""The files of a task's artifacts, as a worker finds them after the command has ended.

The command may have made anything in their places, so nothing outside of its folder is followed.
"""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

# Where docker images' tasks put their artifacts.
_WORKER_ARTIFACTS = PurePosixPath("/builds/worker/artifacts")
_NOTHING = Path(os.devnull)  # is not a regular file


class ArtifactFile(NamedTuple):
    name: str
    source: Path  # not a regular file where it is missing
    target: str  # below the run's folder


def artifact_files(
    payload: Mapping[str, Any], task_folder: Path, artifacts_folder: Path
) -> Iterator[ArtifactFile]:
    """Yield the files of all artifacts; one that is missing has no file."""
    artifacts = payload.get("artifacts") or {}
    if isinstance(artifacts, Mapping):  # of docker, by name
        for name, entry in artifacts.items():
            path = PurePosixPath(entry["path"])
            source = _NOTHING
            if path.is_relative_to(_WORKER_ARTIFACTS):
                source = _inside(artifacts_folder, path.relative_to(_WORKER_ARTIFACTS))
            yield from _files(name, entry["type"], source)
    else:
        for entry in artifacts:
            source = _inside(task_folder, PurePosixPath(entry["path"]))
            yield from _files(entry.get("name", entry["path"]), entry["type"], source)


def _inside(folder: Path, path: PurePosixPath) -> Path:
    """Return a path below the folder; where a link or `..` leads out of it, nothing."""
    source = folder / path
    try:
        is_inside = source.parent.resolve().is_relative_to(folder.resolve())
    except (OSError, RuntimeError):  # a link to itself
        return _NOTHING
    return source if is_inside else _NOTHING


def _files(artifact: str, kind: str, source: Path) -> Iterator[ArtifactFile]:
    """Yield the files of one artifact.

    A folder's files keep their place below the folder: public/io-benchmark/x.json becomes x.json.
    """
    if kind == "file":
        yield ArtifactFile(artifact, source, artifact.rpartition("/")[2])
        return
    if source.is_symlink() or not source.is_dir():
        yield ArtifactFile(artifact, _NOTHING, "")
        return
    for path in sorted(source.rglob("*")):
        if path.is_symlink() or not path.is_dir():
            inside = path.relative_to(source).as_posix()
            yield ArtifactFile(f"{artifact}/{inside}", path, inside)

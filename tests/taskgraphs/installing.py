# SPDX-License-Identifier: MPL-2.0
"""The versions of taskgraph that have a lock here, installed for each Python.

A version's lock names taskgraph alone. `requirements.txt` next to it has the dependencies, which
are the same for all versions of a folder.
"""

import hashlib
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
# Of the environment that tox makes anew when its own lock changes.
INSTALLED = Path(sys.prefix) / "taskgraphs"
PIP = ("-m", "pip", "--quiet", "--disable-pip-version-check", "--no-input")
SAFELY = ("--no-deps", "--require-hashes")


def _numbers(version: str) -> list[int]:
    return [int(number) for number in version.split(".")]


_locks = {
    lock.stem.removeprefix("requirements-"): lock for lock in HERE.glob("*/requirements-*.txt")
}
# By version, the oldest first.
LOCKS = {name: _locks[name] for name in sorted(_locks, key=_numbers)}


def _installed(lock: Path, python: str, name: str) -> Path:
    """Return a folder with what a lock names, installed by this Python."""
    folder = INSTALLED / name
    stamp = folder / "stamp"
    digest = hashlib.sha256(lock.read_bytes()).hexdigest()
    if not stamp.is_file() or stamp.read_text() != digest:
        shutil.rmtree(folder, ignore_errors=True)
        options = [*SAFELY, "--only-binary", ":all:", "--root-user-action", "ignore"]
        options += ["--target", str(folder), "--requirement", str(lock)]
        subprocess.run([python, *PIP, "install", *options], check=True)
        stamp.write_text(digest)
    return folder


class Version:
    """One version of taskgraph."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._lock = LOCKS[name]
        self.taskgraph = _installed(self._lock, sys.executable, name)

    def path(self, name: str, python: str) -> str:
        """Return the PYTHONPATH with which a Python has this version and the kind alone."""
        dependencies = self._lock.with_name("requirements.txt")
        folder = _installed(dependencies, python, f"{self._lock.parent.name}-{name}")
        return f"{self.taskgraph}:{folder}:{ROOT / 'python'}"

    def template(self, work: Path) -> Path | None:
        """Return what `taskgraph init` fills in, where the source archive has it."""
        folder = work / f"source-{self.name}"
        options = [*SAFELY, "--no-build-isolation", "--no-binary", "taskcluster-taskgraph"]
        options += ["--requirement", str(self._lock), "--dest", str(folder)]
        subprocess.run([sys.executable, *PIP, "download", *options], check=True)
        (archive,) = folder.glob("*.tar.gz")
        subprocess.run(["tar", "-xzf", str(archive), "-C", str(folder)], check=True)
        return next((path.parent for path in folder.glob("*/template")), None)

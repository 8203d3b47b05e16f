# SPDX-License-Identifier: MPL-2.0
"""The tree that a command works on: `--root`, the surrounding checkout, or the bundled copy.

The worker's program and its command are made by the tree's own code, as its tasks carry them.
"""

import importlib
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any, Self

from msgspec import Struct

from io_benchmark.errors import IoBenchmarkError, UsageError
from io_benchmark.files import read_file
from io_benchmark.paths import current_folder, refuse_unreadable

# A tree is known by these. Firefox's kind has the same path, and transforms of another package.
MARKS = ("taskcluster/config.yml", "taskcluster/kinds/io-benchmark/kind.yml")
# A project may have this kind instead of the second.
_GATE_KIND = "taskcluster/kinds/io-benchmark-gate/kind.yml"
_ADVICE = "name the folder that contains taskcluster/"
TRANSFORMS = "python/io_benchmark_taskgraph"
# What a decision task reads of a tree.
PARTS = ("taskcluster", TRANSFORMS)
# What the report's image contains. The bundled copy has none, because it is inside the program.
PROGRAM = "python/io_benchmark"
BUNDLE = Path(__file__).resolve().parent.parent / "bundle"
_MOST_BYTES = 2 * 1024 * 1024  # of a kind's file


class Root(Struct, frozen=True):
    """The folder that holds `taskcluster/`, and how it was found."""

    path: Path
    origin: str  # "--root", "checkout" or "bundled copy"

    def __str__(self) -> str:
        return f"{self.path} ({self.origin})"

    @property
    def has_transforms(self) -> bool:
        """Return whether this is this project; others have the transforms installed."""
        return self.path == BUNDLE or (self.path / TRANSFORMS).is_dir()

    @property
    def transforms(self) -> Path:
        """Return the folder of the transforms; other trees than a checkout use the package."""
        own = self.path / TRANSFORMS
        return own if own.is_dir() else BUNDLE.parent.parent / own.name

    @classmethod
    def find(cls, explicit: Path | None) -> Self:
        """Find the tree to work on: the named one, else the nearest around the current folder."""
        start = current_folder()
        if explicit is not None:
            with refuse_unreadable(f"--root {explicit}", _ADVICE):
                path = explicit.expanduser().resolve(strict=True)
                missing = _missing_mark(path)
            if missing:
                raise UsageError(f"--root {explicit}: {missing} is missing; {_ADVICE}")
            return cls(path, "--root")
        with refuse_unreadable(str(start), _ADVICE):
            # The last is the program's own checkout, of an editable installation.
            for folder in (start, *start.parents, BUNDLE.parents[2]):
                if _missing_mark(folder) is None:
                    return cls(folder, "checkout")
        if _missing_mark(BUNDLE) is None:
            return cls(BUNDLE, "bundled copy")
        raise UsageError(
            f"{start}: neither this folder nor one above contains {' and '.join(MARKS)}, and this "
            "installation has no copy; go to a checkout of io-benchmark or name one with --root"
        )

    @contextmanager
    def usable_tree(self) -> Iterator["Root"]:
        """Yield the tree, or a copy of it in which taskgraph finds the root and all that it reads.

        The bundled copy needs this: it lacks the program, and may be in a venv inside a different
        checkout.
        """
        program = self.path / PROGRAM
        is_complete = program.is_dir() or not (self.path / TRANSFORMS).is_dir()
        is_root = _nearest_checkout(self.path) in (None, self.path)
        if self.path != BUNDLE and is_complete and is_root:
            yield self
            return
        with tempfile.TemporaryDirectory(prefix="io-benchmark-tree-") as folder:
            copy = Path(folder)
            if _nearest_checkout(copy) is not None:  # temporary directories are inside a checkout
                (copy / ".git").mkdir()
            for part in PARTS:
                source = self.transforms if part == TRANSFORMS else self.path / part
                if source.is_dir():  # otherwise what needs it has the better message
                    _copy(source, copy / part)
            _copy(program if program.is_dir() else BUNDLE.parent, copy / PROGRAM, BUNDLE.name)
            yield Root(copy, self.origin)

    @contextmanager
    def modules(self) -> Iterator[Callable[[str], Any]]:
        """Yield an import of modules of the tree's own transforms, not those of another tree.

        A mistake in a stanza, which these modules find, becomes an error that a user can meet.
        """
        package = Path(TRANSFORMS).name

        def module(name: str) -> Any:
            try:
                return importlib.import_module(f"{package}.{name}")
            except (ImportError, SyntaxError) as error:
                if isinstance(error, ModuleNotFoundError) and error.name == package:
                    raise  # not installed; the command line says with what it comes
                raise IoBenchmarkError(
                    f"{self.path}/python/{package} cannot be imported ({error}); name a whole tree "
                    "by --root"
                ) from None

        path = list(sys.path)
        modules = _take_modules()
        sys.path.insert(0, str(self.path / "python"))
        try:
            yield module
        except module("mistakes").BadKeyError as problem:
            raise IoBenchmarkError(str(problem)) from None
        finally:
            _take_modules()
            sys.modules.update(modules)
            sys.path[:] = path


def _missing_mark(path: Path) -> str | None:
    config, usual_kind = MARKS
    if not (path / config).is_file():
        return config
    kinds = [kind for kind in (usual_kind, _GATE_KIND) if (path / kind).is_file()]
    if not kinds:
        return usual_kind
    texts = (read_file(path / kind, _MOST_BYTES) for kind in kinds)
    has_transforms = any(b"io_benchmark_taskgraph." in text for text in texts)
    return None if has_transforms else f"{kinds[0]} with this project's transforms"


def _nearest_checkout(path: Path) -> Path | None:
    """Return the folder that taskgraph takes for the root: the nearest one up with .git or .hg."""
    for folder in (path, *path.parents):
        if (folder / ".git").exists() or (folder / ".hg").is_dir():
            return folder
    return None


def _copy(source: Path, target: Path, *names: str) -> None:
    """Copy a folder without files and folders of these names."""
    try:
        ignore = shutil.ignore_patterns("__pycache__", *names)
        shutil.copytree(source, target, ignore=ignore, copy_function=_copy_file)
    except shutil.Error as error:
        problems = error.args[0]
        path, _target, reason = problems[0]
        raise IoBenchmarkError(f"{path}: cannot be copied ({reason}); remove or fix it") from error
    except OSError as error:
        raise IoBenchmarkError(f"{source}: cannot be copied ({error})") from error


def _copy_file(source: str, target: str) -> str:
    if not Path(source).is_file():
        # A device may never end.
        raise OSError("not a regular file")
    return shutil.copy2(source, target)


def _take_modules() -> dict[str, ModuleType]:
    """Remove the modules of any tree's transforms from those that are imported."""
    package = Path(TRANSFORMS).name
    names = [name for name in sys.modules if name.partition(".")[0] == package]
    return {name: sys.modules.pop(name) for name in names}

# SPDX-License-Identifier: MPL-2.0
"""The tree that a command works on: `--root`, the surrounding checkout, or the bundled copy.

The worker's program and its command are made by the tree's own code, as its tasks carry them.
"""

import importlib
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any, Self

from msgspec import Struct

from io_benchmark.errors import GraphError, UsageError
from io_benchmark.paths import refuse_unreadable

# A tree is known by these. Firefox's kind has the same path, and transforms of another package.
MARKS = ("taskcluster/config.yml", "taskcluster/kinds/io-benchmark/kind.yml")
_ADVICE = "name the folder that contains taskcluster/"
TRANSFORMS = "python/io_benchmark_taskgraph"
# What a decision task reads of a tree.
PARTS = ("taskcluster", TRANSFORMS)
# What the report's image contains. The bundled copy has none, because it is inside the program.
PROGRAM = "python/io_benchmark"
BUNDLE = Path(__file__).resolve().parent.parent / "bundle"
TREE_MODULES = ("io_benchmark_registration", "io_benchmark_taskgraph")


class Root(Struct, frozen=True):
    """The folder that holds `taskcluster/`, and how it was found."""

    path: Path
    origin: str  # "--root", "checkout" or "bundled copy"

    def __str__(self) -> str:
        return f"{self.path} ({self.origin})"

    @property
    def transforms(self) -> Path:
        """Return the folder of the transforms: those of the bundled copy are installed as a package."""
        if self.path == BUNDLE:
            return BUNDLE.parent.parent / Path(TRANSFORMS).name
        return self.path / TRANSFORMS

    @classmethod
    def find(cls, explicit: Path | None, start: Path) -> Self:
        """Find the tree to work on: the named one, else the nearest from `start` upward."""
        if explicit is not None:
            with refuse_unreadable(f"--root {explicit}", _ADVICE):
                path = explicit.expanduser().resolve(strict=True)
                missing = _missing_mark(path)
            if missing:
                raise UsageError(f"--root {explicit}: {missing} is missing; {_ADVICE}")
            return cls(path, "--root")
        with refuse_unreadable(str(start), _ADVICE):
            start = start.resolve(strict=True)
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


def _missing_mark(path: Path) -> str | None:
    for mark in MARKS:
        if not (path / mark).is_file():
            return mark
    has_transforms = b"io_benchmark_taskgraph." in (path / MARKS[1]).read_bytes()
    return None if has_transforms else f"{MARKS[1]} with this project's transforms"


@contextmanager
def usable_tree(root: Path) -> Iterator[Path]:
    """Yield the tree, or a copy of it in which taskgraph finds the root and everything that it reads.

    The bundled copy needs this: it lacks the program, and may be in a venv inside a different checkout.
    """
    is_complete = (root / PROGRAM).is_dir() or not (root / TRANSFORMS).is_dir()
    if root != BUNDLE and is_complete and _nearest_checkout(root) in (None, root):
        yield root
        return
    with tempfile.TemporaryDirectory(prefix="io-benchmark-tree-") as folder:
        copy = Path(folder)
        if _nearest_checkout(copy) is not None:  # temporary directories are inside a checkout
            (copy / ".git").mkdir()
        for part in PARTS:
            source = Root(root, "").transforms if part == TRANSFORMS else root / part
            if source.is_dir():  # otherwise what needs it has the better message
                _copy(source, copy / part)
        program = root / PROGRAM
        _copy(program if program.is_dir() else BUNDLE.parent, copy / PROGRAM, BUNDLE.name)
        yield copy


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
        (path, _, reason), *_ = error.args[0]
        raise GraphError(f"{path}: cannot be copied ({reason}); remove or fix it") from error
    except OSError as error:
        raise GraphError(f"{source}: cannot be copied ({error})") from error


def _copy_file(source: str, target: str) -> str:
    if not Path(source).is_file():
        # A device may never end.
        raise OSError("not a regular file")
    return shutil.copy2(source, target)


@contextmanager
def tree_modules(root: Path) -> Iterator[Callable[[str], Any]]:
    """Yield an import of modules of the tree's transforms, not those of another or an installed tree.

    A mistake in a stanza, which these modules find, becomes a GraphError.
    """
    package = Path(TRANSFORMS).name

    def module(name: str) -> Any:
        try:
            return importlib.import_module(f"{package}.{name}")
        except (ImportError, SyntaxError) as error:
            if isinstance(error, ModuleNotFoundError) and error.name == package:
                raise  # not installed; the command line says with what it comes
            raise GraphError(
                f"{root}/python/{package} cannot be imported ({error}); name a whole tree by --root"
            ) from None

    path, modules = list(sys.path), _take_modules()
    sys.path.insert(0, str(root / "python"))
    try:
        yield module
    except module("mistakes").BadKeyError as problem:
        raise GraphError(str(problem)) from None
    finally:
        _take_modules()
        sys.modules.update(modules)
        sys.path[:] = path


def _take_modules() -> dict[str, ModuleType]:
    """Remove the modules of any tree from those that are imported."""
    names = [name for name in sys.modules if name.partition(".")[0] in TREE_MODULES]
    return {name: sys.modules.pop(name) for name in names}


class WorkerScript(Struct, frozen=True):
    """The program as one file."""

    version: str
    workloads: tuple[str, ...]
    data: bytes
    program_sha256: str  # of its modules, as results have it
    commands: Mapping[str, str]  # by a task's name, the text that starts the program


def build_worker_script(
    root: Root,
    tasks: Mapping[str, Mapping[str, Any]] | None = None,
    pool: str = "",
    application: str = "",
) -> WorkerScript:
    """Build the file, and the commands of tasks.

    A task is what kind.yml has, with its defaults. The commands have `pool` for the name of the pool. They start
    the file `application`. Without one they unpack the file from their arguments, and it has what these tasks need.
    """
    with tree_modules(root.path) as module:
        command, checked = module("transforms.command"), module("transforms.benchmark")
        program = module("worker_program").WorkerProgram.read()
        benchmarks = {name: checked.checked_benchmark(task) for name, task in (tasks or {}).items()}
        data = program.file()
        if benchmarks and not application:
            measured = {
                name for benchmark, _ in benchmarks.values() for name in benchmark.workloads
            }
            embedded = program.embedded("bench", sorted(measured))
            data = embedded.data
        commands = {
            name: command.run_command(benchmark, application, pool, budget_s)
            if application
            else command.make_command(benchmark, embedded, pool, budget_s)[2]
            for name, (benchmark, budget_s) in benchmarks.items()
        }
        names = tuple(program.workload_names())
        return WorkerScript(program.version, names, data, program.sha256, commands)


def report_command(root: Root, stanza: Any, pools: Sequence[str], python: str) -> str:
    """Return the shell's command that compares the results of pools in one task group."""
    with tree_modules(root.path) as module:
        report = module("transforms.report")
        return str(report.report_command(report.checked_stanza(stanza, pools), python))

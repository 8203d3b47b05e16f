# SPDX-License-Identifier: MPL-2.0
"""Run taskgraph for one tree after another in one process, although it keeps global state."""

import logging
import os
import shutil
import stat
import sys
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from taskgraph import parameters, target_tasks
from taskgraph.config import GraphConfig

from io_benchmark.errors import GraphError
from io_benchmark.graph.root import BUNDLE, TRANSFORMS, Root

# What a decision task reads of a tree.
PARTS = ("taskcluster", "scripts/io-benchmark", TRANSFORMS)
# What the report's image contains. The bundled copy has none, because it is inside the program.
PROGRAM = "python/io_benchmark"
PACKAGE = BUNDLE.parent
TREE_MODULES = ("io_benchmark_registration", "io_benchmark_taskgraph")
LOGGERS = ("taskgraph", *TREE_MODULES)


def _nearest_checkout(path: Path) -> Path | None:
    """Return the folder that taskgraph takes for the root: the nearest one up with .git or .hg."""
    for folder in (path, *path.parents):
        if (folder / ".git").exists() or (folder / ".hg").is_dir():
            return folder
    return None


@contextmanager
def usable_tree(root: Path) -> Iterator[Path]:
    """Yield the tree, or a copy of it in which taskgraph finds the root and everything that it reads.

    The bundled copy needs this: it lacks the program, and may be in a venv inside a different checkout.
    """
    if (root / PROGRAM).is_dir() and _nearest_checkout(root) in (None, root):
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
        _copy(program if program.is_dir() else PACKAGE, copy / PROGRAM, BUNDLE.name)
        yield copy


def _copy(source: Path, target: Path, *names: str) -> None:
    """Copy a folder without files and folders of these names."""
    try:
        left_out = shutil.ignore_patterns("__pycache__", *names)
        shutil.copytree(source, target, ignore=left_out, copy_function=_copy_file)
    except shutil.Error as error:
        (first, _, reason), *others = error.args[0]
        more = f", and {len(others)} more" if others else ""
        raise GraphError(f"{first}: cannot be copied ({reason}{more}); remove or fix it") from error
    except OSError as error:
        raise GraphError(f"{source}: cannot be copied ({error})") from error


def _copy_file(source: str, target: str) -> str:
    if not stat.S_ISREG(os.stat(source).st_mode):  # noqa: PTH116 - copytree gives texts
        # A device may never end.
        raise OSError("not a regular file")
    return shutil.copy2(source, target)


def _is_tree_module(name: str) -> bool:
    return name.partition(".")[0] in TREE_MODULES


@contextmanager
def tree_modules_only() -> Iterator[None]:
    """Import the tree's own modules in this block, not those of an earlier or an installed tree."""
    path = list(sys.path)
    before = {name: module for name, module in sys.modules.items() if _is_tree_module(name)}
    for name in before:
        del sys.modules[name]
    try:
        yield
    finally:
        for name in [name for name in sys.modules if _is_tree_module(name)]:
            del sys.modules[name]
        sys.modules.update(before)
        sys.path[:] = path


@contextmanager
def _registrations() -> Iterator[None]:
    """Undo what a tree's registration module adds to taskgraph."""
    modified = GraphConfig._PATH_MODIFIED  # noqa: SLF001
    methods = dict(target_tasks._target_task_methods)  # noqa: SLF001
    extensions = list(parameters._parameter_extensions)  # noqa: SLF001
    defaults = list(parameters.defaults_functions)
    GraphConfig._PATH_MODIFIED = False  # noqa: SLF001
    try:
        yield
    finally:
        GraphConfig._PATH_MODIFIED = modified  # noqa: SLF001
        target_tasks._target_task_methods.clear()  # noqa: SLF001
        target_tasks._target_task_methods.update(methods)  # noqa: SLF001
        parameters._parameter_extensions[:] = extensions  # noqa: SLF001
        parameters.defaults_functions[:] = defaults


@contextmanager
def _log_level(log: logging.Logger) -> Iterator[None]:
    """Let taskgraph's log records through where the program's log takes DEBUG."""
    level = logging.INFO if log.isEnabledFor(logging.DEBUG) else logging.CRITICAL + 1
    before = {name: logging.getLogger(name).level for name in LOGGERS}
    for name in LOGGERS:
        logging.getLogger(name).setLevel(level)
    try:
        yield
    finally:
        for name, level_before in before.items():
            logging.getLogger(name).setLevel(level_before)


@contextmanager
def isolated(log: logging.Logger) -> Iterator[None]:
    """Run taskgraph in this block as in a new process; `log` gets its messages if it takes DEBUG."""
    with ExitStack() as stack:
        stack.enter_context(tree_modules_only())
        stack.enter_context(_registrations())
        # taskgraph would fork a process per kind, which is unsafe in a program with threads.
        if "TASKGRAPH_SERIAL" not in os.environ:
            os.environ["TASKGRAPH_SERIAL"] = "1"
            stack.callback(os.environ.pop, "TASKGRAPH_SERIAL")
        # taskgraph leaves it to the interpreter to close the files of an image's context.
        stack.enter_context(warnings.catch_warnings())
        warnings.simplefilter("ignore", ResourceWarning)
        stack.enter_context(_log_level(log))
        yield

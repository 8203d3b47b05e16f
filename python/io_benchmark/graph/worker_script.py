# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""The worker's script as one file, built by the tree's own code as its tasks carry it."""

import importlib
import sys
from collections.abc import Sequence

from msgspec import Struct

from io_benchmark.errors import GraphError
from io_benchmark.graph.isolation import tree_modules_only
from io_benchmark.graph.root import Root

FOLDER = "scripts/io-benchmark"
_PACKAGE = "io_benchmark_taskgraph"


class _WorkerScript(Struct, frozen=True):
    version: str
    workloads: tuple[str, ...]
    modules: dict[str, bytes]  # by path within the script's folder
    data: bytes
    sha256: str


def build_worker_script(root: Root, workloads: Sequence[str] = ()) -> _WorkerScript:
    """Build the script for these workloads; without names, for all that the tree has."""
    with tree_modules_only():
        sys.path.insert(0, str(root.path / "python"))
        try:
            script = importlib.import_module(f"{_PACKAGE}.script_modules")
            application = importlib.import_module(f"{_PACKAGE}.zip_application")
        except (ImportError, SyntaxError) as error:
            raise GraphError(
                f"{root.path}/python/{_PACKAGE} cannot be imported ({error}); name a whole tree "
                "by --root"
            ) from None
        names = tuple(dict.fromkeys(workloads)) or tuple(script.workload_names(root.path / FOLDER))
        try:
            modules = script.needed_modules(root.path, FOLDER, names)
            built = application.ZipApplication(modules)
        except application.BadKeyError as problem:
            raise GraphError(problem.text) from None
        return _WorkerScript(
            version=built.version,
            workloads=names,
            modules={path: text.encode() for path, text in modules.items()},
            data=built.data,
            sha256=built.sha256,
        )

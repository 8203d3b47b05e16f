# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Which files go there."""

import pytest
import yaml
from checkout import ROOT

from io_benchmark.firefox import kind, modules

TRANSFORMS = yaml.safe_load((ROOT / kind.SOURCE).read_text())["transforms"]


def test_the_same_files():
    """Each is this project's, byte for byte; what only a stand-alone taskgraph uses stays here."""
    found = modules.needed_modules(ROOT / "python", TRANSFORMS)
    assert found == {path: (ROOT / "python" / path).read_bytes() for path in found}
    names = {path.removeprefix("io_benchmark_taskgraph/") for path in found}
    assert {"__init__.py", "transforms/__init__.py", "selection.py", "stanza.py"} <= names
    assert not names & {"parameters.py", "target_tasks.py", "try_syntax.py"}


@pytest.mark.parametrize(
    "line",
    [
        "import io_benchmark_taskgraph.deep.two",
        "from io_benchmark_taskgraph.deep import two",
        "from io_benchmark_taskgraph.deep.two import three",
        "def f():\n    from io_benchmark_taskgraph.deep.two import three",
    ],
)
def test_imports(tmp_path, line):
    """A module is found however it is imported, with the packages on its way."""
    package = tmp_path / "io_benchmark_taskgraph"
    (package / "deep").mkdir(parents=True)
    for path in ("__init__.py", "deep/__init__.py", "deep/two.py", "deep/unused.py"):
        (package / path).write_text("import json\n")
    (package / "one.py").write_text(f"{line}\n")
    found = modules.needed_modules(
        tmp_path, ["io_benchmark_taskgraph.one:transforms", "taskgraph.transforms.run:transforms"]
    )
    assert [path.removeprefix("io_benchmark_taskgraph/") for path in found] == [
        "__init__.py",
        "deep/__init__.py",
        "deep/two.py",
        "one.py",
    ]


def test_script():
    """All of the script's modules, workloads that no pool asks for today included."""
    folder = ROOT / kind.SCRIPT
    found = modules.script_modules(folder)
    assert found == {path: (folder / path).read_bytes() for path in found}
    assert set(found) == {
        path.relative_to(folder).as_posix() for path in folder.rglob("*.py") if path.is_file()
    }

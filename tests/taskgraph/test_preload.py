# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""What is loaded before taskgraph forks a process per kind."""

import json
import shutil
import subprocess
import sys

import pytest
import yaml

from .conftest import REPOSITORY

# What a kind's process finds: the modules, and how much it still has to compress.
PROGRAM = """
import json, pathlib, sys
sys.path.insert(0, str(pathlib.Path(sys.argv[1], "python")))
from io_benchmark_taskgraph.preload import preload
preload(pathlib.Path(sys.argv[1]))
from io_benchmark_taskgraph.deflate import deflate
print(json.dumps({"modules": list(sys.modules), "compressed": deflate.cache_info().currsize}))
"""


@pytest.fixture
def tree(tmp_path):
    """The parts of the checkout that a decision task reads."""
    for part in ("taskcluster", "scripts/io-benchmark", "python/io_benchmark_taskgraph"):
        shutil.copytree(REPOSITORY / part, tmp_path / part)
    return tmp_path


def preloaded(tree):
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(tree)], stdout=subprocess.PIPE, check=True
    )
    return json.loads(done.stdout)


def test_kinds(tree):
    """Everything that the kinds name is imported, and each module of the script compressed."""
    found = preloaded(tree)
    for file in tree.glob("taskcluster/kinds/*/kind.yml"):
        kind = yaml.safe_load(file.read_text())
        named = {path.partition(":")[0] for path in (kind["loader"], *kind["transforms"])}
        assert named <= set(found["modules"]), file
    texts = {path.read_bytes() for path in (tree / "scripts/io-benchmark").rglob("*.py")}
    # Also what an entry for a folder holds: nothing.
    assert found["compressed"] == len(texts | {b""})


@pytest.mark.parametrize(
    ("file", "text"),
    [
        pytest.param("log.py", "1 +", id="not Python"),
        pytest.param("result_file.py", "", id="no version"),
        pytest.param("__main__.py", None, id="no script"),
    ],
)
def test_broken_script(tree, file, text):
    """A mistake in the script is left to the kind that needs it, which knows where it is named."""
    path = tree / "scripts/io-benchmark" / file
    if text is None:
        path.unlink()
    else:
        path.write_text(text)
    assert "io_benchmark_taskgraph.transforms.command" in preloaded(tree)["modules"]

# SPDX-License-Identifier: MPL-2.0
"""README.md: its two commands are there, and its new pool is one."""

import json
import os
import subprocess
import sys

import pytest
from checkout import ROOT, copy_checkout
from documentation import blocks

README = ROOT / "README.md"


@pytest.fixture
def clone(tmp_path):
    """A copy of the checkout that commands may write into."""
    return copy_checkout(tmp_path / "clone")


def test_the_two_commands():
    """One is run with the page's others, the other would run this test again."""
    assert "scripts/rehearse\n" in [block.text for block in blocks(README, "sh") if not block.how]
    assert "scripts/test\n" in [b.text for b in blocks(README, "sh") if b.how == "skip"]
    assert os.access(ROOT / "scripts/test", os.X_OK)


def test_new_pool(clone):
    """The README's new pool is four lines and generates one more task, named as it says."""
    (pool,) = [block.text for block in blocks(README, "yaml")]
    name = pool.split(":")[0].strip()
    kind = clone / "taskcluster/kinds/io-benchmark/kind.yml"
    kind.write_text(kind.read_text().rstrip("\n") + "\n\n" + pool)
    parameters = clone / "taskcluster/test/params/push.yml"
    subprocess.run(["git", "init", "--quiet", clone], check=True)
    result = subprocess.run(
        ["taskgraph", "full", "-J", "-p", str(parameters)],
        cwd=clone,
        env={"PATH": f"{sys.prefix}/bin:{os.environ['PATH']}", "HOME": str(clone.parent)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    assert len(pool.splitlines()) == 4
    assert f"io-benchmark-{name}" in json.loads(result.stdout)
    assert f"io-benchmark-{name}" in README.read_text()

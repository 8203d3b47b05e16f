# SPDX-License-Identifier: MPL-2.0
"""The kind's file for Firefox, made from this project's."""

import pytest
import yaml

from io_benchmark.adopt.firefox_kind import KIND, FirefoxKind
from io_benchmark.errors import IoBenchmarkError


def edit(root, old, new):
    file = root.path / KIND
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new, 1))


def test_a_pool_with_its_own_measurements(other_version):
    """Its command stands in its task, and the others keep the usual one."""
    edit(
        other_version,
        "IOB(intel)}",
        "IOB(intel)}\n        benchmark: {workloads: [spawn], retrieves: 7}",
    )
    there = yaml.safe_load(FirefoxKind.of(other_version).files[KIND])
    assert "--workload spawn" not in there["task-defaults"]["run"]["command"]
    assert [name for name, task in there["tasks"].items() if "run" in task] == ["intel"]
    assert "--workload spawn \\\n  --retrieves 7 " in there["tasks"]["intel"]["run"]["command"]


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        pytest.param("tasks:\n    amd", "tasks: [\n    amd", "as a kind", id="no YAML"),
        pytest.param("worker-type: b-linux\n", "\n", "as a kind", id="no worker type"),
        pytest.param("max-run-time: 3600", "", "worker.max-run-time: None", id="no limit"),
    ],
)
def test_mistakes_here(other_version, old, new, problem):
    """A kind that this project could not run is not installed there."""
    edit(other_version, old, new)
    with pytest.raises(IoBenchmarkError) as caught:
        FirefoxKind.of(other_version)
    assert problem in str(caught.value)

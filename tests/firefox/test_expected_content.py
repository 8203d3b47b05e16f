# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""What is read of this project, and what is reported where it is incomplete."""

import re

import pytest

from io_benchmark.errors import IoBenchmarkError
from io_benchmark.firefox.kind import SOURCE

from .conftest import plan


@pytest.mark.parametrize(
    ("path", "old", "new", "message"),
    [
        pytest.param(
            SOURCE, "tasks:\n    amd", "tasks: [\n    amd", "cannot be read as a kind", id="yaml"
        ),
        pytest.param(
            SOURCE, "treeherder: {sym", "treeherder: {s", "cannot be read as a kind", id="key"
        ),
        pytest.param(
            SOURCE,
            "IOB(intel)",
            "IO(intel)",
            "its tasks have 2 groups in their symbols (IO, IOB); give all of them the same group",
            id="groups",
        ),
        pytest.param(
            "taskcluster/config.yml",
            "'IOB'",
            "'IO'",
            "treeherder group-names has no IOB, the group of the tasks' symbols; add it",
            id="group-name",
        ),
        pytest.param(
            "python/io_benchmark_taskgraph/checks.py",
            "import re",
            "import re as",
            "checks.py: invalid syntax",
            id="python",
        ),
    ],
)
def test_not_whole(firefox, other_version, path, old, new, message):
    """One line that says which file, what is wrong and what to do."""
    file = other_version.path / path
    assert old in file.read_text()
    file.write_text(file.read_text().replace(old, new))
    with pytest.raises(IoBenchmarkError, match=re.escape(message)) as caught:
        plan(firefox, other_version)
    assert str(caught.value).startswith(str(other_version.path))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("path", [SOURCE, "taskcluster/docs/attributes.md"])
def test_missing_file(firefox, other_version, path):
    """A tree that lacks a file is named."""
    (other_version.path / path).unlink()
    with pytest.raises(
        IoBenchmarkError, match=r"No such file or directory; name a complete tree with"
    ):
        plan(firefox, other_version)

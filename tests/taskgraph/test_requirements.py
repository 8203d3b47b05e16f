# SPDX-License-Identifier: MPL-2.0
"""The decision task's lock."""

import re

from .conftest import REPOSITORY

FOLDER = REPOSITORY / "taskcluster"
LOCK = (FOLDER / "requirements.txt").read_text()
REQUIREMENT = re.compile(
    r"^([a-z0-9._-]+)==(\S+)(?: ;.*)? \\\n((?:    --hash=sha256:.*\n)+)", re.MULTILINE
)


def test_lock():
    """Each line is a version by its hashes, taskgraph's is the tested one, and nothing else is installed."""
    for line in LOCK.splitlines():
        assert re.match(r"^(    --hash=sha256:|    #|#|[a-z0-9._-]+==)", line), line
    versions = {name: version for name, version, _ in REQUIREMENT.findall(LOCK)}
    assert list(versions) == re.findall(r"^([a-z0-9._-]+)==", LOCK, re.MULTILINE)
    assert versions["taskcluster-taskgraph"] == "24.5.1"
    assert "voluptuous" in versions
    assert "taskcluster-taskgraph==24.5.1" in (FOLDER / "requirements.in").read_text().splitlines()

# SPDX-License-Identifier: MPL-2.0
"""The decision task's lock."""

import re

from .conftest import REPOSITORY

FOLDER = REPOSITORY / "taskcluster"
LOCK = (FOLDER / "requirements.txt").read_text()
REQUIREMENT = re.compile(
    r"^([a-z0-9._-]+)==(\S+)(?: ;.*)? \\\n((?:    --hash=sha256:.*\n)+)", re.MULTILINE
)


def test_every_requirement_has_hashes():
    """run-task installs with --require-hashes; every line that names a version has some."""
    names = re.findall(r"^([a-z0-9._-]+)==", LOCK, re.MULTILINE)
    locked = [match[0] for match in REQUIREMENT.findall(LOCK)]
    assert locked == names
    assert len(locked) > 20


def test_taskgraph_is_the_tested_version():
    """The version that these tests run with is the one that decision tasks install."""
    versions = {name: version for name, version, _ in REQUIREMENT.findall(LOCK)}
    assert versions["taskcluster-taskgraph"] == "24.5.1"
    assert "voluptuous" in versions
    assert "taskcluster-taskgraph==24.5.1" in (FOLDER / "requirements.in").read_text().splitlines()


def test_only_names_and_hashes():
    """No registry, no local path, nothing that is not a package by its hash."""
    for line in LOCK.splitlines():
        assert re.match(r"^(    --hash=sha256:|    #|#|[a-z0-9._-]+==)", line), line

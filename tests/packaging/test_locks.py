# SPDX-License-Identifier: MPL-2.0
"""The locks: everything exact, everything with hashes, and nothing that is needed left out."""

import re
import tomllib

import pytest
from checkout import ROOT
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

RUNTIME = (
    "pyproject.toml",
    "python/io_benchmark_taskgraph/pyproject.toml",
    "python/requirements.in",
)
LOCKS = {
    "python/requirements": RUNTIME,
    "tests/requirements": (*RUNTIME, "tests/requirements.in"),
    "taskcluster/requirements": ("taskcluster/requirements.in",),
    **{
        f"tests/requirements-{name}": (f"tests/requirements-{name}.in",)
        for name in ("tox", "lock", "site")
    },
}
# One version with hashes; no index and no address.
ENTRY = re.compile(r"([a-z0-9-]+)==([^ ;]+)( ;[^-]*)?( +--hash=sha256:[0-9a-f]{64})+ *")


def asked_for(source):
    """What a .in file, or pyproject.toml, asks for."""
    text = (ROOT / source).read_text()
    if source.endswith(".toml"):
        project = tomllib.loads(text)["project"]
        extras = project.get("optional-dependencies", {})
        further = [*extras.get("taskcluster", []), *extras.get("completion", [])]
        return [Requirement(line) for line in (*project["dependencies"], *further)]
    lines = [line.split("#")[0].strip() for line in text.splitlines()]
    return [Requirement(line) for line in lines if line]


@pytest.mark.parametrize(("lock", "sources"), LOCKS.items(), ids=LOCKS)
def test_lock(lock, sources):
    """Every requirement of the sources is there, in one version that it allows."""
    text = re.sub(r"^\s*#.*\n", "", (ROOT / f"{lock}.txt").read_text(), flags=re.MULTILINE)
    entries = [ENTRY.fullmatch(line) for line in text.replace("\\\n", " ").splitlines()]
    assert None not in entries
    pinned = {canonicalize_name(entry[1]): entry[2] for entry in entries if entry}
    assert len(pinned) == len(entries)
    requirements = [requirement for source in sources for requirement in asked_for(source)]
    for requirement in requirements:
        version = pinned.get(canonicalize_name(requirement.name), "")
        assert version in requirement.specifier, requirement

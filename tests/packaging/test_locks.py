# SPDX-License-Identifier: MPL-2.0
"""The locks: everything exact, everything with hashes, and nothing that is needed left out."""

import re
import tomllib

import pytest
from checkout import ROOT
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

LOCKS = (
    "python/requirements",
    "taskcluster/requirements",
    "tests/requirements",
    "tests/requirements-lock",
    "tests/requirements-site",
    "tests/requirements-tox",
)


def entries(lock: str) -> list[str]:
    """One string a package, with its hashes, without comments."""
    text = (ROOT / f"{lock}.txt").read_text()
    text = re.sub(r"^\s*#.*\n", "", text, flags=re.MULTILINE)
    return text.replace("\\\n", " ").splitlines()


def versions(lock: str) -> dict[str, str]:
    """What the lock installs; a package may stand in it once only."""
    pinned: dict[str, str] = {}
    for entry in entries(lock):
        requirement = Requirement(entry.split(" --hash")[0])
        name = canonicalize_name(requirement.name)
        assert name not in pinned, f"{name} has more than one version in {lock}.txt"
        pinned[name] = str(requirement.specifier).removeprefix("==")
    return pinned


def asked_for(source: str) -> list[Requirement]:
    """What a .in file, or pyproject.toml, asks for."""
    text = (ROOT / source).read_text()
    if source.endswith(".toml"):
        project = tomllib.loads(text)["project"]
        extra = project.get("optional-dependencies", {}).get("taskcluster", [])
        return [Requirement(line) for line in (*project["dependencies"], *extra)]
    lines = [line.split("#")[0].strip() for line in text.splitlines()]
    return [Requirement(line) for line in lines if line]


@pytest.mark.parametrize("lock", LOCKS)
def test_exact_with_hashes(lock):
    """Every line pins one version and has hashes; none names an index or an address."""
    pattern = re.compile(r"[a-z0-9-]+==[^ ;]+( ;[^-]*)?( +--hash=sha256:[0-9a-f]{64})+ *")
    assert [line for line in entries(lock) if not pattern.fullmatch(line)] == []


RUNTIME = [
    "pyproject.toml",
    "python/io_benchmark_taskgraph/pyproject.toml",
    "python/requirements.in",
]


@pytest.mark.parametrize(
    ("lock", "sources"),
    [
        ("python/requirements", RUNTIME),
        ("tests/requirements", [*RUNTIME, "tests/requirements.in"]),
        *(
            (f"tests/requirements-{name}", [f"tests/requirements-{name}.in"])
            for name in ("tox", "lock", "site")
        ),
        ("taskcluster/requirements", ["taskcluster/requirements.in"]),
    ],
)
def test_holds_what_is_asked_for(lock, sources):
    """Every requirement of the sources is in the lock, in a version that it allows."""
    pinned = versions(lock)
    missing = [
        str(requirement)
        for source in sources
        for requirement in asked_for(source)
        if pinned.get(canonicalize_name(requirement.name), "") not in requirement.specifier
    ]
    assert missing == []

# SPDX-License-Identifier: MPL-2.0
"""Which Python generates the tasks of a project, and what to install where it cannot."""

import os
import sys
from pathlib import Path

import pytest
from small_projects import make_environment

from io_benchmark.graph.environments import Environment
from io_benchmark.graph.root import BUNDLE, Root

from .trees import REPOSITORY

LOCK = "taskcluster/requirements.txt"


@pytest.fixture
def project(tmp_path):
    (tmp_path / "above/project/taskcluster").mkdir(parents=True)
    return tmp_path / "above/project"


def found(project):
    return Environment.of(Root(project, "checkout"))


@pytest.fixture
def is_own(monkeypatch):
    """Return whether a tree gets this program's environment."""
    monkeypatch.delenv("VIRTUAL_ENV", raising=False)
    own = Environment.of(Root(REPOSITORY, "checkout"))
    return lambda environment: environment == own


@pytest.mark.parametrize(
    "place", [".venv", "venv", "../.venv", "../../venv", "$VIRTUAL_ENV"], ids=lambda place: place
)
def test_of_the_project(project, tmp_path, monkeypatch, is_own, place):
    """An environment in the project, above it, or the activated one is taken; not one beside it."""
    make_environment(tmp_path / "beside")
    make_environment(project.parent / "beside/.venv")
    assert is_own(found(project))
    folder = tmp_path / "activated" if place.startswith("$") else (project / place).resolve()
    monkeypatch.setenv("VIRTUAL_ENV", str(tmp_path / "activated"))
    make_environment(folder, taskgraph="11.2.4")
    environment = found(project)
    assert environment == Environment(folder / "bin/python", folder, "11.2.4")
    assert str(environment) == f"taskgraph 11.2.4 of {folder}"


def test_the_nearest(project, monkeypatch, is_own):
    """One in the project comes before the activated one, and that before those above."""
    above = make_environment(project.parent / ".venv")
    activated = make_environment(project.parent / "activated")
    assert found(project).folder == above
    monkeypatch.setenv("VIRTUAL_ENV", str(activated))
    assert found(project).folder == activated
    assert found(make_environment(project / "venv").parent).folder == project / "venv"
    for path in (REPOSITORY, BUNDLE):
        assert is_own(Environment.of(Root(path, "checkout")))


def test_without_taskgraph(project, monkeypatch, is_own):
    """An environment of other things is passed over, and so is this program's own, if activated."""
    (make_environment(project / ".venv") / "lib").rename(project / ".venv/lib64")
    monkeypatch.setenv("VIRTUAL_ENV", sys.prefix)
    assert is_own(found(project))


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"python": "3.7"}, "which has Python 3.7"),
        ({"python": "3.8"}, "which has Python 3.8"),
        ({"program": None}, "whose bin/python cannot be run"),
    ],
)
def test_unusable(project, options, reason):
    """What is wrong with an environment is said, and the next one is taken."""
    folder = make_environment(project / ".venv", **options)
    environment = found(project)
    assert environment.folder is None
    assert str(environment).endswith(f" of io-benchmark's environment; not {folder}, {reason}")
    second = make_environment(project / "venv", python="3.9")
    assert found(project).folder == second


def test_renewed(project):
    """An environment that was renewed may still have the packages of its old Python."""
    folder = make_environment(project / ".venv", python="3.8", taskgraph="8.1.0")
    packages = folder / "lib/python3.12/site-packages"
    (packages / "taskcluster_taskgraph-24.5.1.dist-info").mkdir(parents=True)
    assert found(project) == Environment(folder / "bin/python", folder, "24.5.1")


def test_of_python_2(project, is_own):
    """An environment of Python 2 has no taskgraph that anything here fits."""
    make_environment(project / ".venv", python="2.7")
    assert is_own(found(project))


@pytest.mark.skipif(os.geteuid() != 0, reason="gives a folder to somebody")
def test_of_a_stranger(project, is_own):
    """What another user put above the project is not run; the project's owner is trusted."""
    folder = make_environment(project.parent / ".venv")
    os.chown(folder, 12345, -1)
    assert is_own(found(project))
    os.chown(project, 12345, -1)
    assert found(project).folder == folder


OTHER, SAME = "11.2.4", "24.1.1"
PIPX = "; install what the project uses where io-benchmark is, such as by: pipx inject "


@pytest.mark.parametrize(
    ("pinned", "module", "advice"),
    [
        (SAME, None, ""),
        ("", None, ""),
        (OTHER, None, f"{PIPX}--force io-benchmark taskcluster-taskgraph==11.2.4"),
        (SAME, "mozilla_taskgraph", f"{PIPX}io-benchmark mozilla-taskgraph"),
        (SAME, "re_do", f"{PIPX}io-benchmark re-do==2.0"),
        (SAME, "yaml", f"{PIPX}io-benchmark PyYAML"),
        (
            OTHER,
            "re_do",
            f"{PIPX}--force io-benchmark re-do==2.0 taskcluster-taskgraph==11.2.4",
        ),
        (SAME, "taskgraph", f"{PIPX}io-benchmark taskcluster-taskgraph"),
        (OTHER, "taskgraph", f"{PIPX}--force io-benchmark taskcluster-taskgraph==11.2.4"),
        # `re_do-more` is another package.
        (SAME, "more", "; it is neither in taskcluster/ nor a package of its requirements"),
        (OTHER, "re", "; it is neither in taskcluster/ nor a package of its requirements"),
    ],
)
def test_advice(project, pinned, module, advice):
    """A package is named that the project's own files have, with their version."""
    pin = f"taskcluster-taskgraph=={pinned}\n" if pinned else ""
    (project / LOCK).write_text(f"re_do==2.0 \\\n  --hash=x\nre_do-more==1\n{pin}")
    own = Environment(Path("python"), None, "24.5.1")
    assert own.advice(project, module) == advice
    folder = Path("/x/.venv")
    requirements = advice.rpartition("io-benchmark ")[2].replace(" ", " and ")
    expected = f"; install {requirements} in {folder}" if PIPX in advice else advice
    assert Environment(Path("python"), folder, "24.5.1").advice(project, module) == expected


def test_advice_without_a_file(project):
    """A file that cannot be read does not hide what has failed."""
    own = Environment(Path("python"), None, "24.5.1")
    assert own.advice(project, "mozilla_taskgraph") == f"{PIPX}io-benchmark mozilla-taskgraph"
    (project / LOCK).write_bytes(b"\xff")
    assert own.advice(project, "mozilla_taskgraph") == ""

# SPDX-License-Identifier: MPL-2.0
"""Where a project says which taskgraph it has."""

import re

import pytest

from io_benchmark.adopt.projects.pins import OLDEST_TASKGRAPH, Taskgraph, find_taskgraph
from io_benchmark.errors import IoBenchmarkError
from io_benchmark_taskgraph import versions

from .builders import draft_of

LOCK, SOURCE = "taskcluster/requirements.txt", "taskcluster/requirements.in"
DECISION = ".taskcluster.yml"
UV = '[[package]]\nname = "taskcluster-taskgraph"\nversion = "{}"\nsource = {{}}\n'
DIGEST = f"@sha256:{'0' * 64}"


def found(folder, files):
    return find_taskgraph(draft_of(folder, files).tree, (LOCK, SOURCE))


@pytest.mark.parametrize(
    ("path", "text", "version"),
    [
        (LOCK, "voluptuous==1\ntaskcluster-taskgraph==24.2.0 \\\n    --hash=x\n", "24.2.0"),
        (LOCK, "Taskcluster_Taskgraph[orjson] == 15.1\n", "15.1"),
        (SOURCE, "redo\ntaskcluster-taskgraph ~= 14.4\n", "14.4"),
        (SOURCE, "taskcluster-taskgraph>=15.1.3\n# taskcluster-taskgraph==7\n", None),
        (DECISION, f"image: mozillareleases/taskgraph:decision-v8.1.0{DIGEST}\n", "8.1.0"),
        (DECISION, "image:\n  m/taskgraph:decision-mobile-v9\n#m/taskgraph:decision-v7\n", "9"),
        (DECISION, "image: mozillareleases/taskgraph:run-task-v20.0.0\n", None),
        ("uv.lock", UV.format("24.1.1"), "24.1.1"),
        ("uv.lock", "# a lock" * 400_000 + "\n" + UV.format("24.1.1"), "24.1.1"),
        ("taskcluster/uv.lock", UV.format("24.1.1").replace("\n", "\r\n"), "24.1.1"),
        ("poetry.lock", UV.format("15.1.3"), "15.1.3"),
        ("pyproject.toml", 'dev = [\n  "taskcluster-taskgraph==24.1.1",\n]\n', "24.1.1"),
        ("taskcluster/pyproject.toml", 'taskcluster-taskgraph = "15.1.3"\n', "15.1.3"),
        ("pyproject.toml", 'a = ["taskcluster-taskgraph>=3", "other==4"]\n', None),
        (LOCK, f"taskcluster-taskgraph=={'9' * 6000}\n", None),
        (LOCK, "mozilla-taskgraph==5.0.1\n", None),
    ],
    ids=lambda value: ascii(value)[:40],
)
def test_one_place(tmp_path, path, text, version):
    """taskgraph's version is found in each place where projects pin it."""
    assert found(tmp_path, {path: text}) == Taskgraph(version)


def test_several_places(tmp_path):
    """What the decision task uses counts, and others are mentioned.

    An image that only has run-task says nothing of taskgraph, where something else does.
    """
    files = {
        DECISION: "image: m/taskgraph:decision-v24.2.0\n",
        "uv.lock": UV.format("24.2.0") + UV.format("15.1.3"),
        "pyproject.toml": '"taskcluster-taskgraph==24.2.0"\n',
    }
    note = (
        f"{DECISION} has taskgraph 24.2.0, but uv.lock has taskgraph 15.1.3 and 24.2.0; the first "
        "one is used"
    )
    assert found(tmp_path, files) == Taskgraph("24.2.0", note)
    files["uv.lock"] = UV.format("24.2.0")
    assert found(tmp_path, files) == Taskgraph("24.2.0")
    files[DECISION] = "image: m/taskgraph:run-task-v7.0.0\n"
    assert found(tmp_path, files) == Taskgraph("24.2.0")


@pytest.mark.parametrize(
    ("path", "text", "problem"),
    [
        (LOCK, "taskcluster-taskgraph==7.4.0\n", "has taskgraph 7.4.0, and io-benchmark-taskgraph"),
        (DECISION, "image: m/taskgraph:decision-v7.9\n", "has taskgraph 7.9, and io-benchmark"),
        (DECISION, "image: m/taskgraph:run-task-v7.9\n", "has taskgraph 7.9, and io-benchmark"),
        ("uv.lock", UV.format("24.2.0") + UV.format("15.1.3"), "15.1.3 and 24.2.0; keep one"),
        (DECISION, "a: m/taskgraph:decision-v8\nb: m/taskgraph:decision-v9", "8 and 9; keep one"),
    ],
)
def test_refused(tmp_path, path, text, problem):
    """A version that is too old, and two of one file where no other file decides."""
    with pytest.raises(IoBenchmarkError, match=rf"{re.escape(f'{path}: has taskgraph')}") as caught:
        found(tmp_path, {path: text})
    assert problem in str(caught.value)
    assert "\n" not in str(caught.value)


def test_the_oldest_version():
    """`init` takes the versions that the package takes."""
    assert versions.OLDEST.split(".")[0] == str(OLDEST_TASKGRAPH)

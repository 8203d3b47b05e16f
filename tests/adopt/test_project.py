# SPDX-License-Identifier: MPL-2.0
"""What `io-benchmark init` adds to a project, and what it refuses."""

import re

import pytest
import yaml
from checkout import ROOT

from io_benchmark import __version__
from io_benchmark.adopt.project import CONFIG, KIND, REGISTER, REQUIREMENTS, TASKGRAPH, Project
from io_benchmark.errors import IoBenchmarkError, UsageError

from .conftest import snapshot

TEXT = """\
# As taskgraph's template writes it.
---
trust-domain: "mozilla"

taskgraph:
  # Names of caches begin with it.
  cached-task-prefix: "mozilla.v2.my-proj"
  repositories:
    my_proj: {name: my-proj}

workers:
  aliases:
    b-small: {implementation: docker-worker, os: linux}
    b-large: {implementation: docker-worker, os: linux}
    b-[: {implementation: docker-worker, os: linux}
    b-(x|y)z: {implementation: docker-worker, os: linux}
    b-win: {implementation: generic-worker, os: windows}
    images: {implementation: docker-worker, os: linux}
"""
LINE = f"io-benchmark-taskgraph=={__version__}\n"
IMAGES, LOCK = "taskcluster/kinds/docker-image/kind.yml", "taskcluster/requirements.txt"


@pytest.fixture
def project(tmp_path):
    for name, text in {
        CONFIG: TEXT,
        IMAGES: "tasks: {linux: {}, other: {}}\n",
        REQUIREMENTS: "taskcluster-taskgraph\n",
        LOCK: f"taskcluster-taskgraph=={TASKGRAPH}.5.1 \\\n    --hash=x\n",
        ".taskcluster.yml": "CI_PIP_REQUIREMENTS: taskcluster/requirements.txt\n",
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def init(folder, pools=None, image=None):
    project = Project.open(folder)
    changes = project.changes(pools, image)
    project.write(changes)
    return [change.path for change in changes]


def test_init(project):
    """The pools are the aliases of Linux workers; the rest of each file stays; a second run adds nothing."""
    before = snapshot(project)
    assert init(project) == [KIND, REQUIREMENTS, CONFIG]
    after = snapshot(project)
    assert set(after) - set(before) == {KIND}
    register = f"taskgraph:\n  # Names of caches begin with it.\n  register: {REGISTER}\n  cached-"
    assert after[CONFIG][0].decode() == TEXT.replace(
        "taskgraph:\n  # Names of caches begin with it.\n  cached-", register
    )
    assert after[REQUIREMENTS][0].decode() == f"taskcluster-taskgraph\n{LINE}"
    kind = yaml.safe_load(after[KIND][0])
    assert list(kind["tasks"]) == ["b-small", "b-large"]
    assert init(project) == []
    assert Project.open(project).next_steps() == [
        "make taskcluster/requirements.txt again from taskcluster/requirements.in"
    ]


def test_the_documented_file(project):
    """The file of the manual is what the command writes, but for its comments."""
    init(project, {"small": "b-small", "large": "b-large"})
    documented = (ROOT / "taskcluster/docs/adopting-kind.yml").read_text()
    without_comments = re.sub("^#.*\n", "", documented, flags=re.MULTILINE)
    assert (project / KIND).read_text() == without_comments


def test_names_and_image(project):
    """--pool may name what one pattern of an alias matches; --image another image."""
    init(project, {"a-name-that-is-longer-than-25": "b-xz"}, "other")
    kind = yaml.safe_load((project / KIND).read_text())
    assert kind["task-defaults"]["worker"]["docker-image"] == {"in-tree": "other"}
    (pool,) = kind["tasks"].values()
    assert pool["worker-type"] == "b-xz"
    assert pool["treeherder"] == {"symbol": "IOB(a-name-that-is-longer-tha)"}


def test_functions_of_the_project(project):
    """Code is not changed; what it has to call is said."""
    own = "taskgraph:\n  register: my:register\n  decision-parameters: my:fill"
    (project / CONFIG).write_text(TEXT.replace("taskgraph:", own))
    (project / ".taskcluster.yml").unlink()
    init(project)
    register, parameters, install = Project.open(project).next_steps()[1:]
    call = "call io_benchmark_taskgraph."
    assert register == f"{call}register in my:register, which is register"
    assert parameters == (
        f"{call}parameters.decision_parameters in my:fill, which is decision-parameters"
    )
    assert install.startswith("install taskcluster/requirements.txt in the decision task")
    assert REGISTER not in (project / CONFIG).read_text()


@pytest.mark.parametrize(
    ("path", "old", "new", "problem"),
    [
        (CONFIG, "b-small:", "b-smaller:", "has no alias b-small, but b-smaller, b-large"),
        (CONFIG, "os: linux", "os: macos", "but none for Linux; name the pools"),
        (CONFIG, "workers:", "others:", "has no workers.aliases with their os"),
        (CONFIG, "taskgraph:", "others:", "cannot be added to taskgraph; add it"),
        (IMAGES, "linux", "base", "images base, other; name one"),
        (LOCK, f"=={TASKGRAPH}", "==23", "has taskgraph 23, and"),
        (LOCK, f"=={TASKGRAPH}", "==25", "has taskgraph 25, and"),
        (LOCK, f"graph=={TASKGRAPH}", "graph[orjson]==9", "has taskgraph 9"),
        (REQUIREMENTS, "graph\n", "graph ~= 14.4\n", "requirements.in: has taskgraph 14, and"),
        (KIND, "IOB", "IO", "is there already; edit it, or remove it"),
    ],
)
def test_refused(project, path, old, new, problem):
    """One line says what is in the way, and nothing is written."""
    init(project, {"small": "b-small"})
    text = (project / path).read_text()
    assert old in text
    (project / path).write_text(text.replace(old, new))
    before = snapshot(project)
    with pytest.raises(IoBenchmarkError, match=re.escape(problem)):
        init(project, {"small": "b-small"})
    assert snapshot(project) == before


def test_not_a_project(tmp_path, project):
    """A folder without taskgraph and a Firefox checkout are mistakes in usage."""
    (tmp_path / "empty").mkdir()
    with pytest.raises(UsageError, match=r"has no taskcluster/config\.yml"):
        Project.open(tmp_path / "empty")
    (project / "taskcluster/gecko_taskgraph").mkdir()
    with pytest.raises(UsageError, match="use io-benchmark firefox"):
        Project.open(project)

# SPDX-License-Identifier: MPL-2.0
"""Plain `init` in small trees with the shapes of real projects, and how much it adds."""

import program
import pytest
from checkout import snapshot

from io_benchmark.adopt.projects.project import KIND
from io_benchmark.adopt.projects.requirements import REQUIREMENT
from io_benchmark.graph.generate import generate
from io_benchmark.graph.root import Root

from .builders import draft_of

MOST_LINES = 25
CONFIG = "taskcluster/config.yml"
IMAGES = "taskcluster/kinds/docker-image/kind.yml"
PACKAGE = "taskcluster/own_taskgraph/__init__.py"
PARAMETERS = "taskcluster/own_taskgraph/parameters.py"
LOCK, SOURCE = "taskcluster/requirements.txt", "taskcluster/requirements.in"
DECISION = """\
tasks:
    - payload:
          env:
              $merge:
                  - OWN_HEAD_REPOSITORY: '${{repoUrl}}'
                    OWN_REPOSITORY_TYPE: git
                    REPOSITORIES: {{$json: {{own: "Own"}}}}
          image: mozillareleases/taskgraph:{image}@sha256:0123
          command: [run-task, '--own-checkout=/builds/worker/checkouts/src']
"""
INSTALLING = DECISION.replace("REPOSITORY_TYPE: git", f"PIP_REQUIREMENTS: {LOCK}")
ALIAS = "{provisioner: 'own-{level}', implementation: docker-worker, os: linux, worker-type: %s}"
SIGNING = "{provisioner: k, implementation: scriptworker-signing, os: scriptworker, worker-type: s}"
CONFIG_TEXT = f"""\
---
trust-domain: own
task-priority: low

taskgraph:
    register: own_taskgraph:register
    cached-task-prefix: own.v1
    repositories:
        own: {{name: Own}}

workers:
    aliases:
        b-linux: {ALIAS % "'{alias}'"}
        images: {ALIAS % "images"}
        signing: {SIGNING}
"""
TWO_POOLS = CONFIG_TEXT.replace(
    "        images:", f"        b-large: {ALIAS % 'b-large'}\n        images:"
)
REGISTER = '''\
from importlib import import_module


def register(graph_config):
    """Import the modules of this package."""
    _import_modules(["parameters"])


def _import_modules(modules):
    for module in modules:
        import_module(f".{module}", package=__name__)
'''
FILL = """\
from taskgraph.util.vcs import get_repository


def fill(graph_config, parameters):
    if parameters["tasks_for"] == "cron":
        return
    parameters["optimize_target_tasks"] = get_repository is None
"""
IMAGE_KIND = """\
---
loader: taskgraph.loader.transform:loader

transforms:
    - taskgraph.transforms.docker_image:transforms
    - taskgraph.transforms.cached_tasks:transforms
    - taskgraph.transforms.task:transforms

tasks:
    python: {}
    test:
        parent: python
"""
TESTS = """\
task-defaults:
    worker-type: b-linux
    worker:
        docker-image: {in-tree: test}

tasks:
    unit: {}
    other: {worker: {docker-image: {in-tree: python}}}
    integration: {}
"""
COMMON = {
    CONFIG: CONFIG_TEXT,
    PACKAGE: REGISTER,
    PARAMETERS: FILL,
    IMAGES: IMAGE_KIND,
    "taskcluster/kinds/tests/kind.yml": TESTS,
    "taskcluster/docker/python/Dockerfile": "FROM python:3.13\n# %include-run-task\n",
    "taskcluster/docker/test/Dockerfile": "FROM $DOCKER_IMAGE_PARENT\n",
}


def with_parameters(config):
    """Return config.yml with a function for decision parameters."""
    line = "    decision-parameters: 'own_taskgraph.parameters:fill'\n"
    return config.replace("    repositories:", f"{line}    repositories:")


SHAPES = {
    "decision image": {
        CONFIG: with_parameters(CONFIG_TEXT),
        ".taskcluster.yml": DECISION.format(image="decision-v24.2.0"),
    },
    "requirements": {
        CONFIG: with_parameters(TWO_POOLS),
        ".taskcluster.yml": INSTALLING.format(image="run-task-v20.0.0"),
        SOURCE: "mozilla-taskgraph>=4.4.0\n",
        LOCK: "taskcluster-taskgraph==24.2.0 \\\n    --hash=sha256:0123\n",
    },
    "uv": {
        CONFIG: f"treeherder: {{group-names: {{}}}}\n{CONFIG_TEXT.removeprefix('---')}",
        ".taskcluster.yml": DECISION.format(image="decision-v24.1.1"),
        "pyproject.toml": '[dependency-groups]\ndev = [\n    "taskcluster-taskgraph==24.1.1",\n]\n',
        "uv.lock": '[[package]]\nname = "taskcluster-taskgraph"\nversion = "24.1.1"\n',
    },
    "only a lock": {
        ".taskcluster.yml": INSTALLING.format(image="decision-v23.0.0"),
        LOCK: "taskcluster-taskgraph==23.0.0 \\\n    --hash=sha256:0123\n",
    },
    "taskgraph's template": {
        CONFIG: TWO_POOLS.replace("    register: own_taskgraph:register\n", ""),
        ".taskcluster.yml": DECISION.format(image="decision-v8.1.0").replace("OWN", "${up}"),
    },
}
NEXT = f"next: make {LOCK} from {SOURCE}: "
COMPILE = f"--generate-hashes --output-file={LOCK} {SOURCE}"
ONE_POOL = (
    "note: b-linux is the only pool, so there is nothing to compare; name each of several as "
    "--pool NAME=ALIAS, with aliases of taskcluster/config.yml"
)


@pytest.mark.parametrize(
    ("shape", "lines"),
    [
        ("decision image", [ONE_POOL, f"{NEXT}pip-compile {COMPILE}"]),
        ("requirements", [f"{NEXT}pip-compile {COMPILE}"]),
        ("uv", [ONE_POOL, "next: make uv.lock again: uv lock", f"{NEXT}uv pip compile {COMPILE}"]),
        (
            "only a lock",
            [
                ONE_POOL,
                f"next: add {REQUIREMENT} to {LOCK}: pipx run hashin -r {LOCK} {REQUIREMENT}",
            ],
        ),
        ("taskgraph's template", [f"{NEXT}pip-compile {COMPILE}"]),
    ],
)
def test_shapes(tmp_path, shape, lines):
    """The lines that are added are few; the others stay, and a second time adds nothing."""
    draft_of(tmp_path, COMMON | SHAPES[shape])
    done = program.run("init", folder=tmp_path)
    assert done.stderr.splitlines() == [
        "Written, not committed",
        *lines,
        "then try it: io-benchmark rehearse",
    ]
    patch = done.stdout.splitlines()
    added = [line for line in patch if line.startswith("+") and not line.startswith("+++ ")]
    removed = [line for line in patch if line.startswith("-") and not line.startswith("--- ")]
    assert len(added) <= MOST_LINES
    # The image that has no symbol yet.
    assert removed == (["-    python: {}"] if shape == "uv" else [])
    assert "        docker-image: {in-tree: test}" in (tmp_path / KIND).read_text().splitlines()
    before = snapshot(tmp_path)
    program.run("init", folder=tmp_path)
    assert snapshot(tmp_path) == before


def test_generated(tmp_path):
    """taskgraph makes the tasks by the project's own functions."""
    config = with_parameters(SHAPES["uv"][CONFIG])
    draft_of(tmp_path, COMMON | SHAPES["uv"] | {CONFIG: config})
    program.run("init", folder=tmp_path)
    tasks = generate(Root(tmp_path, "checkout"), ["io-benchmark"])
    assert [task.label for task in tasks] == ["io-benchmark-b-linux", "io-benchmark-report"]

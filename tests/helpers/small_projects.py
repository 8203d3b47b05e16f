# SPDX-License-Identifier: MPL-2.0
"""A small project of somebody: its own registration and parameters, and the benchmark's kind."""

import textwrap
from pathlib import Path

import yaml

REGISTER = "taskcluster/my_taskgraph/__init__.py"
TRANSFORM = "taskgraph.transforms"
_LOADER = "taskgraph.loader.transform:loader"
_WORKER = {"provisioner": "my-{level}", "implementation": "docker-worker", "os": "linux"}
_FILES = {
    "taskcluster/config.yml": {
        "trust-domain": "my",
        "task-priority": "low",
        "taskgraph": {
            "register": "my_taskgraph:register",
            "cached-task-prefix": "my",
            "repositories": {"my": {"name": "my project"}},
        },
        "workers": {
            "aliases": {
                "small": {**_WORKER, "worker-type": "small"},
                "large": {**_WORKER, "worker-type": {"by-level": {"3": "x", "default": "large"}}},
                "images": {**_WORKER, "worker-type": "images"},
            }
        },
    },
    "taskcluster/kinds/docker-image/kind.yml": {
        "loader": _LOADER,
        "transforms": [
            f"{TRANSFORM}.docker_image:transforms",
            f"{TRANSFORM}.cached_tasks:transforms",
            f"{TRANSFORM}.task:transforms",
        ],
        "tasks": {"base": {}},
    },
    # It needs what only a decision task has.
    "taskcluster/kinds/build/kind.yml": {
        "loader": _LOADER,
        "transforms": ["my_taskgraph.builds:transforms"],
        "tasks": {"all": {}},
    },
    "taskcluster/kinds/io-benchmark/kind.yml": {
        "loader": "io_benchmark_taskgraph.loader:with_defaults",
        "transforms": ["io_benchmark_taskgraph.transforms.kind:pools"],
        "task-defaults": {"worker": {"docker-image": {"in-tree": "base"}}},
        "tasks": {
            name: {
                "description": f"I/O benchmark on {name}",
                "worker-type": name,
                "treeherder": {"symbol": f"IOB({name})"},
            }
            for name in ("small", "large")
        },
    },
}
_TEXTS = {
    "taskcluster/docker/base/Dockerfile": "FROM debian:12\n# %include-run-task\n",
    "taskcluster/my_taskgraph/builds.py": "import os\nos.environ['TASK_ID']\n",
}


def make_project(folder: Path, register: str = "", *, calls_package: bool = True) -> Path:
    """Write the project, with these statements in its `register`."""
    texts = {path: yaml.safe_dump(content) for path, content in _FILES.items()} | _TEXTS
    lines = ["import io_benchmark_taskgraph", "def register(graph_config):"]
    if calls_package:
        lines.append("    io_benchmark_taskgraph.register(graph_config)")
    lines.append(textwrap.indent(textwrap.dedent(register) or "pass", "    "))
    texts[REGISTER] = "\n".join(lines) + "\n"
    for path, text in texts.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    return folder


def make_environment(
    folder: Path,
    python: str = "3.11",
    taskgraph: str = "24.5.1",
    program: str | None = "#!/bin/sh\n",
) -> Path:
    """Write what an environment looks like; without a program, it has a link that leads nowhere."""
    packages = folder / f"lib/python{python}/site-packages"
    (packages / f"taskcluster_taskgraph-{taskgraph}.dist-info").mkdir(parents=True)
    (folder / "bin").mkdir()
    if program is None:
        (folder / "bin/python").symlink_to(folder / "gone")
    else:
        (folder / "bin/python").write_text(program)
        (folder / "bin/python").chmod(0o755)
    return folder

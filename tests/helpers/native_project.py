# SPDX-License-Identifier: MPL-2.0
"""A project with a pool of docker images, and one whose workers run tasks themselves."""

import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from io_benchmark.graph.root import Root

_ALIASES = {
    "b-linux": ("docker-worker", "linux"),
    "t-linux-wayland": ("generic-worker", "linux"),
    "t-linux-alpha": ("generic-worker", "linux"),
    "t-win": ("generic-worker", "windows"),
    "t-win-alpha": ("generic-worker", "windows"),
    "t-mac": ("generic-worker", "macosx"),
}
POOLS = {"container": "b-linux", "wayland": "t-linux-wayland"}


def project(
    folder: Path, pools: Mapping[str, str] = POOLS, changes: Mapping[str, Any] | None = None
) -> Root:
    """Write the project's files; the kind has the package's defaults, with fewer retrieves."""
    config = {
        "trust-domain": "example",
        "task-priority": "low",
        "taskgraph": {
            "register": "io_benchmark_taskgraph:register",
            "repositories": {"ci": {"name": "example"}},
        },
        "workers": {
            "aliases": {
                alias: {
                    "provisioner": "example-t",
                    "implementation": implementation,
                    "os": system,
                    "worker-type": alias,
                }
                for alias, (implementation, system) in _ALIASES.items()
            }
        },
    }
    kind = {
        "loader": "io_benchmark_taskgraph.loader:with_defaults",
        "transforms": ["io_benchmark_taskgraph.transforms.kind:pools"],
        "task-defaults": {
            "benchmark": {"retrieves": 100},
            "worker": {"docker-image": "debian:12"},
        },
        "tasks": {
            name: {"description": f"I/O of {alias}", "worker-type": alias}
            for name, alias in pools.items()
        },
        **(changes or {}),
    }
    taskcluster = folder / "taskcluster"
    (taskcluster / "kinds/io-benchmark").mkdir(parents=True)
    (taskcluster / "config.yml").write_text(yaml.safe_dump(config))
    (taskcluster / "kinds/io-benchmark/kind.yml").write_text(yaml.safe_dump(kind, sort_keys=False))
    # Older versions of taskgraph ask git for the newest commit.
    for arguments in (
        ("init", "--quiet", "--initial-branch=main"),
        ("remote", "add", "origin", "https://github.com/example/example"),
        ("-c", "user.name=x", "-c", "user.email=x@y", "commit", "--quiet", "--allow-empty", "-mx"),
    ):
        subprocess.run(["git", *arguments], cwd=folder, check=True)
    return Root(folder, "--root")

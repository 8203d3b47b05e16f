# SPDX-License-Identifier: MPL-2.0
"""What a Firefox tree has for pools to run on: aliases of workers, and docker images."""

from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Self

from msgspec import Struct

from io_benchmark.adopt.changes import Tree
from io_benchmark.adopt.worker_aliases import WorkerAliases
from io_benchmark.errors import IoBenchmarkError

CONFIG = "taskcluster/config.yml"
_IMAGES = "taskcluster/kinds/docker-image/kind.yml"
# The images that most others there are based on. They have python3, bash, coreutils, `run-task` and
# `fetch-content`, and no purpose of their own that could end. The first that the tree has is used:
# that of Debian 12 has the tools of most tasks there.
_BASES = ("debian12-base", "debian13-base")
_BASES_FOR_ARM = ("debian12-arm64-base", "debian13-arm64-base", "ubuntu2404-arm64-base")


class FirefoxWorkers(Struct, frozen=True):
    aliases: WorkerAliases
    images_file: Path
    images: Collection[str]

    @classmethod
    def read(cls, tree: Tree) -> Self:
        aliases, kind = WorkerAliases.read(tree, CONFIG), tree.yaml(_IMAGES)
        images = kind.get("tasks") if isinstance(kind, dict) else None
        if not isinstance(images, dict):
            raise IoBenchmarkError(f"{tree.path / _IMAGES}: has no tasks; correct it")
        return cls(aliases, tree.path / _IMAGES, images)

    def base_image(self, alias: str) -> str:
        """Return an image of the tree that any task on these workers can use."""
        bases = _BASES_FOR_ARM if is_arm(alias) else _BASES
        for name in bases:
            if name in self.images:
                return name
        raise IoBenchmarkError(
            f"{self.images_file}: has no image {' or '.join(bases)}; write another with python3 "
            "into a kind, as worker: docker-image, and name its tree with --root"
        )

    def check_images(self, names: Iterable[str]) -> None:
        for name in names:
            if name not in self.images:
                raise IoBenchmarkError(
                    f"{self.images_file}: has no image {name}, which the kind names as "
                    "docker-image; write one that it has"
                )

    def runs_report(self, alias: str) -> bool:
        """Return whether the program that compares runs there: its libraries are for x86-64."""
        return self.aliases.has_images(alias) and not is_arm(alias)


def is_arm(alias: str) -> bool:
    """Return whether workers have ARM processors, by the alias, as the transforms there decide."""
    return "aarch64" in alias or "arm64" in alias

# SPDX-License-Identifier: MPL-2.0
"""The build context of an in-tree image, as taskgraph assembles it for a worker."""

from pathlib import Path

from taskgraph.util.docker import create_context_tar

from io_benchmark.errors import GraphError
from io_benchmark.graph.isolation import usable_tree


def create_context(root: Path, image: str, archive: Path) -> str:
    """Write the context (Dockerfile, run-task, included files) as a gzipped tar; return its hash.

    `root` is the folder that holds `taskcluster/`. Dockerfiles with `%ARG` lines or a parent image
    have their values in a kind and are not for this function.
    """
    folder = Path("taskcluster", "docker", image)
    if not (root / folder / "Dockerfile").is_file():
        raise GraphError(f"{root / folder}: no Dockerfile for image {image}; name an in-tree image")
    try:
        with usable_tree(root) as tree:
            digest = create_context_tar(str(tree), str(folder), str(archive))
    except OSError:
        raise
    except Exception as error:
        # taskgraph raises plain `Exception` for every mistake in a Dockerfile.
        if type(error) is not Exception:
            raise
        raise GraphError(f"{root / folder / 'Dockerfile'}: {error}") from error
    return str(digest)

# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Builds an in-tree image once, from the context that a worker's image builder would get."""

import tarfile
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

from io_benchmark.execute.child import hold_interrupts
from io_benchmark.execute.engine import Engine
from io_benchmark.execute.run_folder import remove
from io_benchmark.execute.stopping import Stopping, stop, stop_with_children_first

# Root, image and the archive to write; returns the context's hash.
CreateContext = Callable[[Path, str, Path], str]

# How long podman may take to give up its build and remove its working containers.
BUILD_PATIENCE_S = 20.0


def ensure_image(
    engine: Engine,
    image: str,
    root: Path,
    create_context: CreateContext,
    on_line: Callable[[str], None],
) -> str:
    """The name under which the engine has the image.

    It stays there and is built again only when its context changes, as on a Taskcluster.
    """
    folder = Path(tempfile.mkdtemp(prefix="io-benchmark-context-"))
    try:
        archive = folder / "context.tar.gz"
        digest = create_context(root, image, archive)
        reference = f"localhost/io-benchmark/{image}:{digest[:16]}"
        if engine.call("image", "inspect", reference).exit_code == 0:
            on_line(f"Image {reference} exists already")
            return reference
        context = folder / "context"
        _extract(archive, context)
        on_line(f"Building image {reference}")
        _build(engine, image, reference, context, on_line)
        return reference
    finally:
        with hold_interrupts():
            remove(folder)


def _extract(archive: Path, context: Path) -> None:
    """A folder, because docker takes a tar from its stdin and podman does not."""
    with tarfile.open(archive) as tar:
        # Python has filters since 3.11.4 (PEP 706), and asks for one since 3.12.
        if hasattr(tarfile, "data_filter"):
            tar.extraction_filter = tarfile.data_filter
        tar.extractall(context)  # noqa: S202 - made just now by taskgraph


def _build(
    engine: Engine, image: str, reference: str, context: Path, on_line: Callable[[str], None]
) -> None:
    stopping: Stopping = stop
    if engine.name == "podman":
        stopping = partial(stop_with_children_first, patience_s=BUILD_PATIENCE_S)
    reply = engine.follow(
        ("build", "--tag", reference, str(context)),
        on_line=lambda line: on_line(line.decode("utf-8", "replace").rstrip()),
        stopping=stopping,
    )
    if reply.exit_code != 0:
        raise engine.refusal(
            f"image {image} cannot be built",
            reply,
            f"check taskcluster/docker/{image}/Dockerfile, and that its base image and "
            "packages can be reached",
        )

# SPDX-License-Identifier: MPL-2.0
"""A podman of the tests' own: for hosts with any cgroups, without a registry, beside any other.

Its storage, its mounts and its containers live in one mount namespace that ends with the tests.
What takes long, Debian's base and the project's images on it, is kept under
~/.cache/io-benchmark-tests for as long as what they are made of stays the same; of the report's
image, whose last layer is this project's code, the layers below that one.
"""

import hashlib
import os
import shutil

import pytest

from .podman import (
    IMAGE,
    INIT_PATHS,
    NEEDED,
    REPORT_IMAGE,
    REPORT_SOURCES,
    ROOT,
    STORE_LINE,
    can_download,
    kept_store,
    namespace,
    write_context,
)


def pytest_terminal_summary(terminalreporter, config):
    """Says what the tests keep outside the checkout."""
    line = config.stash.get(STORE_LINE, None)
    if line is not None:
        terminalreporter.write_line(line)


@pytest.fixture(scope="session")
def store_digest(tmp_path_factory):
    """Return what changes with the image, and with what is below the code in the report's."""
    archive = tmp_path_factory.mktemp("context") / "context.tar.gz"
    sources = [(ROOT / path).read_bytes() for path in REPORT_SOURCES]
    return hashlib.sha256(
        b"\0".join([write_context(IMAGE, archive).encode(), *sources])
    ).hexdigest()


@pytest.fixture(scope="session")
def lab(tmp_path_factory, store_digest, request):
    """podman with the base and the project's image, and nothing else."""
    if os.geteuid() != 0:
        pytest.skip("needs root, for a mount namespace")
    missing = [name for name in NEEDED if shutil.which(name) is None]
    if not any(map(os.path.exists, INIT_PATHS)):
        missing.append("catatonit")
    if missing:
        pytest.skip(f"needs {', '.join(missing)}")
    folder = tmp_path_factory.mktemp("podman")
    with namespace(folder, [kept_store(request.config, store_digest)]) as lab:
        yield lab
    shutil.rmtree(folder)


@pytest.fixture(scope="session")
def report_image(lab):
    """The report's image, built on the layers that are kept.

    Empty where nothing can be downloaded.
    """
    if not can_download(lab.folder):
        return ""
    return lab.build(REPORT_IMAGE)

# SPDX-License-Identifier: MPL-2.0
"""The wheel, built once, and a fresh environment that it is installed in."""

import site
import subprocess
import sys
import venv
from pathlib import Path

import pytest
from checkout import copy_checkout


def build(source: Path, target: Path, *options: str) -> None:
    """Build from a folder, with the backend that the lock pins."""
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(target), *options]
    subprocess.run([*command, str(source)], check=True, capture_output=True)


@pytest.fixture(scope="session")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What a fresh clone holds, without its history."""
    return copy_checkout(tmp_path_factory.mktemp("clone") / "io-benchmark")


@pytest.fixture(scope="session")
def wheel(clone: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The path of the wheel."""
    target = tmp_path_factory.mktemp("wheel")
    build(clone, target, "--wheel")
    (path,) = target.iterdir()
    return path


@pytest.fixture(scope="session")
def wheel_from_source(clone: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The path of the wheel that is made from the source distribution."""
    target = tmp_path_factory.mktemp("source")
    build(clone, target)  # without options it makes both, the wheel from the source distribution
    (path,) = target.glob("*.whl")
    return path


@pytest.fixture(scope="session")
def environment(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A fresh environment with the wheel; its dependencies are the ones that the tests run on."""
    path = tmp_path_factory.mktemp("environment") / "venv"
    venv.create(path, symlinks=True)
    python = path / "bin/python"
    command = [sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet"]
    subprocess.run(
        [*command, "--no-deps", "--no-index", "--no-compile", str(wheel)],
        check=True,
        capture_output=True,
    )
    # A folder named in a .pth file comes after the environment's own packages, and the .pth files
    # inside it, an editable io-benchmark among them, are not read.
    packages = path / f"lib/python3.{sys.version_info.minor}/site-packages"
    (packages / "dependencies.pth").write_text("\n".join(site.getsitepackages()) + "\n")
    return path

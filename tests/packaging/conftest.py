# SPDX-License-Identifier: MPL-2.0
"""Both wheels, built once, and fresh environments that they are installed in."""

import site
import subprocess
import sys
import tomllib
import venv
from importlib import metadata
from pathlib import Path

import pytest
from checkout import ROOT, copy_checkout
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

PACKAGE = "python/io_benchmark_taskgraph"


@pytest.fixture(scope="session")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What a fresh clone holds, without its history."""
    return copy_checkout(tmp_path_factory.mktemp("clone") / "io-benchmark")


def built(source: Path, target: Path) -> Path:
    """Return the wheel of a folder, built with the backend that the lock pins."""
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(target)]
    subprocess.run([*command, str(source)], check=True, capture_output=True)
    (path,) = target.glob("*.whl")
    return path


@pytest.fixture(scope="session")
def wheel(clone: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program's wheel."""
    return built(clone, tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="session")
def package(clone: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of the transforms."""
    return built(clone / PACKAGE, tmp_path_factory.mktemp("package"))


def required(*requirements: str) -> set[str]:
    """Every distribution that these requirements install, by the metadata of what is installed here."""
    found: set[str] = set()
    for requirement in map(Requirement, requirements):
        found.add(canonicalize_name(requirement.name))
        needed = map(Requirement, metadata.requires(requirement.name) or ())
        extras = requirement.extras or ("",)
        for further in needed:
            if not further.marker or any(further.marker.evaluate({"extra": x}) for x in extras):
                further.marker = None
                found |= required(str(further))
    return found


def new_environment(path: Path, *wheels: Path, packages: set[str] | None = None) -> Path:
    """Make a fresh environment of wheels, and of packages that are installed here; None: all of them."""
    venv.create(path, symlinks=True)
    python = path / "bin/python"
    command = [sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet"]
    given = [str(wheel) for wheel in wheels]
    options = ("--no-deps", "--no-index", "--no-compile")
    subprocess.run([*command, *options, *given], check=True, capture_output=True)
    target = path / f"lib/python3.{sys.version_info.minor}/site-packages"
    if packages is None:
        # A folder named in a .pth file comes after the environment's own packages, and the .pth files
        # inside it, an editable io-benchmark among them, are not read.
        (target / "dependencies.pth").write_text("\n".join(site.getsitepackages()) + "\n")
        return path
    for name in packages:
        files = metadata.files(name) or ()
        for top in {file.parts[0] for file in files} - {"..", "__pycache__"}:
            (target / top).symlink_to(Path(str(metadata.distribution(name).locate_file(top))))
    return path


@pytest.fixture(scope="session")
def environment(wheel: Path, package: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Both wheels; their dependencies are the ones that the tests run on."""
    return new_environment(tmp_path_factory.mktemp("environment") / "venv", wheel, package)


@pytest.fixture(scope="session")
def small_environment(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program as `pipx run io-benchmark` has it, without extras."""
    dependencies = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
    path = tmp_path_factory.mktemp("small") / "venv"
    return new_environment(path, wheel, packages=required(*dependencies))


@pytest.fixture(scope="session")
def decision_environment(package: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What a decision task of another project has: taskgraph and the transforms."""
    packages = required("taskcluster-taskgraph", "voluptuous")
    return new_environment(tmp_path_factory.mktemp("decision") / "venv", package, packages=packages)

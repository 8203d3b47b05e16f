# SPDX-License-Identifier: MPL-2.0
"""What a release publishes, built once, and fresh environments that the wheels are installed in."""

import tomllib
from pathlib import Path

import once
import pytest
from checkout import ROOT, copy_checkout

from .environments import new_environment, required, run_job


@pytest.fixture(scope="session")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What a fresh clone holds, without its history."""
    return copy_checkout(tmp_path_factory.mktemp("clone") / "io-benchmark")


@pytest.fixture(scope="session")
def distributions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What is published on PyPI, built once for all processes that run tests."""

    def build() -> str:
        return str(
            run_job("pypi", copy_checkout(tmp_path_factory.mktemp("pypi") / "clone")) / "dist"
        )

    return Path(once.text_of("distributions", build))


@pytest.fixture(scope="session")
def wheel(distributions: Path) -> Path:
    """The program's wheel."""
    (path,) = distributions.glob("io_benchmark-*.whl")
    return path


@pytest.fixture(scope="session")
def package(distributions: Path) -> Path:
    """The wheel of the transforms."""
    (path,) = distributions.glob("io_benchmark_taskgraph-*.whl")
    return path


@pytest.fixture(scope="session")
def environment(wheel: Path, package: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Both wheels; their dependencies are the ones that the tests run on."""
    path = tmp_path_factory.mktemp("environment") / "venv"
    return Path(once.text_of("venv", lambda: str(new_environment(path, wheel, package))))


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

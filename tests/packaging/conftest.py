# SPDX-License-Identifier: MPL-2.0
"""What a release publishes, built once, and fresh environments that the wheels are installed in."""

import os
import site
import subprocess
import sys
import tomllib
import venv
from importlib import metadata
from pathlib import Path

import once
import pytest
import yaml
from checkout import ROOT, copy_checkout
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

WORKFLOW = ROOT / ".github/workflows/release.yml"
# GitHub starts the lines of a step so.
SHELL = ("bash", "--noprofile", "--norc", "-eo", "pipefail", "-c")


@pytest.fixture(scope="session")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What a fresh clone holds, without its history."""
    return copy_checkout(tmp_path_factory.mktemp("clone") / "io-benchmark")


def run_job(name: str, clone: Path) -> Path:
    """Run the commands of a release's job in a copy of the checkout, without those that install."""
    tools = {
        clone / ".venv/bin/python": f'exec {sys.executable} "$@"',
        clone.parent / "bin/gh": f'printf "%s\\n" "$@" > {clone.parent}/given',
    }
    for path, text in tools.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"#!/bin/sh\n{text}\n")
        path.chmod(0o755)
    environment = {
        "PATH": f"{clone.parent}/bin:{os.environ['PATH']}",
        "TAG": "v1.0 $(x)",
        "GITHUB_REPOSITORY": "a/b",
        "GH_TOKEN": "secret",
    }
    for step in yaml.safe_load(WORKFLOW.read_text())["jobs"][name]["steps"]:
        lines = step.get("run", "").splitlines()
        if any("venv" in line for line in lines):
            lines = lines[3:]
        command = [*SHELL, "\n".join(lines)]
        subprocess.run(command, cwd=clone, env=environment, check=True, capture_output=True)
    return clone


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


def required(*requirements: str) -> set[str]:
    """Every distribution that these requirements install, by what is installed here."""
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
    """Make a fresh environment of wheels, and of packages that are installed here.

    None: all of them.
    """
    venv.create(path, symlinks=True)
    python = path / "bin/python"
    command = [sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet"]
    given = [str(wheel) for wheel in wheels]
    options = ("--no-deps", "--no-index", "--no-compile")
    subprocess.run([*command, *options, *given], check=True, capture_output=True)
    target = path / f"lib/python3.{sys.version_info.minor}/site-packages"
    if packages is None:
        # A folder named in a .pth file comes after the environment's own packages, and the .pth
        # files inside it, an editable io-benchmark among them, are not read.
        (target / "dependencies.pth").write_text("\n".join(site.getsitepackages()) + "\n")
        return path
    for name in packages:
        files = metadata.files(name) or ()
        for top in {file.parts[0] for file in files} - {"..", "__pycache__"}:
            (target / top).symlink_to(Path(str(metadata.distribution(name).locate_file(top))))
    return path


def run(program: Path, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run an installed command as a stranger would: without other variables, in another folder."""
    return subprocess.run(
        [program, *arguments],
        cwd=folder,
        env={"PATH": os.defpath, "HOME": str(folder.parent), "TASKGRAPH_SERIAL": "1"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )


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

# SPDX-License-Identifier: MPL-2.0
"""Environments that tests install distributions into, and commands of a release in a copy."""

import os
import site
import subprocess
import sys
import venv
from importlib import metadata
from pathlib import Path

import yaml
from checkout import ROOT
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

WORKFLOW = ROOT / ".github/workflows/release.yml"

# GitHub starts the lines of a step so.
SHELL = ("bash", "--noprofile", "--norc", "-eo", "pipefail", "-c")


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

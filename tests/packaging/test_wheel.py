# SPDX-License-Identifier: MPL-2.0
"""The built wheel: what is in it, and that it works where there is no checkout."""

import email
import os
import subprocess
import zipfile
from pathlib import Path

import pytest

BUNDLED = ("taskcluster", "scripts/io-benchmark")


def files(folder: Path) -> dict[str, bytes]:
    """Every file of a folder by its relative path."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def wheel_files(wheel: Path, prefix: str) -> dict[str, bytes]:
    """Every file of the wheel under a folder by its relative path."""
    with zipfile.ZipFile(wheel) as archive:
        return {
            name.removeprefix(prefix): archive.read(name)
            for name in archive.namelist()
            if name.startswith(prefix)
        }


def run(environment: Path, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the installed command as a stranger would: no variables, another folder."""
    return subprocess.run(
        [environment / "bin/io-benchmark", *arguments],
        cwd=folder,
        env={"PATH": os.defpath, "HOME": str(folder)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("folder", BUNDLED)
def test_bundle(wheel, clone, folder):
    """The bundle has the checkout's kinds and script, byte for byte, and all of them."""
    assert wheel_files(wheel, f"io_benchmark/bundle/{folder}/") == files(clone / folder)


def test_package(wheel, clone):
    """Beside the bundle the packages are the checkout's."""
    packaged = wheel_files(wheel, "io_benchmark/")
    program = {name: data for name, data in packaged.items() if not name.startswith("bundle/")}
    assert program == files(clone / "python/io_benchmark")
    transforms = wheel_files(wheel, "io_benchmark_taskgraph/")
    assert transforms == files(clone / "python/io_benchmark_taskgraph")


def test_metadata(wheel):
    """Name, version, Python and licence are as published; the licence's text is inside."""
    info = wheel_files(wheel, "io_benchmark-0.1.0.dist-info/")
    metadata = email.message_from_bytes(info["METADATA"])
    keys = ("Name", "Version", "Requires-Python", "License-Expression")
    assert {key: metadata[key] for key in keys} == {
        "Name": "io-benchmark",
        "Version": "0.1.0",
        "Requires-Python": ">=3.11",
        "License-Expression": "MPL-2.0",
    }
    assert info["entry_points.txt"].decode().split() == [
        *("[console_scripts]", "io-benchmark", "=", "io_benchmark.cli:console_main")
    ]
    assert info["licenses/LICENSE"].startswith(b"Mozilla Public License Version 2.0\n")


def test_wheel_from_source_distribution(wheel, wheel_from_source):
    """What is built from the source distribution is the same wheel."""
    assert wheel_files(wheel_from_source, "") == wheel_files(wheel, "")


def test_help(environment, tmp_path):
    """The command starts, and says what it can do."""
    result = run(environment, tmp_path, "--help")
    assert (result.returncode, result.stderr) == (0, "")
    assert "rehearse" in result.stdout


@pytest.mark.parametrize(
    ("inside", "jobs"),
    [("an empty folder", "intel,amd-16,io-benchmark-report"), ("another checkout", "intel")],
)
def test_rehearse_outside_a_checkout(environment, tmp_path, inside, jobs):
    """The bundled kinds generate and run, also inside a checkout of something else, and it says so."""
    if inside == "another checkout":
        subprocess.run(["git", "init", "--quiet", tmp_path], check=True)
    result = run(environment, tmp_path, "rehearse", "-j", jobs)
    assert result.returncode == 0, result.stderr
    assert "bundled copy" in result.stderr
    assert "intel" in result.stdout
    if "report" in jobs:
        # The report's task has found the program where it is installed.
        (page,) = tmp_path.glob("io-benchmark-results/*/io-benchmark-report/report.html")
        assert f"Report of the report task: {page}" in result.stderr


def test_the_reports_image_from_the_bundle(environment, clone, tmp_path):
    """Its context is the checkout's, program and lock included, with nothing of the bundle."""
    program = (
        "import sys, tarfile; from pathlib import Path; "
        "from io_benchmark.graph.generate import create_context; "
        "from io_benchmark.graph.root import Root; "
        "create_context(Root.find(None, Path.cwd()).path, 'io-benchmark-report', Path('c.tar.gz')); "
        "print(*tarfile.open('c.tar.gz').getnames(), sep='\\n')"
    )
    done = subprocess.run(
        [environment / "bin/python", "-c", program],
        cwd=tmp_path,
        env={"PATH": os.defpath, "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    names = done.stdout.split()
    prefix = "topsrcdir/python/io_benchmark/"
    packed = {name.removeprefix(prefix) for name in names if name.startswith(prefix)}
    assert packed == set(files(clone / "python/io_benchmark"))
    assert [name for name in names if not name.startswith(("run-task/", prefix))] == [
        "Dockerfile",
        "requirements.txt",
    ]

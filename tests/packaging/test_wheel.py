# SPDX-License-Identifier: MPL-2.0
"""The built wheels: what is in them, and that they work where there is no checkout."""

import email
import re
import subprocess
import tomllib
import zipfile
from pathlib import Path

import pytest
from checkout import ROOT, SIZES, contents, copy_firefox
from loopback_deployment import result as result_file

from io_benchmark import __version__
from io_benchmark.commands.options.parsers import COMMANDS

from .environments import run
from .test_adopting import FILES

NOT_PACKAGED = ("pyproject.toml", "ruff.toml", "LICENSE")


def wheel_files(wheel: Path, prefix: str) -> dict[str, bytes]:
    """Every file of the wheel under a folder by its relative path."""
    with zipfile.ZipFile(wheel) as archive:
        return {
            name.removeprefix(prefix): archive.read(name)
            for name in archive.namelist()
            if name.startswith(prefix)
        }


def test_program(wheel, clone):
    """It is the checkout's, with the checkout's kinds, byte for byte, and nothing else."""
    packaged = wheel_files(wheel, "io_benchmark/")
    bundle = wheel_files(wheel, "io_benchmark/bundle/taskcluster/")
    assert bundle == contents(clone / "taskcluster")
    program = {name: data for name, data in packaged.items() if not name.startswith("bundle/")}
    assert program == contents(clone / "python/io_benchmark")
    assert {name.split("/")[0] for name in wheel_files(wheel, "")} == {
        "io_benchmark",
        f"io_benchmark-{__version__}.dist-info",
    }


def test_transforms(package, clone):
    """They are the checkout's, with the worker's program as files and not as a link."""
    transforms = contents(clone / "python/io_benchmark_taskgraph")
    expected = {name: data for name, data in transforms.items() if name not in NOT_PACKAGED}
    script = contents(clone / "scripts/io-benchmark")
    expected |= {f"worker/{name}": data for name, data in script.items()}
    assert wheel_files(package, "io_benchmark_taskgraph/") == expected


@pytest.mark.parametrize(
    ("built", "name", "oldest"),
    [("wheel", "io-benchmark", ">=3.11"), ("package", "io-benchmark-taskgraph", ">=3.9")],
)
def test_metadata(request, built, name, oldest):
    """Name, version, Python and licence are as published; the licence's text is inside."""
    path = request.getfixturevalue(built)
    info = wheel_files(path, f"{name.replace('-', '_')}-{__version__}.dist-info/")
    metadata = email.message_from_bytes(info["METADATA"])
    keys = ("Name", "Version", "Requires-Python", "License-Expression")
    assert [metadata[key] for key in keys] == [name, __version__, oldest, "MPL-2.0"]
    assert info["licenses/LICENSE"] == (ROOT / "LICENSE").read_bytes()
    if name == "io-benchmark":
        # Links of the README lead somewhere from the package index, pictures to their bytes.
        links = re.findall(r"\]\(([^)]*)\)", str(metadata.get_payload()))
        at_tag = "https://github.com/mozilla-releng/io-benchmark/{}/v" + f"{__version__}/"
        paths = {
            link.removeprefix(at_tag.format(view)) for link in links for view in ("blob", "raw")
        }
        assert [link for link in links if not link.startswith("https://")] == []
        assert {"CHANGELOG.md", "taskcluster/docs/index.md"} <= paths
        assert at_tag.format("raw") + "taskcluster/docs/images/report.png" in links
        assert info["entry_points.txt"].decode().split() == [
            "[console_scripts]",
            "io-benchmark",
            "=",
            "io_benchmark.cli:console_main",
        ]
        # The program and the transforms are of one release.
        exact = f"io-benchmark-taskgraph=={__version__}"
        assert any(text.startswith(exact) for text in metadata.get_all("Requires-Dist", []))


def test_without_extras(small_environment, tmp_path):
    """Few packages are enough to compare folders; the rest says what to install."""
    program = small_environment / "bin/io-benchmark"
    installed = [*small_environment.glob("lib/*/site-packages/*.dist-info")]
    assert len(installed) <= SIZES["packages-of-the-program"]
    for pool, task_id in (("one", "A" * 22), ("two", "B" * 22)):
        (tmp_path / f"{pool}.json").write_bytes(result_file(pool, task_id, 0))
    given = ("one.json", "two.json", "--write", "html=report.html", "--format", "markdown")
    result = run(program, tmp_path, "compare", *given)
    assert result.returncode == 0, result.stderr
    assert "two compared with one" in (tmp_path / "report.html").read_text() + result.stdout


# What needs a package of an extra, and what does not.
WITH_EXTRAS = (
    "compare group:Fqm6GL_zRPurCmd1rRuTRQ",
    f"compare https://treeherder.mozilla.org/jobs?repo=try&revision={'ab' * 20}",
    "completion bash",
    "fetch group:Fqm6GL_zRPurCmd1rRuTRQ",
    "firefox firefox",
    "fleet io-benchmark",
    "history amd-16",
    "init project",
    "investigate task:Fqm6GL_zRPurCmd1rRuTRQ",
    "phases task:Fqm6GL_zRPurCmd1rRuTRQ",
    "predict task:Fqm6GL_zRPurCmd1rRuTRQ --on results",
    "rehearse",
    "script -o x.pyz",
    "submit --dry-run --image x",
    "tasks group:Fqm6GL_zRPurCmd1rRuTRQ",
)


@pytest.mark.parametrize("line", WITH_EXTRAS)
def test_what_needs_an_extra(line, small_environment, tmp_path):
    """It says what to install, which is one extra for all, and so does its help before."""
    copy_firefox(tmp_path / "firefox")
    for name, content in FILES.items():
        path = tmp_path / "project/taskcluster" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    result = run(small_environment / "bin/io-benchmark", tmp_path, *line.split())
    assert result.returncode == 1
    advice = "install io-benchmark[all], such as by: pipx install --force 'io-benchmark[all]'"
    assert result.stderr.splitlines()[-1].endswith(f"; {advice}")


def test_what_needs_no_extra(small_environment, tmp_path):
    """Without any, it says which version it is."""
    result = run(small_environment / "bin/io-benchmark", tmp_path, "--version")
    assert result.returncode == 0, result.stderr


@pytest.mark.parametrize("command", COMMANDS)
def test_help_needs_no_extra(command, small_environment, tmp_path):
    """It says whether the command needs one, where there is none."""
    result = run(small_environment / "bin/io-benchmark", tmp_path, command, "--help")
    assert result.returncode == 0, result.stderr
    needs_extras = command in {line.split()[0] for line in WITH_EXTRAS}
    assert ("io-benchmark[all]" in result.stdout) is needs_extras


def test_one_extra_has_all():
    """It names every other extra, so that no command lacks a package."""
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"][
        "optional-dependencies"
    ]
    (everything,) = extras.pop("all")
    assert everything == f"io-benchmark[{','.join(sorted(extras))}]"


def test_outside_a_checkout(environment, tmp_path):
    """The bundled kinds are generated inside a checkout of something else."""
    subprocess.run(["git", "init", "--quiet", tmp_path], check=True)
    program = environment / "bin/io-benchmark"
    result = run(program, tmp_path, "rehearse", "-j", "no-such-pool")
    first, *_, last = result.stderr.splitlines()
    assert first.endswith("io_benchmark/bundle (bundled copy)")
    assert "'no-such-pool'" in last
    assert "io-benchmark-intel" in last

# SPDX-License-Identifier: MPL-2.0
"""What is attached to a release: the workflow's own commands, run here."""

import hashlib
import runpy
import subprocess
import sys
import tomllib
import zipfile
from types import SimpleNamespace

import pytest
import trove_classifiers
from checkout import ROOT, copy_checkout

from io_benchmark import __version__
from io_benchmark.adopt.firefox_release import report_program, worker_archive
from io_benchmark_taskgraph.worker_program import WorkerProgram

from .environments import run_job

IMAGE = "ghcr.io/mozilla-releng/io-benchmark"


def test_the_attached_files(tmp_path):
    """They are the program that tasks carry, tried, and its sha256 as sha256sum checks it."""
    clone = run_job("io-benchmark-pyz", copy_checkout(tmp_path / "clone"))
    assert (tmp_path / "given").read_text().splitlines() == [
        "release",
        "upload",
        "v1.0 $(x)",
        "io-benchmark.pyz",
        "io-benchmark.pyz.sha256",
        "--repo",
        "a/b",
        "--clobber",
    ]
    data = (clone / "io-benchmark.pyz").read_bytes()
    assert data == WorkerProgram.read().file()
    # A fifth of it is for Windows alone.
    assert len(data) <= 400_000
    digest = hashlib.sha256(data).hexdigest()
    written = (clone / "io-benchmark.pyz.sha256").read_text()
    assert written == f"{digest}  io-benchmark.pyz\n"


def test_the_files_for_firefox(tmp_path):
    """They are the program whose sha256 the command writes there, and the named libraries."""
    clone = copy_checkout(tmp_path / "clone")
    (clone / ".github/libraries.py").write_text("import sys\nopen(sys.argv[1], 'w')\n")
    run_job("files-for-firefox", clone)
    worker, report, libraries = (
        f"io-benchmark{end}.tar.bz2" for end in ("", "-report", "-libraries")
    )
    uploaded = (tmp_path / "given").read_text().splitlines()
    assert uploaded == [
        "release",
        "upload",
        "v1.0 $(x)",
        worker,
        report,
        libraries,
        "--repo",
        "a/b",
        "--clobber",
    ]
    assert (clone / worker).read_bytes() == worker_archive(WorkerProgram.read().file())
    assert (clone / report).read_bytes() == report_program()
    assert (clone / libraries).is_file()


def _wheel(folder, name, contents):
    folder.mkdir(exist_ok=True)
    with zipfile.ZipFile(folder / f"{name}.whl", "w") as file:
        for path, text in contents.items():
            file.writestr(path, text)


@pytest.fixture
def script():
    """The script that makes the archive of libraries."""
    return SimpleNamespace(**runpy.run_path(str(ROOT / ".github/libraries.py")))


def test_the_script_alone():
    """It starts where none of the program's requirements is installed, as for a lock."""
    command = [sys.executable, "-I", "-S", str(ROOT / ".github/libraries.py"), "--help"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "--record" in done.stdout


def test_the_libraries(script, tmp_path):
    """What is compiled is there for each Python, and the rest once; numpy is left out."""
    for python in ("311", "313"):
        _wheel(
            tmp_path / python,
            "a",
            {
                "a/__init__.py": "same",
                f"a/part.cpython-{python}.so": python,
                "a.dist-info/METADATA": "same",
                "a.dist-info/WHEEL": python,
                "a.dist-info/RECORD": python,
                "a.data/scripts/a": "a program",
            },
        )
    folders = [tmp_path / "311", tmp_path / "313"]
    assert script.union(folder.glob("*.whl") for folder in folders) == {
        "libraries/a/__init__.py": b"same",
        "libraries/a/part.cpython-311.so": b"311",
        "libraries/a/part.cpython-313.so": b"313",
        "libraries/a.dist-info/METADATA": b"same",
    }
    requirements = script.requirements()
    assert "\nmsgspec==" in requirements
    assert "numpy" not in requirements
    # pip would compare it with the Python that it runs on.
    assert "python_full_version" not in requirements


@pytest.mark.parametrize(
    ("contents", "problem"),
    [
        ({"a/__init__.py": "other"}, r"b\.whl: libraries/a/__init__\.py differs from that of"),
        ({"a.data/purelib/b.py": ""}, r"b\.whl: installs a\.data/purelib/b\.py outside"),
    ],
)
def test_libraries_that_do_not_fit(script, tmp_path, contents, problem):
    """The wheel and its file are named."""
    _wheel(tmp_path / "wheels", "a", {"a/__init__.py": "one"})
    _wheel(tmp_path / "wheels", "b", contents)
    with pytest.raises(SystemExit, match=problem):
        script.union([sorted((tmp_path / "wheels").glob("*.whl"))])


def test_distributions(distributions):
    """Both are published, as wheels and as sources, with what PyPI checks."""
    names = {path.name for path in distributions.iterdir()}
    assert names == {
        f"{name}-{__version__}{end}"
        for name in ("io_benchmark", "io_benchmark_taskgraph")
        for end in (".tar.gz", "-py3-none-any.whl")
    }
    for file in ("pyproject.toml", "python/io_benchmark_taskgraph/pyproject.toml"):
        project = tomllib.loads((ROOT / file).read_text())["project"]
        assert project["version"] == __version__
        assert set(project["classifiers"]) <= trove_classifiers.classifiers


def test_one_version():
    """The result file, the image and the changelog name the version that is released."""
    text = (ROOT / "scripts/io-benchmark/result/files.py").read_text()
    assert f'SCRIPT_VERSION = "{__version__}"' in text
    defaults = ROOT / "python/io_benchmark_taskgraph/defaults/io-benchmark-report.yml"
    assert f"docker-image: {IMAGE}:{__version__}\n" in defaults.read_text()
    assert f"\n## [{__version__}] - 20" in (ROOT / "CHANGELOG.md").read_text()

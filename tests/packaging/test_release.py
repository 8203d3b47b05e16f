# SPDX-License-Identifier: MPL-2.0
"""What is attached to a release: the workflow's own commands, run here."""

import hashlib
import tomllib

import trove_classifiers
from checkout import ROOT, copy_checkout

from io_benchmark import __version__
from io_benchmark.adopt.firefox_kind import report_program
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
    assert len(data) <= 320_000
    digest = hashlib.sha256(data).hexdigest()
    written = (clone / "io-benchmark.pyz.sha256").read_text()
    assert written == f"{digest}  io-benchmark.pyz\n"


def test_the_files_for_firefox(tmp_path):
    """They are the program whose sha256 the command writes there, and the named libraries."""
    clone = copy_checkout(tmp_path / "clone")
    (clone / ".github/libraries.py").write_text("import sys\nopen(sys.argv[1], 'w')\n")
    run_job("report-in-firefox", clone)
    names = ["io-benchmark-report.tar.bz2", "io-benchmark-libraries.tar.bz2"]
    uploaded = (tmp_path / "given").read_text().splitlines()
    assert uploaded == ["release", "upload", "v1.0 $(x)", *names, "--repo", "a/b", "--clobber"]
    assert (clone / names[0]).read_bytes() == report_program()
    assert (clone / names[1]).is_file()


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

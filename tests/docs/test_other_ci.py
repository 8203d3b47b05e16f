# SPDX-License-Identifier: MPL-2.0
"""The pipelines of other-ci.md: the systems' schemas accept them, and their commands do what it says."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import program
import pytest
from checkout import ROOT
from ci_pipelines import POOLS, READERS, Machine

from io_benchmark.sources.folder.run_files import read_run

PAGE = ROOT / "taskcluster/docs/other-ci.md"
# Those that Jenkins does not publish.
SCHEMAS = {
    "GitHub Actions": ("vendor.github-workflows",),
    "GitLab": ("vendor.gitlab-ci", "--data-transform", "gitlab-ci"),
    "Buildkite": ("vendor.buildkite",),
    "Azure Pipelines": ("vendor.azure-pipelines", "--data-transform", "azure-pipelines"),
    "CircleCI": ("vendor.circle-ci",),
}
PIPELINES = dict(
    re.findall(
        r"^### ([\w ]+)$[^`]*(?:`[^`]+`[^`]*)*?^```(?:yaml|groovy)$\n(.*?)^```$",
        PAGE.read_text(),
        re.MULTILINE | re.DOTALL,
    )
)


def test_every_pipeline_is_tested() -> None:
    """The page has these and no others."""
    assert list(PIPELINES) == list(READERS)
    assert len(re.findall(r"^```(?:yaml|groovy)$", PAGE.read_text(), re.MULTILINE)) == len(READERS)


@pytest.mark.parametrize("system", SCHEMAS)
def test_the_schema_accepts_it(tmp_path: Path, system: str) -> None:
    """The pipeline is what its system's published schema describes; a misspelt key is not."""
    text = PIPELINES[system]
    keys = r"^( +)(steps|script|artifact_paths):"
    misspelt = re.sub(keys, r"\1\2x:", text, flags=re.MULTILINE)
    check = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", *SCHEMAS[system]]
    for content, code in ((text, 0), (misspelt, 1)):
        path = tmp_path / "pipeline.yml"
        path.write_text(content)
        done = subprocess.run([*check, path], capture_output=True, text=True, check=False)
        assert done.returncode == code, done.stdout + done.stderr


@pytest.fixture(scope="module")
def worker_program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file that a release has."""
    path = tmp_path_factory.mktemp("release") / "io-benchmark.pyz"
    program.run("script", "-o", path, folder=ROOT)
    return path


@pytest.mark.parametrize(
    ("system", "expectation", "code"),
    [
        pytest.param("GitHub Actions", "", 0, id="GitHub Actions, compared"),
        *(pytest.param(name, "--expect 'amd-16/intel<0.001'", 3, id=name) for name in READERS),
    ],
)
def test_its_commands_run(
    tmp_path: Path, worker_program: Path, system: str, expectation: str, code: int
) -> None:
    """Measured per pool, uploaded, downloaded and compared; the report is shown also if the job fails."""
    machine = Machine(tmp_path, compare_code=code)
    shutil.copy(worker_program, machine.store)
    text = PIPELINES[system].replace("--partial", f"--partial {expectation}")
    page, markdown = machine.run(READERS[system], text)
    uploaded = machine.artifacts.rglob("io-benchmark.json")
    results = [read_run(path.parent).result for path in uploaded]
    assert sorted(result.task.pool for result in results) == list(POOLS)
    for result in results:
        assert result.task.ci is not None
        assert result.task.ci.system.partition("-")[0] == system.lower().partition(" ")[0]
        assert result.config.places[0].path == str(tmp_path / "jobs" / result.task.pool)
        assert "pool-guessed" not in [warning.name for warning in result.warnings]
    assert "<title>" in page
    assert (markdown is None) is (system in ("Jenkins", "CircleCI"))
    for report in (page, markdown or page):
        assert all(pool in report for pool in POOLS)
        assert "were measured on the same machine" in report

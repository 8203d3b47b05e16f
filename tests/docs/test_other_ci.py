# SPDX-License-Identifier: MPL-2.0
"""The pipelines of other-ci.md: the systems' schemas accept them, and their commands do what it says."""

import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import ci_pipelines
import program
import pytest
from checkout import ROOT
from ci_pipelines import POOLS, Machine, Shown

from io_benchmark.sources.folder.run_files import read_run

PAGE = ROOT / "taskcluster/docs/other-ci.md"
# By heading: the published schema, and what runs the pipeline.
SYSTEMS: dict[str, tuple[str | None, Callable[[str, Machine], Shown]]] = {
    "GitHub Actions": ("vendor.github-workflows", ci_pipelines.github),
    "GitLab": ("vendor.gitlab-ci", ci_pipelines.gitlab),
    "Buildkite": ("vendor.buildkite", ci_pipelines.buildkite),
    "Jenkins": (None, ci_pipelines.jenkins),
    "Azure Pipelines": ("vendor.azure-pipelines", ci_pipelines.azure),
    "CircleCI": ("vendor.circle-ci", ci_pipelines.circleci),
}
TRANSFORMS = {
    "vendor.gitlab-ci": ("--data-transform", "gitlab-ci"),
    "vendor.azure-pipelines": ("--data-transform", "azure-pipelines"),
}


def pipeline(system: str) -> str:
    """Return the pipeline that the page has for a system."""
    _, _, section = PAGE.read_text().partition(f"\n## {system}\n")
    block = re.search(r"^```(yaml|groovy)\n(.*?)^```$", section, re.MULTILINE | re.DOTALL)
    assert block is not None
    return block[2]


def test_every_pipeline_is_tested() -> None:
    """The page has these and no others."""
    assert len(re.findall(r"^```(?:yaml|groovy)$", PAGE.read_text(), re.MULTILINE)) == len(SYSTEMS)


@pytest.mark.parametrize(
    ("system", "schema"),
    [
        pytest.param(name, schema, id=name)
        for name, (schema, _) in SYSTEMS.items()
        if schema is not None
    ],
)
def test_the_schema_accepts_it(tmp_path: Path, system: str, schema: str) -> None:
    """The pipeline is what its system's published schema describes; a misspelt key is not."""
    text = pipeline(system)
    for name, content in (("right.yml", text), ("wrong.yml", _misspelt(text))):
        (tmp_path / name).write_text(content)
        done = subprocess.run(
            [
                *(sys.executable, "-m", "check_jsonschema", "--builtin-schema", schema),
                *(*TRANSFORMS.get(schema, ()), tmp_path / name),
            ],
            capture_output=True,
            text=True,
            check=False,
        )
        assert (done.returncode == 0) is (name == "right.yml"), done.stdout + done.stderr


def _misspelt(text: str) -> str:
    changed = re.sub(r"^( +)(steps|script|artifact_paths):", r"\1\2x:", text, flags=re.MULTILINE)
    assert changed != text
    return changed


@pytest.fixture(scope="module")
def worker_program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file that a release has."""
    path = tmp_path_factory.mktemp("release") / "io-benchmark.pyz"
    program.run("script", "-o", path, folder=ROOT)
    return path


@pytest.mark.parametrize("system", SYSTEMS)
def test_its_commands_run(tmp_path: Path, worker_program: Path, system: str) -> None:
    """Measured per pool, uploaded, downloaded and compared: the report has both pools."""
    machine = Machine(tmp_path)
    shutil.copy(worker_program, machine.store)
    shown = SYSTEMS[system][1](pipeline(system), machine)
    uploaded = (machine.store / "artifacts").rglob("io-benchmark.json")
    measured = [read_run(path.parent).result for path in uploaded]
    assert sorted(result.task.pool for result in measured) == list(POOLS)
    for result in measured:
        assert result.task.ci is not None
        assert result.task.ci.system.partition("-")[0] == system.lower().partition(" ")[0]
        assert result.config.places[0].path == str(tmp_path / "jobs" / result.task.pool)
        assert "pool-guessed" not in [warning.name for warning in result.warnings]
    assert "<title>" in shown.page
    texts = [shown.page] if shown.markdown is None else [shown.page, shown.markdown]
    for text in texts:
        assert all(pool in text for pool in POOLS)
        assert "were measured on the same machine" in text


@pytest.mark.parametrize("system", SYSTEMS)
def test_a_job_that_fails_shows_its_report(
    tmp_path: Path, worker_program: Path, system: str
) -> None:
    """With --expect, the job with the comparison fails; its report is shown all the same."""
    machine = Machine(tmp_path, compare_code=3)
    shutil.copy(worker_program, machine.store)
    text = pipeline(system).replace("--partial", "--partial --expect 'amd-16/intel<0.001'")
    shown = SYSTEMS[system][1](text, machine)
    assert "<title>" in shown.page
    assert shown.markdown is None or all(pool in shown.markdown for pool in POOLS)

# SPDX-License-Identifier: MPL-2.0
"""Entries that ended early, with no sample, one or two: every command reads them."""

import itertools
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import program
import pytest
from predicted_tasks import profile_document, result_documents, write_profile, write_results

from io_benchmark.report.formats import FORMATS, GENERAL_FORMATS
from io_benchmark.results.parts import OutcomeState
from io_benchmark.results.workloads import IN_BATCHES


def _cut(document: dict[str, Any], samples: int) -> dict[str, Any]:
    """Keep the first samples of every entry, which end in every way that a run knows."""
    endings = itertools.cycle(OutcomeState)
    for entry, ending in zip(document["workloads"], endings, strict=False):
        entry["samples"] = {name: column[:samples] for name, column in entry["samples"].items()}
        entry["outcome"] = {"state": ending, "reason": None}
    return document


@pytest.mark.parametrize(
    ("count", "samples"),
    [
        *(pytest.param(1, samples, id=f"a worker, {samples} samples") for samples in (0, 1, 2)),
        *(pytest.param(2, samples, id=f"a pool, {samples} samples") for samples in (0, 2)),
        pytest.param(4, 1, id="all, 1 sample"),
    ],
)
def test_every_command(count: int, samples: int, tmp_path: Path) -> None:
    """Each command shows them in each format, and none of its figures is unknown to arithmetic."""
    documents = [
        document
        for pool in ("amd-16", "intel")
        for document in result_documents(pool, (100, 100), between=0.02, only=sorted(IN_BATCHES))
    ]
    cut = [_cut(document, samples) for document in documents[:count]]
    results = write_results(tmp_path / "results", [*cut, *documents[count:]])
    profile = write_profile(tmp_path / "profile.json", profile_document((0, 50, 50, 0), cpu_s=1))
    allowed = ["--allow", "incomplete", "--allow", "too-few-retrieves"]
    commands: list[tuple[list[str | Path], Iterable[str]]] = [
        (["compare", results], FORMATS),
        (["compare", results, *allowed], ["json"]),
        (["history", "amd-16", results], GENERAL_FORMATS),
        (["predict", profile, "--on", results], GENERAL_FORMATS),
    ]
    for command, formats in commands:
        files = [word for form in formats for word in ("--write", f"{form}={tmp_path / form}")]
        done = program.run(*command, *files, expected=None)
        assert done.exit_code in (0, 1, 3), done.stderr
        assert "Traceback" not in done.stderr
        assert not any("NaN" in (tmp_path / form).read_text() for form in formats)

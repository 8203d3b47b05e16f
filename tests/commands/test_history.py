# SPDX-License-Identifier: MPL-2.0
"""The command history on a folder, as a user types it; documentation shows its report."""

import json
from pathlib import Path
from typing import Any

import past
import program
import pytest


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder that `fetch` filled with twenty weeks; a mean needs so many retrieves."""
    past.write(tmp_path / "results", list(past.pushes(20, change_at=12, retrieves=200)))
    return tmp_path


def document(folder: Path, *options: str) -> dict[str, Any]:
    words = ("history", "amd-16", "results", "--json", *options)
    content: dict[str, Any] = json.loads(program.run(*words, folder=folder).stdout)
    return content


def test_the_newest_points(folder: Path) -> None:
    """--last and --since, in a folder as in the index."""
    last = document(folder, "--last", "5")
    assert len(last["series"][0]["points"]) == 5
    assert [remark["text"] for remark in last["remarks"]] == [
        "15 older points are left out; --last N takes more"
    ]
    since = document(folder, "--since", "2026-08-31")
    days = [point["time"][:10] for point in since["series"][0]["points"]]
    assert (days, since["remarks"]) == (["2026-08-31", "2026-09-07"], [])

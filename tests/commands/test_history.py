# SPDX-License-Identifier: MPL-2.0
"""The command history, as a user types it: on folders, and on a deployment's index."""

import json
from pathlib import Path
from typing import Any

import past
import program
import pytest

# As many as a mean needs.
RETRIEVES = 200


def history(
    *arguments: str, folder: Path, expected: int = 0, **environment: str
) -> program.Finished:
    return program.run(
        "history", *arguments, folder=folder, expected=expected, environment=environment
    )


@pytest.fixture(scope="module")
def pushes() -> list[past.Push]:
    """Twenty weeks; from the thirteenth on, the pool has one disk instead of two."""
    return list(past.pushes(20, change_at=12, retrieves=RETRIEVES))


@pytest.fixture(scope="module")
def fetched(pushes: list[past.Push], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that `fetch` filled."""
    folder = tmp_path_factory.mktemp("fetched")
    past.write(folder / "results", pushes)
    return folder


def test_a_folder(fetched: Path) -> None:
    """Plain text in 80 columns when piped: the change, when, by how much, and what changed."""
    done = history("amd-16", "results", folder=fetched)
    assert max(map(len, done.stdout.splitlines())) <= 80
    answer = " ".join(done.stdout.partition("Answer")[2].split())
    assert answer.startswith("- 2026-07-20: 1.8")
    assert "Changed here: disks 2 → 1; stripes 2 → none; mount options without stripe=32." in answer
    assert "Now 14" in answer
    assert done.stderr == ""


def document(done: program.Finished) -> dict[str, Any]:
    content: dict[str, Any] = json.loads(done.stdout)
    return content


def test_the_newest_points(fetched: Path) -> None:
    """--last and --since, in a folder as in the index."""
    last = document(history("amd-16", "results", "--last", "5", "--json", folder=fetched))
    assert len(last["series"][0]["points"]) == 5
    assert [remark["text"] for remark in last["remarks"]] == [
        "15 older points are left out; --last N takes more"
    ]
    since = document(
        history("amd-16", "results", "--since", "2026-08-31", "--json", folder=fetched)
    )
    days = [point["time"][:10] for point in since["series"][0]["points"]]
    assert (days, since["remarks"]) == (["2026-08-31", "2026-09-07"], [])

# SPDX-License-Identifier: MPL-2.0
"""The command history on a folder, as a user types it; documentation shows its report."""

from pathlib import Path
from unittest.mock import patch

import past
import program
import pytest
from loopback import Loopback
from no_pauses import policy, waits

from io_benchmark.sources import web_client
from io_benchmark.sources.requests import RequestPolicy

__all__ = ["policy", "waits"]

HISTORY = ("history", "amd-16", "results")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder that `fetch` filled with twenty weeks; a mean needs so many retrieves."""
    past.write(tmp_path / "results", list(past.pushes(20, change_at=12, retrieves=200)))
    return tmp_path


def test_the_newest_points(folder: Path) -> None:
    """--last and --since, in a folder as in the index."""
    last = program.document(*HISTORY, "--last", "5", folder=folder)
    assert len(last["series"][0]["points"]) == 5
    (remark,) = last["remarks"]
    assert remark["text"] == "15 older points are left out; --last N takes more"
    since = program.document(*HISTORY, "--since", "2026-08-31", folder=folder)
    days = [point["time"][:10] for point in since["series"][0]["points"]]
    assert (days, since["remarks"]) == (["2026-08-31", "2026-09-07"], [])


@pytest.mark.parametrize(
    ("word", "advice"),
    [
        ("results", "to read results on this machine: io-benchmark history POOL results"),
        ("amd-17", "to read a folder on this machine: io-benchmark history amd-17 FOLDER"),
    ],
)
def test_a_folder_in_the_place_of_a_pool(
    folder: Path, policy: RequestPolicy, word: str, advice: str
) -> None:
    """Where the index does not answer, a person learns what was looked up there."""
    here = {"TASKCLUSTER_ROOT_URL": "http://tc.invalid"}
    with patch.object(web_client, "_explained", lambda *_: "cannot find the host tc.invalid"):
        done = program.run("history", word, folder=folder, expected=1, environment=here)
    assert done.stderr == (
        f"error: {word} was looked up as a pool in the index of http://tc.invalid: cannot find the "
        f"host tc.invalid, {policy.attempts} times; try again later; {advice}\n"
    )


def test_a_pool_that_the_index_does_not_have(folder: Path) -> None:
    """A folder of that name is mentioned, and nothing else is."""
    with Loopback() as loopback:
        lines = [
            program.run(
                "history", word, folder=folder, expected=1, environment=loopback.environment
            ).stderr
            for word in ("results", "amd-17")
        ]
    assert "; to read results on this machine: io-benchmark history POOL results\n" in lines[0]
    assert lines[1].endswith("has no results there; check pool and --project\n")


@pytest.mark.parametrize(
    ("pool", "code", "hint"), [("amd-61", 1, "; did you mean amd-16?"), ("amd-16", 0, "")]
)
def test_results_of_other_pools(folder: Path, pool: str, code: int, hint: str) -> None:
    """They are counted; where all are of others, the pool that was probably meant is named."""
    others = list(past.pushes(22, retrieves=200))[20:]
    for push in others:
        for document in push.documents:
            document["task"]["pool"] = "amd-30"
    past.write(folder / "results/others", others)
    report = program.document("history", pool, "results", folder=folder, expected=code)
    (text,) = [remark["text"] for remark in report["remarks"] if "other pools" in remark["text"]]
    counted = "2 of amd-30" if pool == "amd-16" else "20 of amd-16, 2 of amd-30"
    assert text == f"results of other pools are ignored: {counted}{hint}"


def test_details(folder: Path) -> None:
    """The first screen has the answer and the newest points; --details has all of them."""
    short = program.run(*HISTORY, folder=folder).stdout
    assert len(short.splitlines()) < 24
    assert "and 10 more points" in short
    assert "Everything else: add --details" in short
    whole = program.run(*HISTORY, "--details", folder=folder).stdout
    assert whole.count("c0ffee") + whole.count("\n  2026-") >= 20
    assert "A point is one push" in whole
    assert "more points" not in whole
    # What is left out is said on the screen as well.
    last = program.run(*HISTORY, "--last", "5", folder=folder).stdout
    assert "! 15 older points are left out; --last N takes more" in last

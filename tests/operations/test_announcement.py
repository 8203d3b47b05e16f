# SPDX-License-Identifier: MPL-2.0
"""What it will cost."""

from submitted_tasks import generated

from io_benchmark.operations.announcement import Announcement
from io_benchmark.submit.definitions import SubmissionSettings, select_tasks


def cost(earlier, **settings):
    tasks = [generated("amd-16"), generated("intel")]
    chosen = select_tasks(tasks, SubmissionSettings(image="x", **settings))
    return Announcement(chosen, "-", earlier).cost


def test_by_time_budget():
    """The script stops by itself: the most that it can take."""
    found = cost({}, replicates=3)
    assert found.shown == "6 tasks, at most 5.5 worker hours in all"
    assert [share.summary for share in found.shares] == [
        "amd-16: at most 2.8 worker hours (3 tasks of 55 minutes on releng-1/type-amd-16)",
        "intel: at most 2.8 worker hours (3 tasks of 55 minutes on releng-1/type-intel)",
    ]


def test_by_earlier_results():
    """Where some pool has none, the sum is a limit still."""
    both = {"io-benchmark-amd-16": 6.2, "io-benchmark-intel": 4}
    assert cost(both).shown == "2 tasks, about 11 minutes of worker time in all"
    assert (
        cost({"io-benchmark-amd-16": 6.2}).shown
        == "2 tasks, at most 62 minutes of worker time in all"
    )


def test_without_a_time_budget():
    """The task's own limit counts."""
    tasks = [generated("x", payload={"command": [["a", "b"]], "maxRunTime": 601})]
    chosen = select_tasks(tasks, SubmissionSettings())
    assert Announcement(chosen, "-", {}).cost.summary == (
        "1 task, at most 11 minutes of worker time in all"
    )

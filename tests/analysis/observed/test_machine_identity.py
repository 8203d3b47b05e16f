# SPDX-License-Identifier: MPL-2.0
"""Which results are from one machine."""

import pytest
from seed_workers import workers

from io_benchmark.analysis.observed.machines import MachineMarks, identify_machines

BOOT, OTHER = "4514e179-e9e1-4620-b051-b51d93f6b9cd", "0a1b2c3d-e9e1-4620-b051-b51d93f6b9cd"


def marks(worker_id="unknown", boot_id="", *, kernel="6.8.0", cloud=""):
    boot = (boot_id, kernel, "#1 SMP", "x86_64") if boot_id else ()
    return MachineMarks(worker_id, boot, (cloud, "", "a") if cloud else ())


NAME = f"with boot id {BOOT}"
ONE, BARE = marks("g/1", BOOT), marks(boot_id=BOOT)
COPIES = [marks("g/1", BOOT, cloud="gcp"), marks("g/2", BOOT, cloud="aws")]


@pytest.mark.parametrize(
    ("results", "names"),
    [
        pytest.param([marks("g/1"), marks("g/2"), marks("g/1")], "g/1; g/2; g/1", id="worker-ids"),
        pytest.param([ONE, marks("g/1", OTHER)], "g/1; g/1", id="after-a-reboot"),
        pytest.param([ONE, marks("h/9", BOOT)], "g/1; g/1", id="several-on-a-host"),
        pytest.param([BARE, BARE], f"{NAME}; {NAME}", id="bare-files"),
        pytest.param([BARE, ONE], "g/1; g/1", id="a-file-and-a-run"),
        ([ONE, marks("g/2", OTHER), marks("g/1", OTHER)], "g/1; g/1; g/1"),  # by way of the third
        pytest.param([marks(), marks()], "unknown; unknown", id="nothing-known"),
        pytest.param([ONE, marks("g/2", BOOT, kernel="6.9.0")], "g/1; g/2", id="another-kernel"),
        ([BARE, marks(boot_id=BOOT, kernel="6.9.0")], f"{NAME}; {NAME}, 2"),
        pytest.param(COPIES, "g/1; g/2", id="copied-to-another-cloud"),
    ],
)
def test_machines(results, names):
    """Results with a common worker id or boot id are from one machine; unknown ones from one each."""
    expected = names.split("; ")
    assert MachineMarks.machine_names(results) == expected
    backwards = MachineMarks.machine_names(results[::-1])[::-1]
    assert list(map(backwards.index, backwards)) == list(map(expected.index, expected))


@pytest.mark.parametrize(
    ("boot_id", "known"),
    [
        (BOOT, True),
        (f" {BOOT.upper()}\n", True),
        (None, False),
        ("", False),
        ("00000000-0000-0000-0000-000000000000", False),
        # Five and six different digits.
        ("12345123-4512-3451-2345-123451234512", False),
        ("12345623-4512-3451-2345-123451234512", True),
        ("unknown-machine", False),
    ],
)
def test_boot_ids(boot_id: str | None, known: bool) -> None:
    """Two workers with one boot id are one machine where it is a random number, else two."""
    change = {"intel": {"host.boot_id": boot_id}}
    first, second = identify_machines(workers(2, pools=("intel",), change=change))
    assert (first.machine == second.machine) is known

# SPDX-License-Identifier: MPL-2.0
"""Which results are from one machine."""

import pytest
from seed_workers import workers

from io_benchmark.analysis.observed.machines import MachineMarks, identify_machines

BOOT, OTHER = "4514e179-e9e1-4620-b051-b51d93f6b9cd", "0a1b2c3d-e9e1-4620-b051-b51d93f6b9cd"


def marks(
    worker_id: str = "unknown",
    boot_id: str = "",
    *,
    kernel: str = "6.8.0",
    zone: str = "",
    cloud: str = "",
) -> MachineMarks:
    boot = (boot_id, kernel, "#1 SMP", "x86_64") if boot_id else ()
    place = (cloud, "", zone) if zone else ()
    return MachineMarks(worker_id, boot, place)


ONE, BARE = marks("g/1", BOOT), marks(boot_id=BOOT)
COPIES = [marks("g/1", BOOT, zone="a", cloud="gcp"), marks("g/2", BOOT, zone="a", cloud="aws")]


@pytest.mark.parametrize(
    ("results", "names"),
    [
        pytest.param([marks("g/1"), marks("g/2"), marks("g/1")], "g/1 g/2 g/1", id="worker-ids"),
        pytest.param([ONE, marks("g/1", OTHER)], "g/1 g/1", id="after-a-reboot"),
        pytest.param([ONE, marks("h/9", BOOT)], "g/1 g/1", id="several-on-a-host"),
        pytest.param([BARE, BARE], f"boot:{BOOT} boot:{BOOT}", id="bare-files"),
        pytest.param([BARE, ONE], "g/1 g/1", id="a-file-and-a-run"),
        pytest.param(
            [ONE, marks("g/2", OTHER), marks("g/1", OTHER)], "g/1 g/1 g/1", id="by-way-of-a-third"
        ),
        pytest.param([marks(), marks()], "unknown unknown", id="nothing-known"),
        pytest.param([ONE, marks("g/2", BOOT, kernel="6.9.0")], "g/1 g/2", id="another-kernel"),
        pytest.param(
            [BARE, marks(boot_id=BOOT, kernel="6.9.0")],
            f"boot:{BOOT} boot:{BOOT},2",
            id="bare-files-another-kernel",
        ),
        pytest.param(COPIES, "g/1 g/2", id="copied-to-another-cloud"),
    ],
)
def test_machines(results: list[MachineMarks], names: str) -> None:
    """Results with a common worker id or boot id are from one machine; unknown ones from one each."""
    long = {"boot:": "with boot id ", ",2": ", 2"}
    expected = names.split(" ")
    for short, text in long.items():
        expected = [name.replace(short, text, 1) for name in expected]
    assert MachineMarks.machine_names(results) == expected
    backwards = MachineMarks.machine_names(results[::-1])[::-1]
    assert [backwards.index(name) for name in backwards] == [
        expected.index(name) for name in expected
    ]


@pytest.mark.parametrize(
    ("boot_id", "known"),
    [
        pytest.param(BOOT, True, id="random"),
        pytest.param(f" {BOOT.upper()}\n", True, id="as-some-write-it"),
        pytest.param(None, False, id="none"),
        pytest.param("", False, id="empty"),
        pytest.param("00000000-0000-0000-0000-000000000000", False, id="zero"),
        pytest.param("12345123-4512-3451-2345-123451234512", False, id="five-digits"),
        pytest.param("12345623-4512-3451-2345-123451234512", True, id="six-digits"),
        pytest.param("unknown-machine", False, id="a-word"),
    ],
)
def test_boot_ids(boot_id: str | None, known: bool) -> None:
    """Two workers with one boot id are one machine where it is a random number, else two."""
    change = {"intel": {"host.boot_id": boot_id}}
    first, second = identify_machines(workers(2, pools=("intel",), change=change))
    assert (first.machine == second.machine) is known

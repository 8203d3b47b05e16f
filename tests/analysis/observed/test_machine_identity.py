# SPDX-License-Identifier: MPL-2.0
"""Which results are from one machine."""

import pytest
from msgspec.structs import replace
from seed_workers import workers

from io_benchmark.analysis.observed.machine_identity import (
    MachineMarks,
    identify_machines,
)

BOOT, OTHER = "4514e179-e9e1-4620-b051-b51d93f6b9cd", "0a1b2c3d-e9e1-4620-b051-b51d93f6b9cd"
KERNEL = ("6.8.0", "#1 SMP", "x86_64")


def boot(boot_id: str = BOOT, kernel: tuple[str, ...] = KERNEL) -> tuple[str, ...]:
    return (boot_id, *kernel)


@pytest.mark.parametrize(
    ("marks", "machines"),
    [
        pytest.param(
            [MachineMarks("g/1"), MachineMarks("g/2"), MachineMarks("g/1")],
            [0, 1, 0],
            id="worker-ids",
        ),
        pytest.param(
            [MachineMarks("g/1", boot()), MachineMarks("g/1", boot(OTHER))],
            [0, 0],
            id="after-a-reboot",
        ),
        pytest.param(
            [MachineMarks("g/1", boot()), MachineMarks("h/9", boot())],
            [0, 0],
            id="several-on-a-host",
        ),
        pytest.param(
            [MachineMarks(boot=boot()), MachineMarks(boot=boot())], [0, 0], id="bare-files"
        ),
        pytest.param(
            [MachineMarks(boot=boot()), MachineMarks("g/1", boot())], [0, 0], id="a-file-and-a-run"
        ),
        pytest.param(
            [
                MachineMarks("g/1", boot()),
                MachineMarks("g/2", boot(OTHER)),
                MachineMarks("g/1", boot(OTHER)),
            ],
            [0, 0, 0],
            id="by-way-of-a-third",
        ),
        pytest.param([MachineMarks(), MachineMarks()], None, id="nothing-known"),
        pytest.param(
            [
                MachineMarks("g/1", boot()),
                MachineMarks("g/2", boot(kernel=("6.9.0", "#1 SMP", "x86_64"))),
            ],
            [0, 1],
            id="another-kernel",
        ),
        pytest.param(
            [
                MachineMarks(boot=boot()),
                MachineMarks(boot=boot(kernel=("6.9.0", "#1 SMP", "x86_64"))),
            ],
            [0, 1],
            id="bare-files-another-kernel",
        ),
        pytest.param(
            [
                MachineMarks("g/1", boot(), ("gcp", "", "a")),
                MachineMarks("g/2", boot(), ("aws", "", "a")),
            ],
            [0, 1],
            id="copied-to-another-cloud",
        ),
        pytest.param(
            [MachineMarks(boot=boot(), machine_id="a"), MachineMarks(boot=boot(), machine_id="b")],
            [0, 0],
            id="containers-of-one-boot",
        ),
        pytest.param(
            [
                MachineMarks(boot=boot(), machine_id="a"),
                MachineMarks(boot=boot(OTHER), machine_id="a"),
            ],
            [0, 1],
            id="one-image-two-boots",
        ),
    ],
)
def test_machines(marks: list[MachineMarks], machines: list[int] | None) -> None:
    """Results with a common worker id or boot id are from one machine; unknown ones from one each."""
    found = MachineMarks.machine_names(marks)
    if machines is None:
        assert found == ["unknown"] * len(marks)
        return
    assert [list(dict.fromkeys(found)).index(name) for name in found] == machines
    assert [
        MachineMarks.machine_names(marks[::-1])[::-1].index(name)
        for name in MachineMarks.machine_names(marks[::-1])[::-1]
    ] == [found.index(name) for name in found]


ONE, TWO = MachineMarks(machine_id="a"), MachineMarks(machine_id="b")
BOOTED = MachineMarks(boot=boot(), machine_id="a")
BOOTED_AGAIN = MachineMarks(boot=boot(OTHER), machine_id="a")


@pytest.mark.parametrize(
    ("marks", "names"),
    [
        pytest.param([ONE, TWO, ONE], ["with machine id a", "unknown"] * 2, id="no boot ids"),
        pytest.param(
            [ONE, BOOTED, BOOTED_AGAIN, ONE], ["unknown", "", "", "unknown"], id="image's"
        ),
        pytest.param(
            [replace(ONE, worker_id="g/1"), replace(ONE, worker_id="g/2")],
            ["g/1", "g/2"],
            id="workers of one image",
        ),
        pytest.param(
            [replace(ONE, place=("", "", "a")), replace(ONE, place=("", "", "b"))],
            ["unknown", "unknown"],
            id="two zones",
        ),
    ],
)
def test_machine_ids(marks: list[MachineMarks], names: list[str]) -> None:
    """They count where nothing else is known, unless different boots show that an image had it."""
    found = MachineMarks.machine_names(marks)
    assert [name if expected else "" for name, expected in zip(found, names, strict=False)] == (
        names[: len(found)]
    )
    assert len({found[at] for at, mark in enumerate(marks) if mark.boot}) == sum(
        bool(mark.boot) for mark in marks
    )


@pytest.mark.parametrize(
    ("boot_id", "known"),
    [
        pytest.param(BOOT, True, id="random"),
        pytest.param(f" {BOOT.upper()}\n", True, id="as-some-write-it"),
        pytest.param(None, False, id="none"),
        pytest.param("", False, id="empty"),
        pytest.param("00000000-0000-0000-0000-000000000000", False, id="zero"),
        pytest.param("11111111-2222-1111-2222-111111111111", False, id="no-random-number"),
        pytest.param("unknown", False, id="a-word"),
    ],
)
def test_boot_ids(boot_id: str | None, known: bool) -> None:
    """Two workers with one boot id are one machine where it is a random number, else two."""
    change = {"intel": {"host.boot_id": boot_id}}
    found = identify_machines(workers(2, pools=("intel",), change=change))
    assert (found[0].machine == found[1].machine) is known

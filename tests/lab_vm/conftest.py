# SPDX-License-Identifier: MPL-2.0
"""The worker's script in a virtual machine, on volumes of LVM over NVMe disks.

No root is needed, and no KVM: without it the machine is slow, and its disks are slower still. It is
started once for all tests. The kind's own sizes are not for it: starting a process there may take
longer than writing one of those files.
"""

import shlex
import shutil
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path

import pytest
import storage_lab
from virtual_machine import FOLDER, SHARE, Disk, VirtualMachine, needs_a_machine, needs_inside
from vm_kernel import Kernel, NoKernelError, find_kernel
from worker import Worker

VOLUMES = Path(__file__).with_name("volumes.sh")
DISKS = (Disk(size_mib=1024, write_mib_per_s=20),) * 3
FILES = ("--sizes", "4x16", "--retrieves", "24")
KERNEL_LINE = pytest.StashKey[str]()
# Each run's pool, and its volume of volumes.sh.
RUNS = {
    "single": ("amd-16", "single"),
    "striped": ("intel", "striped"),
    "linear": ("amd-16", "linear"),
    "striped-again": ("amd-16", "striped"),
}


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--vm-kernel",
        type=Path,
        metavar="DIR",
        help="a folder with boot/vmlinuz-* and lib/modules/, such as an unpacked linux-image package",
    )


@pytest.fixture(scope="session")
def kernel(request: pytest.FixtureRequest) -> Kernel:
    """Asked for last: it may have to be fetched."""
    needs_a_machine()
    needs_inside("lvm", "mkfs.ext4")
    named = request.config.getoption("--vm-kernel", default=None)
    try:
        found = find_kernel(named)
    except NoKernelError as error:
        if named is not None:
            pytest.fail(f"--vm-kernel: {error}")
        pytest.skip(
            f"needs a kernel, by --vm-kernel=DIR, in /boot, or by apt after `apt-get update`: {error}"
        )
    request.config.stash[KERNEL_LINE] = f"virtual machine's kernel: {found.image}"
    return found


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Says what was started, and so what is kept outside the checkout."""
    line = config.stash.get(KERNEL_LINE, None)
    if line is not None:
        terminalreporter.write_line(line)


@pytest.fixture(scope="session")
def measurement(
    kernel: Kernel, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Callable[[int], Mapping[str, Path]]]:
    """The result file of each run, of the first attempt, the second, …: a machine each."""
    base = tmp_path_factory.mktemp("machines")

    with storage_lab.opened(base / "lab") as lab:

        @cache
        def attempt(number: int) -> Mapping[str, Path]:
            machine = VirtualMachine(lab, base / str(number), kernel, DISKS)
            workers = {
                name: Worker(FOLDER / volume, SHARE / name) for name, (_, volume) in RUNS.items()
            }
            commands = [
                shlex.join(workers[name].command("--pool", pool, *FILES))
                for name, (pool, _) in RUNS.items()
            ]
            machine.run("\n".join([VOLUMES.read_text(), *commands]))
            return {
                name: machine.share / worker.result_path.relative_to(SHARE)
                for name, worker in workers.items()
            }

        attempt(1)  # if it fails, then for all tests at once
        yield attempt
    # What is left is as large as the disks.
    shutil.rmtree(base)

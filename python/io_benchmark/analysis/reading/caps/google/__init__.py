# SPDX-License-Identifier: MPL-2.0
"""Google Cloud: its local SSDs have write caps by their number.

Sources, as read in 2026: https://docs.cloud.google.com/compute/docs/disks/local-ssd (limits by
number of disks) and https://docs.cloud.google.com/compute/docs/general-purpose-machines (disks of
c3d-…-lssd).
"""

from io_benchmark.analysis.model.pool_machine import NetworkDisk, PoolMachine
from io_benchmark.analysis.reading.caps.cloud import Cloud, Series
from io_benchmark.analysis.reading.caps.google import persistent_disks
from io_benchmark.analysis.reading.caps.google.machine_types import MachineType
from io_benchmark.analysis.reading.caps.limits import DiskCap, DiskPrice
from io_benchmark.analysis.reading.caps.network import DiskKind, unknown_kind, unknown_machine_type

# All that can be asked for; of some the caps are not published, or not here yet.
_KINDS = (
    "pd-standard",
    "pd-balanced",
    "pd-ssd",
    "pd-extreme",
    "hyperdisk-balanced",
    "hyperdisk-balanced-high-availability",
    "hyperdisk-extreme",
    "hyperdisk-ml",
    "hyperdisk-throughput",
)

_STANDARD = {
    1: 350,
    2: 700,
    3: 1050,
    4: 1400,
    5: 1400,
    6: 1400,
    7: 1400,
    8: 1400,
    16: 3120,
    24: 4680,
    32: 6240,
}
_TITANIUM_C4D = {1: 330, 2: 660, 4: 1320}


class GoogleDisks:
    """Persistent disks, by their size."""

    usual_kinds: tuple[DiskKind, ...] = persistent_disks.KINDS

    def default_kind(self, machine_type: str) -> str | None:
        machine = MachineType.parse(machine_type)
        return None if machine is None else machine.default_kind

    def problem(self, machine_type: str, kind: str) -> str | None:
        machine = MachineType.parse(machine_type)
        if machine is None:
            return unknown_machine_type(machine_type)
        if kind and kind not in _KINDS:
            return unknown_kind(kind)
        if kind.startswith("pd-") and machine.series in persistent_disks.WITHOUT:
            return f"machines of type {machine_type} take no disk of type {kind}"
        return None

    def cap(self, machine: PoolMachine, disk: NetworkDisk) -> DiskCap | None:
        machine_type = MachineType.parse(machine.machine_type)
        if machine_type is None:
            return None
        return persistent_disks.persistent_disk_cap(machine, machine_type, disk)

    def price_per_month(self, disk: NetworkDisk) -> DiskPrice | None:  # noqa: ARG002
        return None


CLOUD = Cloud(
    name="Google Cloud",
    # By NVMe nvme_card, nvme_card0, … and nvme_card-pd; by SCSI the others.
    local_ssd_models="nvme_card[0-9]*|EphemeralDisk",
    persistent_disk_models="nvme_card-pd|PersistentDisk",
    write_caps={
        "n1": _STANDARD,
        "n2": _STANDARD,
        "n2d": _STANDARD,
        "c2": _STANDARD,
        "c2d": _STANDARD,
        "c3": _STANDARD,
        "c3d": _STANDARD,
        "c4d": _TITANIUM_C4D,
    },
    usual_write_caps=_STANDARD,
    series=(
        Series(
            "(c3d-[a-z]+-)([0-9]+)(-lssd)",
            {"8": 1, "16": 1, "30": 2, "60": 4, "90": 8, "180": 16, "360": 32},
        ),
    ),
    network_disks=GoogleDisks(),
)

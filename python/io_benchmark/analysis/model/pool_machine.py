# SPDX-License-Identifier: MPL-2.0
"""What a pool's definition says of its machines and of their disks: workers do not see all of it.

A worker sees that a disk is of the network, and its size. Which kind it is, and which rate was
bought for it, is in the definition of its pool alone.
"""

from msgspec import Struct


class NetworkDisk(Struct, frozen=True):
    """A disk of the cloud's network, as a definition names it."""

    kind: str  # as the cloud names it: pd-standard, gp3, Premium_LRS; empty: by the machine type
    size_gib: float | None = None  # None: that of the image, or the cloud's usual one
    # What was bought, where the kind allows that; None: the cloud's usual amount.
    provisioned_iops: float | None = None
    provisioned_bytes_per_s: float | None = None
    is_ephemeral: bool = False  # of Azure: the image's copy on the machine's own disk


class PoolMachine(Struct, frozen=True):
    """One of the machines that a pool's definition names."""

    cloud: str  # the name of a module of analysis/reading/caps: google, amazon, azure
    machine_type: str  # bare and as its cloud writes it, without Azure's "Standard_"
    boot_disk: NetworkDisk | None = None  # None: the definition does not name one
    data_disks: tuple[NetworkDisk, ...] = ()
    local_ssds: int | None = None  # None: those that the machine type always has

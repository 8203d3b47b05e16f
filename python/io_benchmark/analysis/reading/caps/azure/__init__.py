# SPDX-License-Identifier: MPL-2.0
"""Microsoft Azure: managed disks with the limits of VM sizes, and VMs' own disks.

The models of SCSI disks are all the same, and say nothing.
"""

from io_benchmark.analysis.reading.caps.azure.network_disks import AzureDisks
from io_benchmark.analysis.reading.caps.azure.vm_sizes import WRITE_CAPS, local_disk_cap
from io_benchmark.analysis.reading.caps.cloud import Cloud

CLOUD = Cloud(
    name="Microsoft Azure",
    local_ssd_models="Microsoft NVMe Direct Disk( v2)?",
    persistent_disk_models="MSFT NVMe Accelerator",
    write_caps=WRITE_CAPS,
    network_disks=AzureDisks(),
    local_ssd_cap=local_disk_cap,
)

# SPDX-License-Identifier: MPL-2.0
"""Amazon EC2: EBS volumes with the limits of instances, and instances' own disks.

What instances' own disks write was measured by others than Amazon: these are no published caps.
"""

from io_benchmark.analysis.reading.caps.amazon.instance_stores import instance_store_cap
from io_benchmark.analysis.reading.caps.amazon.network_disks import AmazonDisks
from io_benchmark.analysis.reading.caps.cloud import Cloud

CLOUD = Cloud(
    name="Amazon EC2",
    local_ssd_models="Amazon EC2 NVMe Instance Storage",
    persistent_disk_models="Amazon Elastic Block Store",
    network_disks=AmazonDisks(),
    local_ssd_cap=instance_store_cap,
)

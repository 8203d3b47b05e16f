# SPDX-License-Identifier: MPL-2.0
"""Amazon EC2: its disks say what they are; no write caps are known by the number of disks."""

from io_benchmark.analysis.reading.caps.cloud import Cloud

CLOUD = Cloud(
    name="Amazon EC2",
    local_ssd_models="Amazon EC2 NVMe Instance Storage",
    persistent_disk_models="Amazon Elastic Block Store",
)

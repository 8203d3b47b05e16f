# SPDX-License-Identifier: MPL-2.0
"""What only a Windows worker records, as its program writes it."""

from typing import Any


def windows_host(**changes: Any) -> dict[str, Any]:
    """Facts of a host of Firefox CI: Defender runs, and scans nothing."""
    return {
        "power_plan": "High performance",
        "paging_files": ["D:\\pagefile.sys"],
        "long_paths": False,
        "last_access": False,
        "defender": {"is_running": True, "is_real_time": False, "excluded_paths": None},
        "filters": ["WdFilter", "luafv"],
    } | changes


def windows_place(**changes: Any) -> dict[str, Any]:
    """Facts of a place on a disk that is neither the system's nor temporary."""
    return {
        "drive": "D:",
        "is_substituted_for": None,
        "is_dev_drive": False,
        "is_trusted_dev_drive": False,
        "cluster_bytes": 4096,
        "short_names": False,
        "is_compressed": False,
        "is_encrypted": False,
        "clones_blocks": False,
        "is_system_disk": False,
        "has_paging_file": False,
        "is_excluded": None,
        "is_temporary_disk": False,
    } | changes

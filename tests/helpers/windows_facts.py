# SPDX-License-Identifier: MPL-2.0
"""What only a Windows worker records, as its program writes it."""

from typing import Any

from seed_facts import ENTRY, PLACE, Facts, spent

MS = 1_000_000


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


def defender(is_real_time: bool | None, *, is_running: bool | None = True) -> dict[str, Any]:
    return {"is_running": is_running, "is_real_time": is_real_time, "excluded_paths": None}


def disk(bus: str = "nvme", **changes: Any) -> dict[str, Any]:
    """A disk, or a volume of Storage Spaces."""
    return {
        "name": "nvme1n1",  # as in the seed's timeline
        "number": None,
        "kind": "disk",
        "below": [],
        "size_bytes": 440 << 30,
        "stripe_count": None,
        "minimum_io_bytes": None,
        "raid_level": None,
        "model": "Msft Virtual Disk",
        "queue": {"rotational": 0},
        "bus": bus,
    } | changes


def spaces(columns: int | None) -> dict[str, Any]:
    return disk("spaces", kind="spaces", stripe_count=columns, model="Storage Space")


def fixed_work(wall: float = 1.0, on_cpu: float = 1.0) -> Facts:
    """Ten bursts of each fixed work that last this long, and are on a CPU for so long."""
    return {
        "host.fixed_work": [
            {
                "work": work,
                "start_ns": 0,
                "duration_ns": round(50 * MS * wall),
                "operations": 1000,
                "user_ns": round(25 * MS * on_cpu),
                "kernel_ns": round(25 * MS * on_cpu),
                "waiting_ns": None,
            }
            for work in ("user", "kernel-copy", "kernel-calls")
            for _ in range(10)
        ]
    }


def worked(**times_ms: float) -> Facts:
    """What each retrieve worked on a CPU, in ms; what it waited for is not recorded."""
    waiting = (f"{ENTRY}.samples.{phase}_waiting_ns" for phase in ("lookup", "copy"))
    return spent(**times_ms) | dict.fromkeys(waiting)


def on_windows(
    *facts: Facts, place: dict[str, Any] | None = None, device: dict[str, Any] | None = None
) -> Facts:
    """The facts of a worker of the seed's case, as if it ran Windows, with further ones."""
    made: Facts = {
        "host.system": "windows",
        "host.windows": windows_host(),
        f"{PLACE}.kind": "directory",
        f"{PLACE}.devices": [device or disk()],
        f"{PLACE}.filesystem": {"type": "NTFS", "ext4_options": None, "btrfs_data_profiles": None},
        f"{PLACE}.windows": windows_place(**place or {}),
        **worked(lookup_user=0.5, lookup_kernel=0.5, copy_user=5.0, copy_kernel=20.0),
        **{
            f"timeline.columns.psi_{name}_some_us": lambda column: [None] * len(column)
            for name in ("io", "memory", "cpu")
        },
        "limits": {"cgroup_versions": [], "groups": {}, "io": [], "memory": [], "cpu": []},
    }
    for more in (fixed_work(), *facts):
        made |= more
    return made


def first_lookup(more_ms: float) -> Facts:
    """The first lookup takes longer than the others."""
    return {f"{ENTRY}.samples.lookup_ns": lambda ns: [ns[0] + round(more_ms * MS), *ns[1:]]}

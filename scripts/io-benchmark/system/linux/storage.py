# SPDX-License-Identifier: MPL-2.0
"""The mount table, and the storage of a place.

That is its mount, overlay or bind, its file system, and its devices down to the leaves. All is
observed on this machine, not taken from how it was provisioned.
"""

import os
import re
import time
from itertools import starmap
from typing import Any, List, NamedTuple, Optional

from system.linux import devices
from system.linux.kernel import exists, is_folder, list_names, read_text
from system.probes import WRITTEN_BYTES, write_probe

# A device that wrote this much of the probe stores it; with a stripe over eight disks, each does.
PROBE_SHARE_BYTES = WRITTEN_BYTES // 16
# Other processes write as well: a device counts if it writes in every round, and hardly between.
PROBE_ROUNDS = 4
QUIET_S = 0.02, 0.5  # the shortest and the longest time between rounds
# What each container engine leaves in the root.
ENGINES = {"podman": "/run/.containerenv", "docker": "/.dockerenv"}
# The kind of a place on these file systems; that of others depends on where they are mounted.
KINDS = {
    **dict.fromkeys(("overlay", "fuse.fuse-overlayfs"), "overlay"),
    **dict.fromkeys(("tmpfs", "ramfs"), "memory"),
    **dict.fromkeys(("nfs", "nfs4", "cifs", "9p", "virtiofs", "ceph", "fuse.sshfs"), "network"),
}
# Docker and podman put these on the host's disk, next to the container's layer.
HOST_FILES = ("/etc/hostname", "/etc/hosts", "/etc/resolv.conf")
# Two numbers, the fields of a _Mount, and optional fields between its options and its file system.
MOUNT_LINE = r"^\d+ \d+ (\S+) (\S+) (\S+) (\S+)(?: \S+)*? - (\S+) (\S+) (\S+)"


class _Mount(NamedTuple):
    device: str  # MAJOR:MINOR
    root: str  # the folder of that file system which is mounted here
    point: str
    options: str
    filesystem: str
    source: str
    super_options: str

    def overlay(self) -> Optional[dict]:
        """Return the layers of an overlay, or None for any other file system."""
        if self.filesystem != "overlay":
            return None
        # Since Linux 6.5, each layer can have a separate lowerdir+=.
        layers = re.findall(r"(?:^|,)(?:lowerdir\+?|datadir\+)=([^,]*)", self.super_options)
        options = (option.partition("=") for option in self.super_options.split(","))
        values = {name: value for name, _, value in options}  # a flag's value is empty
        return {
            "lower_layers": sum(len(layer.replace("::", ":").split(":")) for layer in layers),
            "upper_directory": values.get("upperdir") and _unescape(values["upperdir"]),
            "volatile": "volatile" in values or values.get("fsync") == "volatile",
        }


def _unescape(field):
    """Decode space, tab, newline and backslash, which mountinfo writes as octal."""
    return re.sub(r"\\(040|011|012|134)", lambda code: chr(int(code[1], 8)), field)


def mount_table() -> List[_Mount]:
    lines = re.findall(MOUNT_LINE, read_text("/proc/self/mountinfo") or "", re.MULTILINE)
    escaped = ("root", "point", "source")
    return [
        mount._replace(**{name: _unescape(getattr(mount, name)) for name in escaped})
        for mount in starmap(_Mount, lines)
    ]


def mount_of(path: str, mounts: List[_Mount]) -> Optional[_Mount]:
    """Return the mount with the longest matching point; the last one there hides the others."""
    path = os.path.realpath(path) + "/"
    above = [m for m in mounts if path.startswith(m.point.rstrip("/") + "/")]
    return max(reversed(above), key=lambda mount: len(mount.point), default=None)


def root_of(path):
    """Return where the path's file system is mounted; None where that is not shown."""
    mount = mount_of(path, mount_table())
    return None if mount is None else mount.point


def container(table):
    """Return the engine, if it can be seen, and the root's file system; None in no container."""
    engine = next((name for name, path in ENGINES.items() if exists(path)), None)
    root = mount_of("/", table)
    filesystem = root.filesystem if root else None
    is_inside = engine is not None or filesystem == "overlay"
    return {"engine": engine, "root_filesystem": filesystem} if is_inside else None


def _kind_of_place(mount, table):
    if mount.filesystem in KINDS:
        return KINDS[mount.filesystem]
    return "volume" if container(table) and mount.point != "/" else "directory"


def observe(name, path, *, may_write=True):
    """Describe one place. The path must exist; a fact that cannot be seen is None."""
    table = mount_table()
    mount = mount_of(path, table)
    place = {"name": name, "path": path}
    if mount is None:
        return {**place, "kind": "unknown", "mount": None, "devices": []}
    space = os.statvfs(path)
    tops = _find_devices(mount, table, path if may_write else None)
    return {
        **place,
        "kind": _kind_of_place(mount, table),
        "mount": mount._asdict(),
        "overlay": mount.overlay(),
        "filesystem": _filesystem_details(mount, tops),
        "size_bytes": space.f_blocks * space.f_frsize,
        "devices": devices.chain(tops),
    }


def _find_devices(mount, table, path):
    """Return the devices directly below the mount; without a path, none is found by writing."""
    if KINDS.get(mount.filesystem) in ("memory", "network"):
        return []
    names = _devices_of(mount)
    if names is not None:
        return names
    for candidate in _beside(mount, table):
        below = mount_of(candidate, table)
        if below is None or KINDS.get(below.filesystem) == "overlay":
            continue
        if KINDS.get(below.filesystem) == "memory":
            if candidate in HOST_FILES:
                continue  # engines keep these in memory, whatever the layers are on
            return []
        names = _devices_of(below)
        if names is not None:
            return names
    return [] if path is None else _devices_written_to(path)


def _beside(mount, table):
    """Return paths that are on the disk of an overlay's upper layer, the best first."""
    upper = (mount.overlay() or {}).get("upper_directory") or ""
    visible = [upper] if os.path.isabs(upper) and is_folder(upper) else []
    # Only an engine mounts these; elsewhere they are files of the root.
    points = {mounted.point for mounted in table}
    return visible + [path for path in HOST_FILES if path in points]


def _devices_of(mount):
    """Return the mount's devices, btrfs's by /sys; None if its number is not a device's."""
    if mount.filesystem != "btrfs":
        name = devices.name_of(mount.device)
        return None if name is None else [name]
    source = devices.name_of_node(mount.source)
    folder = _btrfs_folder(source)
    if folder is not None:
        return list_names(folder + "/devices")
    return [source] if source else []


def _btrfs_folder(member):
    """Return the folder in /sys of the btrfs that has this member, or None."""
    folders = ("/sys/fs/btrfs/" + identifier for identifier in list_names("/sys/fs/btrfs"))
    return next((path for path in folders if member in list_names(path + "/devices")), None)


def _filesystem_details(mount, tops):
    """Return facts about the file system that the mount's options do not have."""
    details: Any = {"type": mount.filesystem, "ext4_options": None, "btrfs_data_profiles": None}
    if mount.filesystem == "ext4" and tops:
        options = read_text("/proc/fs/ext4/%s/options" % tops[0])
        details["ext4_options"] = sorted(options.split()) if options else None
    folder = _btrfs_folder(tops[0]) if mount.filesystem == "btrfs" and tops else None
    if folder is not None:
        data = folder + "/allocation/data/"
        details["btrfs_data_profiles"] = [
            name for name in list_names(data) if is_folder(data + name)
        ]
    return details


def _devices_written_to(path):
    """Return the devices without one below that write whenever this writes past the page cache.

    fsync() would not do: on a volatile overlay, such as rootless podman's, it writes nothing.
    """
    candidates = None
    for _ in range(PROBE_ROUNDS):
        before, started_s = devices.counters(), time.monotonic()
        try:
            write_probe(path)
        except OSError:
            return []
        took_s = time.monotonic() - started_s
        between = devices.counters()
        time.sleep(min(max(took_s, QUIET_S[0]), QUIET_S[1]))
        quiet = _written_since(between, devices.counters())
        moved = _written_since(before, between)
        busy = {name for name in moved if moved[name] >= 2 * quiet.get(name, 0) + PROBE_SHARE_BYTES}
        candidates = busy if candidates is None else candidates & busy
    return [name for name in sorted(candidates or ()) if not devices.below(name)]


def _written_since(before, after):
    """Return the bytes that each device has written, of those that wrote a part of the probe."""
    moved = {
        name: totals[devices.WRITTEN] - before.get(name, totals)[devices.WRITTEN]
        for name, totals in after.items()
    }
    return {name: written for name, written in moved.items() if written >= PROBE_SHARE_BYTES}

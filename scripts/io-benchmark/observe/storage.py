# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""What a place is made of: mount, overlay or bind, file system, devices down to the leaves.

Observed on the machine that ran, never what was asked for when it was provisioned.
"""

import fcntl
import os
import time
from tempfile import TemporaryFile

from observe import devices, mounts
from reading import exists, is_folder, list_names, read_text

MIB = 1024 * 1024
PROBE_BYTES = 8 * MIB
# A device that took this much of the probe holds it; a stripe over eight still shows.
PROBE_SHARE_BYTES = PROBE_BYTES // 16
FICLONE = 0x40049409
MEMORY_FILESYSTEMS = ("tmpfs", "ramfs")
NETWORK_FILESYSTEMS = ("nfs", "nfs4", "cifs", "9p", "virtiofs", "ceph", "fuse.sshfs")
# Docker and podman put these beside the container's own layer on the host's disk.
HOST_FILES = ("/etc/hostname", "/etc/hosts", "/etc/resolv.conf")


def in_container(table):
    root = mounts.mount_of("/", table)
    is_marked = exists("/.dockerenv") or exists("/run/.containerenv")
    return is_marked or (root is not None and root.filesystem == "overlay")


def kind_of_place(mount, container):
    if mount.filesystem in ("overlay", "aufs"):
        return "overlay"
    if mount.filesystem in MEMORY_FILESYSTEMS:
        return "memory"
    if mount.filesystem in NETWORK_FILESYSTEMS:
        return "network"
    return "volume" if container and mount.point != "/" else "directory"


def observe(name, path):
    """One place. The path must exist; what cannot be seen is null."""
    table = mounts.table()
    mount = mounts.mount_of(path, table)
    place = {"name": name, "path": path, "resolved_path": os.path.realpath(path)}
    if mount is None:
        place.update(kind="unknown", mount=None, devices=[], identified_by=None)
        return place
    space = os.statvfs(path)
    probe = probe_writes(path)
    tops, identified_by = find_devices(mount, table, probe)
    place.update(
        kind=kind_of_place(mount, in_container(table)),
        mount=mount._asdict(),
        overlay=mounts.overlay_of(mount),
        filesystem=filesystem_details(mount, tops),
        size_bytes=space.f_blocks * space.f_frsize,
        free_bytes=space.f_bavail * space.f_frsize,
        reflink=reflink_works(path),
        probe=probe,
        devices=devices.chain(tops),
        identified_by=identified_by,
    )
    return place


def find_devices(mount, table, probe):
    """The devices right under the mount, and how they were found."""
    if mount.filesystem in MEMORY_FILESYSTEMS + NETWORK_FILESYSTEMS:
        return [], None
    names = devices_of(mount)
    if names is not None:
        return names, "btrfs" if mount.filesystem == "btrfs" else "mount"
    upper = (mounts.overlay_of(mount) or {}).get("upper_directory")
    candidates = ([upper] if upper and is_folder(upper) else []) + list(HOST_FILES)
    for candidate in candidates:
        other = mounts.mount_of(candidate, table)
        if other is None or other.filesystem in ("overlay", *MEMORY_FILESYSTEMS):
            continue
        names = devices_of(other)
        if names is not None:
            return names, candidate
    written = probe.get("written_bytes") or {}
    return [name for name in sorted(written) if not devices.below(name)], "probe"


def devices_of(mount):
    """None where its number is no device's; btrfs has numbers of its own, members in /sys."""
    if mount.filesystem != "btrfs":
        name = devices.name_of_number(mount.device)
        return None if name is None else [name]
    source = devices.name_of_node(mount.source)
    folder = btrfs_folder(source)
    if folder is not None:
        return list_names(folder + "/devices")
    return [source] if source else []


def btrfs_folder(member):
    """What /sys says of the btrfs that this device belongs to, or None."""
    for identifier in list_names("/sys/fs/btrfs"):
        folder = "/sys/fs/btrfs/" + identifier
        if member in list_names(folder + "/devices"):
            return folder
    return None


def filesystem_details(mount, tops):
    """What the file system says of itself beyond the mount's options."""
    options = profiles = None
    if mount.filesystem == "ext4" and tops:
        text = read_text("/proc/fs/ext4/%s/options" % tops[0])
        options = sorted(text.split()) if text else None
    folder = btrfs_folder(tops[0]) if mount.filesystem == "btrfs" and tops else None
    if folder is not None:
        data = folder + "/allocation/data/"
        profiles = [name for name in list_names(data) if is_folder(data + name)]
    return {
        "type": mount.filesystem,
        "ext4_options": options,
        "btrfs_data_profiles": profiles,
    }


def probe_writes(path):
    """Write 8 MiB and fsync: which devices took it, and did fsync do anything at all?"""
    probe = os.path.join(path, ".io-benchmark-probe-%d" % os.getpid())
    before = devices.counters()
    try:
        descriptor = os.open(probe, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            for _ in range(PROBE_BYTES // MIB):
                os.write(descriptor, os.urandom(MIB))
            started_ns = time.monotonic_ns()
            os.fsync(descriptor)
            fsync_ns = time.monotonic_ns() - started_ns
        finally:
            os.close(descriptor)
            os.unlink(probe)
    except OSError as error:
        return {"failed": error.strerror, "fsync_ns": None, "written_bytes": None}
    written = {}
    for name, (_, after_bytes, _) in devices.counters().items():
        moved = after_bytes - before.get(name, (0, 0, 0))[1]
        if moved >= PROBE_SHARE_BYTES:
            written[name] = moved
    return {"failed": None, "fsync_ns": fsync_ns, "written_bytes": written}


def reflink_works(path):
    """Would cp share extents here instead of copying? None where it could not be tried."""
    try:
        with TemporaryFile(dir=path) as source, TemporaryFile(dir=path) as copy:
            source.write(b"x" * 4096)
            source.flush()
            try:
                fcntl.ioctl(copy.fileno(), FICLONE, source.fileno())
            except OSError:
                return False
            return True
    except OSError:
        return None

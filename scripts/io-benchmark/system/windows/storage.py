# SPDX-License-Identifier: MPL-2.0
"""The storage of a place: its drive, its volume and file system, and the disks below.

All is observed as a normal user; what Windows does not show is None.
"""

import ctypes
import ntpath
import os
import shutil
import stat
import struct
from ctypes.wintypes import DWORD, HANDLE, LPCWSTR, LPDWORD, LPWSTR
from typing import Any, NamedTuple

from system.windows import calls, devices, files, host
from system.windows.calls import KERNEL32, declared, known, success
from system.windows.support import defender

NETWORK_DRIVE = 4
CLONES_BLOCKS = 0x08000000  # a flag of a volume
# FILE_FS_PERSISTENT_VOLUME_INFORMATION: flags, which ones are asked for, version, reserved.
VOLUME_STATE, STATE, STATE_VERSION = 0x9023C, struct.Struct("<4I"), 1
NO_SHORT_NAMES, DEV_DRIVE, TRUSTED_DEV_DRIVE = 1, 0x2000, 0x4000
# Values of NtfsDisable8dot3NameCreation.
SHORT_NAMES, NONE_AT_ALL, OF_EACH_VOLUME, OF_SYSTEM_VOLUME = range(4)
# What Azure calls its temporary disks, and puts there.
TEMPORARY_LABEL, TEMPORARY_WARNING = "Temporary Storage", "DATALOSS_WARNING_README.txt"
TEXT_LENGTH = 300

_TEXT = (LPCWSTR, LPWSTR, DWORD)
_root = declared(KERNEL32, "GetVolumePathNameW", success, *_TEXT)
_volume_name = declared(KERNEL32, "GetVolumeNameForVolumeMountPointW", success, *_TEXT)
_device = declared(KERNEL32, "QueryDosDeviceW", success, *_TEXT)
_drive_type = declared(KERNEL32, "GetDriveTypeW", DWORD, LPCWSTR)
_INFORMATION = (HANDLE, LPWSTR, DWORD, LPDWORD, LPDWORD, LPDWORD, LPWSTR, DWORD)
_information = declared(KERNEL32, "GetVolumeInformationByHandleW", success, *_INFORMATION)


class Volume(NamedTuple):
    label: str
    serial: int
    flags: int
    filesystem: str


def _text(call, path):
    """Return the text that a call has about a path; None if it fails."""
    buffer = ctypes.create_unicode_buffer(len(path) + TEXT_LENGTH)
    return buffer.value if known(call, path, buffer, len(buffer)) else None


def _volume_of(path):
    label, filesystem = (ctypes.create_unicode_buffer(TEXT_LENGTH) for _ in range(2))
    serial, longest_name, flags = DWORD(), DWORD(), DWORD()
    numbers = map(ctypes.byref, (serial, longest_name, flags))
    with calls.opened(path, calls.READ_ATTRIBUTES) as handle:
        _information(handle, label, TEXT_LENGTH, *numbers, filesystem, TEXT_LENGTH)
    return Volume(label.value, serial.value, flags.value, filesystem.value)


def _has_state(path, flag):
    """Return whether a persistent flag of the volume is set."""
    question = STATE.pack(0, flag, STATE_VERSION, 0)
    with calls.opened(path, calls.READ_ATTRIBUTES) as handle:
        flags, *_ = STATE.unpack(calls.control(handle, VOLUME_STATE, question, STATE.size))
    return bool(flags & flag)


def _final(path):
    """Return a path without links and drives of subst, or as it is where these are not known."""
    return known(os.path.realpath, path) or os.path.abspath(path)


def root_of(path):
    r"""Return where the path's volume is mounted: D:\, a folder, or a share; None if unknown."""
    root = _text(_root, calls.extended(_final(path)))
    return root and root.replace("\\\\?\\UNC\\", "\\\\", 1).replace("\\\\?\\", "", 1)


def _disks_of(root):
    """Return the numbers of the disks of the volume that is mounted there; [] if unknown."""
    volume = root and _text(_volume_name, root)
    return devices.numbers_of(volume.rstrip("\\")) if volume else []


def observe(name, path, *, may_write=True):  # noqa: ARG001 - Windows knows the disks
    """Describe one place. The path must exist; a fact that cannot be seen is None."""
    status: Any = os.stat(calls.extended(path))
    usage = known(shutil.disk_usage, calls.extended(path))
    root, volume = root_of(path), known(_volume_of, path)
    is_network = is_on_network(root, path)
    disks = [] if is_network else _disks_of(root)
    details = {"ext4_options": None, "btrfs_data_profiles": None}
    return {
        "name": name,
        "path": path,
        "kind": "network" if is_network else "directory",
        "mount": volume and _mount(root, volume),
        "overlay": None,
        "filesystem": volume and {"type": volume.filesystem, **details},
        "size_bytes": usage and usage.total,
        "devices": [devices.describe(number) for number in disks],
        "windows": {
            **_facts_of_folder(path, status.st_file_attributes),
            **_facts_of_volume(path, root, volume),
            **_facts_of_disks(disks),
        },
    }


def is_on_network(root, path):
    if (root or path).startswith("\\\\"):
        return True
    return root is not None and _drive_type(root) == NETWORK_DRIVE


def _mount(root, volume):
    return {
        "device": "%08X" % volume.serial,
        "root": "\\",
        "point": root or "",
        "options": "",
        "filesystem": volume.filesystem,
        "source": (root and _text(_volume_name, root)) or "",
        "super_options": "",
    }


def _facts_of_folder(path, attributes):
    drive = ntpath.splitdrive(path)[0] or ntpath.splitdrive(os.getcwd())[0]
    return {
        "drive": drive,
        "is_substituted_for": substitute_in(_text(_device, drive)),
        "is_compressed": bool(attributes & stat.FILE_ATTRIBUTE_COMPRESSED),
        "is_encrypted": bool(attributes & stat.FILE_ATTRIBUTE_ENCRYPTED),
        "is_excluded": defender.excludes(_final(path)),
    }


def substitute_in(device):
    r"""Return the folder for which a drive stands, as in \??\D:\folder; None if it has a volume."""
    prefix = "\\??\\"
    return device[len(prefix) :] if device and device.startswith(prefix) else None


def _facts_of_volume(path, root, volume):
    block_sizes = known(files.sector_and_cluster_bytes, path)
    return {
        "is_dev_drive": _is_dev_drive(path, volume, DEV_DRIVE),
        "is_trusted_dev_drive": _is_dev_drive(path, volume, TRUSTED_DEV_DRIVE),
        "cluster_bytes": block_sizes and block_sizes[1],
        "short_names": _makes_short_names(path, root, volume),
        "clones_blocks": volume and bool(volume.flags & CLONES_BLOCKS),
        "is_temporary_disk": volume and _is_temporary(root, volume),
    }


def _is_dev_drive(path, volume, flag):
    # Every Dev Drive has ReFS.
    return volume and volume.filesystem == "ReFS" and known(_has_state, path, flag)


def _makes_short_names(path, root, volume):
    """Return whether new files get an 8.3 name, by a setting of all volumes or of this one."""
    if volume is None or volume.filesystem != "NTFS":
        return None
    setting = calls.registry_value(host.FILE_SYSTEM, "NtfsDisable8dot3NameCreation", int)
    if setting == OF_EACH_VOLUME:
        makes_none = known(_has_state, path, NO_SHORT_NAMES)
        return None if makes_none is None else not makes_none
    is_of_system = root is not None and root == root_of(host.SYSTEM_ROOT)
    return {SHORT_NAMES: True, NONE_AT_ALL: False, OF_SYSTEM_VOLUME: is_of_system}.get(setting)


def _is_temporary(root, volume):
    has_warning = root is not None and os.path.exists(root + TEMPORARY_WARNING)
    return volume.label == TEMPORARY_LABEL or has_warning


def _facts_of_disks(disks):
    paging_files = host.paging_files()
    return {
        "is_system_disk": _are_on(disks, [host.SYSTEM_ROOT]),
        "has_paging_file": None if paging_files is None else _are_on(disks, paging_files),
    }


def _are_on(disks, paths):
    """Return whether any of these paths is on one of the disks; None if that is not known."""
    disks_of_paths = [_disks_of(root_of(path)) for path in paths]
    if any(set(disks) & set(numbers) for numbers in disks_of_paths):
        return True
    return False if disks and all(disks_of_paths) else None

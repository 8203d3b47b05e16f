# SPDX-License-Identifier: MPL-2.0
"""The mount table, and the mount of a path."""

import os
import re
from typing import Dict, List, NamedTuple, Optional

from reading import list_names, read_text


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
        if self.filesystem == "aufs":
            return _aufs_of(self)
        if self.filesystem != "overlay":
            return None
        # Since Linux 6.5, each layer can have a separate lowerdir+=.
        layers = re.findall(r"(?:^|,)(?:lowerdir\+?|datadir\+)=([^,]*)", self.super_options)
        values = _option_values(self.super_options)
        return {
            "lower_layers": sum(len(layer.replace("::", ":").split(":")) for layer in layers),
            "upper_directory": values.get("upperdir") and _unescape(values["upperdir"]),
            "volatile": "volatile" in values or values.get("fsync") == "volatile",
        }


def _unescape(field):
    """Decode space, tab, newline and backslash, which mountinfo writes as octal."""
    for code, character in (("040", " "), ("011", "\t"), ("012", "\n"), ("134", "\\")):
        field = field.replace("\\" + code, character)
    return field


def _parse(mountinfo: str) -> List[_Mount]:
    mounts = []
    for line in mountinfo.splitlines():
        fields = line.split()
        if "-" not in fields[6:]:
            continue
        dash = fields.index("-", 6)
        if len(fields) < dash + 4:
            continue
        for index in (3, 4, dash + 2):  # root, point and source
            fields[index] = _unescape(fields[index])
        mounts.append(_Mount(*fields[2:6], *fields[dash + 1 : dash + 4]))
    return mounts


def table() -> List[_Mount]:
    return _parse(read_text("/proc/self/mountinfo") or "")


def mount_of(path: str, mounts: List[_Mount]) -> Optional[_Mount]:
    """Return the mount with the longest matching point; the last one at a point hides the others."""
    path = os.path.realpath(path) + "/"
    above = [m for m in mounts if path.startswith(m.point.rstrip("/") + "/")]
    return max(reversed(above), key=lambda mount: len(mount.point), default=None)


def _option_values(options: str) -> Dict[str, str]:
    """Parse options such as 'rw,upperdir=/x' into a dictionary; a flag's value is empty."""
    parts = [part.partition("=") for part in options.split(",") if part]
    return {name: value for name, _, value in parts}


def _aufs_of(mount: _Mount) -> Optional[dict]:
    """Return the layers by the branches in /sys, of which the first is the upper one."""
    folder = "/sys/fs/aufs/si_" + _option_values(mount.super_options).get("si", "")
    branches = [name for name in list_names(folder) if re.fullmatch("br[0-9]+", name)]
    if not branches:
        return None
    lower = len(branches) - 1
    return {"lower_layers": lower, "upper_directory": None, "volatile": False}

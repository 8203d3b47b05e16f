# SPDX-License-Identifier: MPL-2.0
"""Google's machine types: their series, and how many CPUs they have.

What a disk is whose definition names no type ("newer machine series" have Hyperdisk):
https://pub.dev/documentation/googleapis/17.0.0/compute_v1/AttachedDiskInitializeParams/diskType.html
"""

import re

from msgspec import Struct

_LONGEST = 64
# The series, what its machines are for, their virtual CPUs, and memory or disks.
_NAME = re.compile(r"([a-z][0-9][a-z]?)-([a-z]+)-([0-9]{1,3})(g|)((?:-[a-z0-9]+){0,3})")
_CUSTOM_OF_N1 = re.compile(r"custom-([0-9]{1,3})-[0-9]{1,6}(?:-ext)?")
_SHARED_CORES = {
    "f1-micro": "f1",
    "g1-small": "g1",
    "e2-micro": "e2",
    "e2-small": "e2",
    "e2-medium": "e2",
}

_FOURTH_GENERATION = ("a4", "c4", "c4a", "c4d", "g4", "h4d", "m4", "n4", "n4a", "n4d", "x4")
_BY_DEFAULT = {
    "pd-standard": ("f1", "g1", "n1", "n2", "n2d", "e2", "t2a", "t2d", "c2", "c2d", "m1", "m2"),
    "pd-balanced": ("c3", "c3d", "m3"),
    "hyperdisk-balanced": (*_FOURTH_GENERATION, "a3", "h3", "z3"),
}
DEFAULT_KINDS = {series: kind for kind, names in _BY_DEFAULT.items() for series in names}
_OTHER_SERIES = ("a2", "g2")  # it is not clear which generation they are of
# The virtual CPUs that a series comes with; those of other series are not checked.
_CPUS = {
    "c2": (4, 8, 16, 30, 60),
    "c2d": (2, 4, 8, 16, 32, 56, 112),
    "c3": (4, 8, 22, 44, 88, 176, 192),
    "c3d": (4, 8, 16, 30, 60, 90, 180, 360),
    "c4": (2, 4, 8, 16, 24, 32, 48, 96, 144, 192, 288),
    "c4a": (1, 2, 4, 8, 16, 32, 48, 64, 72),
    "c4d": (2, 4, 8, 16, 32, 48, 64, 96, 192, 384),
    "g2": (4, 8, 12, 16, 24, 32, 48, 96),
    "t2a": (1, 2, 4, 8, 16, 32, 48),
    "t2d": (1, 2, 4, 8, 16, 32, 48, 60),
}


class MachineType(Struct, frozen=True):
    name: str
    series: str
    cpus: int | None  # None: a part of one, or the name has the number of graphics cards

    @classmethod
    def parse(cls, name: str) -> "MachineType | None":
        """Return what a name says; None: no such series or size is known."""
        if len(name) > _LONGEST:
            return None
        if name in _SHARED_CORES:
            return cls(name, _SHARED_CORES[name], None)
        if match := _CUSTOM_OF_N1.fullmatch(name):
            return cls(name, "n1", int(match[1]))
        match = _NAME.fullmatch(name)
        if match is None or match[1] not in (*DEFAULT_KINDS, *_OTHER_SERIES):
            return None
        series, cpus = match[1], int(match[3])
        if cpus == 0 or (series in _CPUS and cpus not in _CPUS[series]):
            return None
        return cls(name, series, None if match[4] else cpus)

    @property
    def default_kind(self) -> str | None:
        return DEFAULT_KINDS.get(self.series)

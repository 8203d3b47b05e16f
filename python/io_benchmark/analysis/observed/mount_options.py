# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""The file system of a place, and the options that it is mounted with."""

from io_benchmark.analysis.observed.worker_view import View
from io_benchmark.results.format import StoragePlace

LAYERED = ("overlay", "aufs")


def filesystem_type(place: StoragePlace | None) -> str | None:
    """Return 'ext4'; an overlay hides the file system below it."""
    if place is None:
        return None
    if place.filesystem is not None:
        return place.filesystem.type
    return place.mount.filesystem if place.mount is not None else None


def mount_table_options(view: View) -> dict[str, str]:
    """Return the options in the mount table, which leaves some defaults out."""
    mount = view.place.mount if view.place is not None else None
    if mount is None:
        return {}
    options = [*mount.options.split(","), *mount.super_options.split(",")]
    return dict(_split(option) for option in options if option)


def all_options(view: View) -> dict[str, str]:
    """Return every option that the mount table, the super block and ext4 itself name."""
    details = view.place.filesystem if view.place is not None else None
    options = mount_table_options(view)
    if details is not None:
        options |= dict(_split(option) for option in details.ext4_options or [] if option)
    for old, new in (("barrier=0", "nobarrier"), ("barrier=1", "barrier")):
        name, value = old.split("=")
        if options.get(name) == value:
            del options[name]
            options[new] = ""
    return options


def _split(option: str) -> tuple[str, str]:
    name, _, value = option.partition("=")
    return name, value

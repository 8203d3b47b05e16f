# SPDX-License-Identifier: MPL-2.0
"""The file system of a place and how it is mounted."""

from collections.abc import Iterable

from io_benchmark.analysis.model.once import once
from io_benchmark.analysis.model.run import Run

# File systems that hide the one below them.
LAYERED = ("overlay", "fuse.fuse-overlayfs")


def filesystem_type(run: Run) -> str | None:
    """Return 'ext4'; an overlay hides the file system below it."""
    if run.place is None:
        return None
    if run.place.filesystem is not None:
        return run.place.filesystem.type
    return run.place.mount.filesystem if run.place.mount is not None else None


def mount_table_options(run: Run) -> dict[str, str]:
    """Return the options in the mount table, which leaves some defaults out."""
    mount = run.place.mount if run.place is not None else None
    return _options(f"{mount.options},{mount.super_options}".split(",")) if mount else {}


@once
def mount_options(run: Run) -> dict[str, str]:
    """Return every option that the mount table, the super block and ext4 itself name."""
    details = run.place.filesystem if run.place is not None else None
    options = mount_table_options(run) | _options((details and details.ext4_options) or [])
    barrier = {"0": "nobarrier", "1": "barrier"}.get(options.get("barrier", ""))
    if barrier is not None:
        del options["barrier"]
        options[barrier] = ""
    return options


def _options(options: Iterable[str]) -> dict[str, str]:
    parts = (option.partition("=") for option in options if option)
    return {name: value for name, _, value in parts}

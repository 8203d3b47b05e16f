# SPDX-License-Identifier: MPL-2.0
"""The tree that a command works on: `--root`, the surrounding checkout, or the bundled copy."""

from pathlib import Path
from typing import Self

from msgspec import Struct

from io_benchmark.errors import UsageError
from io_benchmark.paths import refuse_unreadable

# A tree is known by these; the second keeps Firefox's and other projects' kinds apart from ours.
MARKS = ("taskcluster/config.yml", "scripts/io-benchmark/__main__.py")
_ADVICE = "name the folder that contains taskcluster/"
TRANSFORMS = "python/io_benchmark_taskgraph"
BUNDLE = Path(__file__).resolve().parent.parent / "bundle"


class Root(Struct, frozen=True):
    """The folder that holds `taskcluster/`, and how it was found."""

    path: Path
    origin: str  # "--root", "checkout" or "bundled copy"

    def __str__(self) -> str:
        return f"{self.path} ({self.origin})"

    @property
    def transforms(self) -> Path:
        """Return the folder of the transforms: those of the bundled copy are installed as a package."""
        return (
            BUNDLE.parent.parent / Path(TRANSFORMS).name
            if self.path == BUNDLE
            else self.path / TRANSFORMS
        )

    @classmethod
    def find(cls, explicit: Path | None, start: Path) -> Self:
        """Find the tree to work on: the named one, else the nearest from `start` upward."""
        if explicit is not None:
            with refuse_unreadable(f"--root {explicit}", _ADVICE):
                path = explicit.expanduser().resolve(strict=True)
                missing = _missing_mark(path)
            if missing:
                raise UsageError(
                    f"--root {explicit}: {missing} is missing; name the folder that contains taskcluster/"
                )
            return cls(path, "--root")
        with refuse_unreadable(str(start), _ADVICE):
            start = start.resolve(strict=True)
            # The last is the program's own checkout, of an editable installation.
            for folder in (start, *start.parents, BUNDLE.parents[2]):
                if _missing_mark(folder) is None:
                    return cls(folder, "checkout")
        if _missing_mark(BUNDLE) is None:
            return cls(BUNDLE, "bundled copy")
        raise UsageError(
            f"{start}: neither this folder nor one above contains {' and '.join(MARKS)}, and this "
            "installation has no copy; go to a checkout of io-benchmark or name one with --root"
        )


def _missing_mark(path: Path) -> str | None:
    return next((mark for mark in MARKS if not (path / mark).is_file()), None)

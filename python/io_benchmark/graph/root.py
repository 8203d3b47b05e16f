# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Which tree a command works on: `--root`, the checkout around you, or the bundled copy."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from io_benchmark.errors import RootError

# A tree is known by these; the second keeps Firefox's and other projects' kinds apart from ours.
MARKS = ("taskcluster/config.yml", "scripts/io-benchmark/__main__.py")
SHOWN_PATH = 200  # characters of a path in a message
BUNDLE = Path(__file__).resolve().parent.parent / "bundle"


@dataclass(frozen=True)
class Root:
    """The folder that holds `taskcluster/`, and how it was found."""

    path: Path
    origin: str  # "--root", "checkout" or "bundled copy"

    def __str__(self) -> str:
        return f"{self.path} ({self.origin})"


def missing_mark(path: Path) -> str | None:
    return next((mark for mark in MARKS if not (path / mark).is_file()), None)


@contextmanager
def _refusing(path: Path, option: str = "") -> Iterator[None]:
    """A path that the system cannot follow is a mistake in the path, not in the program."""
    try:
        yield
    except OSError as error:
        reason = error.strerror or str(error)
    except (RuntimeError, ValueError) as error:
        # pathlib: a loop of links, `~` of an unknown user, a null byte.
        reason = str(error)
    else:
        return
    shown = str(path) if len(str(path)) <= SHOWN_PATH else f"{str(path)[:SHOWN_PATH]}…"
    raise RootError(
        f"{option}{shown}: cannot read this path ({reason}); name the folder that holds taskcluster/"
    )


def find_root(explicit: Path | None, start: Path) -> Root:
    """The tree to work on, looked for from `start` upward unless it was named."""
    if explicit is not None:
        with _refusing(explicit, "--root "):
            path = explicit.expanduser().resolve(strict=True)
            missing = missing_mark(path)
        if missing:
            raise RootError(
                f"--root {explicit}: there is no {missing}; name the folder that holds taskcluster/"
            )
        return Root(path, "--root")
    with _refusing(start):
        start = start.resolve(strict=True)
        for folder in (start, *start.parents):
            if missing_mark(folder) is None:
                return Root(folder, "checkout")
    if missing_mark(BUNDLE) is None:
        return Root(BUNDLE, "bundled copy")
    raise RootError(
        f"{start}: neither this folder nor one above holds {' and '.join(MARKS)}, and this "
        "installation carries no copy; go into a checkout of io-benchmark or name one by --root"
    )

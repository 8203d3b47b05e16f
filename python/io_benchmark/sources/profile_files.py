# SPDX-License-Identifier: MPL-2.0
"""Profiles of tasks on this machine: a file of any name, or the files in a folder that have a profile's name."""

import os
import re
from pathlib import Path

from io_benchmark.errors import ResultError, UsageError
from io_benchmark.results import load
from io_benchmark.results.resource_profile import MAXIMUM_RESOURCE_BYTES, parse_any_profile
from io_benchmark.sources import run_files
from io_benchmark.sources.protocol import Position, ProfileQuery, ReadLog, SourceAddress
from io_benchmark.sources.run_results import RunProfile
from io_benchmark.text import clean

# As `measure`, test tasks and builds of Firefox name them, and as browsers name a second download.
PROFILE_NAME = re.compile(
    r"(task-profile|profile_resource-usage|profile_build_resources)(-[0-9]+| ?\([0-9]+\))?\.json"
)
_MAXIMUM_FILES = 200_000
_MAXIMUM_PROFILES = 1_000


def read_profiles(address: SourceAddress, query: ProfileQuery, log: ReadLog) -> None:
    """Read a file, which must be a profile, or those in a folder, where an unreadable one stops nothing."""
    top = Path(address.meaning)
    if not top.is_dir():
        query.profiles.append((Position(address.number), _read_profile(top)))
        return
    for number, path in enumerate(_find_profiles(top)):
        position = Position(address.number, run_id=number)
        if query.budget.allows_reading(str(path)):
            try:
                query.profiles.append((position, _read_profile(path)))
                query.budget.spend(path.stat().st_size)
            except ResultError as error:
                log.problem(position, str(error))


def _read_profile(path: Path) -> RunProfile:
    if path.exists():
        run_files.check_regular(path)
    data = load(path, MAXIMUM_RESOURCE_BYTES)
    return RunProfile(parse_any_profile(data, str(path)), None, str(path))


def _find_profiles(top: Path) -> list[Path]:
    """Return the profiles in a folder and those below it; raise a UsageError where there is none."""
    label = clean(str(top), run_files.LABEL_LENGTH)
    paths: list[Path] = []
    seen = 0
    for folder, _, names in os.walk(top):
        seen += len(names)
        paths += [Path(folder, name) for name in names if PROFILE_NAME.fullmatch(name)]
        if seen > _MAXIMUM_FILES or len(paths) > _MAXIMUM_PROFILES:
            raise UsageError(
                f"{label}: has more than {_MAXIMUM_FILES:,} files or {_MAXIMUM_PROFILES:,} profiles; "
                "name a folder with fewer"
            )
    if not paths:
        raise UsageError(
            f"{label}: has no profile of a task; name the file, or a folder with task-profile.json or "
            "profile_resource-usage.json"
        )
    return sorted(paths)

# SPDX-License-Identifier: MPL-2.0
"""Add the package where the project keeps what its decision task installs, and its tests.

A lock has hashes, which the project's own tool makes: it is only said how.
"""

import re
import shlex
import tomllib
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from io_benchmark import __version__
from io_benchmark.adopt.projects.draft import Draft, end_of_lines, with_last_line, without
from io_benchmark.adopt.projects.pins import DECISION, PACKAGE, PYPROJECTS
from io_benchmark.yaml_reader import YamlError, parse_yaml

LOCK = "taskcluster/requirements.txt"
REQUIREMENT = f"{PACKAGE}=={__version__}"
_TASKGRAPH = "taskcluster-taskgraph"
# With taskgraph in it, which a pyproject.toml does not change.
_IMAGE = "taskgraph:decision"
_INSTALLS = r"^[^#\n]*_PIP_REQUIREMENTS"
_INSTALLED = _INSTALLS + r": *['\"]?([A-Za-z0-9_][\w./-]{0,200}\.txt)\b"
_REPOSITORY_TYPE = r"^( *)(- +)?(['\"]?)(\S+)_REPOSITORY_TYPE\3:[^\n]*\n"
# Of the head of a lock: the command that made it.
_MADE_BY = r"^#[ \t]+((?:pip-compile|uv pip compile|uv export|poetry export)\b[^\r\n]{0,300})"
_HEAD_CHARACTERS = 1000
_IN_LIST = rf"^([ \t]*)(['\"]){_TASKGRAPH}\b[^'\"\n]*\2(,?)[^\n]*\n"
# As poetry has it; tables of uv say where a package is from.
_AS_KEY = rf"^{_TASKGRAPH} *= *\"[^\n]*\n"


def find_lock(draft: Draft) -> str:
    """Return the file that the decision task installs, or would."""
    installed = re.search(_INSTALLED, draft.content(DECISION), re.MULTILINE)
    return installed[1] if installed and ".." not in installed[1] else LOCK


def source_of(lock: str) -> str:
    return f"{lock.removesuffix('.txt')}.in"


def add_requirement(draft: Draft, version: str | None) -> None:
    """Add the package, and taskgraph's version where the lock would get the newest one."""
    lock = find_lock(draft)
    source = source_of(lock)
    is_in_pyproject = _add_to_pyprojects(draft)
    has_requirements = draft.exists(source) or draft.exists(lock)
    if is_in_pyproject and not has_requirements and _IMAGE not in draft.content(DECISION):
        return  # The decision task installs what pyproject.toml says.
    if draft.exists(source) or not draft.exists(lock):
        requirements = draft.content(source)
        if not _names(PACKAGE, requirements):
            draft.texts[source] = with_last_line(requirements, REQUIREMENT)
        is_known = _names(_TASKGRAPH, requirements) or _names(_TASKGRAPH, draft.content(lock))
        if version is not None and not is_known:
            draft.texts[source] = with_last_line(draft.content(source), f"{_TASKGRAPH}=={version}")
        if not _names(PACKAGE, draft.content(lock)):
            draft.steps.append(f"make {lock} from {source}: {_command(draft, lock, source)}")
    elif not _names(PACKAGE, draft.content(lock)):
        command = shlex.join(("pipx", "run", "hashin", "-r", lock, REQUIREMENT))
        draft.steps.append(f"add {REQUIREMENT} to {lock}: {command}")
    if not re.search(_INSTALLS, draft.content(DECISION), re.MULTILINE):
        _install_in_decision_task(draft, lock)


def _names(package: str, requirements: str) -> bool:
    pattern = f"^{package.replace('-', '[-_.]')}(?![-_.A-Za-z0-9])"
    return re.search(pattern, requirements, re.MULTILINE | re.IGNORECASE) is not None


def _command(draft: Draft, lock: str, source: str) -> str:
    """Return the command that made the lock, by its head; another one where there is none."""
    made_by = re.search(_MADE_BY, draft.content(lock)[:_HEAD_CHARACTERS], re.MULTILINE)
    if made_by is None:
        tool = "uv pip compile" if draft.exists("uv.lock") else "pip-compile"
        return f"{tool} --generate-hashes --output-file={shlex.quote(lock)} {shlex.quote(source)}"
    command = made_by[1].strip()
    folder = lock.rpartition("/")[0]
    is_made_above = not folder or f"{folder}/" in command
    return command if is_made_above else f"cd {shlex.quote(folder)} && {command}"


def _install_in_decision_task(draft: Draft, lock: str) -> None:
    """Add the variable by which run-task installs the lock to the others of the checkout."""
    before = draft.content(DECISION)
    matches = list(re.finditer(_REPOSITORY_TYPE, before, re.MULTILINE))
    if len(matches) == 1:
        match = matches[0]
        indentation, dash, quote, prefix = match.groups(default="")
        key = f"{prefix}_PIP_REQUIREMENTS"
        line = f"{indentation}{' ' * len(dash)}{quote}{key}{quote}: {lock}{end_of_lines(before)}"
        after = f"{before[: match.end()]}{line}{before[match.end() :]}"
        with suppress(YamlError):
            if without(parse_yaml(after), key) == parse_yaml(before):
                draft.texts[DECISION] = after
                return
    draft.steps.append(
        f"set NAME_PIP_REQUIREMENTS: {lock} for the decision task in {DECISION}, with the name "
        "that is in its --NAME-checkout"
    )


def _add_to_pyprojects(draft: Draft) -> bool:
    """Add the package next to taskgraph, which tests and people get from there, and say if it is.

    A decision task whose image lacks taskgraph gets it from there, too. The dependencies of the
    project itself stay: all who use it would get the package.
    """
    paths = [path for path in PYPROJECTS if _requires_taskgraph(draft.content(path))]
    for path in paths:
        before = draft.content(path)
        if PACKAGE in before:
            continue
        after = re.sub(_IN_LIST, _with_item, before, flags=re.MULTILINE)
        after = re.sub(_AS_KEY, _with_key, after, flags=re.MULTILINE)
        if after != before and _has_only_added(before, after):
            draft.texts[path] = after
            _say_to_lock(draft, path.removesuffix("pyproject.toml"))
        else:
            draft.steps.append(
                f"add {REQUIREMENT} where {path} has {_TASKGRAPH}, if that is not "
                "for all who use the project"
            )
    return any(PACKAGE in draft.content(path) for path in paths)


def _requires_taskgraph(pyproject: str) -> bool:
    """Return whether it is in a list, or a key; where the file is not TOML, whether it is there."""
    is_there = _TASKGRAPH in pyproject
    with suppress(tomllib.TOMLDecodeError, RecursionError):
        return is_there and _has_requirement(tomllib.loads(pyproject))
    return is_there


def _has_requirement(value: Any) -> bool:
    if isinstance(value, dict):
        return _TASKGRAPH in value or any(map(_has_requirement, value.values()))
    if isinstance(value, list):
        return any(
            _names(_TASKGRAPH, item) if isinstance(item, str) else _has_requirement(item)
            for item in value
        )
    return False


def _has_only_added(before: str, after: str) -> bool:
    """Return whether the package was added to groups, and not to dependencies or uv's settings."""
    with suppress(tomllib.TOMLDecodeError, RecursionError):
        data_before, data_after = tomllib.loads(before), tomllib.loads(after)
        is_kept = without(without(data_after, REQUIREMENT), PACKAGE) == data_before
        return bool(is_kept and _other_lists(data_after) == _other_lists(data_before))
    return False


def _other_lists(pyproject: Mapping[str, Any]) -> list[Any]:
    """Return the project's own dependencies, and what uv is set to, such as constraints."""
    project, tools = pyproject.get("project"), pyproject.get("tool")
    return [
        project.get("dependencies") if isinstance(project, dict) else None,
        tools.get("uv") if isinstance(tools, dict) else None,
    ]


def _say_to_lock(draft: Draft, folder: str) -> None:
    for tool in ("uv", "poetry"):
        lock = f"{folder}{tool}.lock"
        if draft.exists(lock):
            place = f"cd {folder.rstrip('/')} && " if folder else ""
            draft.steps.append(f"make {lock} again: {place}{tool} lock")


def _with_item(match: re.Match[str]) -> str:
    """Return a line of a list with the package behind it, or before it where it is the last."""
    item = f"{match[1]}{match[2]}{REQUIREMENT}{match[2]},{end_of_lines(match[0])}"
    return f"{match[0]}{item}" if match[3] else f"{item}{match[0]}"


def _with_key(match: re.Match[str]) -> str:
    return f'{match[0]}{PACKAGE} = "{__version__}"{end_of_lines(match[0])}'

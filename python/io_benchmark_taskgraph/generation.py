# SPDX-License-Identifier: MPL-2.0
"""Generate the benchmark's tasks of a project, in a process of its own: `io-benchmark` starts it.

    python3 generation.py < REQUEST > ANSWER

The current folder is the project's root. It runs in the project's own environment, where only
taskgraph and what the project itself needs are installed. Other kinds than the benchmark's, and
their images, are not loaded. The request and the answer are JSON. The answer has the tasks that
names select, or the problem in one line.
"""

from __future__ import annotations

import importlib.util
import json
import logging
import os
import re
import sys
import traceback
from pathlib import Path
from typing import Any

ROOT = "taskcluster"
_PACKAGE = "io_benchmark_taskgraph"
_FOLDER = Path(__file__).resolve().parent
# `.invalid` is reserved (RFC 2606), so nothing here can send requests to a real deployment.
NO_ROOT_URL = "https://taskcluster.invalid"
# For a checkout without an address on GitHub: taskgraph needs one for the links in its tasks.
_SOME_REPOSITORY = "https://github.com/example/example"
_MOST_CHARACTERS = 2000  # of a problem
_MOST_OF_A_MESSAGE = 200  # where a name and a place are said as well
_OF_THE_NETWORK = ("ConnectionError", "ConnectTimeout", "ReadTimeout", "URLError", "gaierror")
_ON_GITHUB = ("https://github.com/", "git@github.com:")


def main() -> None:
    # Python puts the folder of this file first: its modules are not for import by bare names.
    sys.path[:] = [entry for entry in sys.path if Path(entry).resolve() != _FOLDER]
    request = json.load(sys.stdin)
    # What the project's code prints must not get into the answer.
    with os.fdopen(os.dup(1), "w", encoding="ascii") as answer:
        silence = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(silence, stream)
        try:
            text = json.dumps({"tasks": _tasks(request)})
        except BaseException as error:  # noqa: BLE001 - SystemExit, too, is the project's mistake
            text = json.dumps(_problem(error))
        answer.write(text)
    # A thread that the project's code has started may never end.
    os._exit(0)


def _tasks(request: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the selected tasks, with the attributes that the caller asks for."""
    # One kind after another: a process per kind would cost more than it saves.
    os.environ["TASKGRAPH_SERIAL"] = "1"
    # Projects read it, and a native worker's task takes run-task from there.
    os.environ.setdefault("TASKCLUSTER_ROOT_URL", NO_ROOT_URL)
    logging.disable(logging.CRITICAL)
    if request["has_transforms"]:
        sys.path.insert(0, str(Path("python").absolute()))
    sys.meta_path.append(_LastFinder)

    from taskgraph.generator import TaskGraphGenerator  # noqa: PLC0415

    from io_benchmark_taskgraph.mistakes import check_tree  # noqa: PLC0415

    def parameters(graph_config: Any) -> Any:
        return _parameters(request, graph_config)

    # A decision task checks the files only after it loaded config.yml.
    check_tree(Path(ROOT).absolute())
    generator = TaskGraphGenerator(ROOT, parameters)
    return [
        {
            "label": task.label,
            "kind": task.kind,
            "attributes": {name: task.attributes.get(name) for name in request["attributes"]},
            "definition": task.task,
            "image": task.dependencies.get("docker-image"),
        }
        for task in generator.target_task_set.tasks.values()
    ]


class _LastFinder:
    """Finds this package where no other is installed."""

    @staticmethod
    def find_spec(name: str, _path: Any = None, _target: Any = None) -> Any:
        file = _FOLDER / "__init__.py"
        return importlib.util.spec_from_file_location(name, file) if name == _PACKAGE else None


def _parameters(request: dict[str, Any], graph_config: Any) -> Any:
    """Return the parameters that are given, and the project's defaults of all others."""
    from taskgraph import target_tasks  # noqa: PLC0415
    from taskgraph.parameters import Parameters  # noqa: PLC0415

    given = dict(request["parameters"])
    method = given["target_tasks_method"]
    try:
        target_tasks.get_method(method)
    except KeyError:
        from io_benchmark_taskgraph.versions import UserMistake  # noqa: PLC0415

        raise UserMistake(
            "taskcluster/config.yml: what `register` names does not call "
            "io_benchmark_taskgraph.register; io-benchmark init adds the call"
        ) from None
    kinds = Path(ROOT, "kinds")
    # With this parameter, taskgraph always loads docker-image as well.
    if (kinds / "docker-image" / "kind.yml").is_file():
        names = (file.parent.name for file in kinds.glob("io-benchmark*/kind.yml"))
        given["target-kinds"] = sorted(names)
    if request["has_transforms"]:
        return Parameters(strict=True, **given)
    root = str(graph_config.vcs_root)
    found = Parameters(strict=False, repo_root=root, **given)
    if not found["project"]:
        given["project"] = Path.cwd().name
    on_github = str(found["head_repository"]).startswith(_ON_GITHUB)
    if found["repository_type"] == "git" and not on_github:
        given["head_repository"] = given["base_repository"] = _SOME_REPOSITORY
    return Parameters(strict=False, repo_root=root, **given)


def _problem(error: BaseException) -> dict[str, Any]:
    """Return the line that says what is wrong, and whether another environment may be right."""
    mistake = _mistake(error)
    return {
        "problem": (mistake or _failure(error))[:_MOST_CHARACTERS],
        "is_mistake": mistake is not None,
        "missing": _missing_module(error),
    }


def _missing_module(error: BaseException) -> str | None:
    """Return the package that this environment lacks; a module that the tree lacks is none."""
    if not isinstance(error, ModuleNotFoundError) or not error.name:
        return None
    package = error.name.partition(".")[0]
    return package if importlib.util.find_spec(package) is None else None


def _mistake(error: BaseException) -> str | None:
    """Return what is wrong in a file of a kind, if that is the reason."""
    message = _first_line(str(error))
    mark = getattr(error, "problem_mark", None)
    if mark is not None:  # of YAML
        problem = _first_line(str(getattr(error, "problem", None) or error))
        place = str(mark.name).replace(f"{Path.cwd()}/", "")
        return f"{place} line {mark.line + 1}: {problem}; correct the YAML there"
    if isinstance(error, FileNotFoundError) and error.filename:
        path = Path(str(error.filename)).absolute()
        return f"{path}: no such file; create it or correct the kind that names it"
    alias = re.match(r"No (?:worker-type|alias) matching '(.+?)' ", message)
    if alias is not None:
        return (
            f"taskcluster/config.yml: workers.aliases has no {alias[1]!r}, which a task names as "
            "its worker-type; add the alias or correct the task"
        )
    mistakes = sys.modules.get(f"{_PACKAGE}.mistakes")
    is_for_users = mistakes is not None and isinstance(error, mistakes.UserMistake)
    return message if is_for_users else None


def _failure(error: BaseException) -> str:
    """Return what has failed in the project's code, or in taskgraph."""
    name, message = type(error).__name__, _first_line(str(error))
    place = _place_in_tree(error)
    if place:
        if len(message) > _MOST_OF_A_MESSAGE:
            message = f"{message[:_MOST_OF_A_MESSAGE]}…"
        network = "; this project needs the network here" if name in _OF_THE_NETWORK else ""
        return f"{place}: {name}: {message}{network}"
    # taskgraph raises plain `Exception` for what its schemas do not cover.
    if isinstance(error, OSError) or type(error) is Exception:
        return message
    # A kind of an unexpected form, or a bug.
    return (
        f"the kinds in {Path.cwd()}/taskcluster cannot be generated ({name}: {message}); "
        "`taskgraph full` shows where"
    )


def _place_in_tree(error: BaseException) -> str:
    """Return the file of the project's own code that raised the error, and the line; or nothing."""
    folder = Path(ROOT).absolute()
    for frame, line in reversed(list(traceback.walk_tb(error.__traceback__))):
        path = Path(frame.f_code.co_filename).absolute()
        if folder in path.parents:
            return f"{path.relative_to(folder.parent)} line {line}"
    return ""


def _first_line(message: str) -> str:
    """Return the first line of a message; taskgraph prints the whole task after it."""
    lines = [" ".join(line.split()) for line in message.splitlines() if line.strip()]
    if len(lines) > 1 and lines[0].endswith(":"):
        return f"{lines[0]} {lines[1]}"
    return lines[0] if lines else "no reason given"


if __name__ == "__main__":
    main()

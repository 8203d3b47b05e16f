# SPDX-License-Identifier: MPL-2.0
"""Run the kind with many versions of taskgraph, in each Python of this machine from 3.9 on.

usage: run.py [--few] [--output FOLDER] [VERSION ...]

`io-benchmark init` puts the kind into two projects: one that the version's `taskgraph init` wrote,
and one that has a `register` and decision parameters of its own. Each version has to make the same
tasks of them in each Python, and to print a mistake as one line. Then the tests of the kind run
with it, in the Python of this script. `--few` runs the oldest version, one in the middle and the
newest. `--output` leaves the tasks as `taskgraph full -J` prints them, per version and project.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(HERE), str(ROOT / "tests/helpers")]
from installing import LOCKS, Version  # noqa: E402
from pythons import interpreters  # noqa: E402

OLDEST_PYTHON = 9  # as the package requires
POOLS = ("--pool", "small=b-linux", "--pool", "large=t-linux-large")
TASKS = ["io-benchmark-large", "io-benchmark-report", "io-benchmark-small"]
KIND = "taskcluster/kinds/io-benchmark/kind.yml"
GENERATE = HERE / "generate.py"
SELECTING = "Measure\n\ntry: -j io-benchmark"
# By the line that is printed: what is added to the last pool, and the commit's message.
MISTAKES = {
    f"{KIND}: task large: benchmark.retrieves: 0 is not a whole number from 1 to 100,000": (
        "        benchmark: {retrieves: 0}\n",
        SELECTING,
    ),
    f"{KIND} line 20: the key worker-type is given twice in one mapping and only the last would "
    "count; rename or remove one": ("        worker-type: b-linux\n", SELECTING),
    "the commit message's line 'try: -j a, b' is not understood; write try: -j NAME[,NAME] "
    "[--rebuild N] [--capacities] without spaces between the names, N at most 100": (
        "",
        "Measure\n\ntry: -j a, b",
    ),
}


def complete(
    command: Sequence[str | Path], folder: Path, **variables: str
) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", **variables}
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


def run(command: Sequence[str | Path], folder: Path, **variables: str) -> str:
    """Return what a command prints; one that fails ends this program."""
    done = complete(command, folder, **variables)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))} in {folder} failed:\n{done.stdout}{done.stderr}")
    return done.stdout


def commit(project: Path, message: str) -> None:
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@example.com"]
    if not (project / ".git").exists():
        run([*git, "init", "--quiet"], project)
        run([*git, "remote", "add", "origin", "https://github.com/example/project"], project)
    run([*git, "add", "."], project)
    run([*git, "commit", "--quiet", "--allow-empty", "--message", message], project)


def writer_of(name: str, work: Path) -> tuple[Version, Path]:
    """Return the version that writes a project, and its template.

    8.1.0 has none of its own, so that the version after it writes the project.
    """
    names = list(LOCKS)
    for later in names[names.index(name) :]:
        version = Version(later)
        template = version.template(work)
        if template is not None:
            return version, template
    sys.exit(f"taskgraph {name} has no template, nor has a newer version")


def new_projects(folder: Path, writer: Version, template: Path) -> dict[str, Path]:
    """Make both projects with the kind in them; the first one's writer is `taskgraph init`."""
    initial, own = (folder / name / "project" for name in ("init", "own"))
    initial.mkdir(parents=True)
    commit(initial, "Begin")
    program = "from taskgraph.main import main; main()"
    command = [sys.executable, "-c", program, "init", "--template", str(template)]
    run(command, initial, PYTHONPATH=str(writer.taskgraph))
    shutil.copytree(HERE / "project", own)
    for project in (initial, own):
        run([sys.executable, "-m", "io_benchmark.cli", "init", *POOLS], project)
        commit(project, SELECTING)
    return {"init": initial, "own": own}


def graph_of(project: Path, python: str, path: str) -> Any:
    """Return the tasks that a decision task makes of a project, and the labels of the selected."""
    head = run(["git", "rev-parse", "HEAD"], project).strip()
    text = run([python, "-S", GENERATE], project, PYTHONPATH=path)
    return json.loads(text.replace(head, "0" * len(head)))


def comparable(node: Any) -> Any:
    """Return a task without what taskgraph itself makes differently in some versions.

    Their templates also have other worker types for the same aliases.
    """
    task = dict(node["task"])
    del task["workerType"]
    task["tags"] = {
        key: tag for key, tag in task["tags"].items() if key not in ("project", "trust-domain")
    }
    dependencies = {
        name: label.removeprefix("build-") for name, label in node["dependencies"].items()
    }
    return {**node, "dependencies": dependencies, "task": task}


def problems_with_mistakes(project: Path, python: str, path: str) -> list[str]:
    """Make each mistake in a copy of the project, and return what was not printed as one line."""
    problems = []
    for line, (addition, message) in MISTAKES.items():
        with tempfile.TemporaryDirectory() as folder:
            copy = Path(folder) / "project"
            shutil.copytree(project, copy)
            with (copy / KIND).open("a") as file:
                file.write(addition)
            commit(copy, message)
            # As in a decision task, which is not reached by the mistakes.
            variables = {"TASK_ID": "x", "TASKCLUSTER_ROOT_URL": "http://127.0.0.1:1"}
            done = complete(
                [python, "-S", GENERATE, "decision"], copy, PYTHONPATH=path, **variables
            )
        printed = [
            text.rpartition(" - ERROR - ")[2]
            for text in done.stderr.splitlines()
            if " - INFO - " not in text and " - WARNING - " not in text
        ]
        # taskgraph's own line names the kind.
        if printed[:1] == ["Error loading tasks for kind io-benchmark:"]:
            printed = printed[1:]
        if done.returncode != 1 or printed != [line]:
            problems.append(f"instead of the line {line!r}:\n{done.stderr}")
    return problems


def problems_with_version(
    version: Version, projects: dict[str, Path], expected: dict[str, Any], output: Path | None
) -> list[str]:
    """Return what is wrong with a version in any Python; the first one decides what is expected."""
    problems: list[str] = []
    for name, python in interpreters(OLDEST_PYTHON).items():
        path = version.path(name, python)
        found = problems_with_mistakes(projects["own"], python, path)
        for kind, project in projects.items():
            graph = graph_of(project, python, path)
            if graph["target"] != TASKS:
                found.append(f"{kind}: selects {graph['target']}")
            nodes = {label: graph["full"][label] for label in TASKS}
            tasks = {label: comparable(node) for label, node in nodes.items()}
            if expected.setdefault(kind, tasks) != tasks:
                found.append(f"{kind}: the tasks differ from those of the first version")
            if output is not None:
                file = output / f"{version.name}-{kind}.json"
                file.write_text(json.dumps(nodes, indent=1, sort_keys=True))
        print(f"taskgraph {version.name}, Python {name}: {len(found)} problems", flush=True)
        problems += (f"Python {name}: {problem}" for problem in found)
    return problems


def passes_tests(version: Version) -> bool:
    """Run the tests of the kind; the scopes of a deployment are those of this project's version."""
    tests = ROOT / "tests/taskgraph"
    options = ["-q", "-n", "2", "-p", "no:cacheprovider"]
    options += ["--ignore", str(tests / "test_deploying.py")]
    environment = {**os.environ, "PYTHONPATH": str(version.taskgraph)}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *options, tests], cwd=ROOT, env=environment, check=False
    )
    return done.returncode == 0


def main() -> int:
    parser = argparse.ArgumentParser(description="Run the kind with many versions of taskgraph.")
    parser.add_argument("--few", action="store_true", help="only the oldest, a middle, the newest")
    parser.add_argument("--output", type=Path, help="leave the graphs in this folder")
    parser.add_argument("versions", nargs="*", metavar="VERSION")
    options = parser.parse_args()
    names = options.versions or list(LOCKS)
    if options.output is not None:
        options.output.mkdir(parents=True, exist_ok=True)
    if options.few:
        names = [names[0], names[len(names) // 2], names[-1]]
    are_right = True
    expected: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder:
        for name in reversed(names):
            version = Version(name)
            projects = new_projects(Path(folder, name), *writer_of(name, Path(folder)))
            found = problems_with_version(version, projects, expected, options.output)
            if not passes_tests(version):
                found.append("tests fail")
            for problem in found:
                print(f"taskgraph {name}: {problem}", flush=True)
            are_right = are_right and not found
    return 0 if are_right else 1


if __name__ == "__main__":
    sys.exit(main())

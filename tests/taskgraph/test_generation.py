# SPDX-License-Identifier: MPL-2.0
"""The tasks of a project that has its own registration, parameters and other kinds."""

import json
import shutil
import sys
import sysconfig
import threading
import time
from pathlib import Path

import pytest
import yaml
from small_projects import REGISTER, make_environment, make_project

from io_benchmark.errors import IoBenchmarkError
from io_benchmark.graph import generate as module
from io_benchmark.graph.generate import generate, source
from io_benchmark.graph.root import Root

from .whole_graph import IMAGES

PARAMETERS = """
from io_benchmark_taskgraph.versions import PARAMETERS_SCHEMA
from taskgraph.parameters import extend_parameters_schema
print("noise" * 100_000)
def defaults(_repo_root):
    return {"my_message": "from the project"}
extend_parameters_schema(PARAMETERS_SCHEMA, defaults)
import threading, time
threading.Thread(target=time.sleep, args=(600,)).start()
"""
TRANSFORM = """
def transforms(config, tasks):
    for task in tasks:
        task["description"] = f"{config.params['my_message']}, {config.params['project']}"
        yield task
"""

HALF_A_TASK = {
    "tasks": [
        {
            "label": "a",
            "kind": "b",
            "attributes": {"io_benchmark_pool": None},
            "definition": {},
            "image": None,
        }
    ]
}
NEITHER = "it is neither in taskcluster/ nor a package of its requirements"


def failure(root, jobs=()):
    with pytest.raises(IoBenchmarkError) as caught:
        generate(root, jobs)
    return str(caught.value)


def test_project(tmp_path):
    """Only the benchmark's kinds are loaded, with the project's own defaults of parameters.

    What its code prints, and threads that it leaves behind, do not matter.
    """
    folder = make_project(tmp_path / "my", PARAMETERS)
    (folder / "taskcluster/my_taskgraph/words.py").write_text(TRANSFORM)
    kind = folder / "taskcluster/kinds/io-benchmark/kind.yml"
    kind.write_text(
        kind.read_text().replace("transforms:\n", "transforms:\n- my_taskgraph.words:transforms\n")
    )
    image_label = f"{IMAGES}-base"
    image, large = generate(Root(folder, "--root"), ["large", image_label])
    assert (image.label, image.pool) == (image_label, "")
    assert (large.label, large.pool, large.image) == ("io-benchmark-large", "large", "base")
    definition = large.definition
    assert (definition["provisionerId"], definition["workerType"]) == ("my-1", "large")
    assert definition["metadata"]["description"] == "from the project, my"
    message = failure(Root(folder, "--root"), ["build-all"])
    assert message.startswith("no task is called 'build-all'; there are: large, small, ")


def test_project_without_images(tmp_path):
    """taskgraph cannot load single kinds of it: all are loaded."""
    folder = make_project(tmp_path / "my")
    for name in ("docker-image", "build"):
        shutil.rmtree(folder / "taskcluster/kinds" / name)
    kind = folder / "taskcluster/kinds/io-benchmark/kind.yml"
    own = yaml.safe_load(kind.read_text())
    own["task-defaults"]["worker"]["docker-image"] = "debian:12"
    kind.write_text(yaml.safe_dump(own))
    [small] = generate(Root(folder, "--root"), ["small"])
    assert (small.image, small.definition["payload"]["image"]) == (None, "debian:12")


@pytest.mark.parametrize(
    ("statements", "expected"),
    [
        ("raise ValueError('no\\nmore')", "ValueError: no"),
        ("raise Exception('a' * 300)", f"Exception: {'a' * 200}…"),
        ("import sys; sys.exit(3)", "SystemExit: 3"),
        ("def inner(): raise ValueError('deep')\ninner()", "ValueError: deep"),
        ("import os; os.environ['TASK_ID']", "KeyError: 'TASK_ID'"),
        (
            "import urllib.error; raise urllib.error.URLError('no route')",
            "URLError: <urlopen error no route>; this project needs the network here",
        ),
        ("import my_friend", f"ModuleNotFoundError: No module named 'my_friend'; {NEITHER}"),
    ],
)
def test_code_of_the_project_fails(tmp_path, statements, expected):
    """The message names the file and the line, in one line."""
    root = Root(make_project(tmp_path, statements), "--root")
    assert failure(root) == f"{REGISTER} line 4: {expected}"


def test_task_that_is_no_json(tmp_path):
    """A transform may put anything into a task."""
    folder = make_project(tmp_path)
    words = "def transforms(config, tasks):\n    yield from ({**task, 'task': {**task['task'], "
    words += "'extra': {'x': {1, 2}}}} for task in tasks)\n"
    (folder / "taskcluster/my_taskgraph/words.py").write_text(words)
    kind = folder / "taskcluster/kinds/io-benchmark/kind.yml"
    own = yaml.safe_load(kind.read_text())
    own["transforms"].append("my_taskgraph.words:transforms")
    kind.write_text(yaml.safe_dump(own))
    assert failure(Root(folder, "--root")) == (
        f"the kinds in {folder}/taskcluster cannot be generated (TypeError: Object of type set is "
        "not JSON serializable); `taskgraph full` shows where"
    )


def test_registration_without_a_call(tmp_path):
    """A decision task would not know the target method."""
    root = Root(make_project(tmp_path, calls_package=False), "--root")
    assert failure(root) == (
        "taskcluster/config.yml: what `register` names does not call "
        "io_benchmark_taskgraph.register; io-benchmark init adds the call"
    )


def test_process_that_ends(tmp_path):
    """A process that ends without an answer is one line; what it has started is ended."""
    file = tmp_path / "child"
    statements = f"""
        import os, subprocess
        child = subprocess.Popen(["sleep", "600"])
        with open("{file}", "w") as file:
            file.write(str(child.pid))
        os._exit(7)
    """
    message = failure(Root(make_project(tmp_path, statements), "--root"))
    assert ": generated no tasks that can be read (exit code 7, " in message
    process = Path("/proc", file.read_text())
    while process.exists():
        time.sleep(0.02)


def test_process_that_never_ends(tmp_path, monkeypatch):
    """It is ended after the limit, with what it has started."""
    file = tmp_path / "child"

    class Timer(threading.Timer):
        """The limit is over when the child runs."""

        def run(self):
            while not file.exists() or not file.read_text().endswith("\n"):
                time.sleep(0.02)
            self.function(*self.args)

    monkeypatch.setattr(module, "_MOST_S", 0)
    monkeypatch.setattr(threading, "Timer", Timer)
    wait = f"import subprocess; subprocess.run(['sh', '-c', 'echo $$ >{file}; sleep 600; true'])"
    root = Root(make_project(tmp_path, wait), "--root")
    assert "generating the tasks did not end within 0 s; what" in failure(root)
    process = Path("/proc", file.read_text().strip())
    while process.exists():
        time.sleep(0.02)


def test_environment_without_the_package(tmp_path):
    """What the project has not installed yet comes with this program."""
    root = Root(make_project(tmp_path), "--root")
    # The package is not in it, but named by a file that only the module `site` reads.
    packages = sysconfig.get_path("purelib")
    run = f'PYTHONPATH="$PYTHONPATH:{packages}" exec {sys.executable} -S "$@"'
    make_environment(tmp_path / ".venv", program=f"#!/bin/sh\n{run}\n")
    assert [task.pool for task in generate(root, ["small"])] == ["small"]


@pytest.mark.parametrize(
    ("script", "problem"),
    [
        ("echo 'libpython: not found' >&2; exit 127", "libpython: not found"),
        ('printf \'{"tasks": [{"label": 1}]}\'', "exit code 0, Expected `str`, "),
        (f"echo '{json.dumps(HALF_A_TASK)}'", "exit code 0, Object missing required field `prov"),
        ("printf '{{'", "exit code 0, "),
        ("yes x | head -c 3000000; exit 3", "exit code 3, "),
    ],
)
def test_environment_that_writes_something_else(tmp_path, script, problem):
    """Nothing that an environment's program writes is taken for tasks."""
    root = Root(make_project(tmp_path), "--root")
    folder = make_environment(tmp_path / ".venv", program=f"#!/bin/sh\n{script}\n")
    assert source(root) == f"{root}, with taskgraph 24.5.1 of {folder}"
    message = failure(root)
    assert message.startswith(
        f"taskgraph 24.5.1 of {folder}: generated no tasks that can be read ({problem}"
    )
    advice = (
        f"make {folder} again" if ">&2" in script else "what `register` names may end the process"
    )
    assert message.endswith(f"); {advice}")
    assert message.isprintable()


def test_environment_that_cannot_start(tmp_path):
    """It may be of another system."""
    root = Root(make_project(tmp_path), "--root")
    folder = make_environment(tmp_path / ".venv", program="\x7fELF")
    expected = f"{folder}/bin/python: cannot be run: Exec format error; make {folder} again"
    assert failure(root) == expected

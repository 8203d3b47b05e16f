# SPDX-License-Identifier: MPL-2.0
"""What Firefox asks of a new kind, compared with what the command puts into a checkout.

This is a contract, written down from Firefox's generator and its checks in the middle of 2026. It
is no run of that generator: taskgraph stands in for `gecko_taskgraph`, behind a check of the keys
that Firefox's job descriptions take (the README of the stand-in). What differs between two of
Firefox's trees is in firefox_trees.py.
"""

import functools
import hashlib
import json
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig

import embedding
import pytest
import seed_case
import yaml
from checkout import ROOT, SIZES, copy_firefox
from taskgraph.util.time import value_of
from yamllint import linter
from yamllint.config import YamlLintConfig

from io_benchmark import __version__
from io_benchmark.adopt.firefox_checkout import Checkout
from io_benchmark.adopt.firefox_kind import FETCHES, KIND, MOUNTED, TRANSFORMS
from io_benchmark.adopt.firefox_release import (
    LIBRARIES_BYTES,
    LIBRARIES_SHA256,
    report_program,
    worker_archive,
)
from io_benchmark.adopt.firefox_workers import CONFIG
from io_benchmark.errors import IoBenchmarkError
from io_benchmark.graph.generate import REPOSITORY, generate
from io_benchmark_taskgraph.worker_program import WorkerProgram

from .firefox_trees import DOCKER, DOCUMENTED, NATIVE, TREES, YAMLLINT, workers
from .trees import OWN_ROOT, install, kind_for

# As Firefox's decision task and `mach taskgraph` do: only taskcluster/ is put on the path.
PROGRAM = """
import json, sys
sys.path[:] = json.loads(sys.argv[1])
from taskgraph.generator import TaskGraphGenerator
from taskgraph.parameters import Parameters

generator = TaskGraphGenerator("taskcluster", Parameters(strict=True, **json.load(sys.stdin)))
print(json.dumps(generator.full_task_graph.to_json()))
"""


def parameters():
    """Return a push's parameters; this project's are not known there."""
    values = yaml.safe_load((ROOT / "taskcluster/test/params/push.yml").read_text())
    return {name: values[name] for name in values if not name.startswith("io_benchmark_")}


def run_generator(folder):
    # Without this project's `python/`, which is installed where the tests run.
    path = [entry for entry in sys.path if entry and not entry.startswith(str(ROOT / "python"))]
    done = subprocess.run(
        [sys.executable, "-P", "-c", PROGRAM, json.dumps(path)],
        cwd=folder,
        env={
            "TASKGRAPH_SERIAL": "1",
            "PATH": "/usr/bin:/bin",
            "TASKCLUSTER_ROOT_URL": "https://taskcluster.invalid",
        },
        input=json.dumps(parameters(), default=str),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def firefox(tmp_path_factory):
    """A checkout that the kind was put into."""
    folder = copy_firefox(tmp_path_factory.mktemp("contract") / "firefox")
    install(folder)
    return folder


@pytest.fixture(scope="module")
def tasks(firefox):
    """Every task of that checkout."""
    return run_generator(firefox)


def run_line(text):
    """Return what follows the program's name in the command."""
    return text.partition("exec python3 -u -B ")[2].partition(" ")[2]


def as_new_kind(line):
    """Return the options of this project's kind with the workloads that a new kind measures."""
    workload, budget = "--workload cache-retrieve", "--time-budget 3300 \\\n"
    url = '  --download-url "${IO_BENCHMARK_DOWNLOAD_URL:-none}" \\\n'
    line = line.replace(workload, f"{workload} --workload unpack --workload download")
    return line.replace(budget, budget + url)


def check_pools(tasks, values):
    """Labels, symbols and options are this project's; `history` finds results by the routes."""
    for task in generate(OWN_ROOT, ["io-benchmark"]):
        if not task.pool:
            continue
        there, here = tasks[task.label]["task"], task.definition
        assert there["extra"]["treeherder"] == here["extra"]["treeherder"]
        index = f"index.gecko.v2.{values['project']}"
        assert [route for route in there["routes"] if route.startswith("index.")] == [
            f"{index}.latest.io-benchmark.{task.pool}",
            f"{index}.revision.{values['head_rev']}.io-benchmark.{task.pool}",
            f"{index}.date.io-benchmark.{task.pool}.{values['moz_build_date']}",
        ]
        assert there["extra"]["index"]["rank"] == values["build_date"]
        assert there["extra"]["io-benchmark"] == here["extra"]["io-benchmark"]
        assert there["tags"].keys() == here["tags"].keys()
        assert there["payload"]["maxRunTime"] == here["payload"]["maxRunTime"]
        assert [*there["payload"]["artifacts"]] == [*here["payload"]["artifacts"]]
        yield there, here["payload"]["command"]


def test_fetched(tasks):
    """Small tasks fetch the program, which the tree names with its sha256 and size."""
    for there, command in check_pools(tasks, parameters()):
        payload = there["payload"]
        assert len(json.dumps(there)) <= SIZES["bytes-of-a-definition-in-firefox"]
        line = as_new_kind(run_line(embedding.shell_text(command)))
        assert run_line(payload["command"][-1]) == line
        fetches = json.loads(payload["env"]["MOZ_FETCHES"]["task-reference"])
        assert [(fetch["artifact"], fetch["extract"]) for fetch in fetches] == [
            ("public/io-benchmark.tar.bz2", True)
        ]
    files = {
        "io-benchmark.tar.bz2": worker_archive(WorkerProgram.read().file()),
        "io-benchmark-report.tar.bz2": report_program(),
    }
    expected = {name: (hashlib.sha256(data).hexdigest(), len(data)) for name, data in files.items()}
    expected["io-benchmark-libraries.tar.bz2"] = (LIBRARIES_SHA256, LIBRARIES_BYTES)
    for name, (sha256, size_bytes) in expected.items():
        command = tasks[f"fetch-{name.partition('.')[0]}"]["task"]["payload"]["command"]
        address = f"{REPOSITORY}/releases/download/v{__version__}/{name}"
        assert {sha256, str(size_bytes), address} <= set(shlex.split(" ".join(command)))
    assert {task["kind"] for task in tasks.values()} == {"docker-image", "fetch", "io-benchmark"}


def test_embedded(tmp_path):
    """Without a release, commands carry the program and unpack it, as this project's do."""
    folder = copy_firefox(tmp_path / "firefox")
    assert len([path for path in install(folder, is_embedded=True) if "benchmark" in path]) == 3
    for there, command in check_pools(run_generator(folder), parameters()):
        installed = there["payload"]["command"]
        line = as_new_kind(run_line(embedding.shell_text(command)))
        assert run_line(embedding.shell_text(installed)) == line
        data = embedding.application(installed)
        assert f"sha256={hashlib.sha256(data).hexdigest()}\n" in embedding.shell_text(installed)
        assert embedding.modules(command).items() <= embedding.modules(installed).items()


def names_of_attributes(tasks):
    """Return the attributes that the tree's page must have a heading for."""
    names = {name for task in tasks.values() for name in task["attributes"]}
    # taskgraph's own, in place of what Firefox's transforms set
    return {name for name in names if not name.startswith("_")} - {"run_on_tasks_for"}


def test_attributes(tasks):
    """Each is documented, as the rule there wants: one that is not fails all decision tasks."""
    undocumented = names_of_attributes(tasks) - DOCUMENTED
    assert undocumented == set()
    kinds = {task["kind"] for task in tasks.values() if "retrigger" in task["attributes"]}
    assert kinds == {"io-benchmark"}


@pytest.mark.parametrize("tree", TREES)
def test_classes_of_workers(tmp_path, tree):
    """Every Linux alias is a pool by `--pool`, on an image that runs there, or without one.

    The report runs on the first pool with docker images on x86-64.
    """
    aliases, names = TREES[tree]
    folder = copy_firefox(tmp_path / "firefox")
    head = (folder / CONFIG).read_text().partition("\nworkers:\n")[0]
    (folder / CONFIG).write_text(f"{head}\n{yaml.safe_dump({'workers': workers(aliases)})}")
    every = ["t-linux-arm64-docker", *names[NATIVE], *names[DOCKER]]
    pools = {f"pool{number}": alias for number, alias in enumerate(every)}
    install(folder, pools)
    tasks = run_generator(folder)
    measuring = {pool: tasks[f"io-benchmark-{pool}"] for pool in pools}
    definitions = {pool: task["task"] for pool, task in measuring.items()}
    assert {pool: task["workerType"] for pool, task in definitions.items()} == pools
    for pool, alias in pools.items():
        is_native = alias in names[NATIVE]
        image = "debian12-arm64-base" if re.search("aarch64|arm64", alias) else "debian12-base"
        expected = None if is_native else f"docker-image-{image}"
        assert measuring[pool]["dependencies"].get("docker-image") == expected
        artifacts = definitions[pool]["payload"]["artifacts"]
        assert isinstance(artifacts, list) == is_native
        # What it downloads: where there is an image, the task that made it.
        path = "/api/queue/v1/task/<docker-image>/artifacts/public/image.tar.zst"
        url = {"task-reference": path} if expected else None
        assert definitions[pool]["payload"]["env"].get("IO_BENCHMARK_DOWNLOAD_URL") == url
    report = tasks["io-benchmark-report"]
    assert report["task"]["workerType"] == names[DOCKER][0]
    assert report["soft_dependencies"] == sorted(task["label"] for task in measuring.values())


def test_report_without_a_place(tmp_path):
    """Without a pool that it can run on, its own pools are tried; else it is a line."""
    folder = copy_firefox(tmp_path / "firefox")
    native = {"wayland": "t-linux-wayland"}
    install(folder, native)
    kind = yaml.safe_load((folder / KIND).read_text())
    assert kind["report"]["worker-type"] == "b-linux-docker-amd"
    config = (folder / CONFIG).read_text()
    (folder / CONFIG).write_text(config.replace("b-linux(", "b-linux-gcp("))
    with pytest.raises(IoBenchmarkError, match=r"IOB\(report\) needs x86-64 workers .* as --pool"):
        install(folder, native)


def test_native(tmp_path):
    """On a worker without images, all paths are the task's own; what it fetches starts there."""
    folder = copy_firefox(tmp_path / "firefox")
    install(folder, {"wayland": "t-linux-wayland", "intel": "b-linux"})
    tasks = run_generator(folder)
    payload = tasks["io-benchmark-wayland"]["task"]["payload"]
    assert [(artifact["name"], artifact["path"]) for artifact in payload["artifacts"]] == [
        ("public/io-benchmark", "artifacts/io-benchmark"),
        (
            "public/perfherder-data-io-benchmark.json",
            "artifacts/perfherder-data-io-benchmark.json",
        ),
    ]
    with_docker = tasks["io-benchmark-intel"]["task"]["payload"]["artifacts"]
    assert with_docker["public/io-benchmark"]["path"] == "/builds/worker/artifacts/io-benchmark"
    command = payload["command"][-1]
    assert command[0] == "./run-task"
    work = tmp_path / "task"
    work.mkdir()
    (work / "fetches").mkdir()
    (work / "fetches/io-benchmark.pyz").write_bytes(WorkerProgram.read().file())
    # As run-task there sets them; the last makes it short.
    environment = {
        "PATH": "/usr/bin:/bin",
        "MOZ_FETCHES_DIR": f"{work}/fetches",
        "TASK_ID": "a",
        "IO_BENCHMARK_PROFILE": "quick",
    }
    words = command[command.index("--") + 1 :]
    subprocess.run(words, cwd=work, env=environment, check=True, capture_output=True)
    written = {path.name for path in (work / "artifacts").iterdir()}
    assert written == {"io-benchmark", "perfherder-data-io-benchmark.json"}


WINDOWS = {"win": "b-win2022", "intel": "b-linux", "win-2": "b-win2022"}
WINDOWS_PYTHON = "C:/mozilla-build/python3/python3.exe -X utf8 -u -B"


def check_variables(line, folder):
    """The fetched program replaces variables itself: no shell does."""
    task, place = folder / "task", folder / "place"
    (task / "fetches").mkdir(parents=True)
    place.mkdir()
    (task / "fetches/io-benchmark.pyz").write_bytes(WorkerProgram.read().file())
    environment = {
        "PATH": "/usr/bin:/bin",
        "TASK_ID": "a",
        "IO_BENCHMARK_PROFILE": "quick",
        "IO_BENCHMARK_TRIALS": "never",
        "IO_BENCHMARK_WORKSPACE": str(place),
    }
    _, *words = line.partition(" -- ")[2].split()
    command = [sys.executable, *words]
    subprocess.run(command, cwd=task, env=environment, check=True, capture_output=True)
    config = json.loads((task / "artifacts/io-benchmark/io-benchmark.json").read_text())["config"]
    assert (config["profile"], config["trials"]) == ("quick", "never")
    assert config["places"] == [{"name": "workspace", "path": str(place)}]


def test_windows(tmp_path):
    """One line starts what the task fetched, without a shell; artifacts are in its own folder."""
    folder = copy_firefox(tmp_path / "firefox")
    install(folder, WINDOWS)
    tasks = run_generator(folder)
    for pool in ("win", "win-2"):
        payload = tasks[f"io-benchmark-{pool}"]["task"]["payload"]
        (line,) = payload["command"]
        started = f" -- {WINDOWS_PYTHON} fetches/io-benchmark.pyz run --pool {pool} --workload "
        assert started in line
        assert '"' not in line
        assert "--place workspace=${IO_BENCHMARK_WORKSPACE:-workspace}" in line
        assert [artifact["path"] for artifact in payload["artifacts"]] == [
            "artifacts/io-benchmark",
            "artifacts/perfherder-data-io-benchmark.json",
        ]
        assert {mount["file"] for mount in payload["mounts"]} == {"./run-task", "./fetch-content"}
    assert tasks["io-benchmark-report"]["task"]["workerType"] == "b-linux"
    check_variables(line, tmp_path)
    text = run_line(tasks["io-benchmark-intel"]["task"]["payload"]["command"][-1])
    assert text.startswith("run \\\n  --pool intel ")


def test_embedded_windows(tmp_path):
    """Without a release, a pool on Windows mounts the program, and others have it as before."""
    folder = copy_firefox(tmp_path / "firefox")
    assert MOUNTED in install(folder, WINDOWS, is_embedded=True)
    tasks = run_generator(folder)
    payload = tasks["io-benchmark-win"]["task"]["payload"]
    (line,), (_, program) = payload["command"], payload["mounts"]
    sha256 = line.partition(f"{WINDOWS_PYTHON} io-benchmark.py ")[2].partition(" ")[0]
    assert f"{sha256} run --pool win --workload" in line
    workloads = ["cache-retrieve", "unpack", "download"]
    embedded = WorkerProgram.read().embedded("bench", sorted(workloads), "windows")
    assert sha256 == embedded.sha256
    assert program == {"file": "io-benchmark.py", "content": {"raw": embedded.starting("run")}}
    docker = tasks["io-benchmark-intel"]["task"]["payload"]
    assert docker["command"][-5:-3] == ["bash", "-ec"]
    assert "mounts" not in docker
    # Another form or other pools leave nothing of it.
    assert MOUNTED in install(folder, {"intel": "b-linux"}, is_embedded=True)
    assert not (folder / MOUNTED).exists()


def test_report(tasks, tmp_path):
    """It starts after all pools' tasks, also failed ones, may run later than they, and compares.

    Its program is what it fetches, without the rest of this project, and the libraries of here.
    """
    report = tasks["io-benchmark-report"]
    pools = [label for label in tasks if re.fullmatch("io-benchmark-(amd-..|intel)", label)]
    assert report["soft_dependencies"] == sorted(pools)
    assert report["task"]["requires"] == "all-resolved"
    deadlines = [tasks[label]["task"]["deadline"] for label in (*pools, "io-benchmark-report")]
    lengths = [value_of(deadline["relative-datestamp"]) for deadline in deadlines]
    assert max(lengths[:-1]) < lengths[-1]
    payload = report["task"]["payload"]
    fetches = json.loads(payload["env"]["MOZ_FETCHES"]["task-reference"])
    assert [(fetch["artifact"], fetch["extract"]) for fetch in fetches] == [
        ("public/io-benchmark-libraries.tar.bz2", True),
        ("public/io-benchmark-report.tar.bz2", True),
    ]
    # As a fetch is unpacked there.
    unpack = ["tar", "--extract", "--bzip2", "--directory", str(tmp_path)]
    subprocess.run(unpack, input=report_program(), check=True)
    (tmp_path / "libraries").symlink_to(sysconfig.get_path("purelib"))
    tools = tmp_path / "bin"
    tools.mkdir()
    for name in ("head", "mkdir"):
        (tools / name).symlink_to(shutil.which(name))
    # What compares does not need it, and its archive lacks it.
    (tmp_path / "numpy.py").write_text("raise ImportError(__file__)")
    seed_case.write(tmp_path / "results")
    environment = {
        "PATH": str(tools),
        "MOZ_FETCHES_DIR": str(tmp_path),
        "IO_BENCHMARK_REPORT_OF": str(tmp_path / "results"),
        "IO_BENCHMARK_ARTIFACTS": str(tmp_path / "artifacts"),
    }
    (text,) = [word for word in payload["command"] if "compare" in word]
    bash = functools.partial(
        subprocess.run, ["/bin/bash", "-c", text], env=environment, capture_output=True, text=True
    )
    (tools / "python3").write_text("#!/bin/sh\necho Python 3.14.1\n")
    (tools / "python3").chmod(0o755)
    refused = bash(check=False)
    problem = "needs Python 3.11 or 3.12 or 3.13, and there is Python 3.14.1"
    assert refused.stdout == f"TEST-UNEXPECTED-FAIL | IOB(report) | {problem}\n"
    assert refused.returncode == 1
    (tools / f"python3.{sys.version_info.minor}").symlink_to(sys.executable)
    assert "1.92×" in bash(check=True).stdout
    written = {path.name for path in (tmp_path / "artifacts/io-benchmark").iterdir()}
    assert written == {"report.html", "report.md", "report.json"}


def test_size(firefox):
    """A reviewer reads at most so many lines."""
    checkout = Checkout.open(copy_firefox(firefox.parent / "size"))
    lines = [
        line
        for change in checkout.changes(kind_for(checkout))
        for line in change.patch()
        if line.startswith("+") and not line.startswith("+++")
    ]
    assert len(lines) <= SIZES["lines-in-firefox"]


def test_form_of_python(firefox):
    """Firefox's formatter leaves the transforms as they are: that of its main branch."""
    command = ["ruff", "format", "--isolated", "--check", "--preview", "--line-length", "88"]
    done = subprocess.run(
        [sys.executable, "-m", *command, TRANSFORMS],
        cwd=firefox,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("path", [KIND, FETCHES])
def test_form_of_yaml(firefox, path):
    """Firefox's linter has nothing to say."""
    settings = YamlLintConfig(YAMLLINT)
    text = (firefox / path).read_text()
    assert [str(problem) for problem in linter.run(text, settings)] == []

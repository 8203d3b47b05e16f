# SPDX-License-Identifier: MPL-2.0
"""What Firefox asks of a new kind, compared with what the command puts into a checkout.

This is a contract, written down from Firefox's generator and its checks in the middle of 2026. It
is no run of that generator: taskgraph stands in for `gecko_taskgraph`, behind a check of the keys
that Firefox's job descriptions take (the README of the stand-in).
"""

import hashlib
import json
import re
import shlex
import subprocess
import sys
import sysconfig

import embedding
import pytest
import seed_case
import yaml
from checkout import ROOT, SIZES, copy_firefox
from taskgraph.util.time import value_of

from io_benchmark import __version__
from io_benchmark.adopt.firefox_checkout import Checkout
from io_benchmark.adopt.firefox_kind import (
    KIND,
    LIBRARIES_BYTES,
    LIBRARIES_SHA256,
    TRANSFORMS,
    FirefoxKind,
    report_program,
)
from io_benchmark.graph.generate import REPOSITORY, generate
from io_benchmark_taskgraph.worker_program import WorkerProgram

from .trees import OWN_ROOT, install, kind_of

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
        env={"TASKGRAPH_SERIAL": "1", "PATH": "/usr/bin:/bin"},
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
        assert run_line(payload["command"][-1]) == run_line(embedding.shell_text(command))
        fetches = json.loads(payload["env"]["MOZ_FETCHES"]["task-reference"])
        assert [fetch["artifact"] for fetch in fetches] == ["public/io-benchmark.pyz"]
    files = {
        "io-benchmark.pyz": WorkerProgram.read().file(),
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
        commands = [there["payload"]["command"], command]
        assert len(set(map(run_line, map(embedding.shell_text, commands)))) == 1
        data = embedding.application(commands[0])
        assert f"sha256={hashlib.sha256(data).hexdigest()}\n" in embedding.shell_text(commands[0])
        assert embedding.modules(commands[1]).items() <= embedding.modules(commands[0]).items()


def test_classes_of_workers(tmp_path):
    """Every class of main's alias is a pool by `--pool`; the report runs on the first."""
    page = (ROOT / "taskcluster/docs/firefox.md").read_text()
    (section,) = re.findall(r"^Main has one alias for .*?ESR", page, re.MULTILINE | re.DOTALL)
    aliases = {
        f"pool{number}": alias for number, alias in enumerate(re.findall("`(.+?)`", section))
    }
    assert len(aliases) == 8
    checkout = Checkout.open(copy_firefox(tmp_path / "firefox"))
    checkout.write(checkout.changes(FirefoxKind.of(OWN_ROOT, aliases)))
    tasks = run_generator(checkout.path)
    types = {label: tasks[label]["task"]["workerType"] for label in tasks if "-pool" in label}
    assert types == {f"io-benchmark-{pool}": alias for pool, alias in aliases.items()}
    assert tasks["io-benchmark-report"]["task"]["workerType"] == "b-linux"
    assert sorted(types) == tasks["io-benchmark-report"]["soft_dependencies"]


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
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/python3.11").symlink_to(sys.executable)
    seed_case.write(tmp_path / "results")
    environment = {
        "PATH": f"{tmp_path}/bin:/usr/bin:/bin",
        "MOZ_FETCHES_DIR": str(tmp_path),
        "IO_BENCHMARK_REPORT_OF": str(tmp_path / "results"),
        "IO_BENCHMARK_ARTIFACTS": str(tmp_path / "artifacts"),
    }
    (text,) = [word for word in payload["command"] if "compare" in word]
    done = subprocess.run(
        ["bash", "-c", text], env=environment, capture_output=True, text=True, check=True
    )
    assert "1.92×" in done.stdout
    written = {path.name for path in (tmp_path / "artifacts/io-benchmark").iterdir()}
    assert written == {"report.html", "report.md", "report.json"}


def test_size(firefox):
    """A reviewer reads at most so many lines."""
    kind = kind_of(OWN_ROOT)
    lines = [
        line
        for change in Checkout.open(copy_firefox(firefox.parent / "size")).changes(kind)
        for line in change.patch()
        if line.startswith("+") and not line.startswith("+++")
    ]
    assert len(lines) <= SIZES["lines-in-firefox"]


@pytest.mark.parametrize(
    "command",
    [
        # As on Firefox's main branch.
        ["ruff", "format", "--isolated", "--check", "--preview", "--line-length", "88", TRANSFORMS],
        # The same rules as for this project's own.
        ["yamllint", "--strict", "-c", str(ROOT / ".yamllint.yml"), KIND],
    ],
    ids=["ruff", "yamllint"],
)
def test_linters(firefox, command):
    """Firefox's linters leave what is installed as it is."""
    done = subprocess.run(
        [sys.executable, "-m", *command], cwd=firefox, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr

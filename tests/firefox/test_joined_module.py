# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""The one module that goes there: what it holds, and that it means what this project's own do."""

import ast
import importlib.util
import subprocess
import sys
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import pytest
from checkout import ROOT
from pythons import every_python

from io_benchmark.errors import IoBenchmarkError
from io_benchmark.firefox import checkout, joined_module
from io_benchmark_taskgraph import script_modules, stanza, task_command, zip_application
from io_benchmark_taskgraph.mistakes import BadKeyError, UserMistake

from .conftest import copy_firefox, install

FOLDER = "scripts/io-benchmark"
SMALLEST = {"workloads": ["cache-retrieve"], "retrieves": 500}
CONTAINER = {"name": "container", "path": "/builds/worker/io-benchmark"}
URL = "https://host.example:80/{name}@x"

GOOD = [
    pytest.param({}, id="smallest"),
    pytest.param({"workloads": ["cache-retrieve", "upload", "exec"]}, id="workloads"),
    pytest.param({"seed": 0, "fidelity": "real", "precision": "2.5%"}, id="options"),
    pytest.param({"destination": "fresh"}, id="destination"),
    pytest.param({"destination": ["unlink", "overwrite"], "retrieves": 1}, id="destinations"),
    pytest.param({"places": ["workspace", CONTAINER]}, id="places"),
    pytest.param({"upload-url": URL, "perfherder": "neutral"}, id="upload"),
    pytest.param({"replicates": 12}, id="replicates"),
    pytest.param({"trials": "auto"}, id="trials"),
    pytest.param({"places": [{"name": "workspace", "path": stanza.WORKSPACE.path}]}, id="same"),
    pytest.param({"places": [{"name": "a", "path": f"/{'x' * 255}"}], "seed": 2}, id="long"),
]
UNSAFE_PATHS = [
    "",
    "/",
    "x",
    "/x/",
    "/x y",
    "/x\n",
    "/x}$(reboot)",
    '/x"',
    "/a/../b",
    f"/{'x' * 256}",
    "/x" * 501,
    "/builds",
    "/builds/worker/artifacts/x",
    5,
]
BAD_VALUES: dict[str, list[Any]] = {
    "retrieves": [0, True, "5", None],
    "workloads": [[], "exec", ["exec", "exec"], [5], None],
    "seed": [-1, 2**31],
    "destination": ["x", [], ["fresh", "fresh"], None],
    "fidelity": ["x", ["seed"], {}],
    "precision": ["0%", "00.000%", "100%", "2", 2, "2%\n", "2%; reboot", None],
    "upload-url": ["ftp://x/", "https://me@x/", "https://x:0/", "https:///", "https://x/a b", None],
    "replicates": [0, 101],
    "places": [
        [],
        "workspace",
        ["x"],
        None,
        [5],
        ["workspace", "workspace"],
        ["workspace", {"name": "other", "path": stanza.WORKSPACE.path}],
        [{"name": "workspace", "path": "/x"}],
        [CONTAINER, CONTAINER],
        [{**CONTAINER, "name": "a=$(b)"}],
        [{**CONTAINER, "name": "A"}],
        [{**CONTAINER, "name": "a\n"}],
        [{**CONTAINER, "name": 5}],
        *([{**CONTAINER, "path": path}] for path in UNSAFE_PATHS),
        [CONTAINER, {**CONTAINER, "path": "/x"}],
        [{**CONTAINER, "path": "/a b"}],
        [{"name": "x"}],
        [{**CONTAINER, "more": 1}],
    ],
    "perfherder": ["x", {}],
    "trials": ["sometimes", True],
    "unknown": [1],
}
BAD = [
    pytest.param({key: value}, id=f"{key}-{at}")
    for key, values in BAD_VALUES.items()
    for at, value in enumerate(values)
]


@pytest.fixture(scope="module")
def module(tmp_path_factory):
    """The joined module, imported as Firefox's taskgraph imports it."""
    file = tmp_path_factory.mktemp("transforms") / "joined_io_benchmark.py"
    file.write_text(joined_module.join_modules(ROOT / "python"))
    spec = importlib.util.spec_from_file_location("joined_io_benchmark", file)
    assert spec is not None
    assert spec.loader is not None
    loaded = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = loaded
    spec.loader.exec_module(loaded)
    yield loaded
    del sys.modules[spec.name]


def parse_here(written):
    """The script's folder is a key here; there it is fixed."""
    return stanza.Benchmark.parse(
        {**written, "script": checkout.SCRIPT} if isinstance(written, dict) else written
    )


@pytest.mark.parametrize("changes", GOOD)
def test_same_stanza_same_command(module, changes):
    """A stanza means the same here and there, down to each byte of the command."""
    written = {**SMALLEST, **changes}
    here, there = parse_here(written), module._parse(written)
    values = {name: getattr(there, name) for name in vars(here)}
    listed = {name: tuple(one) for name, one in values.items() if isinstance(one, list)}
    assert values | listed == vars(here)
    found = script_modules.needed_modules(ROOT, FOLDER, here.workloads)
    own = task_command.make_command(here, zip_application.ZipApplication(found), "amd-16", 3300)
    application = module.ZipApplication(found)
    assert vars(application) == vars(zip_application.ZipApplication(found))
    assert module.make_command(there, application, "amd-16", 3300) == own


@pytest.mark.parametrize("changes", BAD)
def test_same_stanza_refused(module, changes):
    """What one refuses the other refuses, by the same key and in one line."""
    with pytest.raises(BadKeyError) as here:
        parse_here({**SMALLEST, **changes})
    with pytest.raises(module.BadKeyError) as there:
        module._parse({**SMALLEST, **changes})
    assert there.value.key.split(".")[:2] == here.value.key.split(".")[:2]
    assert "\n" not in str(there.value)


@pytest.mark.parametrize("missing", [None, {}, [], {"workloads": ["exec"]}])
def test_a_stanza_that_is_not_whole(module, missing):
    """No stanza, no mapping, or a key too few is refused by both."""
    with pytest.raises(BadKeyError):
        parse_here(missing)
    with pytest.raises(module.BadKeyError):
        module._parse(missing)


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({"script": FOLDER}, id="folder"),
        pytest.param({"upload-url": "https://[::1]/"}, id="address in brackets"),
    ],
)
def test_refused_there_alone(module, changes):
    """The folder is fixed there, and a host is a name or four numbers."""
    stanza.Benchmark.parse({**SMALLEST, "script": FOLDER, **changes})
    with pytest.raises(module.BadKeyError) as caught:
        module._parse({**SMALLEST, **changes})
    assert [caught.value.key] == [f"benchmark.{key}" for key in changes]


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({"retrieves": 100_000}, id="too many retrieves for the time"),
        pytest.param({"upload-url": "https://x:99999/"}, id="a port above 65535"),
    ],
)
def test_not_known_there(module, firefox, changes):
    """The script's time budget ends what takes too long, and the script refuses such a port."""
    for made in make(module, firefox, pool(**changes)):
        assert "--time-budget 3300" in made["run"]["command"][2]


@pytest.fixture(scope="module")
def firefox(tmp_path_factory):
    folder = copy_firefox(tmp_path_factory.mktemp("transforms") / "firefox")
    install(folder)
    return folder


def make(module, firefox, task):
    config = SimpleNamespace(
        path="taskcluster/kinds/io-benchmark",
        graph_config=_GraphConfig(str(firefox / "taskcluster")),
        params={"project": "try", "head_rev": "abc", "moz_build_date": "20260101000000"},
    )
    return list(module._make_tasks(config, iter([task])))


@dataclass
class _GraphConfig:
    root_dir: str

    def __getitem__(self, key):
        return {"trust-domain": "gecko"}[key]


def pool(**changes):
    return {
        "name": "amd.16",
        "benchmark": {**SMALLEST, **changes},
        "treeherder": {"symbol": "IOB(amd16)"},
        "worker": {"max-run-time": 3600},
    }


def test_replicates(module, firefox):
    """Numbered names and symbols, the same command; the first one has the routes."""
    first, second = make(module, firefox, pool(replicates=2))
    assert [one["name"] for one in (first, second)] == ["amd.16-1", "amd.16-2"]
    assert second["treeherder"] == {"symbol": "IOB(amd16-2)"}
    assert first["run"] == second["run"]
    assert first["routes"] == [
        "index.gecko.v2.try.latest.io-benchmark.amd~16",
        "index.gecko.v2.try.revision.abc.io-benchmark.amd~16",
        "index.gecko.v2.try.date.io-benchmark.amd~16.20260101000000",
    ]
    assert "routes" not in second
    assert "benchmark" not in first


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        pytest.param(
            {"workloads": ["exe"]},
            f"benchmark.workloads: 'exe' is not in {checkout.SCRIPT}/workloads",
            id="workload",
        ),
        pytest.param(
            {"retrieves": 0},
            "benchmark.retrieves: 0 is not a whole number from 1 to 100,000",
            id="value",
        ),
        pytest.param({"retrieve": 5}, "benchmark.retrieve: extra keys not allowed", id="key"),
    ],
)
def test_a_mistake_names_the_task(module, firefox, changes, text):
    """The kind, the task, the key and what is wrong, in one line."""
    with pytest.raises(UserMistake) as caught:
        make(module, firefox, pool(**changes))
    assert str(caught.value) == f"taskcluster/kinds/io-benchmark: task amd.16: {text}"


def test_one_text_of_each():
    """Every definition is one of this project's, word for word; none is there that is not used."""
    tree = ast.parse(joined_module.join_modules(ROOT / "python"))
    own = {
        ast.dump(node)
        for path in (ROOT / "python/io_benchmark_taskgraph").rglob("*.py")
        for node in ast.parse(path.read_text()).body
    }
    defined = [node for node in tree.body[1:] if not isinstance(node, ast.Import | ast.ImportFrom)]
    assert [ast.unparse(node) for node in defined if ast.dump(node) not in own] == []
    names = {node.name for node in defined if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    assert names - used == set()


@every_python
def test_its_syntax(python, tmp_path):
    """mach's Python on the oldest release branch is 3.8."""
    file = tmp_path / "io_benchmark.py"
    file.write_text(joined_module.join_modules(ROOT / "python"))
    stubs = "import sys, types\n" + "".join(
        f"sys.modules[{name!r}] = types.ModuleType({name!r})\n"
        for name in (
            "taskgraph",
            "taskgraph.transforms",
            "taskgraph.transforms.base",
            "taskgraph.util",
            "taskgraph.util.schema",
            "voluptuous",
        )
    )
    program = f"""{stubs}
class Anything:
    def __init__(self, *a, **k): pass
    def add(self, x): pass
sys.modules["taskgraph.transforms.base"].TransformSequence = Anything
sys.modules["taskgraph.util.schema"].SchemaValidationError = Exception
for name in ("All", "Any", "In", "Length", "Match", "Optional", "Required", "Unique"):
    setattr(sys.modules["voluptuous"], name, Anything)
import runpy
runpy.run_path({str(file)!r})
"""
    done = subprocess.run(
        [python, "-W", "error", "-c", program], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("path", "old", "new", "text"),
    [
        pytest.param(
            "firefox_transforms.py",
            "def _parse",
            "def _zipped(_: Any) -> None:\n    pass\n\n\ndef _parse",
            "_zipped is defined in",
            id="twice",
        ),
        pytest.param(
            "firefox_transforms.py",
            "from typing import Any",
            "from types import Any",
            "in two ways",
            id="import",
        ),
        pytest.param("checks.py", "import re", "import re as", "checks.py: invalid", id="syntax"),
    ],
)
def test_what_cannot_be_joined(other_version, path, old, new, text):
    """A name with two meanings would silently change what one of the modules does."""
    file = other_version.path / "python/io_benchmark_taskgraph" / path
    assert old in file.read_text()
    file.write_text(file.read_text().replace(old, new, 1))
    with pytest.raises(IoBenchmarkError, match=text) as caught:
        joined_module.join_modules(other_version.path / "python")
    assert "\n" not in str(caught.value)

# SPDX-License-Identifier: MPL-2.0
"""What `io-benchmark init` adds to a project, and what it refuses."""

import os
import re
import subprocess

import program
import pytest
import yaml
from checkout import ROOT, snapshot

from io_benchmark import __version__
from io_benchmark.adopt.projects.images import IMAGES
from io_benchmark.adopt.projects.pools import CONFIG
from io_benchmark.adopt.projects.project import KIND, Project, Proposal
from io_benchmark.adopt.projects.project import REGISTER_FUNCTION as REGISTER
from io_benchmark.adopt.projects.requirements import LOCK
from io_benchmark.errors import IoBenchmarkError, UsageError
from io_benchmark.graph.generate import generate
from io_benchmark.graph.root import Root

TEXT = """\
# As taskgraph's template writes it.
---
trust-domain: "mozilla"
treeherder: {group-names: {}}

taskgraph:
  # Names of caches begin with it.
  cached-task-prefix: "mozilla.v2.my-proj"
  repositories:
    my_proj: {name: my-proj}

workers:
  aliases:
    b-small: {implementation: docker-worker, os: linux}
    b-large: {implementation: docker-worker, os: linux}
    b-(x|y)z: {implementation: docker-worker, os: linux}
    b-win: {implementation: generic-worker, os: windows}
    images: {implementation: docker-worker, os: linux}
"""
LINE = f"io-benchmark-taskgraph=={__version__}\n"
REQUIREMENTS = "taskcluster/requirements.in"


@pytest.fixture
def project(tmp_path):
    for name, text in {
        CONFIG: TEXT,
        IMAGES: "tasks:\n  linux: {symbol: L}\n  other: {symbol: O}\n",
        REQUIREMENTS: "taskcluster-taskgraph\n",
        LOCK: "taskcluster-taskgraph==24.5.1 \\\n    --hash=x\n",
        ".taskcluster.yml": "CI_PIP_REQUIREMENTS: taskcluster/requirements.txt\n",
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def init(folder, pools=None, image=None):
    project = Project.open(folder)
    proposal = project.propose(pools or {}, image)
    project.write(proposal.changes)
    return [change.path for change in proposal.changes]


def test_init(project):
    """The pools are the aliases of workers that can run the benchmark.

    The rest of each file stays; a second run adds nothing.
    """
    before = snapshot(project)
    assert init(project) == [KIND, REQUIREMENTS, CONFIG]
    after = snapshot(project)
    assert set(after) - set(before) == {KIND}
    register = f"taskgraph:\n  # Names of caches begin with it.\n  register: {REGISTER}\n  cached-"
    assert after[CONFIG][0].decode() == TEXT.replace(
        "taskgraph:\n  # Names of caches begin with it.\n  cached-", register
    )
    assert after[REQUIREMENTS][0].decode() == f"taskcluster-taskgraph\n{LINE}"
    kind = yaml.safe_load(after[KIND][0])
    assert list(kind["tasks"]) == ["b-small", "b-large", "b-win"]
    assert Project.open(project).propose({}, None) == Proposal(
        changes=[],
        notes=[
            (
                "the alias b-(x|y)z is a pattern and not added; name what it matches as --pool "
                "NAME=WORKER-TYPE"
            ),
        ],
        steps=[
            (
                f"make {LOCK} from {REQUIREMENTS}: pip-compile --generate-hashes "
                f"--output-file={LOCK} {REQUIREMENTS}"
            )
        ],
    )


def test_the_documented_file(project):
    """The file of the manual is what the command writes, but for its comments."""
    init(project, {"small": "b-small", "large": "b-large"})
    documented = (ROOT / "taskcluster/docs/adopting-kind.yml").read_text()
    without_comments = re.sub("^ *#.*\n", "", documented, flags=re.MULTILINE)
    assert (project / KIND).read_text() == without_comments


NATIVE_KIND = """\
---
loader: io_benchmark_taskgraph.loader:with_defaults

transforms:
    - io_benchmark_taskgraph.transforms.kind:pools

task-defaults:
    benchmark: {workloads: [unpack, download]}

report:
    worker-type: images

tasks:
    b-small:
        description: I/O benchmark on b-small
        worker-type: b-small
        treeherder: {symbol: IOB(b-small)}
"""


def test_native_pools(project):
    """No image is needed, and the report runs where docker is."""
    aliases = "    b-small: {implementation: generic-worker, os: linux}\n" + alias_text("images")
    (project / CONFIG).write_text(re.sub(r"(?<=aliases:\n)(    .*\n)+", aliases, TEXT))
    (project / IMAGES).unlink()
    init(project)
    assert (project / KIND).read_text() == NATIVE_KIND


def test_other_pools(project):
    """What the command wrote is replaced if pools are named, but not what a person changed."""
    init(project)
    init(project, {"small": "b-small", "large": "b-large"}, "other")
    kind = yaml.safe_load((project / KIND).read_text())
    assert list(kind["tasks"]) == ["small", "large"]
    assert kind["task-defaults"]["worker"]["docker-image"] == {"in-tree": "other"}
    with pytest.raises(IoBenchmarkError, match="is there already; edit it, or remove it"):
        init(project)
    for content in (f"{(project / KIND).read_text()}# mine\n", "tasks: [small]\n", ""):
        (project / KIND).write_text(content)
        with pytest.raises(IoBenchmarkError, match="is there already; edit it, or remove it"):
            init(project, {"small": "b-small"})
        assert (project / KIND).read_text() == content


def test_names_and_image(project):
    """--pool may name what one pattern of an alias matches; --image another image."""
    init(project, {"a-name-that-is-longer-than-25": "b-xz"}, "other")
    kind = yaml.safe_load((project / KIND).read_text())
    assert kind["task-defaults"]["worker"]["docker-image"] == {"in-tree": "other"}
    (pool,) = kind["tasks"].values()
    assert pool["worker-type"] == "b-xz"
    assert pool["treeherder"] == {"symbol": "IOB(a-name-that-is-long-1)"}


@pytest.mark.parametrize(
    ("path", "old", "new", "problem"),
    [
        (CONFIG, "b-small:", "b-smaller:", "has no alias b-small, but b-smaller, b-large"),
        (CONFIG, "os: linux", "os: macos", "b-small is docker-worker on macos, where the"),
        (CONFIG, "workers:", "others:", "has no aliases of workers under workers"),
        (CONFIG, "taskgraph:", "others:", "cannot be added to taskgraph; add it"),
        (IMAGES, "linux", "base", "images base, other; name one"),
        (LOCK, "==24.5.1", "==7.4.0", "has taskgraph 7.4.0, and io-benchmark-taskgraph"),
        (KIND, "IOB", "IO", "is there already; edit it, or remove it"),
    ],
)
def test_refused(project, path, old, new, problem):
    """One line says what is in the way, and nothing is written."""
    init(project, {"small": "b-small"})
    text = (project / path).read_text()
    assert old in text
    (project / path).write_text(text.replace(old, new))
    before = snapshot(project)
    with pytest.raises(IoBenchmarkError, match=re.escape(problem)):
        init(project, {"small": "b-small"})
    assert snapshot(project) == before


def test_not_a_project(tmp_path, project):
    """A folder without taskgraph and a Firefox checkout are mistakes in usage."""
    (tmp_path / "empty").mkdir()
    with pytest.raises(UsageError, match=r"has no taskcluster/config\.yml"):
        Project.open(tmp_path / "empty")
    (project / "taskcluster/gecko_taskgraph").mkdir()
    with pytest.raises(UsageError, match="use io-benchmark firefox"):
        Project.open(project)


def alias_text(*names):
    return "".join(f"    {name}: {{implementation: docker-worker, os: linux}}\n" for name in names)


def test_names_that_yaml_takes_for_something_else(project):
    """Pools whose names are numbers or words of YAML make a kind in which they are text."""
    quoted = alias_text(
        *(f"'{name}'" for name in ("1", "true", "null", "1e3", "0x1", "-", "~", "a b"))
    )
    (project / CONFIG).write_text(TEXT.replace("  aliases:\n", f"  aliases:\n{quoted}"))
    init(project)
    kind = yaml.safe_load((project / KIND).read_text())
    # The kind takes no pool of another name, such as `-`.
    names = ["1", "true", "null", "1e3", "0x1", "b-small", "b-large", "b-win"]
    assert list(kind["tasks"]) == names
    for name, task in kind["tasks"].items():
        assert task == {
            "description": f"I/O benchmark on {name}",
            "worker-type": name,
            "treeherder": {"symbol": f"IOB({name})"},
        }


@pytest.mark.parametrize("name", ["-", "~", "'a b'", "'#'", "'a: b'", "'x, y'", '"ä"'])
def test_aliases_that_cannot_name_a_pool(project, name):
    """They are no pools by themselves.

    --pool gives them a name, and the kind has the alias as it is.
    """
    name = f"'{name}'" if len(name) == 1 else name
    (project / CONFIG).write_text(re.sub(r"(?<=aliases:\n)(    .*\n)+", alias_text(name), TEXT))
    with pytest.raises(IoBenchmarkError, match="has no alias that is one pool"):
        init(project)
    alias = yaml.safe_load(name)
    init(project, {"named": alias}, "an, image: {x}")
    kind = yaml.safe_load((project / KIND).read_text())
    assert kind["tasks"]["named"]["worker-type"] == alias
    assert kind["tasks"]["named"]["description"] == f"I/O benchmark on {alias}"
    assert kind["task-defaults"]["worker"]["docker-image"] == {"in-tree": "an, image: {x}"}


@pytest.mark.parametrize(
    ("path", "content", "problem"),
    [
        (CONFIG, TEXT + alias_text("1"), "the name 1 in workers.aliases is not text; write it in"),
        (CONFIG, TEXT + alias_text("true"), "the name True in workers.aliases is not text"),
        (CONFIG, TEXT + alias_text("b-small"), "is not YAML (line 19: 'b-small' is given twice)"),
        (CONFIG, TEXT + "x: \0", "is not YAML (line 19: the character U+0000 is not allowed)"),
        (CONFIG, TEXT + "x: 2026-99-99", "is not YAML (line 19: '2026-99-99' is not a timestamp)"),
        (CONFIG, TEXT + f"x: {'9' * 6000}", "is not YAML (line 19: a number has more than 100"),
        (CONFIG, TEXT + f"x: {'[' * 5000}", "is not YAML (line 19: is nested more than 50 levels"),
        (CONFIG, f"taskgraph: [1]\nworkers:{TEXT.partition('workers:')[2]}", "not a mapping"),
        (IMAGES, "tasks: [linux]\n", "has the images none; name one"),
        (IMAGES, "tasks: &a [*a]\n", "is not YAML (line 1: *a contains itself)"),
        (".taskcluster.yml", b"version: 1 # \xff", "is not UTF-8 at byte 13; save it as UTF-8"),
    ],
    ids=lambda value: ascii(value)[:40],
)  # fmt: skip
def test_mistakes_in_the_projects_files(project, path, content, problem):
    """Each is one line, and nothing is written."""
    data = content if isinstance(content, bytes) else content.encode()
    (project / path).write_bytes(data)
    before = snapshot(project)
    done = program.run("init", project, folder=project, expected=1)
    assert (done.stdout, done.stderr.count("\n")) == ("", 1)
    assert done.stderr.startswith("error: ")
    assert problem in done.stderr
    assert snapshot(project) == before


def test_a_version_of_many_digits(project):
    """It is not taskgraph's, and not a traceback."""
    (project / REQUIREMENTS).write_text(f"taskcluster-taskgraph=={'9' * 6000}\n")
    init(project)
    assert (project / KIND).exists()


@pytest.mark.parametrize("link", [CONFIG, REQUIREMENTS, "taskcluster", "taskcluster/kinds"])
def test_links(project, link):
    """Nothing is written through a link, whose place is named."""
    outside = project.parent / f"{project.name}-outside"
    (project / link).rename(outside)
    (project / link).symlink_to(outside)
    before = outside.read_bytes() if outside.is_file() else snapshot(outside)
    done = program.run("init", project, folder=project, expected=1)
    assert f"{project}/{link}: is a link, and files are written only inside" in done.stderr
    assert (done.stdout, done.stderr.count("\n")) == ("", 1)
    assert before == (outside.read_bytes() if outside.is_file() else snapshot(outside))
    assert not (project / KIND).exists()


@pytest.mark.parametrize("path", [REQUIREMENTS, IMAGES, KIND, LOCK, ".taskcluster.yml"])
@pytest.mark.parametrize("target", ["pipe", "/dev/zero"])
def test_files_that_never_end(project, path, target):
    """They are refused at once, and nothing is written."""
    (project / path).unlink(missing_ok=True)
    (project / path).parent.mkdir(exist_ok=True)
    if target == "pipe":
        os.mkfifo(project / path)
    else:
        (project / path).symlink_to(target)
    before = snapshot(project)
    done = program.run("init", project, folder=project, expected=1)
    assert f"{path}: is not a regular file; replace it by a readable file" in done.stderr
    assert snapshot(project) == before


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"a  \r\nb\r\n", b"a  \r\nb\r\nLINE\r\n"),
        (b"a\x0cb \nc", b"a\x0cb \nc\nLINE\n"),
        ("a\u2028b\n".encode(), "a\u2028b\nLINE\n".encode()),
        (b"", b"LINE\n"),
    ],
)
def test_lines_of_requirements_stay(project, before, after):
    """A line is added, which ends as the others do; the others stay as they are."""
    (project / REQUIREMENTS).write_bytes(before)
    init(project)
    assert (project / REQUIREMENTS).read_bytes() == after.replace(b"LINE", LINE.strip().encode())


def test_the_patch_of_windows_lines(project):
    """git applies what --diff prints, also to files whose lines end in CR LF."""
    for path in (CONFIG, REQUIREMENTS):
        content = (project / path).read_bytes().replace(b"\n", b"\r\n")
        (project / path).write_bytes(content + b"# \xc2\x85\r\n")
    shown = program.run("init", project, "--diff", folder=project).stdout
    git = ["git", "apply", "--whitespace=nowarn", "-"]
    subprocess.run(git, input=shown.encode(), cwd=project, check=True)
    patched = snapshot(project)
    assert init(project) == []
    assert snapshot(project) == patched


def test_taskgraph_takes_the_names(tmp_path):
    """taskgraph generates a task of each pool from the kind, also for names like numbers."""
    names = ("1", "1e3", "0x1", "true", "null", "-", "b-small")
    worker = {
        "implementation": "docker-worker",
        "os": "linux",
        "provisioner": "p",
        "worker-type": "{alias}",
    }
    config = {
        "trust-domain": "mozilla",
        "task-priority": "low",
        "taskgraph": {"cached-task-prefix": "x", "repositories": {"project": {"name": "project"}}},
        "workers": {"aliases": dict.fromkeys((*names, "images"), worker)},
    }
    transforms = [
        f"taskgraph.transforms.{name}:transforms"
        for name in ("docker_image", "cached_tasks", "task")
    ]
    loader = "taskgraph.loader.transform:loader"
    images = {"loader": loader, "transforms": transforms, "tasks": {"linux": {}}}
    for name, text in {
        CONFIG: yaml.safe_dump(config),
        IMAGES: yaml.safe_dump(images),
        "taskcluster/docker/linux/Dockerfile": "FROM alpine:latest\n# %include-run-task\n",
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    init(tmp_path)
    tasks = generate(Root(tmp_path, "checkout"), ["io-benchmark"])
    pools = {task.label: task.pool for task in tasks if task.pool}
    assert pools == {f"io-benchmark-{name}": name for name in names if name != "-"}

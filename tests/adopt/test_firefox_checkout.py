# SPDX-License-Identifier: MPL-2.0
"""What is added to a checkout, updated and refused, and the kind's file that is made for it."""

import os
import re
import time
from pathlib import Path

import pytest
import yaml
from checkout import snapshot

from io_benchmark.adopt.firefox_checkout import KINDS_PAGES, Checkout
from io_benchmark.adopt.firefox_kind import FETCHES, KIND, PROGRAM, TRANSFORMS
from io_benchmark.adopt.firefox_workers import CONFIG
from io_benchmark.errors import IoBenchmarkError, UsageError

from .trees import install, kind_for

KINDS_PAGE, OLD_PAGE = KINDS_PAGES
IMAGES = "taskcluster/kinds/docker-image/kind.yml"


def edit(file, old, new):
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new))


@pytest.mark.parametrize("page", KINDS_PAGES)
def test_install(firefox, page):
    """A run adds files and entries, the second nothing; modes stay."""
    (firefox / KINDS_PAGE).rename(firefox / page)
    (firefox / CONFIG).chmod(0o640)
    before = snapshot(firefox)
    changed = [page, CONFIG, FETCHES]
    assert install(firefox) == [KIND, TRANSFORMS, *changed]
    after = snapshot(firefox)
    assert install(firefox) == []
    assert set(after) - set(before) == {KIND, TRANSFORMS}
    for path in changed:
        lines, more = before[path][0].splitlines(True), iter(after[path][0].splitlines(True))
        assert all(line in more for line in lines)
        assert after[path][1] == before[path][1]
    heading = "\nio-benchmark\n------------\n" if page == OLD_PAGE else "\n## io-benchmark\n"
    assert heading.encode() in after[page][0]


def test_update(firefox):
    """Files and the fetch of another version are replaced; what is around the fetch stays."""
    install(firefox)
    expected = snapshot(firefox)
    edit(firefox / KIND, "retrieves 2000", "retrieves 1000")
    edit(firefox / FETCHES, "\n    description: The worker's", "\n    description: An older")
    assert install(firefox) == [KIND, FETCHES]
    assert snapshot(firefox) == expected


def test_the_other_form(firefox):
    """What only the form before needed is removed: fetches, or the program's file."""
    with (firefox / FETCHES).open("a") as file:
        file.write("\nio-benchmarks: {fetch: {}}\n")
    before = snapshot(firefox)
    install(firefox)
    fetched = snapshot(firefox)
    assert install(firefox, is_embedded=True) == [KIND, TRANSFORMS, PROGRAM, FETCHES]
    embedded = snapshot(firefox)
    assert embedded[FETCHES] == before[FETCHES]
    assert install(firefox, is_embedded=True) == []
    assert install(firefox) == [KIND, TRANSFORMS, FETCHES, PROGRAM]
    assert snapshot(firefox) == fetched


def test_a_pool_called_report(firefox):
    """Its task would have the label of the one that compares; without that one it may."""
    pools = {"report": "b-linux"}
    with pytest.raises(IoBenchmarkError, match=r"called report, because IOB\(report\) is; give it"):
        install(firefox, pools)
    assert KIND in install(firefox, pools, is_embedded=True)


def test_only_arm(firefox):
    """Tasks have an image for ARM, and no other."""
    install(firefox, {"a": "b-linux-aarch64"}, is_embedded=True)
    kind = yaml.safe_load((firefox / KIND).read_text())
    workers = [task["worker"] for task in (kind["task-defaults"], kind["tasks"]["a"])]
    images = [worker["docker-image"]["in-tree"] for worker in workers]
    assert images == ["debian12-arm64-base"] * 2


def test_somebody_elses_program(firefox):
    """A file of the program's name without the kind was not made by the command, and stays."""
    (firefox / PROGRAM).parent.mkdir()
    (firefox / PROGRAM).write_text("theirs")
    install(firefox)
    assert (firefox / PROGRAM).read_text() == "theirs"


CONFIG_TEXT = (Path(__file__).parent / "firefox" / CONFIG).read_text()


@pytest.mark.parametrize(
    ("path", "old", "new", "problem"),
    [
        (CONFIG, "'UV':", "'IOB': 'Else'\n        'UV':", "be added.* IOB"),
        (CONFIG, "        'I': ", "        ? 'I'\n        : ", "be added.* IOB"),
        (CONFIG, "group-names:", "names:", "has no group names.* IOB"),
        (CONFIG, "workers:", "others:", "has no aliases of workers"),
        # As in ESR.
        (
            CONFIG,
            "b-linux(|-docker(|-x?large)-amd|",
            "b-linux-gcp(|",
            r"has no alias b-linux-docker-amd, b-.*, but b-linux-gcp\(\|.*; name the pools",
        ),
        (IMAGES, "debian12-", "debian14-", "has no image debian12-base or debian13-base; write"),
        (IMAGES, "tasks:", "jobs:", "has no tasks"),
        (KIND, "io-benchmark firefox", "us", "not written by io-benchmark firefox; rename that"),
    ],
)
def test_another_content(firefox, path, old, new, problem):
    """The error names the file, and what is missing or in the way; nothing is written."""
    install(firefox)
    (firefox / CONFIG).write_text(CONFIG_TEXT)
    edit(firefox / path, old, new)
    before = snapshot(firefox)
    with pytest.raises(IoBenchmarkError, match=rf"{path}: .*{problem}"):
        install(firefox)
    assert snapshot(firefox) == before


@pytest.mark.parametrize(
    "missing", [CONFIG, KINDS_PAGE, "taskcluster/gecko_taskgraph/transforms/task.py"]
)
def test_not_a_checkout(firefox, missing):
    """The message names the file by which a checkout is known."""
    (firefox / missing).unlink()
    with pytest.raises(UsageError, match=f"{re.escape(missing)} is missing; name the folder"):
        Checkout.open(firefox)


def test_a_pool_with_its_own_measurements(firefox, other_version):
    """Its command stands in its task, and the others keep the usual one."""
    edit(
        other_version.path / KIND,
        "IOB(intel)}",
        "IOB(intel)}\n        benchmark: {workloads: [spawn], retrieves: 7}",
    )
    checkout = Checkout.open(firefox)
    there = yaml.safe_load(kind_for(checkout, root=other_version).files[KIND])
    assert "--workload spawn" not in there["task-defaults"]["run"]["command"]
    assert [name for name, task in there["tasks"].items() if "run" in task] == ["intel"]
    assert "--workload spawn \\\n  --retrieves 7 " in there["tasks"]["intel"]["run"]["command"]


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        pytest.param("tasks:\n    amd", "tasks: [\n    amd", "is not YAML (line ", id="no YAML"),
        pytest.param("worker-type: b-linux\n", "\n", "as a kind", id="no worker type"),
        pytest.param("tasks:\n    amd", "tasks: {}\nothers:\n    amd", "as a kind", id="no pool"),
        pytest.param("max-run-time: 3600", "", "worker.max-run-time: None", id="no limit"),
        pytest.param("update-verify", "other", "has no image other, which the kind", id="no image"),
    ],
)
def test_mistakes_here(firefox, other_version, old, new, problem):
    """A kind that this project could not run is not installed there."""
    edit(other_version.path / KIND, old, new)
    with pytest.raises(IoBenchmarkError) as caught:
        kind_for(Checkout.open(firefox), root=other_version)
    assert problem in str(caught.value)


@pytest.mark.parametrize(
    "link", [CONFIG, FETCHES, "taskcluster", "taskcluster/kinds", "taskcluster/docs", KINDS_PAGE]
)
def test_links_out_of_the_checkout(firefox, link):
    """Nothing is written through a link, whose place is named."""
    outside = firefox.parent / "outside"
    (firefox / link).rename(outside)
    (firefox / link).symlink_to(outside)
    before = outside.read_bytes() if outside.is_file() else snapshot(outside)
    with pytest.raises(IoBenchmarkError, match=f"{link}: is a link, and files are written only"):
        install(firefox)
    assert before == (outside.read_bytes() if outside.is_file() else snapshot(outside))


@pytest.mark.parametrize("path", [KIND, FETCHES, TRANSFORMS])
@pytest.mark.parametrize("target", ["pipe", "/dev/zero"])
def test_files_that_never_end(firefox, path, target):
    """They are refused at once, and nothing is written."""
    (firefox / path).unlink(missing_ok=True)
    (firefox / path).parent.mkdir(exist_ok=True)
    if target == "pipe":
        os.mkfifo(firefox / path)
    else:
        (firefox / path).symlink_to(target)
    before = snapshot(firefox)
    with pytest.raises(IoBenchmarkError, match=f"{path}: is (not a regular file|a link)"):
        install(firefox)
    assert snapshot(firefox) == before


# Aliases that fit all of this project's pools
ALL = "workers: {aliases: {b-linux.*: {implementation: docker-worker, os: linux}}}"


@pytest.mark.parametrize(
    ("path", "content", "problem"),
    [
        (CONFIG, f"treeherder: {{group-names: []}}\n{ALL}", "has no group names"),
        (CONFIG, f"treeherder: {{group-names: {{}}}}\n{ALL}", "has no group names"),
        (CONFIG, "workers: {aliases: [b]}", "has no aliases of workers"),
        (CONFIG, "workers: {aliases: {1: {}}}", "the name 1 in workers.aliases is not text"),
        (CONFIG, "workers: {aliases: {}}", "has no alias b-linux-docker-amd, "),
        (CONFIG, "workers: {aliases: {b-linux.*: {os: linux}}}", "lacks its implementation"),
        (CONFIG, "a: 2026-99-99", "line 1: '2026-99-99' is not a timestamp"),
        (FETCHES, "- a\n- b\n", "the fetches of io-benchmark cannot be changed"),
        (FETCHES, "a: {}\nb: {\n}\n  c: d\n", "is not YAML (line 4"),
        (FETCHES, "a: {}\n...\n", "the fetches of io-benchmark cannot be changed"),
        (KIND, b"\xff", "is not UTF-8 at byte 0"),
    ],
)
def test_mistakes_in_the_checkouts_files(firefox, path, content, problem):
    """Each is one line, and nothing is written."""
    (firefox / path).parent.mkdir(exist_ok=True)
    data = content if isinstance(content, bytes) else content.encode()
    (firefox / path).write_bytes(data)
    before = snapshot(firefox)
    with pytest.raises(IoBenchmarkError) as caught:
        install(firefox)
    assert problem in str(caught.value)
    assert "\n" not in str(caught.value)
    assert snapshot(firefox) == before


def test_a_group_with_a_million_blanks(firefox):
    """A long line is no reason to wait."""
    text = re.sub("(?<=        'I': ).*", f"x{' ' * 1_000_000}y", CONFIG_TEXT)
    assert text != CONFIG_TEXT
    (firefox / CONFIG).write_text(text)
    begin_s = time.process_time()
    assert CONFIG in install(firefox)
    assert time.process_time() - begin_s < 30

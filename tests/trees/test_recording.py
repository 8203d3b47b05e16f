# SPDX-License-Identifier: MPL-2.0
"""The recorder of trees, on this machine."""

from pathlib import Path

import pytest
import trees
from record_tree import anonymous, record


def test_what_was_recorded_tells_the_same(tmp_path: Path) -> None:
    """A tree stands for the machine: its observers say of it what they said of the place itself."""
    (tmp_path / "place").mkdir()
    (tmp_path / "replayed").mkdir()
    tree = trees.parse(trees.as_text(record(str(tmp_path / "place"), "recorded in a test")))
    (place,) = trees.observe(tree, tmp_path / "replayed")["storage"]["places"]
    assert (place["path"], place["probe"]) == (str(tmp_path / "place"), tree.head["probe"])
    assert set(tree.files) & {"/proc/self/mountinfo", "/proc/meminfo"}
    assert not set(tree.files) & {"/proc/diskstats", "/proc/sys/kernel/random/boot_id"}


def test_identifiers_are_numbered() -> None:
    """A tree tells what storage is like, not whose it is."""
    uuid = "12345678-9abc-4def-8123-456789abcdef"
    text = f"/sys/fs/btrfs/{uuid}/devices\nUUID={uuid}\n/docker/{'0a' * 32}\nshop-17"
    assert anonymous(text, {"shop-17": "worker"}) == (
        "/sys/fs/btrfs/identifier-1/devices\nUUID=identifier-1\n/docker/identifier-2\nworker"
    )


@pytest.mark.parametrize(
    ("line", "files", "links", "folders"),
    [
        pytest.param(
            "/proc/a: 0::/", {"/proc/a": "0::/\n"}, {}, frozenset(), id="text like a folder"
        ),
        pytest.param("/sys/0:1/a:", {"/sys/0:1/a": ""}, {}, frozenset(), id="empty file"),
        pytest.param("/sys/0:1 -> ../0:2", {}, {"/sys/0:1": "../0:2"}, frozenset(), id="link"),
        pytest.param("/sys/0:1/", {}, {}, frozenset({"/sys/0:1"}), id="folder"),
        pytest.param("/a:\n    b: c\n    /d/", {"/a": "b: c\n/d/\n"}, {}, frozenset(), id="lines"),
    ],
)
def test_entries(
    line: str, files: dict[str, str], links: dict[str, str], folders: frozenset[str]
) -> None:
    """Each kind of entry is read as it is written."""
    head = (trees.FOLDER / f"{trees.names()[0]}.tree").read_text().split("\n/", 1)[0]
    tree = trees.parse(f"{head}\n{line}\n")
    assert (tree.files, tree.links, tree.folders) == (files, links, folders)
    assert trees.as_text(tree) == f"{head}\n{line}\n"

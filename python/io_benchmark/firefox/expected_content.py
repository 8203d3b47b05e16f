# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""The expected content of a checkout: files of the benchmark, and entries in Firefox's files."""

import re
from collections.abc import Sequence

import yaml
from msgspec import Struct

from io_benchmark.errors import IoBenchmarkError
from io_benchmark.firefox.checkout import (
    CONFIG,
    IMAGES,
    KIND,
    NAME,
    SCRIPT,
    TRANSFORMS,
    Checkout,
    TreePath,
)
from io_benchmark.firefox.doc_page import DocPage
from io_benchmark.firefox.group_names import GroupNames
from io_benchmark.firefox.joined_module import join_modules
from io_benchmark.firefox.kind import SOURCE, Kind
from io_benchmark.firefox.text_lines import decode, normalize_line_ends
from io_benchmark.graph.root import Root
from io_benchmark.graph.worker_script import build_worker_script

KIND_PAGE = """\
The same I/O benchmark on every worker pool, to say which pool is slower, by how much and why. A task
is a pool. It runs only on request: `mach try fuzzy --full -q "'io-benchmark"`.

`io-benchmark firefox` put it here from <https://github.com/mozilla-releng/io-benchmark>.
"""
_ATTRIBUTES_PAGE = "taskcluster/docs/attributes.md"


class ExpectedEntry(Struct, frozen=True):
    place: TreePath
    body: str
    # Others use it too: whatever Firefox already has under that title is accepted.
    shared: bool = False


def _read(root: Root, path: str) -> str:
    file = root.path / path
    try:
        return decode(normalize_line_ends(file.read_bytes()), file)
    except OSError as error:
        raise IoBenchmarkError(
            f"{file}: {error.strerror}; name a complete tree with --root"
        ) from None


def _own_kind(root: Root, workloads: Sequence[str]) -> Kind:
    text = _read(root, SOURCE)
    try:
        kind = Kind.parse(text, workloads)
    except (yaml.YAMLError, KeyError, TypeError, AttributeError):
        raise IoBenchmarkError(
            f"{root.path / SOURCE}: cannot be read as a kind; run `io-benchmark rehearse --root "
            f"{root.path}` to see why"
        ) from None
    if len(kind.groups) != 1:
        raise IoBenchmarkError(
            f"{root.path / SOURCE}: its tasks have {len(kind.groups)} groups in their symbols "
            f"({', '.join(kind.groups)}); give all of them the same group"
        )
    return kind


def _group_name(root: Root, group: str) -> str:
    name = GroupNames(_read(root, CONFIG)).current(group)
    if name is None:
        raise IoBenchmarkError(
            f"{root.path / CONFIG}: treeherder group-names has no {group}, the group of the tasks' "
            "symbols; add it"
        )
    return name


def _attributes(root: Root, texts: list[str]) -> dict[str, str]:
    """Return this project's documentation of the attributes that the texts mention."""
    page = DocPage(_read(root, _ATTRIBUTES_PAGE), markdown=True)
    documented = {}
    for title in page.titles[1:]:
        if any(re.search(rf"\b{re.escape(title)}\b", text) for text in texts):
            section = page.current(title) or ""
            documented[title] = section.partition("\n")[2].strip() + "\n"
    return documented


def find_expected_content(
    root: Root, checkout: Checkout, workloads: Sequence[str]
) -> tuple[dict[str, bytes], list[ExpectedEntry]]:
    """Return the files by their paths, and the entries."""
    own = _own_kind(root, workloads)
    transforms_text = join_modules(root.path / "python")
    script = build_worker_script(root, own.workloads).modules
    files = {KIND: own.text_there.encode(), TRANSFORMS: transforms_text.encode()}
    files |= {f"{SCRIPT}/{path}": data for path, data in script.items()}
    entries = [
        ExpectedEntry(TreePath(CONFIG, own.groups[0]), _group_name(root, own.groups[0])),
        ExpectedEntry(TreePath(checkout.kinds_page, NAME), KIND_PAGE),
    ]
    texts = [own.text_there, transforms_text]
    for title, body in _attributes(root, texts).items():
        entries.append(ExpectedEntry(TreePath(checkout.attributes_page, title), body, shared=True))
    _check_needs(checkout, own)
    return {path: normalize_line_ends(data) for path, data in files.items()}, entries


def _matches(alias: str, worker_type: str) -> bool:
    """Return whether an alias matches; taskgraph reads aliases as regular expressions."""
    try:
        return alias == worker_type or re.fullmatch(alias, worker_type) is not None
    except re.error:
        return False


def _names_in(checkout: Checkout, path: str, *keys: str) -> list[str]:
    """Return the keys of a mapping in one of the checkout's YAML files."""
    try:
        content = yaml.safe_load(checkout.read_text(path))
        for key in keys:
            content = content[key]
        return [str(name) for name in content]
    except (yaml.YAMLError, KeyError, TypeError):
        raise IoBenchmarkError(f"{path}: has no {'.'.join(keys)}; update the checkout") from None


def _check_needs(checkout: Checkout, own: Kind) -> None:
    """Check that the checkout has the images and worker types that the kind needs."""
    images = _names_in(checkout, IMAGES, "tasks")
    for image in own.images:
        if image not in images:
            raise IoBenchmarkError(
                f"{IMAGES}: no image {image}, which the tasks run in; add it, or name "
                f"a different image in {SOURCE} here"
            )
    aliases = _names_in(checkout, CONFIG, "workers", "aliases")
    for pool, worker_type in own.worker_types.items():
        if not any(_matches(alias, worker_type) for alias in aliases):
            raise IoBenchmarkError(
                f"{CONFIG}: workers.aliases has no {worker_type}, which the pool {pool} needs; "
                f"add it there, or remove the pool from {SOURCE} here"
            )

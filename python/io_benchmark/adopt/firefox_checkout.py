# SPDX-License-Identifier: MPL-2.0
"""A Firefox checkout: what differs from the expected content, as changes of whole files.

Files of this project's are added. Files of Firefox's get an entry each: the group's name in config.yml, and
at the end a section in the page of kinds, and the fetch. Nothing that has other content is overwritten.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Self

import yaml

from io_benchmark.adopt.changes import FileChange, Tree
from io_benchmark.adopt.firefox_kind import NAME, PROGRAM, FirefoxKind
from io_benchmark.errors import IoBenchmarkError, UsageError
from io_benchmark.paths import resolve_path

CONFIG = "taskcluster/config.yml"
# ESR 140 has the second one.
KINDS_PAGES = ("taskcluster/docs/kinds.md", "taskcluster/docs/kinds.rst")
_MARKS = (CONFIG, "taskcluster/gecko_taskgraph/transforms/task.py")
_HEADINGS = (f"## {NAME}\n\n", f"{NAME}\n{'-' * len(NAME)}\n\n")
_SECTION = """\
The same I/O benchmark on every worker pool, and a report: which pool is slower, and why. Tasks run only on
request. Owner: Release Engineering, by io-benchmark firefox of <https://github.com/mozilla-releng/io-benchmark>.
"""
_GROUP_LINE = r"^( +)(['\"]?){}\2: *(['\"]?)(.*?)\3 *(?:#.*)?\n"


class Checkout(Tree, frozen=True):
    page: str  # of the kinds

    @classmethod
    def open(cls, path: Path) -> Self:
        root = resolve_path(path, str(path))
        missing = [mark for mark in _MARKS if not (root / mark).is_file()]
        pages = [page for page in KINDS_PAGES if (root / page).is_file()]
        if missing or not pages:
            raise UsageError(
                f"{path}: is not a Firefox checkout: {[*missing, KINDS_PAGES[0]][0]} is missing; name "
                "the folder that contains mach"
            )
        return cls(root, pages[0])

    def installing(self, kind: FirefoxKind) -> list[FileChange]:
        """Return the changes that add what is missing; refuse to overwrite other content."""
        changes = [self.change(path, data) for path, data in kind.files.items()]
        conflicts = [change.path for change in changes if change.before not in (None, change.after)]
        if conflicts:
            raise IoBenchmarkError(
                f"{self.path}: {', '.join(conflicts)}: edited there or from another version, so "
                "nothing was written; to replace it, look at it with git or hg, then use --remove and "
                "install again"
            )
        for path, ending in self._endings(kind):
            text = self.text(path)
            if ending not in text:
                self._refuse_other(path, text)
                text = f"{text.rstrip()}\n\n{ending}"
            changes.append(self.change(path, text.encode()))
        changes.append(self.change(CONFIG, self._with_group(kind).encode()))
        return [change for change in changes if change.before != change.after]

    def removing(self, kind: FirefoxKind) -> list[FileChange]:
        """Return the changes that remove the files, whatever they contain, and all entries."""
        changes = [self.change(path, None) for path in (*kind.files, PROGRAM)]
        for path, ending in self._endings(kind):
            text = self.text(path).replace(f"\n{ending}", "")
            self._refuse_other(path, text)
            changes.append(self.change(path, text.encode()))
        config = re.sub(_group_line(kind.group), "", self.text(CONFIG), flags=re.MULTILINE)
        changes.append(self.change(CONFIG, config.encode()))
        return [change for change in changes if change.before != change.after]

    def _endings(self, kind: FirefoxKind) -> Iterator[tuple[str, str]]:
        """Yield files of Firefox's with what is put at their ends."""
        yield self.page, _HEADINGS[KINDS_PAGES.index(self.page)] + _SECTION
        yield from kind.endings.items()

    def _refuse_other(self, path: str, text: str) -> None:
        if any(f"\n{start}" in text for start in (*_HEADINGS, f"{NAME}:\n")):
            raise IoBenchmarkError(
                f"{self.path / path}: has another section {NAME}; remove it first"
            )

    def _check_aliases(self, kind: FirefoxKind, config: Any) -> None:
        """Refuse pools whose worker type is no alias there; the message has those that could be meant."""
        aliases = config.get("workers", {}).get("aliases", {})
        missing = {
            pool: name
            for pool, name in kind.worker_types.items()
            if not any(re.fullmatch(alias, name) for alias in aliases)
        }
        if missing:
            linux = sorted(alias for alias in aliases if alias.startswith("b-linux"))
            raise IoBenchmarkError(
                f"{self.path / CONFIG}: has no alias {', '.join(sorted(set(missing.values())))} for "
                f"{', '.join(missing)}, but {', '.join(linux or aliases)}; name the pools to install as "
                "--pool NAME=ALIAS"
            )

    def _with_group(self, kind: FirefoxKind) -> str:
        """Return config.yml with the group's name, behind the name that sorts before it."""
        text = self.text(CONFIG)
        advice = f"write treeherder.group-names there as one line per group, with {kind.group}"
        try:
            config = yaml.safe_load(text)
            names = config["treeherder"]["group-names"]
        except (yaml.YAMLError, KeyError, TypeError):
            raise IoBenchmarkError(f"{self.path / CONFIG}: has no group names; {advice}") from None
        self._check_aliases(kind, config)
        if names.get(kind.group) == kind.group_name:
            return text
        smaller = [name for name in names if name < kind.group] or list(names)
        pattern = re.compile(_group_line(max(smaller)), re.MULTILINE)
        new = rf"\g<0>\1'{kind.group}': '{kind.group_name}'\n"
        changed = pattern.sub(new, text, count=1)
        names[kind.group] = kind.group_name
        # A group of this name that means something else is given twice now.
        if yaml.safe_load(changed) != config or re.search(
            _group_line(kind.group), text, re.MULTILINE
        ):
            raise IoBenchmarkError(
                f"{self.path / CONFIG}: the group {kind.group} cannot be added; {advice}: "
                f"{kind.group_name}"
            )
        return changed


def _group_line(group: str) -> str:
    return _GROUP_LINE.format(re.escape(group))

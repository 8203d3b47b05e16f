# SPDX-License-Identifier: MPL-2.0
"""A Firefox checkout: what differs from the expected content, as changes of whole files.

Files of this project's are added, or replaced by this version's. Files of Firefox's get an entry
each: the group's name in config.yml, and at the end a section in the page of kinds, and the fetch.
"""

import re
from contextlib import suppress
from pathlib import Path
from typing import Self

from io_benchmark.adopt.changes import FileChange, Tree
from io_benchmark.adopt.firefox_kind import FETCHES, KIND, MARK, MOUNTED, PROGRAM, FirefoxKind
from io_benchmark.adopt.firefox_release import NAME
from io_benchmark.adopt.firefox_workers import CONFIG
from io_benchmark.errors import IoBenchmarkError, UsageError
from io_benchmark.paths import resolve_path
from io_benchmark.yaml_reader import YamlError, parse_yaml

# ESR 140 has the second one.
KINDS_PAGES = ("taskcluster/docs/kinds.md", "taskcluster/docs/kinds.rst")
_MARKS = (CONFIG, "taskcluster/gecko_taskgraph/transforms/task.py")
_HEADINGS = (f"## {NAME}\n\n", f"{NAME}\n{'-' * len(NAME)}\n\n")
_SECTION = (
    "The same I/O benchmark on every worker pool, and a report: which pool is slower, and why. "
    "Tasks run only on\n"
    "request. Owner: Release Engineering, by io-benchmark firefox of "
    "<https://github.com/mozilla-releng/io-benchmark>.\n"
)
# The group of the tasks' symbols on Treeherder
GROUP, GROUP_NAME = "IOB", "I/O benchmark"
_ADVICE = f"write treeherder.group-names there as one line per group, with {GROUP}"


class Checkout(Tree, frozen=True):
    page: str  # of the kinds

    @classmethod
    def open(cls, path: Path) -> Self:
        root = resolve_path(path, str(path))
        missing = [mark for mark in _MARKS if not (root / mark).is_file()]
        pages = [page for page in KINDS_PAGES if (root / page).is_file()]
        if not pages:
            missing.append(KINDS_PAGES[0])
        if missing:
            raise UsageError(
                f"{path}: is not a Firefox checkout: {missing[0]} is missing; name the folder that "
                "contains mach"
            )
        return cls(root, pages[0])

    def changes(self, kind: FirefoxKind) -> list[FileChange]:
        """Return the changes that add the kind, or update it to this version or form."""
        texts = {self.page: self._with_section(), CONFIG: self._with_group()}
        if kind.fetches or NAME in self.text(FETCHES):
            texts[FETCHES] = self._with_fetches(kind.fetches)
        present = self.text(KIND)
        if MARK not in (present or MARK):
            raise IoBenchmarkError(f"{self.path / KIND}: not written by {MARK}; rename that kind")
        contents: dict[str, bytes | None] = {path: text.encode() for path, text in texts.items()}
        if present:
            contents |= {path: None for path in (PROGRAM, MOUNTED) if path not in kind.files}
        return self.changes_to({**kind.files, **contents})

    def _with_section(self) -> str:
        text = self.text(self.page)
        heading = _HEADINGS[KINDS_PAGES.index(self.page)]
        return text if f"\n{heading}" in text else f"{text.rstrip()}\n\n{heading}{_SECTION}"

    def _with_fetches(self, fetches: str) -> str:
        """Return the file of fetches with these entries, which replace those of another version."""
        text = self.text(FETCHES)
        entry = rf"{NAME}(-\w+)?:\n( .*\n)*"
        entries = rf"^{entry}(\n{entry})*"
        if not fetches:
            # With the empty line before them
            changed = re.sub(rf"((?<=\n)\n)?{entries}", "", text, flags=re.MULTILINE)
        else:
            changed, earlier = re.subn(entries, lambda _match: fetches, text, flags=re.MULTILINE)
            if not earlier:
                changed = f"{text.rstrip()}\n\n{fetches}"
        own_name = re.compile(rf"{NAME}(-\w+)?")
        before = self.yaml(FETCHES) or {}
        with suppress(YamlError, AttributeError):  # neither is a mapping
            kept = {key: value for key, value in before.items() if not own_name.fullmatch(str(key))}
            if parse_yaml(changed) == {**kept, **(parse_yaml(fetches) or {})}:
                return changed
        raise IoBenchmarkError(
            f"{self.path / FETCHES}: the fetches of {NAME} cannot be changed; write it as one "
            "mapping"
        )

    def _with_group(self) -> str:
        """Return config.yml with the group's name, behind the name that sorts before it."""
        text = self.text(CONFIG)
        config = self.yaml(CONFIG)
        try:
            names = config["treeherder"]["group-names"]
        except (KeyError, TypeError):
            names = None
        if not isinstance(names, dict) or not names:
            raise IoBenchmarkError(f"{self.path / CONFIG}: has no group names; {_ADVICE}")
        present = names.get(GROUP)
        if present == GROUP_NAME:
            return text
        problem = f"the group {GROUP} cannot be added; {_ADVICE}: {GROUP_NAME}"
        if present is not None:
            raise IoBenchmarkError(f"{self.path / CONFIG}: {problem}")
        all_names = [str(name) for name in names]
        earlier = [name for name in all_names if name < GROUP]
        before = re.escape(max(earlier or all_names))
        # What is not one line does not have the expected content afterwards.
        entry = rf"^( +)(['\"]?){before}\2:[^\n]*\n"
        names[GROUP] = GROUP_NAME
        return self.with_line(CONFIG, entry, rf"\1'{GROUP}': '{GROUP_NAME}'\n", config, problem)

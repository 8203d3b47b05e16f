# SPDX-License-Identifier: MPL-2.0
"""Small trees with the shapes that projects have."""

from io_benchmark.adopt.changes import Tree
from io_benchmark.adopt.projects.draft import Draft


def draft_of(folder, files):
    """Write files, and return a draft of their tree."""
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(text.encode())
    return Draft(Tree(folder))


def added_lines(draft):
    """Return, by file, the lines that a draft adds; nothing else may differ."""
    added: dict[str, list[str]] = {}
    for path, text in draft.texts.items():
        before = draft.tree.text(path).splitlines(keepends=True)
        added[path] = []
        for line in text.splitlines(keepends=True):
            if before and line == before[0]:
                before.pop(0)
            else:
                added[path].append(line)
        assert before == [], path
    return added

# SPDX-License-Identifier: MPL-2.0
"""Patches are what git applies, whatever a line or a file's name contains."""

import os
import random
import subprocess
import time
from pathlib import Path

import pytest

from io_benchmark.adopt.changes import FileChange

ENDS = ("\r\n", "\r", "\u0085", "\u2028", "\u2029", "\f", "\v", "\x1c", "\x1e", "\n")


def applied(folder: Path, change: FileChange) -> bytes | None:
    """Return the file after git has applied the patch; None where it is gone."""
    file = folder / change.path
    if change.before is not None:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(change.before)
    # Surrogates are bytes of a name that is not UTF-8.
    patch = "".join(change.patch()).encode()
    command = ["git", "apply", "--whitespace=nowarn", "-"]
    done = subprocess.run(command, input=patch, cwd=folder, capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b""), patch
    return file.read_bytes() if file.exists() else None


@pytest.mark.parametrize("end", ENDS, ids=ascii)
@pytest.mark.parametrize("last", ["\n", ""], ids=["ended", "not ended"])
def test_ends_of_lines(tmp_path: Path, end: str, last: str) -> None:
    """Only a line feed ends a line."""
    before = f"first{end}second\nthird\nchanged{end}\nfifth{end}sixth{last}"
    after = before.replace("changed", f"new{end}")
    change = FileChange("file.yml", before.encode(), after.encode())
    assert applied(tmp_path, change) == after.encode()


@pytest.mark.parametrize(
    "name",
    [
        "plain",
        "a b",
        "a ",
        " a",
        'a"b',
        "a'b",
        "a\\b",
        "a\tb",
        "a\nb",
        "a\rb",
        "-x",
        "{a}",
        "ä",
        "ä b",
        "a\u2028b",
        "a\x7f",
        "a\x01",
        "日本 語",
        os.fsdecode(b"a\xffb"),
        "a 2026-01-01 10:00:00.000000000 +0000",
        "x\t2026-11-28 10:00:00.0 +0000",
        "folder/a b",
        "dev/null",
    ],
    ids=ascii,
)
@pytest.mark.parametrize(
    ("before", "after"),
    [(b"a\n", b"b\n"), (None, b"b\n"), (b"a\n", None)],
    ids=["changed", "new", "removed"],
)
def test_names(tmp_path: Path, name: str, before: bytes | None, after: bytes | None) -> None:
    """A name with blanks ends at a tab, and one with other characters is quoted."""
    assert applied(tmp_path, FileChange(name, before, after)) == after


def test_random_changes(tmp_path: Path) -> None:
    """Also where changes are near each other, or at an end."""
    generator = random.Random(44)
    words = ["a", "b", "c\r", "", "d\u2028"]
    for number in range(300):
        lines = generator.choices(words, k=generator.choice((0, 1, 2, 5, 40)))
        changed = list(lines)
        for _ in range(generator.randint(1, 4)):
            at = generator.randint(0, len(changed))
            changed[at : at + generator.randint(0, 2)] = generator.choices("xyz", k=2)
        before, after = (
            ("\n".join(text) + generator.choice(("", "\n"))).encode() for text in (lines, changed)
        )
        assert applied(tmp_path, FileChange(f"file-{number}", before, after)) == after


def test_unchanged() -> None:
    """There is no patch."""
    assert FileChange("file", b"a\n", b"a\n").patch() == []


def test_many_alike_lines(tmp_path: Path) -> None:
    """A patch is made soon: comparing a million lines of a hundred kinds would take hours."""
    lines = [f"{number % 100}\n" for number in range(500_000)]
    before = "".join(lines).encode()
    begin_s = time.process_time()
    one_line = FileChange("file", before, before + b"new\n")
    assert len(one_line.patch()) == 7
    spread = b"new\n" + before.replace(b"7\n", b"8\n", 1) + b"new\n"
    patch = FileChange("file", before, spread).patch()
    assert time.process_time() - begin_s < 30
    assert len(patch) > 500_000
    assert applied(tmp_path, FileChange("file", before, spread)) == spread

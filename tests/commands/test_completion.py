# SPDX-License-Identifier: MPL-2.0
"""The command completion: what it prints completes command lines in the shells themselves."""

import importlib
import shutil
import subprocess
from pathlib import Path

import program
import pytest

from io_benchmark.commands.completion import FILES, FOLDERS, SHELLS
from io_benchmark.commands.options.parsers import COMMANDS
from io_benchmark.report.formats import FORMATS

# As bash calls the function that completes: with the words before the cursor, the last not ended.
IN_BASH = """
source /dev/stdin
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
_shtab_io_benchmark "$1" "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
printf '%s\\n' "${COMPREPLY[@]}"
"""
IN_FISH = 'source; complete --do-complete "$argv"'
COMPLETED = [
    (["comp"], {"compare", "completion"}),
    (["compare", "--for"], {"--format"}),
    (["compare", "--format", ""], {*FORMATS}),
    (["history", "--format", "perf"], set()),
    (["completion", ""], {*SHELLS}),
    # A file may be in a folder.
    (["script", "-o", "so"], {"some-file", "some-folder"}),
    (["rehearse", "--output", "so"], {"some-folder"}),
]


def script(shell: str) -> str:
    return program.run("completion", shell).stdout


def completed(folder: Path, *command: str, text: str) -> set[str]:
    """Return the words that a shell proposes, in a folder with a file and a folder."""
    (folder / "some-file").touch()
    (folder / "some-folder").mkdir()
    done = subprocess.run(
        command, cwd=folder, input=text, capture_output=True, text=True, check=False
    )
    # Behind a tab fish describes a word.
    words = {line.split("\t")[0].rstrip("/") for line in done.stdout.splitlines()}
    return words - {""}


@pytest.mark.parametrize(("words", "expected"), COMPLETED)
def test_bash(tmp_path: Path, words: list[str], expected: set[str]) -> None:
    """Commands, options, their values, files, or only folders where a folder is meant."""
    command = ("bash", "-c", IN_BASH, "bash", "io-benchmark", *words)
    assert completed(tmp_path, *command, text=script("bash")) == expected


@pytest.mark.parametrize(("words", "expected"), COMPLETED)
def test_fish(tmp_path: Path, words: list[str], expected: set[str]) -> None:
    """The same in fish."""
    if shutil.which("fish") is None:
        pytest.skip("needs fish")
    line = " ".join(["io-benchmark", *words])
    words_of_fish = completed(
        tmp_path, "fish", "--no-config", "-c", IN_FISH, line, text=script("fish")
    )
    assert words_of_fish == expected


def test_zsh() -> None:
    """It is a file for a folder of $fpath, which zsh can parse."""
    text = script("zsh")
    assert text.startswith("#compdef io-benchmark\n")
    if shutil.which("zsh") is None:
        pytest.skip("needs zsh")
    done = subprocess.run(["zsh", "-fn"], input=text, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("shell", SHELLS)
def test_every_option(shell: str) -> None:
    """Each option of each command is there."""
    text = script(shell)
    for command in COMMANDS:
        options = importlib.import_module(f"io_benchmark.commands.{command}").OPTIONS
        names = [name for group in options.values() for entry in group for name in entry.names]
        assert command in text
        # fish writes options without dashes.
        missing = {name for name in names if name.startswith("-") and name.strip("-") not in text}
        assert missing == set()


def test_files_and_folders() -> None:
    """The names that mark files and folders are those of the options."""
    options = [
        entry
        for command in COMMANDS
        for group in importlib.import_module(f"io_benchmark.commands.{command}").OPTIONS.values()
        for entry in group
    ]
    assert {*FILES, *FOLDERS} <= {entry.settings.get("metavar") for entry in options}

# SPDX-License-Identifier: MPL-2.0
"""Completion, tried in a real bash."""

import subprocess
import sys

import pytest


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        pytest.param("io-benchmark re", "rehearse", id="command"),
        pytest.param("io-benchmark compare --mar", "--margin", id="option"),
        pytest.param("io-benchmark rehearse --container pod", "podman", id="choice"),
    ],
)
def test_bash_completes(words: str, expected: str) -> None:
    """The script, sourced, completes commands, options and choices."""
    script = (
        f'eval "$({sys.executable} -m io_benchmark.cli completion bash)"\n'
        f"COMP_WORDS=({words})\nCOMP_CWORD=$(( ${{#COMP_WORDS[@]}} - 1 ))\n"
        f'"$(complete -p io-benchmark | sed "s/.*-F \\([^ ]*\\).*/\\1/")"\n'
        'echo "${COMPREPLY[@]}"\n'
    )
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=False)
    assert expected in done.stdout.split(), done.stderr

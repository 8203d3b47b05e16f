# SPDX-License-Identifier: MPL-2.0
"""What a gate's report leaves for GitHub and Treeherder, run by bash as run-task does."""

import os
import subprocess

import pytest

from io_benchmark_taskgraph.transforms import gate_verdict
from io_benchmark_taskgraph.transforms.report import FILES, checked_stanza, report_command

NOT_ENDED = "Not decided: the report did not end; see the log of its task.\n"


@pytest.fixture
def publish(tmp_path):
    """Run the command of a report; return the exit code, the log, and the text of the check."""

    def publish(exit_code, text):
        (tmp_path / "text").write_text(text)
        program = tmp_path / "python"
        # It writes the file that comes behind markdown=, if there is a text.
        program.write_text(
            "#!/bin/bash\n"
            'for word in "$@"; do [ ! -s text ] || case $word in\n'
            f"markdown=*) cp text ${{word#*=}} ;; esac; done; exit {exit_code}\n"
        )
        program.chmod(0o755)
        command = report_command(checked_stanza({"gates": ["a/b<1.1"]}, ["a", "b"]))
        done = subprocess.run(
            ["bash", "-cx", command],
            cwd=tmp_path,
            env={
                "PATH": os.environ["PATH"],
                "IO_BENCHMARK_ARTIFACTS": str(tmp_path),
                "IO_BENCHMARK_REPORT_PYTHON": str(program),
                "TASK_GROUP_ID": "Fqm6GL_zRPur",
            },
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        check = tmp_path / "github/customCheckRunText.md"
        return done.returncode, done.stdout, check.read_text(), command

    return publish


@pytest.mark.parametrize(
    ("exit_code", "text", "check"),
    [
        pytest.param(0, "passed\n\nmore\n", "passed\n\nmore\n", id="passed"),
        pytest.param(3, "failed: é\n\nmore\n", "failed: é\n\nmore\n", id="failed"),
        pytest.param(1, "", NOT_ENDED, id="no-report"),
    ],
)
def test_published(publish, exit_code, text, check):
    """The check has the report, or says that there is none; only a failure is one for Treeherder.

    Its line is not among those that run-task prints before the command runs, nor in bash's trace.
    """
    code, log, published, command = publish(exit_code, text)
    assert (code, published) == (exit_code, check)
    lines = [line for line in log.splitlines() if "TEST-UNEXPECTED" in line]
    failure = f"TEST-UNEXPECTED-FAIL | io-benchmark-gate | {check.splitlines()[0]}"
    assert lines == ([failure] if exit_code else [])
    assert "TEST-UNEXPECTED" not in command


@pytest.mark.parametrize("more", [0, 1])
def test_a_long_report(publish, more):
    """GitHub refuses a check that is too long: it is cut at a line, and says where the rest is."""
    line = "é" * 49 + "\n"  # 99 bytes
    text = line * (gate_verdict.MOST_BYTES // 99)
    text += "x" * (gate_verdict.MOST_BYTES - len(text.encode()) - 1 + more) + "\n"
    _, _, published, _ = publish(0, text)
    rest = f"\nThe rest is in the artifact public/{FILES['markdown']}.\n"
    cut = line * (gate_verdict.MOST_BYTES // 99) + rest
    assert published == (cut if more else text)

# SPDX-License-Identifier: MPL-2.0
"""What a gate's report leaves for GitHub and Treeherder, run by bash as run-task does."""

import os
import subprocess

import pytest
import sample_gates

from io_benchmark.report.formats import Layout, rendered
from io_benchmark_taskgraph.transforms import check_text
from io_benchmark_taskgraph.transforms.report import FILES, checked_stanza, report_command

NOT_ENDED = "Not decided: there is no report; see the log of its task.\n"


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


PASSED = "## Gate passed: a against b\n\n- **Passed: a against b** takes 1.00×\n\n<details>\n"
FAILED = """\
## 3 gates: 1 passed, 1 failed, 1 not decided

- **Failed: é against b** takes 1.92× as long
  - **Why:** The whole interval is above the limit.
- **Passed: c against d** takes 1.00× as long
- **Not decided: e against f**, 0 workers each

<details>

- **Failed: é against b** takes 1.92× as long
"""
FAILURES = ["Failed: é against b takes 1.92× as long", "Not decided: e against f, 0 workers each"]


@pytest.mark.parametrize(
    ("exit_code", "text", "check", "failures"),
    [
        pytest.param(0, PASSED, PASSED, [], id="passed"),
        pytest.param(3, FAILED, FAILED, FAILURES, id="failed"),
        pytest.param(1, "", NOT_ENDED, [NOT_ENDED.strip()], id="no-report"),
        pytest.param(1, "no gate\n", "no gate\n", ["no gate"], id="another-report"),
    ],
)
def test_published(publish, exit_code, text, check, failures):
    """The check has the report, or says that there is none; each gate that failed is one line.

    Treeherder takes no line that run-task prints before the command runs, nor of bash's trace.
    """
    code, log, published, command = publish(exit_code, text)
    assert (code, published) == (exit_code, check)
    lines = [line for line in log.splitlines() if "TEST-UNEXPECTED" in line]
    assert lines == [f"TEST-UNEXPECTED-FAIL | io-benchmark-gate | {line}" for line in failures]
    assert "TEST-UNEXPECTED" not in command


def test_answers_of_the_program(publish):
    """Each gate that has not passed is found in the report as the program writes it, once."""
    report = sample_gates.report("slower", "equal", "few", "mixed")
    _, log, _, _ = publish(3, rendered(report, "markdown", Layout()))
    lines = [line for line in log.splitlines() if "TEST-UNEXPECTED" in line]
    begins = [" ".join(line.split()[4:8]) for line in lines]
    assert begins == [
        "Failed: amd-16 takes 1.92×",
        "Not decided: amd-16 takes",
        "Failed: amd-16 takes 1.87×",
    ]


@pytest.mark.parametrize("more", [0, 1])
def test_a_long_report(publish, more):
    """GitHub refuses a check that is too long: without details, it says where they are."""
    details = "x" * (check_text.MOST_BYTES - len(FAILED.encode()) - 1 + more) + "\n"
    _, _, published, _ = publish(3, FAILED + details)
    there = f"\nThe details are in the artifact public/{FILES['markdown']}.\n"
    short = FAILED.partition("\n<details>")[0] + there
    assert published == (short if more else FAILED + details)


def test_a_long_answer(publish):
    """Where the answer itself is too long, it ends with a whole line."""
    line = "é" * 49 + "\n"  # 99 bytes
    _, _, published, _ = publish(0, line * 1000)
    there = f"\nThe details are in the artifact public/{FILES['markdown']}.\n"
    assert published == line * (check_text.MOST_BYTES // 99) + there

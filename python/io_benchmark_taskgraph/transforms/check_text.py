# SPDX-License-Identifier: MPL-2.0
"""What a task says where people look: the check of a push on GitHub, and Treeherder.

taskcluster-github shows the text of `public/github/customCheckRunText.md` in the check of a task
that has the route `checks`; taskgraph gives this route to all tasks of a git repository. Treeherder
shows lines that begin with TEST-UNEXPECTED-FAIL as the reasons of a failed task.
"""

import shlex

from io_benchmark_taskgraph.stanza import ARTIFACTS_PATH

_FOLDER = "github"
ARTIFACTS = {
    "type": "directory",
    "name": f"public/{_FOLDER}",
    "path": f"{ARTIFACTS_PATH}/{_FOLDER}",
}
# GitHub refuses a check with more than 65,535 characters, and taskcluster-github adds the task's
# status, links to at most 50 artifacts, and lines of the log.
MOST_BYTES = 40_000


def before(undecided: str) -> str:
    """Return what comes before the program, whose exit code becomes `status`.

    The file is there from the beginning, because taskcluster-github comments on the commit where an
    artifact cannot be read.
    """
    return f"""\
check="$artifacts/{_FOLDER}/customCheckRunText.md"
mkdir -p "$artifacts/{_FOLDER}"
echo {shlex.quote(undecided)} > "$check"
status=0"""


def failures(kind: str, lines: str) -> str:
    """Return what shows each of these lines, a text within quotes in bash, as a reason.

    The first word for Treeherder is in two parts, because run-task prints this text too.
    """
    return f"""\
  while IFS= read -r reason; do
    printf 'TEST-%s | {kind} | %s\\n' UNEXPECTED-FAIL "$reason"
  done <<< "{lines}\""""

# SPDX-License-Identifier: MPL-2.0
"""The answer of a gate where people look: the check of a push on GitHub, and Treeherder.

taskcluster-github shows the text of `public/github/customCheckRunText.md` in the check of a task
that has the route `checks`; taskgraph gives this route to all tasks of a git repository. Treeherder
shows lines that begin with TEST-UNEXPECTED-FAIL as the reasons of a failed task.
"""

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
# The file is there from the beginning, because taskcluster-github comments on the commit where an
# artifact cannot be read.
BEFORE = f"""\
check="$artifacts/{_FOLDER}/customCheckRunText.md"
mkdir -p "$artifacts/{_FOLDER}"
echo 'Not decided: there is no report; see the log of its task.' > "$check"
status=0"""
# A report that is too long has no details here. The first word for Treeherder is in two parts,
# because run-task prints this text too.
_AFTER = """\
report="$artifacts/@file@"
if [ -s "$report" ] && [ "$(wc -c < "$report")" -le @bytes@ ]; then
  cp "$report" "$check"
elif [ -s "$report" ]; then
  sed '/^<details>/Q' "$report" | head -c @bytes@ | sed '$d' > "$check"
  printf '\\nThe details are in the artifact %s.\\n' public/@file@ >> "$check"
fi
if [ "$status" -ne 0 ]; then
  answer='s/^- [*]{2}(Failed: |Not decided: )(.*)[*]{2}/\\1\\2/p'
  answers=$(sed -nE "/^<details>/q; $answer" "$check")
  while IFS= read -r answer; do
    printf 'TEST-%s | io-benchmark-gate | %s\\n' UNEXPECTED-FAIL "$answer"
  done <<< "${answers:-$(head -n 1 "$check")}"
fi
exit "$status"
"""


def after(report: str) -> str:
    """Return what follows the comparison, whose Markdown is in this file below the artifacts."""
    return _AFTER.replace("@file@", report).replace("@bytes@", str(MOST_BYTES))

# SPDX-License-Identifier: MPL-2.0
"""The answer of a gate in the check of a push on GitHub, and on Treeherder."""

from io_benchmark_taskgraph.parameters import GATE_JOB
from io_benchmark_taskgraph.transforms import check_text

BEFORE = check_text.before("Not decided: there is no report; see the log of its task.")
# A report that is too long has no details here.
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
@failures@
fi
exit "$status"
"""


def after(report: str) -> str:
    """Return what follows the comparison, whose Markdown is in this file below the artifacts."""
    failures = check_text.failures(GATE_JOB, '${answers:-$(head -n 1 "$check")}')
    text = _AFTER.replace("@failures@", failures).replace("@file@", report)
    return text.replace("@bytes@", str(check_text.MOST_BYTES))

# SPDX-License-Identifier: MPL-2.0
"""Install the benchmark's kind in a Firefox checkout, or remove it.

The command adds three files and two entries, and commits nothing. It overwrites
nothing: to update to another version, remove the kind and install it again.
stdout gets one line per file that changed.

Exit code: 0 done, or nothing to do; 1 failed, or another file is in the way;
2 wrong usage, or PATH is not a Firefox checkout.
"""

from pathlib import Path

from io_benchmark.commands.options import ROOT, Given, flag, option
from io_benchmark.context import Context
from io_benchmark.paths import current_folder

USAGE = "PATH [OPTION ...]"
EXAMPLES = ("io-benchmark firefox firefox --diff", "io-benchmark firefox firefox")
MANUAL = "firefox.md"
OPTIONS = {
    "what to install": (
        option("path", "PATH", "the Firefox checkout: the folder with mach", Path),
        option(
            "--workloads",
            "NAME[,NAME]",
            "also measure these there",
            lambda names: [name for name in names.split(",") if name],
        ),
        flag("--remove", "remove the kind's files and entries"),
    ),
    "where to read the kind": (ROOT,),
    "output": (flag("--diff", "change nothing; print the changes as a patch"),),
}


def run(given: Given, context: Context) -> int:
    from io_benchmark.firefox.checkout import Checkout
    from io_benchmark.firefox.kind import FirefoxKind
    from io_benchmark.graph.root import Root

    checkout = Checkout.open(given["path"])
    root = Root.find(given.get("root"), current_folder())
    context.tell(f"Comparing {checkout.path} with {root}")
    kind = FirefoxKind.of(root, given.get("workloads", ()))
    is_removal = "remove" in given
    changes = checkout.removing(kind) if is_removal else checkout.installing(kind)
    if "diff" in given:
        context.stdout.writelines(line for change in changes for line in change.patch())
    else:
        checkout.write(changes)
        for change in changes:
            word = "added" if change.before is None else "changed"
            context.print(f"{'removed' if change.after is None else word:<8} {change.path}")
    if not changes:
        context.tell("Nothing differs")
    elif "diff" not in given:
        next_step = '; next, in the checkout: ./mach try fuzzy --full --no-push -q "\'io-benchmark"'
        context.tell(f"Written, not committed{'' if is_removal else next_step}")
    return 0

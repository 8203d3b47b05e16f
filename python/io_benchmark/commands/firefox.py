# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Install the benchmark's kind in a Firefox checkout, or check it.

The command writes all files or none and commits nothing. A second run changes
nothing. A file that was edited there, or that another version wrote, is
replaced only with --force. stdout gets one line per place that differed.

Exit code: 0 done, or nothing differs; 1 failed, or with --check something
differs; 2 wrong usage, or PATH is not a Firefox checkout.
"""

import json
from pathlib import Path
from typing import TYPE_CHECKING

from io_benchmark.commands.context import Context
from io_benchmark.commands.option_table import Given, flag, option
from io_benchmark.commands.options import ROOT
from io_benchmark.errors import IoBenchmarkError
from io_benchmark.paths import current_folder

if TYPE_CHECKING:
    from io_benchmark.firefox.tree_changes import TreeChanges

JSON_VERSION = 2
USAGE = "PATH [OPTION ...]"
EXAMPLES = ("io-benchmark firefox firefox --diff", "io-benchmark firefox firefox")
MANUAL = "firefox.md"
# By state, the word after the files were written.
_DONE = {
    "missing": "added",
    "differs": "overwritten",
    "extra": "removed",
}


OPTIONS = {
    "what to install": (
        option(
            "path", type=Path, metavar="PATH", help="the Firefox checkout: the folder with mach"
        ),
        option(
            "--workloads",
            type=lambda text: [name for name in text.split(",") if name],
            metavar="NAME[,NAME]",
            help="also measure these there; give them again at each later run",
        ),
        flag("--force", help="replace edited files and remove extra ones"),
    ),
    "where to read the kind": (ROOT,),
    "output": (
        flag("--check", help="change nothing; exit with 1 if anything differs"),
        flag("--diff", help="change nothing; print the changes as a patch"),
        flag("--stat", help="with --diff: print only line counts per file", needs=("--diff",)),
        flag("--json", help="print the differences as JSON", excludes={"--diff": ""}),
    ),
}


def run(given: Given, context: Context) -> int:
    from io_benchmark.firefox.checkout import Checkout
    from io_benchmark.firefox.transaction import write_all
    from io_benchmark.firefox.tree_changes import TreeChanges
    from io_benchmark.graph.root import Root

    checkout = Checkout.open(given["path"])
    root = Root.find(given.get("root"), current_folder())
    context.tell(f"Comparing {checkout.path} with {root.path} ({root.origin})")
    plan = TreeChanges.find(root, checkout, given.get("workloads", ()))
    looking = "check" in given or "diff" in given
    if plan.conflicts and not looking and "force" not in given:
        _print(plan, context, as_json="json" in given, done=False)
        raise IoBenchmarkError(
            f"{checkout.path}: {_counted(len(plan.conflicts))} edited there or from another version, "
            "so nothing was written; look at --diff, then use --force to replace the contents"
        )
    if not looking:
        write_all(checkout.path, plan.contents)
    if "diff" in given:
        context.stdout.write(plan.stat() if "stat" in given else plan.patch())
    else:
        _print(plan, context, as_json="json" in given, done=not looking)
    _conclude(plan, context, looking=looking)
    return int("check" in given and bool(plan.differences))


def _print(plan: "TreeChanges", context: Context, *, as_json: bool, done: bool) -> None:
    if as_json:
        places = [
            {
                "path": difference.place.path,
                "entry": difference.place.entry or None,
                "state": difference.state.value,
            }
            for difference in plan.differences
        ]
        context.print(
            json.dumps({"version": JSON_VERSION, "written": done, "places": places}, indent=2)
        )
        return
    for difference in plan.differences:
        context.print(
            f"{_DONE[difference.state] if done else difference.state.value:<11} {difference.place}"
        )


def _conclude(plan: "TreeChanges", context: Context, *, looking: bool) -> None:
    if not plan.differences:
        context.tell("Nothing differs")
    elif looking:
        context.tell(f"{_counted(len(plan.differences))} to change; nothing was written")
    else:
        context.tell(
            "Written, not committed; next, in the checkout: "
            './mach try fuzzy --full --no-push -q "\'io-benchmark"'
        )


def _counted(number: int) -> str:
    return "1 place" if number == 1 else f"{number} places"

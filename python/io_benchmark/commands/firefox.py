# SPDX-License-Identifier: MPL-2.0
"""Install the benchmark's kind in a Firefox checkout, or remove it.

The command adds three files and two entries, and commits nothing. It overwrites
nothing: to update to another version, remove the kind and install it again.
stdout gets one line per file that changed.

Exit code: 0 done, or nothing to do; 1 failed, or another file is in the way;
2 wrong usage, or PATH is not a Firefox checkout.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from io_benchmark.commands.context import Context
from io_benchmark.commands.options import add_root_option
from io_benchmark.paths import current_folder

USAGE = "PATH [OPTION ...]"
EXAMPLES = ("io-benchmark firefox firefox --diff", "io-benchmark firefox firefox")
MANUAL = "firefox.md"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument_group("what to install").add_argument
    add("path", type=Path, metavar="PATH", help="the Firefox checkout: the folder with mach")
    add(
        "--workloads",
        type=lambda text: [name for name in text.split(",") if name],
        default=[],
        metavar="NAME[,NAME]",
        help="also measure these there",
    )
    add("--remove", action="store_true", help="remove the kind's files and entries")
    group = parser.add_argument_group("where to read the kind")
    add_root_option(group)
    group = parser.add_argument_group("output")
    group.add_argument(
        "--diff", action="store_true", help="change nothing; print the changes as a patch"
    )


def run(arguments: argparse.Namespace, context: Context) -> int:
    from io_benchmark.firefox.checkout import Checkout
    from io_benchmark.firefox.kind import FirefoxKind
    from io_benchmark.graph.root import Root

    checkout = Checkout.open(arguments.path)
    root = Root.find(arguments.root, current_folder())
    context.tell(f"Comparing {checkout.path} with {root.path} ({root.origin})")
    kind = FirefoxKind.of(root, arguments.workloads)
    changes = checkout.removing(kind) if arguments.remove else checkout.installing(kind)
    if arguments.diff:
        context.stdout.writelines(line for change in changes for line in change.patch())
    else:
        checkout.write(changes)
        for change in changes:
            word = "added" if change.before is None else "changed"
            context.print(f"{'removed' if change.after is None else word:<8} {change.path}")
    if not changes:
        context.tell("Nothing differs")
    elif not arguments.diff:
        advice = (
            ""
            if arguments.remove
            else ('; next, in the checkout: ./mach try fuzzy --full --no-push -q "\'io-benchmark"')
        )
        context.tell(f"Written, not committed{advice}")
    return 0

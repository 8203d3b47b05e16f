# SPDX-License-Identifier: MPL-2.0
"""Install the benchmark's kind in a Firefox checkout, or update it.

The command adds two files and five entries in three other files, and commits
nothing: the version control there shows the changes and can undo them.
Tasks there fetch the program of this version's release.
stdout gets one line per file that changed. Needs io-benchmark[all].

Exit code: 0 done, or nothing to do; 1 failed; 2 wrong usage, or PATH is not a
Firefox checkout.
"""

from io_benchmark import __version__
from io_benchmark.commands.options.common import ROOT
from io_benchmark.commands.options.option import Given, flag, per_pool, required
from io_benchmark.commands.options.values import parse_path
from io_benchmark.context import Context

USAGE = "PATH [OPTION ...]"
EXAMPLES = ("io-benchmark firefox firefox --diff", "io-benchmark firefox firefox")
MANUAL = "firefox.md"

PATH = required("path", "PATH", "the Firefox checkout: the folder with mach", parse_path)
POOLS = per_pool(
    "--pool",
    "NAME=ALIAS",
    "install these pools, by worker alias *",
    r"([A-Za-z0-9][A-Za-z0-9._-]{0,19})=(\S+)",
    "is not NAME=ALIAS, with a name of at most 20 characters",
    str,
)
EMBED = flag("--embed", "put the program into the tree, to try one that is not released")
DIFF = flag("--diff", "change nothing; print the changes as a patch")
OPTIONS = {
    "what to install (* can be given more than once)": (PATH, POOLS, EMBED),
    "where to read the kind": (ROOT,),
    "output": (DIFF,),
}


def run(given: Given, context: Context) -> int:
    from io_benchmark.adopt.firefox_checkout import Checkout
    from io_benchmark.adopt.firefox_kind import FirefoxKind
    from io_benchmark.adopt.firefox_workers import FirefoxWorkers
    from io_benchmark.graph.root import Root

    checkout = Checkout.open(given[PATH])
    root = Root.find(given[ROOT])
    context.tell(f"Comparing {checkout.path} with {root}")
    workers = FirefoxWorkers.read(checkout)
    kind = FirefoxKind.of(root, workers, given[POOLS], given[EMBED])
    if root.origin != "bundled copy" and not given[EMBED]:
        context.tell(
            f"Tasks fetch {__version__} as released; --embed tries the program of this tree"
        )
    changes = checkout.changes(kind)
    if given[DIFF]:
        context.stdout.writelines(line for change in changes for line in change.patch())
    else:
        checkout.write(changes)
        for change in changes:
            context.print(f"{change.kind:<8} {change.path}")
    if not changes:
        context.tell("Nothing differs")
    elif not given[DIFF]:
        next_step = './mach try fuzzy --full --no-push -q "\'io-benchmark"'
        context.tell(f"Written, not committed; next, in the checkout: {next_step}")
    return 0

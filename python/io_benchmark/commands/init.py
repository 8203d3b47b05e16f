# SPDX-License-Identifier: MPL-2.0
"""Put the benchmark's kind into a project that uses taskgraph.

The command adds the kind's file, a line in requirements.in, and calls in the
project's functions that taskgraph calls. It commits nothing and overwrites
nothing. stdout gets the changes as a patch, stderr what is left to do.
Needs io-benchmark[all].

Exit code: 0 done, or nothing to do; 1 failed, or another kind is in the way;
2 wrong usage, or PATH is no such project.
"""

from pathlib import Path

from io_benchmark.command_lines import rehearse
from io_benchmark.commands.firefox import POOLS
from io_benchmark.commands.options.option import Given, flag, option
from io_benchmark.commands.options.values import parse_name, parse_path
from io_benchmark.context import Context

USAGE = "[PATH] [OPTION ...]"
EXAMPLES = ("io-benchmark init", "io-benchmark init project --pool small=b-small --diff")
MANUAL = "first-project.md"
_PROJECT = "the project (default: the current folder)"
PATH = option("path", "PATH", _PROJECT, parse_path, default=Path(), nargs="?")
IMAGE = option(
    "--image", "NAME", "image of docker-image that the tasks run in", parse_name, default=None
)
DIFF = flag("--diff", "change nothing; print the changes")
OPTIONS = {"what to add (* can be given more than once)": (PATH, POOLS, IMAGE), "output": (DIFF,)}


def run(given: Given, context: Context) -> int:
    from io_benchmark.adopt.projects.project import Project

    project = Project.open(given[PATH])
    proposal = project.propose(given[POOLS], given[IMAGE])
    if not given[DIFF]:
        project.write(proposal.changes)
    context.stdout.writelines(line for change in proposal.changes for line in change.patch())
    if proposal.changes:
        context.tell("Nothing written" if given[DIFF] else "Written, not committed")
        for note in proposal.notes:
            context.tell(f"note: {note}")
    else:
        context.tell("Nothing differs")
    for step in proposal.steps:
        context.tell(f"next: {step}")
    if proposal.changes and not given[DIFF]:
        context.tell(f"then try it: {rehearse()}")
    return 0

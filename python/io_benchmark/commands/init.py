# SPDX-License-Identifier: MPL-2.0
"""Put the benchmark's kind into a project that uses taskgraph.

The command adds the kind's file, and a line in config.yml and requirements.in.
It commits nothing and overwrites nothing. stdout gets the changes as a patch.

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
    from io_benchmark.adopt.project import Project

    project = Project.open(given[PATH])
    changes = project.changes(given[POOLS], given[IMAGE])
    # Before anything is written: a file may have a mistake.
    steps = project.next_steps()
    if not given[DIFF]:
        project.write(changes)
    context.stdout.writelines(line for change in changes for line in change.patch())
    if not changes:
        context.tell("Nothing differs")
    elif not given[DIFF]:
        steps.append(f"then try it: {rehearse()}")
        context.tell(f"Written, not committed. Next: {'; '.join(steps)}")
    return 0

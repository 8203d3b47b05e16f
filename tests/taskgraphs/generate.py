# SPDX-License-Identifier: MPL-2.0
"""Print the tasks of a project, which is the current folder, as the installed taskgraph makes them.

Runs in each Python and with each taskgraph that `run.py` names. The parameters are those of the
decision task of a push. With the argument `decision`, run that task, as far as it comes.
"""

import json
import subprocess
import sys

from taskgraph.decision import get_decision_parameters
from taskgraph.generator import TaskGraphGenerator
from taskgraph.main import create_parser, main

REPOSITORY = "https://github.com/example/project"


def decision_arguments():
    """Return what `.taskcluster.yml` gives to `taskgraph decision`."""
    head = subprocess.check_output(["git", "rev-parse", "HEAD"], universal_newlines=True).strip()
    options = {
        "project": "project",
        "owner": "somebody@example.com",
        "level": "3",
        "pushlog-id": "0",
        "pushdate": "1795248000",
        "tasks-for": "github-push",
        "repository-type": "git",
        "base-repository": REPOSITORY,
        "base-ref": "main",
        "base-rev": head,
        "head-repository": REPOSITORY,
        "head-ref": "main",
        "head-rev": head,
    }
    return ["decision", *("--{}={}".format(*option) for option in options.items())]


def print_tasks():
    options = vars(create_parser().parse_args(decision_arguments()))
    generator = TaskGraphGenerator(
        "taskcluster", lambda graph_config: get_decision_parameters(graph_config, options)
    )
    full = generator.full_task_graph.to_json()
    target = sorted(generator.target_task_set.tasks)
    json.dump({"full": full, "target": target}, sys.stdout, sort_keys=True)


if __name__ == "__main__":
    if sys.argv[1:] == ["decision"]:
        sys.exit(main(decision_arguments()))
    print_tasks()

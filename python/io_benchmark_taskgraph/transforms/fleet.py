# SPDX-License-Identifier: MPL-2.0
"""The kind `io-benchmark-fleet`: the table of all pools, and an alert where one became slower.

IOB(fleet) runs after the pools' tasks of its push, reads the index, and publishes the table with
the readings that it is made of. Its route of the index is how next week's task finds these: the
index has only tasks that completed. So it completes whatever the table says. IOB(alert) depends on
it, reads the same readings, and fails if a pool became slower. The readings name the alerts of
their table, and next week's table does not repeat them: each change is one alert, also where nobody
looked at the first.

IO_BENCHMARK_FLEET_OF, IO_BENCHMARK_REPORT_PYTHON and IO_BENCHMARK_ARTIFACTS are for trying the
commands elsewhere; on a worker they are not set.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from copy import deepcopy
from typing import Any

import voluptuous
from taskgraph.transforms.base import TransformSequence

from io_benchmark_taskgraph.engines import check_takes_image
from io_benchmark_taskgraph.mistakes import BadKeyError, accept, checked, in_task
from io_benchmark_taskgraph.parameters import FLEET_JOB, JOB
from io_benchmark_taskgraph.transforms import Tasks, check_text, index, report

STANZA = "fleet"
READINGS = f"{report.FOLDER}/fleet-readings.json"
# What is written, by the format's name, below the artifacts.
FILES = {
    "html": f"{report.FOLDER}/fleet.html",
    "markdown": f"{report.FOLDER}/fleet.md",
    "json": f"{report.FOLDER}/fleet.json",
    "csv": f"{report.FOLDER}/fleet.csv",
    "openmetrics": f"{report.FOLDER}/fleet.txt",
}
_TASK_VARIABLE = "IO_BENCHMARK_FLEET"
# The first task of the fleet reads a year of pushes: 60 pools have 6,300 requests.
_REQUESTS = 20_000
_SUBJECT = "io-benchmark: a worker pool has become slower"


def _are_routes(value: object) -> bool:
    return isinstance(value, list) and all(
        isinstance(route, str) and route.startswith("notify.") and len(route) <= 249
        for route in value
    )


SCHEMA = voluptuous.Schema({
    # A change within this is no alert.
    voluptuous.Optional("margin"): report.percentage,
    voluptuous.Optional("prices"): report.PRICES,
    # Whom Taskcluster tells of the weekly task's alert. Its role needs `queue:route:` of each.
    voluptuous.Optional("notify-routes", default=list): accept(
        _are_routes,
        "is not a list of notify routes; write one, as [notify.email.team@example.com.on-failed]",
    ),
})


def _fleet_command(settings: dict[str, Any], namespace: str) -> str:
    """Return the command of IOB(fleet), for `bash -c`; the namespace of the index has the pools."""
    lines = [*report.FIRST_LINES]
    words = [
        f"exec {report.PROGRAM} -u -m io_benchmark.cli fleet",
        f'"${{IO_BENCHMARK_FLEET_OF:-index:{namespace}}}" --requests {_REQUESTS}',
        f'--readings "$artifacts/{READINGS}"',
        *_margin(settings),
    ]
    if "prices" in settings:
        lines.append(report.write_prices(settings["prices"]))
        words.append(f"--prices {report.PRICES_FILE}")
    words += (f'--write {name}="$artifacts/{path}"' for name, path in FILES.items())
    command = " \\\n  ".join(words)
    return "\n".join([*lines, command]) + "\n"


def _margin(settings: dict[str, Any]) -> list[str]:
    return [f"--margin {shlex.quote(settings['margin'])}"] if "margin" in settings else []


def _alert_command(settings: dict[str, Any]) -> str:
    """Return the command of IOB(alert).

    GitHub's check shows the sentences as they are: names in them are no Markdown.
    """
    words = [
        f"{report.PROGRAM} -u -m io_benchmark.cli fleet",
        f'"${{IO_BENCHMARK_FLEET_OF:-task:${_TASK_VARIABLE}}}" --fail-on-slower',
        *_margin(settings),
        '2> "$messages" || status=$?',
    ]
    lines = [
        *report.FIRST_LINES,
        check_text.before("Not known: the table of all pools could not be read; see the log."),
        "messages=$(mktemp)",
        " \\\n  ".join(words),
        'cat "$messages" >&2',
        "alerts=$(sed -n 's/^alert: //p' \"$messages\")",
        'if [ "$status" -eq 0 ]; then',
        "  echo 'No pool has become slower.' > \"$check\"",
        'elif [ -n "$alerts" ]; then',
        f'  sed \'s/^/    /\' <<< "$alerts" | head -c {check_text.MOST_BYTES} > "$check"',
        check_text.failures(FLEET_JOB, "$alerts"),
        "fi",
        'exit "$status"',
    ]
    return "\n".join(lines) + "\n"


def _alert(
    config: Any, fleet: dict[str, Any], settings: dict[str, Any], pools: Sequence[Any]
) -> dict[str, Any]:
    """Return the task that fails if the table of the fleet's task has an alert."""
    task = deepcopy(fleet)
    for key in ("routes", "soft-dependencies", "requires"):
        task.pop(key, None)
    task["name"] = "alert"
    task["label"] = f"{fleet['label']}-alert"
    task["description"] = "Fails if a worker pool has become slower than it was"
    task["dependencies"] = {STANZA: fleet["label"]}
    if "treeherder" in task:
        task["treeherder"]["symbol"] = task["treeherder"]["symbol"].replace(STANZA, "alert")
    worker = task["worker"]
    worker["artifacts"] = [check_text.ARTIFACTS]
    worker["env"] = {_TASK_VARIABLE: {"task-reference": f"<{STANZA}>"}}
    task["run"]["command"] = _alert_command(settings)
    report.set_times(task, pools, steps=2)
    # A push by hand needs no scope of another person's address.
    if settings["notify-routes"] and config.params["tasks_for"] == "cron":
        task["routes"] = settings["notify-routes"]
        task["extra"] = {"notify": {"email": {"subject": _SUBJECT}}}
    return task


def _make_fleet(config: Any, tasks: Tasks) -> Tasks:
    measuring = report.tasks_of_pools(config)
    trust_domain, params = config.graph_config["trust-domain"], config.params
    # Anyone may read the results of a project whose index this graph must not write to.
    project = index.project_of(params) or params["project"]
    for task in tasks:
        with in_task(config, task):
            check_takes_image(config.graph_config, task.get("worker-type"))
            settings = checked(SCHEMA, task.pop(STANZA, None) or {}, STANZA)
            if not measuring:
                raise BadKeyError(STANZA, report.NO_POOLS)
        pools = list(measuring.values())
        report.set_times(task, pools)
        if "treeherder" not in config.graph_config:
            task.pop("treeherder", None)
        report.come_after(task, measuring)
        namespace = f"{trust_domain}.v2.{project}.date.{JOB}"
        task.setdefault("run", {})["command"] = _fleet_command(settings, namespace)
        alert = _alert(config, task, settings, pools)
        task["routes"] = [
            *task.get("routes", []),
            *index.routes(trust_domain, params, FLEET_JOB),
        ]
        yield task
        yield alert


transforms = TransformSequence([_make_fleet])

# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""From a pool in the kind io-benchmark to its task, and the task that compares them."""

import base64  # embedded
import bz2  # embedded
from pathlib import Path  # embedded
from typing import Any

from taskgraph.transforms.base import TransformSequence

from gecko_taskgraph.util.workertypes import worker_type_implementation

HISTORY = (
    "index.{domain}.v2.{project}.latest.io-benchmark.{pool}",
    "index.{domain}.v2.{project}.revision.{head_rev}.io-benchmark.{pool}",
    "index.{domain}.v2.{project}.date.io-benchmark.{pool}.{moz_build_date}",
)


def _fill_in(config: Any, tasks: Any) -> Any:
    """Put the pool into its command; add the report, which needs the pools' labels."""
    graph, params = config.graph_config, config.params
    names = {**params, "domain": graph["trust-domain"]}
    for task in tasks:
        run = task["run"]
        run["command"] = run["command"].replace("@pool@", task["name"])
        engine = worker_type_implementation(graph, params, task["worker-type"])
        if engine[0] == "generic-worker":
            _leave_image(task)
        files = [*Path(config.path).glob("*.pyz")]  # embedded
        if engine[1] == "windows":
            run["command"] = run["command"].split()
            files = []  # embedded
        for file in files:  # embedded
            program = base64.b85encode(bz2.compress(file.read_bytes())).decode()  # embedded
            run["command"] = ["bash", "-ec", run["command"], "io-benchmark", program]  # embedded
        # The index splits a name at dots, and no pool's name has a tilde.
        names["pool"] = task["name"].replace(".", "~")
        task.setdefault("routes", []).extend(route.format(**names) for route in HISTORY)
        yield task
    labels = [f"{config.kind}-{name}" for name in sorted(config.config["tasks"])]  # fetched
    report = {**config.config["task-defaults"], **config.config["report"]}  # fetched
    yield {**report, "soft-dependencies": labels}  # fetched


def _leave_image(task: Any) -> None:
    """Use the task's own folder in place of a docker image's, on a native worker."""
    del task["worker"]["docker-image"]
    task["worker"].pop("env", None)  # where the image is
    for artifact in task["worker"]["artifacts"]:
        artifact["path"] = artifact["path"].replace("/builds/worker/", "")
    command = task["run"]["command"]
    task["run"]["command"] = command.replace("/builds/worker/", "$PWD/")


def _set_times(config: Any, tasks: Any) -> Any:
    """Rank results by the push's date; give the report longer than the pools' tasks."""
    for task in tasks:
        task["task"]["extra"]["index"]["rank"] = config.params["build_date"]
        for file in Path(config.path).glob("*.txt"):  # embedded
            payload = task["task"]["payload"]  # embedded
            if "io-benchmark.py " in str(payload["command"]):  # embedded
                content = {"raw": file.read_text()}  # embedded
                payload["mounts"] += [{"file": "io-benchmark.py", "content": content}]  # embedded
        if task["label"] == "io-benchmark-report":  # fetched
            task["task"]["deadline"] = {"relative-datestamp": "2 days"}  # fetched
        yield task


transforms = TransformSequence([_fill_in])
times = TransformSequence([_set_times])

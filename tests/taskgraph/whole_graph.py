# SPDX-License-Identifier: MPL-2.0
"""The project's own graphs, by taskgraph's command line, once per file of parameters."""

import functools
import json
import subprocess
import sys

import once
from checkout import ROOT

from io_benchmark_taskgraph import versions

PARAMS = ROOT / "taskcluster" / "test" / "params"
EVERY_POOL = ["io-benchmark-amd-16", "io-benchmark-amd-30", "io-benchmark-intel"]
EVERY_ALL = ["io-benchmark-all-amd-16", "io-benchmark-all-amd-30", "io-benchmark-all-intel"]
REPORT = "io-benchmark-report"
FLEET = ["io-benchmark-fleet", "io-benchmark-fleet-alert"]
EVERYTHING = [*EVERY_POOL, REPORT]
# What differs between versions of taskgraph; `tox -e taskgraphs` runs these tests with many.
VERSION = versions._VERSION
IMAGES = "docker-image" if VERSION >= (12,) else "build-docker-image"
# The parameters whose tasks expire after 28 days; those of all others do after a year.
SHORT_LIVED = ["pull-request", "try"]
if VERSION >= (24,):
    SHORT_LIVED += ["comment", "pull-request-untrusted"]
ALLOW_PARAMETERS = ["--allow-parameter-override"] if VERSION >= (22,) else []
IMAGE = f"{IMAGES}-update-verify"
REPORT_IMAGE = f"{IMAGES}-io-benchmark-report"
SELECTED = {
    "comment": EVERYTHING,
    "cron": sorted([*EVERY_POOL, *FLEET, REPORT]),
    "pull-request": [],
    "pull-request-untrusted": [],
    "push": [],
    "try": EVERYTHING,
    "try-all": [*EVERY_ALL, REPORT],
    "try-two-pools": ["io-benchmark-amd-16", "io-benchmark-intel"],
}


def created(labels):
    """What a decision task creates where these are selected: each one's image comes with it."""
    images = {REPORT_IMAGE if label in (REPORT, *FLEET) else IMAGE for label in labels}
    return sorted([*images, *labels])


def taskgraph(*arguments, **options):
    """taskgraph's command line; what it would create in a Taskcluster, it only prints."""
    program = (
        "import sys; from taskgraph import create, main; create.testing = True; "
        "sys.exit(main.main(sys.argv[1:]))"
    )
    return run_python(program, *arguments, **options)


def run_python(program, *arguments, cwd=ROOT, **options):
    return subprocess.run(
        [sys.executable, "-c", program, *arguments],
        cwd=cwd,
        capture_output=True,
        text=True,
        check=False,
        **options,
    )


# One generation has all stages; each is copied before the next one changes it. No network is asked
# for the images.
STAGES = f"""
import json, sys
from taskgraph import create, main
from taskgraph.parameters import parameters_loader
create.testing = True
images = {{"do_not_optimize": {[IMAGE, REPORT_IMAGE]}}}
parameters = parameters_loader(sys.argv[1], strict=True, overrides=images)
generator = main.get_taskgraph_generator(None, parameters)
graphs = {{}}
for stage in ("full_task_graph", "target_task_set", "morphed_task_graph"):
    graphs[stage.partition("_")[0]] = json.dumps(getattr(generator, stage).to_json())
print(json.dumps(graphs))
"""


@functools.cache
def graph(stage, params):
    """The tasks of a stage: full, target or morphed."""

    def generate():
        done = run_python(STAGES, str(PARAMS / f"{params}.yml"))
        assert done.returncode == 0, done.stderr
        return done.stdout

    return json.loads(json.loads(once.text_of(f"graphs-{params}.json", generate))[stage])


def tasks_by_name(stage, params):
    """By name: a morphed graph goes by task id."""
    return {node["label"]: node for node in graph(stage, params).values()}

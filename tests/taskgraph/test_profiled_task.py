# SPDX-License-Identifier: MPL-2.0
"""A task of another kind that is profiled by one line, in a whole graph."""

import json

from checkout import copy_checkout

from .whole_graph import PARAMS, taskgraph

KIND = """\
loader: taskgraph.loader.transform:loader
kind-dependencies: [docker-image]
transforms:
    - io_benchmark_taskgraph.transforms.measure:transforms
    - taskgraph.transforms.run:transforms
    - taskgraph.transforms.task:transforms
tasks:
    build:
        description: An existing task
        worker-type: b-linux
        worker: {docker-image: {in-tree: update-verify}, max-run-time: 600}
        run: {using: run-task, checkout: false, command: make -j}
"""
LINE = "        benchmark: {measure: /builds/worker/workspace}\n"


def generated(clone, kind):
    """The task as taskgraph makes it, selected by its label as `try: -j existing-build` does."""
    file = clone / "taskcluster/kinds/existing/kind.yml"
    file.parent.mkdir(exist_ok=True)
    file.write_text(kind)
    params = (PARAMS / "try.yml").read_text()
    named = params.replace(
        "io_benchmark_jobs: [io-benchmark]", "io_benchmark_jobs: [existing-build]"
    )
    assert named != params
    (clone / "params.yml").write_text(named)
    done = taskgraph("target", "-J", "-p", "params.yml", "--target-kind", "existing", cwd=clone)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)["existing-build"]["task"]


def test_a_whole_graph(tmp_path):
    """run-task gets the wrapped command, and the task has one more artifact; nothing else differs."""
    clone = copy_checkout(tmp_path / "clone")
    wrapped, plain = generated(clone, KIND + LINE), generated(clone, KIND)
    words = plain["payload"].pop("command")
    at = words.index("--") + 1
    command = wrapped["payload"].pop("command")
    assert (command[:at], command[at : at + 2]) == (words[:at], ["bash", "-c"])
    assert command[-3:] == words[at:] == ["bash", "-cx", "make -j"]
    artifacts = wrapped["payload"].pop("artifacts")
    assert list(artifacts) == ["public/io-benchmark"]
    plain["payload"].pop("artifacts", None)
    assert wrapped == plain

# SPDX-License-Identifier: MPL-2.0
"""What runs a pool's task: by the alias of its worker type, or a mistake."""

import pytest
from taskgraph.config import GraphConfig
from user_mistakes import mistake

from io_benchmark_taskgraph.engines import DOCKER, NATIVE, WINDOWS, check_takes_image, engine_of


@pytest.fixture
def graph_config():
    """Return the configuration of a project with a pattern among its aliases."""
    kinds = {
        "b-linux": ("docker-worker", "linux"),
        "t-linux-.*": ("generic-worker", "linux"),
        "t-win": ("generic-worker", "windows"),
        "t-mac": ("generic-worker", "macosx"),
        "t-bitbar": ("generic-worker", "linux-bitbar"),
        "signing": ("scriptworker-signing", "scriptworker"),
    }
    aliases = {
        name: {"implementation": implementation, "os": system}
        for name, (implementation, system) in kinds.items()
    }
    return GraphConfig({"workers": {"aliases": aliases}}, "taskcluster")


THERE_ARE = "there are: b-linux, t-linux-.*, t-win, t-mac, t-bitbar, signing"
SUPPORTED = (
    "where the benchmark does not run; name an alias of one of: docker-worker on linux, "
    "generic-worker on linux, generic-worker on windows"
)


def test_engines(graph_config):
    """Docker images and native workers run the benchmark; a pattern counts as taskgraph's."""
    assert engine_of(graph_config, "b-linux") is DOCKER
    assert engine_of(graph_config, "t-linux-wayland") is NATIVE
    assert engine_of(graph_config, "t-win") is WINDOWS


@pytest.mark.parametrize(
    ("alias", "problem"),
    [
        ("t-mac", f"is generic-worker on macosx, {SUPPORTED}"),
        ("t-bitbar", f"is generic-worker on linux-bitbar, {SUPPORTED}"),
        ("signing", f"is scriptworker-signing on scriptworker, {SUPPORTED}"),
        (
            "b-linx",
            f"is not an alias of taskcluster/config.yml; {THERE_ARE}; did you mean b-linux?",
        ),
        ("t-linux-.*", "is a pattern of aliases; name one alias that it matches"),
        ("succeed", f"is not an alias of taskcluster/config.yml; {THERE_ARE}"),
        (None, f"is not an alias of taskcluster/config.yml; {THERE_ARE}"),
        (["x"], f"is not an alias of taskcluster/config.yml; {THERE_ARE}"),
    ],
)
def test_other_aliases(graph_config, alias, problem):
    """Each is refused in one line with what is supported."""
    assert mistake(engine_of, graph_config, alias) == f"worker-type: {alias!r} {problem}"


def test_paths():
    """What is below the image's home is below the task's folder; other paths stay."""
    paths = ("/builds/worker/workspace", "/builds/workers", "/dev/shm/x")
    assert NATIVE.in_shell("/builds/worker") == "$TASK_WORKDIR"
    assert [DOCKER.in_shell(path) for path in paths] == [*paths]
    assert [DOCKER.in_payload(path) for path in paths] == [*paths]
    assert [NATIVE.in_shell(path) for path in paths] == ["$TASK_WORKDIR/workspace", *paths[1:]]
    assert [NATIVE.in_payload(path) for path in paths] == ["workspace", *paths[1:]]
    # Its own command is started in the task's folder, and another task's anywhere.
    assert [NATIVE.in_command(path) for path in paths] == ["$TASK_WORKDIR/workspace", *paths[1:]]
    assert WINDOWS.in_command("/builds/worker/workspace") == "workspace"
    assert WINDOWS.in_shell("/builds/worker/workspace") == "%TASK_WORKDIR%/workspace"
    assert WINDOWS.in_command("D:/x") == WINDOWS.in_shell("D:/x") == "D:/x"


def test_images(graph_config):
    """A task that needs an image says which aliases run one."""
    check_takes_image(graph_config, "b-linux")
    assert mistake(check_takes_image, graph_config, "t-linux-wayland") == (
        "worker-type: 't-linux-wayland' runs no docker images, and this task needs one; name an "
        "alias of docker-worker, as report: {worker-type: ALIAS}; there are: b-linux"
    )

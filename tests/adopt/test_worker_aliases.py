# SPDX-License-Identifier: MPL-2.0
"""Which worker types a pool can be, by the aliases of two of Firefox's trees."""

from pathlib import Path

import pytest

from io_benchmark.adopt.worker_aliases import WorkerAliases
from io_benchmark.errors import IoBenchmarkError

from .firefox_trees import DOCKER, ESR_140, MAIN, NATIVE, TREES, workers

FILE = Path("config.yml")


def aliases(tree):
    return WorkerAliases(FILE, workers(tree)["aliases"])


@pytest.mark.parametrize("tree", TREES)
def test_accepted(tree):
    """All Linux pools are, whatever their names begin with; those of docker have images."""
    entries, pools = TREES[tree]
    known = aliases(entries)
    names = [*pools[DOCKER], *pools[NATIVE]]
    known.check(names)
    assert [name for name in names if known.has_images(name)] == pools[DOCKER]
    assert not any(map(known.run_windows, names))


@pytest.mark.parametrize("name", ["b-win2022", "win11-64-24h2-gpu"])
def test_windows(name):
    """Its workers run no docker images; a name may match a pattern."""
    known = aliases(MAIN)
    known.check([name])
    assert (known.has_images(name), known.run_windows(name)) == (False, True)


@pytest.mark.parametrize(
    ("tree", "name", "workers_are"),
    [
        (MAIN, "t-osx-1400-r8", "generic-worker on macosx"),
        (MAIN, "t-bitbar-gw-perf-a55", "generic-worker on linux-bitbar"),
        (MAIN, "t-lambda-a", "generic-worker on linux-lambda"),
        (MAIN, "succeed", "succeed on none"),
        (MAIN, "linux-signing", "scriptworker-signing on linux"),
        (ESR_140, "mac-signing", "scriptworker-signing on macosx"),
        (ESR_140, "balrog", "balrog on linux"),
    ],
)
def test_other_workers(tree, name, workers_are):
    """The line says what they are, and what is supported."""
    with pytest.raises(IoBenchmarkError) as caught:
        aliases(tree).check(["t-linux-kvm", name])
    assert str(caught.value) == (
        f"{FILE}: {name} is {workers_are}, where the benchmark does not run; name a pool of "
        "docker-worker on linux or generic-worker on linux or generic-worker on windows"
    )


@pytest.mark.parametrize(
    "name", ["b-linux(|-docker(|-x?large)-amd|-medium|-aarch64|-xlarge|-kvm)", "images.*", "b-*"]
)
def test_patterns(name):
    """A pattern is no pool, also one that is an alias of the tree: no worker has its name."""
    with pytest.raises(IoBenchmarkError) as caught:
        aliases(MAIN).check([name])
    expected = f"{FILE}: {name} is a pattern of aliases; name one alias that it matches"
    assert str(caught.value) == expected


def test_unknown_names():
    """All are named, and what there is; a part of a name is not the name."""
    with pytest.raises(IoBenchmarkError) as caught:
        aliases({"t-linux-kvm": DOCKER, "t-mac": ("generic-worker", "macosx")}).check(
            [
                "b-linux",
                "t-linux-kvm-2",
                "t-linux-kv",
            ]
        )
    expected = "has no alias b-linux, t-linux-kvm-2, t-linux-kv, but t-linux-kvm"
    assert str(caught.value) == f"{FILE}: {expected}; name the pools as --pool NAME=ALIAS"


def test_two_patterns():
    """taskgraph refuses a name that two match, but the one whose name it is has precedence."""
    known = aliases({"b-.*": DOCKER, "b-linux.*": NATIVE, "b-linux": DOCKER})
    assert known.has_images("b-linux")
    with pytest.raises(IoBenchmarkError, match="2 patterns match b-linux-2, which taskgraph"):
        known.check(["b-linux-2"])
    with pytest.raises(IoBenchmarkError, match=r"not a regular expression \(missing \), unterm"):
        aliases({"b-(": DOCKER}).check(["b-linux"])


@pytest.mark.parametrize("worker", [{"os": "linux"}, {"implementation": "docker-worker"}, [], "x"])
def test_incomplete_aliases(worker):
    """The alias is named."""
    known = WorkerAliases(FILE, {"b-linux": worker, "a": None})
    with pytest.raises(IoBenchmarkError) as caught:
        known.check(["b-linux"])
    problem = "the alias b-linux lacks its implementation or its os; correct it"
    assert str(caught.value) == f"{FILE}: {problem}"

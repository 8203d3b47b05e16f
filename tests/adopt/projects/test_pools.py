# SPDX-License-Identifier: MPL-2.0
"""Which aliases of a project are its pools."""

import pytest
import yaml

from io_benchmark.adopt.projects.pools import CONFIG, Pools, choose_pools
from io_benchmark.errors import IoBenchmarkError

from .builders import draft_of

BY_LEVEL = {"by-level": {"3": "{alias}-3", "default": "{alias}-1"}}
NAME_IT = "name what it matches as --pool NAME=WORKER-TYPE"


def worker(worker_type="{alias}", provisioner="p-{level}", **keys):
    place = {"provisioner": provisioner, "worker-type": worker_type}
    return {"implementation": "docker-worker", "os": "linux", **place, **keys}


def only(alias):
    return (
        f"{alias} is the only pool, so there is nothing to compare; name each of several as --pool "
        "NAME=ALIAS, with aliases of taskcluster/config.yml"
    )


def chosen(folder, aliases, named=None):
    tree = draft_of(folder, {CONFIG: yaml.safe_dump({"workers": {"aliases": aliases}})}).tree
    return choose_pools(tree, named or {})


ALIASES = {
    "images": worker(),
    "b-linux": worker(),
    "b-linux-large": worker(BY_LEVEL, {"by-level": {"default": "q"}}),
    "b-win": worker(implementation="generic-worker", os="windows"),
    "t-phones.*": worker(implementation="generic-worker", os="linux-bitbar"),
    "signing": worker(implementation="scriptworker-signing", os="scriptworker"),
    "beetmover": worker(implementation="scriptworker-beetmover", os="linux"),
    "succeed": worker(implementation="succeed", os="none"),
}


def test_pools(tmp_path):
    """They are the workers that run tasks in docker or on Windows, but those that build images."""
    names = ("b-linux", "b-linux-large", "b-win")
    assert chosen(tmp_path, ALIASES) == Pools({name: name for name in names}, [])


def test_native_pools(tmp_path):
    """Their tasks have no docker, which the report's task needs."""
    native = {"t-talos": worker(implementation="generic-worker")}
    both = {**native, "b-linux": ALIASES["b-linux"]}
    names = {"t-talos": "t-talos", "b-linux": "b-linux"}
    assert chosen(tmp_path, both) == Pools(names, [])
    images = {**native, "b-(x|y)": worker(), "images": ALIASES["images"]}
    named = {"talos": "t-talos"}
    assert chosen(tmp_path, images, named) == Pools(named, [only("t-talos")], "images")
    with pytest.raises(IoBenchmarkError, match=r"has no alias of docker-worker, which IOB\(report"):
        chosen(tmp_path, native)


def test_aliases_of_one_pool(tmp_path):
    """Pools are compared, not names; an alias may have its own name in its place.

    Of those that run the same workers, one with docker is taken.
    """
    aliases = {
        "a": worker("c"),
        "b": worker("c"),
        "c": worker(),
        "d": worker("c", "q"),
        "e": worker(BY_LEVEL),
        "f": worker(BY_LEVEL),
        "g": worker("c", implementation="generic-worker"),
        "h": worker("i", implementation="generic-worker"),
        "i": worker(),
    }
    names = ("a", "d", "e", "f", "i")
    assert chosen(tmp_path, aliases) == Pools(
        {name: name for name in names},
        [
            "the alias b is not added, because it is the pool of a",
            "the alias c is not added, because it is the pool of a",
            "the alias g is not added, because it is the pool of a",
            "the alias h is not added, because it is the pool of i",
        ],
    )


def test_one_pool(tmp_path):
    """There is nothing to compare; where all tasks run on the builder of images, it is the one."""
    images = {name: ALIASES[name] for name in ("images", "beetmover")}
    assert chosen(tmp_path, images) == Pools({"images": "images"}, [only("images")])
    both = {"b-linux": ALIASES["b-linux"], **images}
    assert chosen(tmp_path, both) == Pools({"b-linux": "b-linux"}, [only("b-linux")])
    named = {"small": "b-linux", "builder": "images"}
    assert chosen(tmp_path, both, named) == Pools(named, [])
    same = {"a": "images", "b": "images"}
    assert chosen(tmp_path, both, same) == Pools(same, [only("images")])


PATTERNS = {"b-linux": worker(), "t-(x|y)z": worker(), "w-.*": worker(os="macosx")}


def test_patterns(tmp_path):
    """A pattern is not a pool; what it matches can be named."""
    note = f"the alias t-(x|y)z is a pattern and not added; {NAME_IT}"
    assert chosen(tmp_path, PATTERNS) == Pools({"b-linux": "b-linux"}, [note, only("b-linux")])
    named = {"x": "t-xz", "y": "t-yz"}
    assert chosen(tmp_path, PATTERNS, named) == Pools(named, [])


@pytest.mark.parametrize(
    ("aliases", "named", "problem"),
    [
        (PATTERNS, {"x": "t-(x|y)z"}, "t-(x|y)z is a pattern of aliases; name one alias that it"),
        (PATTERNS, {"x": "t-z"}, "has no alias t-z, but b-linux, t-(x|y)z; name the pools as"),
        (ALIASES, {"x": "signing"}, "is scriptworker-signing on scriptworker, where the benchmark"),
        ({"t-.*": worker()}, {}, "has no alias that is one pool, but t-.*; name the pools as"),
        (
            {"succeed": ALIASES["succeed"]},
            {},
            "has no alias that is one pool, but none for the benchmark",
        ),
        ({}, {}, "has no alias that is one pool, but none for the benchmark"),
        ({"a": None}, {}, "has no alias that is one pool, but none for the benchmark"),
        ({"a": []}, {"x": "a"}, "the alias a lacks its implementation or its os; correct it"),
        ({"a-[": worker()}, {"x": "a-b"}, "a pattern of the aliases is not a regular expression"),
        (["a"], {}, "has no aliases of workers under workers; correct it"),
    ],
)
def test_refused(tmp_path, aliases, named, problem):
    """An alias that is no pool for the benchmark is refused, with the reason."""
    with pytest.raises(IoBenchmarkError) as caught:
        chosen(tmp_path, aliases, named)
    assert problem in str(caught.value)

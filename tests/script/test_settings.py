# SPDX-License-Identifier: MPL-2.0
"""The script's command line, and what it says that it will do."""

import os
from pathlib import Path

import ci
import pytest
import settings
import usage
from result import figures
from settings import WrongArgumentsError
from system.linux import folders

GB = figures.GB
BASE = ["run", "--pool", "p", "--workload", "w", "--place", "a=/a", "--output", "/x"]
BASE += ["--profile", "full"]


DEFAULTS = {
    "pool": "p",
    "job": None,
    "workloads": ["w"],
    "places": [("a", "/a")],
    "destinations": ["overwrite"],
    "retrieves": 2000,
    "sizes_bytes": None,
    "seed": 1,
    "upload_url": None,
    "download_url": None,
    "time_budget_s": 600.0,
    "artifacts": "/x",
    "profile": "full",
    "perfherder": "never",
    "trials": "auto",
    "pace_bytes_per_s": None,
    "capacities": False,
}


def test_defaults_are_the_seeds():
    """Without options: 2000 retrieves, one rewritten destination, the seed's own loop."""
    assert vars(settings.parse(BASE, ["w"])) == DEFAULTS


def test_everything_can_be_given():
    """Every option arrives, repeated ones in their order; a signature is not written down."""
    url = "https://host:8443/path?signature=x"
    words = (
        "--place b=/b/../c --destination fresh --destination unlink --retrieves 7 "
        f"--sizes 2x1,1x0.5 --seed 9 --time-budget 60 --upload-url {url} --download-url {url} "
        "--perfherder neutral --trials auto --pace 250000000"
    )
    parsed = settings.parse([*BASE, *words.split()], ["w"])
    assert vars(parsed) == DEFAULTS | {
        "places": [("a", "/a"), ("b", "/c")],
        "destinations": ["fresh", "unlink"],
        "retrieves": 7,
        "sizes_bytes": [1048576, 1048576, 524288],
        "seed": 9,
        "upload_url": url,
        "download_url": url,
        "time_budget_s": 60.0,
        "perfherder": "neutral",
        "pace_bytes_per_s": 250_000_000,
    }
    config = parsed.as_config()
    assert (config["upload_url"], config["download_url"]) == ("https://host:8443",) * 2


@pytest.mark.parametrize(
    ("value", "root_url", "url", "origin"),
    [
        ("/a/b?c", "https://tc.example/", "https://tc.example/a/b?c", "https://tc.example"),
        ("none", "https://tc.example", "none", None),
        ("loopback", "https://tc.example", None, None),
    ],
)
def test_what_is_downloaded(monkeypatch, value, root_url, url, origin):
    """A path is one of the deployment; only the host is written down."""
    monkeypatch.setenv("TASKCLUSTER_ROOT_URL", root_url)
    parsed = settings.parse([*BASE, "--download-url", value], ["w"])
    assert (parsed.download_url, parsed.as_config()["download_url"]) == (url, origin)


@pytest.mark.parametrize("trials", [[], ["--trials", "never"]])
def test_a_pace_asks_for_trials(trials: list[str]) -> None:
    """It would do nothing without them."""
    parsed = settings.parse([*BASE, "--pace", "1", *trials], ["w"])
    assert (parsed.trials, parsed.pace_bytes_per_s) == ("always", 1)


CAPACITIES = ["run", "--pool", "p", "--place", "a=/a", "--output", "/x", "--capacities"]


def test_capacities() -> None:
    """One option chooses the workloads, the short sizes, and trials whatever time they take."""
    parsed = settings.parse(CAPACITIES, list(settings.CAPACITIES))
    assert vars(parsed) == DEFAULTS | {
        "capacities": True,
        "workloads": ["cache-retrieve", "sync-write", "random-io", "metadata", "spawn"],
        "profile": "quick",
        "retrieves": 100,
        "trials": "always",
        "time_budget_s": 300.0,
    }


@pytest.mark.parametrize("option", settings.CHOSEN_BY_CAPACITIES)
def test_what_capacities_decide(option: str) -> None:
    """What the option itself decides cannot be given with it, in neither form."""
    value = {"--workload": "spawn", "--profile": "full", "--trials": "never", "--sizes": "1x1"}
    value |= {"--destination": "fresh"}
    for words in ([option, value.get(option, "7")], [f"{option}={value.get(option, '7')}"]):
        with pytest.raises(WrongArgumentsError) as refused:
            settings.parse([*CAPACITIES, *words], list(settings.CAPACITIES))
        text = f"argument --capacities: cannot be combined with {option}; omit one"
        assert str(refused.value) == text


@pytest.mark.parametrize(("profile", "most"), [("twentieth", 200), ("quick", 100)])
def test_short_profiles_never_take_more_retrieves(profile: str, most: int) -> None:
    """A rehearsal is short whatever the kind asks for, and a shorter kind stays shorter."""
    short = ["--profile", profile]
    assert settings.parse([*BASE, *short], ["w"]).retrieves == most
    assert settings.parse([*BASE, *short, "--retrieves", "30"], ["w"]).retrieves == 30


@pytest.mark.parametrize(
    ("words", "asked"),
    [
        (["--profile", "twentieth", "--retrieves", "201"], 201),
        (["--profile", "twentieth", "--retrieves=201"], 201),
        (["--profile", "twentieth", "--retrieves", "200"], None),
        (["--profile", "twentieth"], None),
        (["--retrieves", "400"], None),
    ],
)
def test_fewer_retrieves_than_were_asked_for(words: list[str], asked: int | None) -> None:
    """The settings keep the number that --retrieves gave, so that the log can name both.

    The result does not.
    """
    parsed = settings.parse([*BASE, *words], ["w"])
    assert parsed.retrieves_asked == asked
    assert "retrieves_asked" not in parsed.as_config()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--place", "b=c"], "'b=c' is not NAME=/absolute/path"),
        (["--place", "B!=/c"], "'B!=/c' is not NAME"),
        (["--place", "b=/new\nline"], "is not NAME=/absolute/path"),
        (["--place", "a=/b"], "argument --place: 'a' given twice; use it once"),
        (["--place", "b=/a/"], "argument --place: '/a' given twice; use it once"),
        (
            [f"--place=b{at}=/b{at}" for at in range(10)],
            "argument --place: given more than 10 times",
        ),
        (["--retrieves", "0"], "'0' is not a number above 0"),
        (["--retrieves", "x"], "'x' is not a number above 0"),
        (["--retrieves", "100001"], "at most 100000"),
        (
            ["--retrieves", "50001", "--place", "b=/b"],
            "argument --retrieves: more than 100000 in all places and destinations together",
        ),
        (["--sizes", ",".join(["9999x1"] * 11)], "more than 100000 files"),
        (["--sizes", "3"], "'3' is not COUNTxMIB"),
        (["--sizes", "0x3"], "'0x3' is not COUNTxMIB"),
        (["--pool", "a b"], "'a b' is not 1 to 100 letters"),
        (["--pool", "p" * 101], "is not 1 to 100 letters"),
        (["--seed", "9" * 5000], "is not a number of 18 digits or less"),
        (["--time-budget", "nan"], "'nan' is not a number above 0"),
        (["--workload", "other"], "invalid choice: 'other'"),
        (["--output", "-"], "argument --output: '-' is not a folder"),
        *(
            (["--upload-url", url], f"{url!r} is not http://host")
            for url in ("ftp://h/", "http:///x", "http://h:x/", "http://u:p@h/", "http://h/a b")
        ),
        *(
            (["--download-url", url], f"{url!r} is not http://host/path or https://host/path")
            for url in ("ftp://h/", "/api/without/a/deployment", "http://u:p@h/")
        ),
        (["--pace", "1.5"], "'1.5' is not a number above 0"),
        (["--pace", "9" * 13], "at most 1000000000000"),
    ],
)
def test_mistakes_are_named(arguments: list[str], message: str) -> None:
    """The error says which argument is wrong, and why."""
    with pytest.raises(WrongArgumentsError) as refused:
        settings.parse([*BASE, *arguments], ["w"])
    assert message in str(refused.value)


def test_help_names_every_option():
    """An option that is added is explained."""
    source = Path(settings.__file__).read_text().partition("def parse(")[2]
    source = source.partition("\ndef ")[0]
    options = {word for word in source.split('"') if word.startswith("--")}
    assert {option for option in options if f"  {option} " not in usage.HELP} == set()


@pytest.mark.parametrize(
    ("free_bytes", "profile"),
    [(13 * GB, "full"), (12.8 * GB, "quarter"), (3 * GB, "twentieth"), (0, "quick")],
)
def test_profile_by_free_space(monkeypatch, free_bytes, profile):
    """In CI, files take at most half of what is free in the smallest place; elsewhere little."""
    free = {"/a": 10**15, "/b": free_bytes}
    monkeypatch.setattr(folders, "free_space_bytes", free.get)
    places = ["--pool", "p", "--place", "a=/a", "--place", "b=/b"]
    job = ci._Job(None, {})
    assert settings.parse(["run", *places], ["cache-retrieve"], job).profile == profile
    monkeypatch.setenv("TASK_ID", "Prp_WjpGRx26VH-wA8fjTA")
    assert settings.parse(["run", *places], ["cache-retrieve"]).profile == profile
    # Somebody's own machine, perhaps.
    monkeypatch.delenv("TASK_ID")
    assert settings.parse(["run", *places], ["cache-retrieve"]).profile == "quick"
    given = settings.parse(["run", *places, "--profile", "full"], ["cache-retrieve"])
    assert given.profile == "full"
    with_sizes = settings.parse(["run", *places, "--sizes", "1x1"], ["cache-retrieve"])
    assert with_sizes.profile == "full"


def test_what_a_job_decides(tmp_path, monkeypatch):
    """The folder of the job, where it has one; the pool is always given."""
    monkeypatch.chdir(tmp_path)
    here = str(tmp_path)
    paths = {str(tmp_path / "job"): here, here: here, None: here, "/": "/"}
    for folder, path in paths.items():
        job = ci._Job(folder, {})
        parsed = settings.parse(["run", "--pool", "p", "--profile", "quick"], ["spawn"], job)
        assert parsed.places == [("workspace", path)]
        with pytest.raises(WrongArgumentsError, match="argument --pool: missing; give one name"):
            settings.parse(["run"], ["spawn"], job)


def test_free_space(tmp_path):
    """Of a folder that will be made, it is the space where it will be.

    What is no folder has none.
    """
    space = os.statvfs(tmp_path)
    there = folders.free_space_bytes(str(tmp_path / "not/yet"))
    assert there == pytest.approx(space.f_bavail * space.f_frsize, rel=0.1)
    assert folders.free_space_bytes("/proc/1/fd/999999999") == 0


@pytest.mark.parametrize(
    ("size_bytes", "text"),
    [(0, "0 MB"), (4_200_000, "4.2 MB"), (5_976_883_200, "5.98 GB"), (119_537_664_000, "120 GB")],
)
def test_sizes(size_bytes, text):
    """Three digits, as people write them."""
    assert figures._size_label(size_bytes) == text

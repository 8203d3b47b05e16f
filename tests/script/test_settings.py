# SPDX-License-Identifier: MPL-2.0
"""The script's command line."""

import pytest
import settings
from settings import WrongArgumentsError

BASE = ["run", "--pool", "p", "--workload", "w", "--place", "a=/a", "--output", "/x"]
BASE += ["--profile", "full"]


def test_defaults_are_the_seeds() -> None:
    """Without options: 2000 retrieves, one rewritten destination, the seed's own loop."""
    parsed = settings.parse(BASE, ["w"])
    assert vars(parsed) == {
        "pool": "p",
        "pool_origin": None,
        "workloads": ["w"],
        "places": [("a", "/a")],
        "destinations": ["overwrite"],
        "fidelity": "seed",
        "retrieves": 2000,
        "sizes_bytes": None,
        "seed": 1,
        "precision": None,
        "upload_url": None,
        "time_budget_s": 600.0,
        "artifacts": "/x",
        "profile": "full",
        "perfherder": "never",
        "trials": "auto",
        "pace_bytes_per_s": None,
    }


def test_everything_can_be_given() -> None:
    """Every option arrives, repeated ones in their order; a signature is not written down."""
    parsed = settings.parse(
        [
            *BASE,
            *("--place", "b=/b/../c", "--destination", "fresh", "--destination", "unlink"),
            *("--fidelity", "real", "--retrieves", "7", "--sizes", "2x1,1x0.5", "--seed", "9"),
            *("--precision", "2.5%", "--time-budget", "60", "--profile", "full"),
            *("--upload-url", "https://host:8443/path?signature=x"),
            *("--perfherder", "neutral", "--trials", "auto", "--pace", "250000000"),
        ],
        ["w"],
    )
    assert parsed.places == [("a", "/a"), ("b", "/c")]
    assert parsed.destinations == ["fresh", "unlink"]
    assert parsed.sizes_bytes == [1048576, 1048576, 524288]
    assert (parsed.fidelity, parsed.retrieves, parsed.seed) == ("real", 7, 9)
    assert (parsed.precision, parsed.time_budget_s) == (0.025, 60.0)
    assert parsed.upload_url == "https://host:8443/path?signature=x"
    assert settings.config_of(parsed)["upload_url"] == "https://host:8443"
    assert parsed.perfherder == "neutral"
    assert (parsed.trials, parsed.pace_bytes_per_s) == ("auto", 250_000_000)


def test_a_pace_asks_for_trials() -> None:
    """It would do nothing without them."""
    parsed = settings.parse([*BASE, "--pace", "1"], ["w"])
    assert (parsed.trials, parsed.pace_bytes_per_s) == ("always", 1)


@pytest.mark.parametrize(("profile", "most"), [("twentieth", 200), ("quick", 100)])
def test_short_profiles_never_take_more_retrieves(profile: str, most: int) -> None:
    """A rehearsal is short whatever the kind asks for, and a shorter kind stays shorter."""
    short = ["--profile", profile]
    assert settings.parse([*BASE, *short], ["w"]).retrieves == most
    assert settings.parse([*BASE, *short, "--retrieves", "30"], ["w"]).retrieves == 30


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        pytest.param(["--place", "b"], "'b' is not NAME=/absolute/path", id="place-without-path"),
        pytest.param(["--place", "b=c"], "'b=c' is not NAME=/absolute/path", id="relative-place"),
        pytest.param(["--place", "B!=/c"], "'B!=/c' is not NAME", id="place-name"),
        pytest.param(
            ["--place", "a=/b"], "argument --place: 'a' given twice; use it once", id="same-name"
        ),
        pytest.param(
            ["--place", "b=/a/"], "argument --place: '/a' given twice; use it once", id="same-path"
        ),
        pytest.param(["--retrieves", "0"], "'0' is not a number above 0", id="no-retrieves"),
        pytest.param(["--retrieves", "100001"], "at most 100000", id="too-many-retrieves"),
        pytest.param(
            ["--retrieves", "60000", "--place", "b=/b"],
            "argument --retrieves: more than 100000 in all places and destinations together",
            id="too-many-retrieves-in-all",
        ),
        pytest.param(["--sizes", ",".join(["9999x1"] * 11)], "more than 100000 files", id="files"),
        pytest.param(
            [part for at in range(10) for part in ("--place", f"b{at}=/b{at}")],
            "argument --place: given more than 10 times",
            id="too-many-places",
        ),
        pytest.param(["--place", "b=/new\nline"], "is not NAME=/absolute/path", id="new-line"),
        pytest.param(["--pool", "a b"], "'a b' is not 1 to 100 letters", id="pool"),
        pytest.param(["--pool", "p" * 101], "is not 1 to 100 letters", id="long-pool"),
        pytest.param(["--seed", "9" * 5000], "is not a number of 18 digits or less", id="seed"),
        pytest.param(["--retrieves", "-3"], "'-3' is not a number above 0", id="negative"),
        pytest.param(["--retrieves", "x"], "'x' is not a number above 0", id="no-number"),
        pytest.param(["--time-budget", "nan"], "'nan' is not a number above 0", id="nan"),
        pytest.param(["--precision", "2"], "'2' is not a percentage such as 2%", id="precision"),
        pytest.param(["--precision", "0%"], "'0%' is not a percentage", id="no-width"),
        pytest.param(["--sizes", "3"], "'3' is not COUNTxMIB", id="sizes"),
        pytest.param(["--sizes", "0x3"], "'0x3' is not COUNTxMIB", id="no-files"),
        pytest.param(["--workload", "other"], "invalid choice: 'other'", id="unknown-workload"),
        pytest.param(["--destination", "x"], "invalid choice: 'x'", id="unknown-destination"),
        pytest.param(["--upload-url", "host/path"], "'host/path' is not http://host", id="no-url"),
        pytest.param(["--upload-url", "ftp://h/"], "'ftp://h/' is not http://host", id="ftp"),
        pytest.param(["--upload-url", "http:///x"], "'http:///x' is not http://host", id="no-host"),
        pytest.param(["--upload-url", "http://h:x/"], "'http://h:x/' is not", id="no-port"),
        pytest.param(["--upload-url", "http://u:p@h/"], "without a user or password", id="user"),
        pytest.param(["--upload-url", "http://h/a b"], "'http://h/a b' is not", id="space"),
        pytest.param(["--perfherder", "x"], "invalid choice: 'x'", id="unknown-perfherder"),
        pytest.param(["--trials", "x"], "invalid choice: 'x'", id="unknown-trials"),
        pytest.param(["--pace", "0"], "'0' is not a number above 0", id="no-pace"),
        pytest.param(["--pace", "1.5"], "'1.5' is not a number above 0", id="part-of-a-byte"),
        pytest.param(["--pace", "9" * 13], "at most 1000000000000", id="too-fast-a-pace"),
        pytest.param(["--fidelity", "x"], "invalid choice: 'x'", id="unknown-fidelity"),
    ],
)
def test_mistakes_are_named(arguments: list[str], message: str) -> None:
    """The error says which argument is wrong, and why."""
    with pytest.raises(WrongArgumentsError) as refused:
        settings.parse([*BASE, *arguments], ["w"])
    assert message in str(refused.value)

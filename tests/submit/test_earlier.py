# SPDX-License-Identifier: MPL-2.0
"""Which earlier results --like takes for which task."""

import json

import pytest
import seed_case
from msgspec.structs import replace
from submitted_tasks import generated, of_all

from io_benchmark.errors import UsageError
from io_benchmark.sources.folder import run_files
from io_benchmark.sources.run_results import RunResult
from io_benchmark.submit.definitions import SubmissionSettings, select_tasks
from io_benchmark.submit.earlier import NS_PER_MINUTE, EarlierResult, EarlierResults, LikeOption

PLAIN, ALL, INTEL = "io-benchmark-amd-16", "io-benchmark-all-amd-16", "io-benchmark-intel"
SETTINGS = SubmissionSettings(image="x", replicates=2)
BOTH = select_tasks([generated("amd-16"), of_all("amd-16"), generated("intel")], SETTINGS)
ONE = select_tasks([of_all("amd-16")], SETTINGS)


def of(job, minutes, pool="amd-16"):
    return EarlierResult(pool, job, minutes * NS_PER_MINUTE, "old/io-benchmark.json")


def minutes(*found, chosen=BOTH, named=()):
    return EarlierResults(found).minutes_of_each(chosen, named)


def test_each_for_its_own_task():
    """A pool's tasks of two kinds take different times: the mean of each, and no other pool's."""
    found = [of(PLAIN, 2), of(PLAIN, 4), of(ALL, 60), of("io-benchmark-x", 9, pool="x")]
    assert minutes(*found) == ({PLAIN: 3.0, ALL: 60.0}, [])


def test_a_bare_file():
    """It is of the pool's only task; where there are two, nobody guesses."""
    assert minutes(of(None, 5), chosen=ONE) == ({ALL: 5.0}, [])
    assert minutes(of(None, 5), named={PLAIN}) == ({ALL: 5.0}, [])
    with pytest.raises(UsageError) as caught:
        minutes(of(None, 5))
    assert str(caught.value) == (
        f"--like: old/io-benchmark.json could belong to {PLAIN} or {ALL}; "
        "write --like LABEL=ADDRESS"
    )


def test_results_of_another_task_of_the_pool():
    """They are not taken silently: what else they measured may have taken far less."""
    remark = (
        f"--like: {ALL} is estimated by its time budget, because the results of amd-16 belong "
        f"to {PLAIN}; --like {ALL}=ADDRESS uses them nevertheless"
    )
    assert minutes(of(PLAIN, 2), chosen=ONE) == ({}, [remark])
    assert minutes(of(PLAIN, 2), chosen=ONE, named={ALL}) == ({}, [])


@pytest.mark.parametrize(
    ("profile", "kept", "remark"),
    [
        pytest.param(
            "full", [0, 2], "--like: 1 of 3 results have a profile other than full and are not used"
        ),
        pytest.param(
            "quick", [1], "--like: 2 of 3 results have a profile other than quick and are not used"
        ),
    ],
)
def test_results_of_other_sizes(profile, kept, remark):
    """They take other times: they are not used, and a line says so."""
    found = (of(PLAIN, 2), replace(of(PLAIN, 1), profile="quick"), of(ALL, 3))
    same_sizes = EarlierResults(tuple(found[at] for at in kept))
    assert EarlierResults(found).of_profile(profile) == (same_sizes, remark)
    one = EarlierResults(found[:1])
    assert one.of_profile("full") == (one, None)


def test_all_for_one_task():
    """LABEL=ADDRESS takes results of one task, whatever that is, and not of several."""
    assert EarlierResults((of(PLAIN, 2), of(PLAIN, 3))).minutes_of_job(ALL) == 2.5
    several = EarlierResults((of(PLAIN, 2), of(INTEL, 2, "intel"), of(None, 1, "x")))
    with pytest.raises(UsageError) as caught:
        several.minutes_of_job(ALL)
    assert str(caught.value) == (
        f"--like {ALL}=: the results belong to 3 tasks, {PLAIN}, {INTEL}, an unnamed task of x; "
        "give the address of one task"
    )


@pytest.mark.parametrize(
    ("text", "like"),
    [
        pytest.param("group:abc", LikeOption(None, "group:abc"), id="address"),
        pytest.param(f"{ALL}=group:abc", LikeOption(ALL, "group:abc"), id="label"),
        pytest.param(f"{ALL}=a=b", LikeOption(ALL, "a=b"), id="label-and-equals"),
        pytest.param("./a=b", LikeOption(None, "./a=b"), id="file-with-equals"),
        pytest.param(
            "https://h/jobs?repo=x", LikeOption(None, "https://h/jobs?repo=x"), id="query"
        ),
    ],
)
def test_forms(text, like):
    """An address, or a selected task's label before it."""
    assert LikeOption.parse(text, BOTH) == like


def test_a_label_that_is_not_selected():
    """One line with those that are, and how a file with = in its name is written."""
    with pytest.raises(UsageError) as caught:
        LikeOption.parse("amd-16=old", BOTH)
    assert str(caught.value) == (
        "--like amd-16=old: amd-16 is not a selected task; choose one of "
        f"{PLAIN}, {ALL}, {INTEL}; write ./FILE for a file with = in its name"
    )


def test_what_a_result_says(tmp_path):
    """The record next to it names the task; a replicate's number is not part of that."""
    seed_case.write(tmp_path, pools=["intel"])
    (folder,) = tmp_path.iterdir()
    record = json.loads((folder / run_files.TASK_NAME).read_text())
    (folder / run_files.TASK_NAME).write_text(json.dumps(record | {"label": f"{INTEL}-7"}))
    measured = run_files.read_run(folder)
    duration_ns = measured.result.duration_ns
    assert EarlierResult.of(measured) == EarlierResult("intel", INTEL, duration_ns, str(folder))
    bare = RunResult(measured.result, None, "x")
    assert EarlierResult.of(bare) == EarlierResult("intel", None, duration_ns, "x")

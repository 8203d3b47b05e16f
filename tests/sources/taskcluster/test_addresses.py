# SPDX-License-Identifier: MPL-2.0
"""Every form of an address, and every mistake in one, without requests."""

import re
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from msgspec.structs import replace

from io_benchmark.errors import UsageError
from io_benchmark.results.format import SLUG_PATTERN
from io_benchmark.sources.gather import parse_addresses
from io_benchmark.sources.taskcluster.addresses import (
    DEFAULT_ROOT_URL,
    GroupAddress,
    IndexAddress,
    LandingAddress,
    TaskAddress,
)

ROOT = "https://tc.example"
ENVIRONMENT = {"TASKCLUSTER_ROOT_URL": ROOT}
TASK = "Prp_WjpGRx26VH-wA8fjTA"
GROUP = "Fqm6GL_zRPurCmd1rRuTRQ"
REVISION = "0123456789abcdef0123456789abcdef01234567"
FIREFOX = DEFAULT_ROOT_URL
TREEHERDER = "https://treeherder.mozilla.org"
LANDING = LandingAddress(ROOT, "https://lando.moz.tools/landing_jobs/7", "gecko.v2.try.revision")
DECISION = f"revision.{REVISION}.taskgraph.decision"
OWN_PUSH = IndexAddress(ROOT, f"releng.v2.io-benchmark.{DECISION}")


def parse(text, environment):
    """Return the meaning of an address for its source; of a folder its path."""
    ((address,),) = parse_addresses([text], environment).values()
    return address.meaning


PUSH = f"repo=try&revision={REVISION}"
TRY = IndexAddress(ROOT, f"gecko.v2.try.{DECISION}")


@pytest.mark.parametrize(
    ("address", "meaning"),
    [
        ("results", Path("results")),
        ("./task:x", Path("./task:x")),
        # A prefix and an id: at the deployment of TASKCLUSTER_ROOT_URL.
        (f"task:{TASK}", TaskAddress(ROOT, TASK)),
        (f"task:{TASK}.0", TaskAddress(ROOT, TASK, 0)),
        (f" group:{GROUP}\n", GroupAddress(ROOT, GROUP)),
        ("index:a.v2.b.latest.c-d", IndexAddress(ROOT, "a.v2.b.latest.c-d")),
        ("index:index.a.b", IndexAddress(ROOT, "a.b")),  # as in a task's routes
        (f"index:{'a' * 255}", IndexAddress(ROOT, "a" * 255)),
        # A page of Taskcluster: its host is the deployment, whatever the environment names.
        (f"{FIREFOX}/tasks/{TASK}", TaskAddress(FIREFOX, TASK)),
        (f"{FIREFOX}/tasks/{TASK}/definition?a=b#c", TaskAddress(FIREFOX, TASK)),
        (f"{FIREFOX}/tasks/{TASK}/runs/1", TaskAddress(FIREFOX, TASK, 1)),
        (f"{FIREFOX}/tasks/{TASK}/runs/0/logs/public/live.log", TaskAddress(FIREFOX, TASK, 0)),
        (f"{FIREFOX}/tasks/groups/{GROUP}/#io-b", GroupAddress(FIREFOX, GROUP)),
        (f"{FIREFOX}/tasks/groups/{GROUP}/tasks/{TASK}", TaskAddress(FIREFOX, TASK)),
        (f"{FIREFOX}/tasks/groups/{GROUP}/tasks/{TASK}/runs/2/x", TaskAddress(FIREFOX, TASK, 2)),
        (f"{FIREFOX}/tasks/index/a.v2.b/c", IndexAddress(FIREFOX, "a.v2.b.c")),
        (f"{FIREFOX}/api/queue/v1/task/{TASK}/status", TaskAddress(FIREFOX, TASK)),
        (f"{FIREFOX}/api/queue/v1/task/{TASK}/runs/0/x%2Fa.json", TaskAddress(FIREFOX, TASK, 0)),
        (f"http://localhost:8080/tasks/{TASK}", TaskAddress("http://localhost:8080", TASK)),
        (f"https://TC.Example:443/tasks/{TASK}", TaskAddress("https://tc.example", TASK)),
        (f"http://[::1]:80/tasks/{TASK}", TaskAddress("http://[::1]", TASK)),
        # Of Treeherder: a selected job means its run, a push its decision task's route.
        (f"{TREEHERDER}/jobs?repo=try&selectedTaskRun={TASK}.0", TaskAddress(ROOT, TASK, 0)),
        (f"{TREEHERDER}/jobs?{PUSH}&selectedTaskRun={TASK}.0", TaskAddress(ROOT, TASK, 0, True)),
        (f"{TREEHERDER}/logviewer?task={TASK}.1&repo=try", TaskAddress(ROOT, TASK, 1)),
        (f"{TREEHERDER}/jobs?{PUSH}&tier=1,2,3", TRY),
        (f"{TREEHERDER}/jobs?{PUSH.replace('try', 'io-benchmark')}", OWN_PUSH),
        (f"{TREEHERDER}/jobs?repo=try&landoInstance=lando-prod-2025&landoCommitID=7", LANDING),
        (
            f"{TREEHERDER}/jobs?repo=try&landoCommitID=7",
            replace(LANDING, job_url="https://api.lando.services.mozilla.com/landing_jobs/7"),
        ),
        (f"{TREEHERDER}/jobs?landoCommitID=7&{PUSH}", TRY),  # once it has landed
    ],
)
def test_every_form(address, meaning):
    """A path, a prefix and an id, or a page as the browser shows its address."""
    assert parse(address, ENVIRONMENT) == meaning


def test_the_trust_domain_can_be_named():
    """For projects whose decision tasks are indexed under another name."""
    environment = {**ENVIRONMENT, "IO_BENCHMARK_TRUST_DOMAIN": "mozillavpn"}
    meaning = parse(f"{TREEHERDER}/jobs?repo=mozilla-vpn-client&revision={REVISION}", environment)
    assert meaning == IndexAddress(ROOT, f"mozillavpn.v2.mozilla-vpn-client.{DECISION}")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "an address is empty; give a folder, task:ID, group:ID, "),
        ("a\x00b", "a\ufffdb: contains control characters"),
        ("task:abc", "task:abc: it is not task:ID or task:ID.RUN with"),
        (f"task:{TASK}.٣", "it is not task:ID or task:ID.RUN"),
        ("group:../../etc", "'../../etc' is not a Taskcluster id"),
        ("index:a..b", "it is not a route of the index; use for example"),
        ("index:" + "a." * 200 + "a", "it is not a route of the index"),
        ("file:///tmp/x", "this form of address is not supported; give a folder"),
        ("https://", "it is not an http(s) address with a host"),
        (f"https://u:p@h/tasks/{TASK}", "it is not an http(s) address"),
        ("http://h:99999/tasks/x", "it is not an http(s) address"),
        (f"{FIREFOX}/", "it is not the address of a task, group, index or push; known are"),
        (f"{FIREFOX}/tasks/nope", "'nope' is not a Taskcluster id"),
        (f"{FIREFOX}/tasks/{TASK}/runs/x", "'x' is not the number of a run"),
        (f"{TREEHERDER}/jobs?repo=try", "it does not name a push; click"),
        (f"{TREEHERDER}/jobs?repo=try&landoCommitID=1/../2", "landoCommitID is not known"),
        (f"{TREEHERDER}/jobs?repo=try&landoCommitID=1&landoInstance=x", "or landoCommitID is not"),
        (f"{TREEHERDER}/jobs?repo=try&revision=0123456789ab", "not a full"),
        (f"{TREEHERDER}/jobs?repo=a/b&revision={REVISION}", "not the name of a repository"),
        (f"{TREEHERDER}/jobs?selectedTaskRun=x", "is not ID.RUN; select"),
    ],
)
def test_mistakes(text, message):
    """Each mistake is one line that says what would be right."""
    with pytest.raises(UsageError, match=re.escape(message)) as raised:
        parse(text, ENVIRONMENT)
    assert raised.value.exit_code == 2
    assert str(raised.value).isprintable()


@pytest.mark.parametrize(
    ("variable", "value"),
    [("TASKCLUSTER_ROOT_URL", "tc.example"), ("IO_BENCHMARK_TRUST_DOMAIN", "a.b")],
)
def test_mistakes_in_the_environment(variable, value):
    """The message names the variable."""
    with pytest.raises(UsageError, match=rf"{variable}: '{value}' is not .*; try "):
        parse(f"{TREEHERDER}/jobs?repo=try&revision={REVISION}", {variable: value})


PIECES = (
    "https://",
    "http://",
    "task:",
    "group:",
    "index:",
    "tc.example",
    "/tasks/",
    "/runs/",
    "//",
    "/groups/",
    "/index/",
    "treeherder.",
    "/jobs?",
    "repo=",
    "&revision=",
    "selectedTaskRun=",
    TASK,
    REVISION,
    ".",
    ":",
    "@",
    "[",
    "]",
    "%00",
    "%2F",
    "%zz",
    "#",
    "\x1b[31m",
    "\u202e",
)


@given(st.text() | st.lists(st.sampled_from(PIECES) | st.text(max_size=3), max_size=8).map("".join))
@example("http://tc.example:x/tasks")
@example("https://treeherder.mozilla.org/jobs?" + "&".join(["a=b"] * 2000))
@example("//tc.example\ud800")
def test_any_text_has_a_meaning_or_is_a_mistake(text):
    """Every text gives an address or one printable line."""
    try:
        meaning = parse(text, ENVIRONMENT)
    except UsageError as error:
        line = str(error)
        assert not {"\n", "\x1b", "\u202e"} & set(line)
        assert len(line) < 700
        line.encode()
    else:
        assert isinstance(meaning, Path | TaskAddress | GroupAddress | IndexAddress)
        if isinstance(meaning, TaskAddress):
            assert re.fullmatch(SLUG_PATTERN, meaning.task_id)

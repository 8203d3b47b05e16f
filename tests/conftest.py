# SPDX-License-Identifier: MPL-2.0
"""What holds for every test: the environment of the task that may run them is not theirs."""

import gc
import os
import signal

import once
import pytest
import wine
from hypothesis import HealthCheck, settings

# The same examples each time, however slow the machine is: what fails, fails again.
settings.register_profile(
    "steady",
    max_examples=40,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("steady")

# Thousands of tests and their modules stay in memory: to go through them all the time takes a
# fifteenth of the time.
gc.set_threshold(100_000, 20, 20)

# What root uses is in folders that a user's PATH lacks. Here, so that the tests' own processes
# inherit it.
os.environ["PATH"] = f"{os.environ.get('PATH', os.defpath)}:/usr/local/sbin:/usr/sbin:/sbin"
# What tests make is as readable as on most machines; those that are about a umask set their own.
os.umask(0o022)

# nohup ignores SIGHUP, a script's `&` ignores SIGINT. Ignore them here, but not in the tests'
# processes: a handler is not inherited, and "ignored" is.
for number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT):
    if signal.getsignal(number) is signal.SIG_IGN:
        signal.signal(number, lambda _number, _frame: None)

# Set on a worker, or by whoever tries the script by hand.
PREFIXES = ("TASKCLUSTER_", "IO_BENCHMARK_", "MOZ_", "TASKGRAPH_")
NAMES = ("TASK_ID", "RUN_ID", "TASK_GROUP_ID")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--long",
        action="store_true",
        help="simulations until their rates are sharp, attacks with many inputs",
    )


@pytest.fixture(scope="session", autouse=True)
def _session_folder(tmp_path_factory):
    once.set_session_folder(tmp_path_factory)


@pytest.fixture(scope="session")
def windows():
    """A Windows of this session's own, under Wine; tests with it are marked `windows`."""
    with wine.new_windows() as made:
        yield made


@pytest.fixture(autouse=True)
def _clear_environment(monkeypatch):
    for name in list(os.environ):
        if name in NAMES or name.startswith(PREFIXES):
            monkeypatch.delenv(name)

# SPDX-License-Identifier: MPL-2.0
"""Defender's state and the file system's filters, from recorded services and registries."""

from unittest import mock

import pytest
from system.windows.support import defender

DRIVER, PROGRAM, STOPPED, RUNNING = 2, 0x10, 1, 4
SERVICES = "SYSTEM\\CurrentControlSet\\Services\\"
SETTINGS = "SOFTWARE\\Microsoft\\Windows Defender"
POLICIES = "SOFTWARE\\Policies\\Microsoft\\Windows Defender"
REFUSED = PermissionError(13, "Access is denied")


class Worker:
    """A worker with these services, whose PowerShell prints a text."""

    def __init__(self, registry):
        self.registry = registry
        self.asked: list[list[str]] = []

    def observe(self, states, printed="", *, may_measure=True):
        def services():
            if isinstance(states, OSError):
                raise states
            return states

        def output_of(command):
            self.asked.append(command)
            return printed

        with mock.patch.multiple(defender, services=services, output_of=output_of):
            return defender.observe(may_measure=may_measure)


@pytest.fixture
def worker(registry):
    return Worker(registry)


def states_of(defender_state):
    """Defender's service in a state, and two drivers of file systems."""
    return {
        "WinDefend": (PROGRAM, defender_state),
        "WdFilter": (DRIVER, defender_state),
        "luafv": (DRIVER, RUNNING),
        "Ntfs": (DRIVER, RUNNING),
        "Spooler": (PROGRAM, RUNNING),
    }


def test_filters_are_running_drivers_with_instances(worker):
    """A file system is not a filter, and one that was stopped filters nothing."""
    for name in ("WdFilter", "Spooler"):
        worker.registry[SERVICES + name + "\\Instances"] = {"DefaultInstance": name}
    worker.registry[SERVICES + "luafv\\Parameters\\Instances"] = {}
    assert worker.observe(states_of(RUNNING))[1] == ["WdFilter", "luafv"]
    assert worker.observe(states_of(STOPPED))[1] == ["luafv"]


@pytest.mark.parametrize(
    ("printed", "is_real_time"),
    [("True\r\n", True), ("False\r\n", False), ("", None), ("Get-MpComputerStatus : …", None)],
)
def test_defender_says_whether_it_scans(worker, printed, is_real_time):
    """A Defender that runs is asked, because another scanner may make it passive."""
    state, _ = worker.observe(states_of(RUNNING), printed)
    assert (state["is_running"], state["is_real_time"]) == (True, is_real_time)


def test_defender_with_scanning_switched_off_is_not_asked(worker):
    """The setting that Defender keeps itself suffices; PowerShell takes a second to start."""
    worker.registry[SETTINGS + "\\Real-Time Protection"] = {"DisableRealtimeMonitoring": 1}
    assert worker.observe(states_of(RUNNING))[0]["is_real_time"] is False
    assert worker.asked == []


def test_defender_is_not_asked_without_measuring(worker):
    """A program that profiles a task starts no other programs."""
    state, _ = worker.observe(states_of(RUNNING), "True", may_measure=False)
    assert (state["is_real_time"], worker.asked) == (None, [])


def test_stopped_defender_scans_nothing(worker):
    """A service that does not run needs no question."""
    state, _ = worker.observe(states_of(STOPPED), "True")
    assert (state["is_running"], state["is_real_time"]) == (False, False)


@pytest.mark.parametrize("states", [REFUSED, {}, {"Spooler": (PROGRAM, RUNNING)}])
def test_what_cannot_be_seen_is_not_known(worker, states):
    """A service that is not listed may be hidden; a list without drivers is not a whole one."""
    state, filters = worker.observe(states)
    assert (state["is_running"], state["is_real_time"], filters) == (None, None, None)


def test_exclusions_of_settings_and_policies(registry):
    """Both exclude; a list that does not exist is empty."""
    assert defender.excluded_paths() == []
    registry[SETTINGS + "\\Exclusions\\Paths"] = {"D:\\": 0, "C:\\": 0}
    registry[POLICIES + "\\Exclusions\\Paths"] = {"C:\\": 0, "Z:\\": 0}
    assert defender.excluded_paths() == ["C:\\", "D:\\", "Z:\\"]


def test_exclusions_that_only_administrators_see(registry):
    """One list that is refused makes all unknown."""
    registry[SETTINGS + "\\Exclusions\\Paths"] = REFUSED
    registry[POLICIES + "\\Exclusions\\Paths"] = {"D:\\": 0}
    assert defender.excluded_paths() is None
    assert defender.excludes("D:\\x") is None


@pytest.mark.parametrize(
    ("excluded", "covers"),
    [
        ("D:\\", True),
        ("d:", True),
        ("D:\\Task_1", True),
        ("D:\\task_1\\build\\", True),
        ("D:\\task_1\\build\\*", True),
        ("D:\\*\\build", True),
        ("D:\\*", True),
        ("D:\\task", False),
        ("D:\\task_1\\build\\cache", False),
        ("D:\\task_1\\build\\a.zip", False),
        ("C:\\", False),
        ("%USERPROFILE%\\cache", None),
    ],
)
def test_exclusion_covers_what_is_below_it(registry, excluded, covers):
    """Names are whole and in any case; a star stands for one folder or file."""
    registry[SETTINGS + "\\Exclusions\\Paths"] = {excluded: 0}
    assert defender.excludes("D:\\task_1\\build") is covers


def test_exclusion_with_a_variable(registry):
    """It has the value of Defender's account; another exclusion can still cover the folder."""
    registry[POLICIES + "\\Exclusions\\Paths"] = {"%TEMP%": 0, "D:\\": 0}
    assert defender.excludes("C:\\x") is None
    assert defender.excludes("D:\\x") is True

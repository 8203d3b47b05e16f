# SPDX-License-Identifier: MPL-2.0
"""Facts of the machine, from recorded registries."""

import pytest
from system.windows import counters, host

WINDOWS = "SOFTWARE\\Microsoft\\Windows NT\\CurrentVersion"
CONTROL = "SYSTEM\\CurrentControlSet\\Control\\"
GIB = 1024**3


@pytest.fixture
def worker_registry(registry):
    """The registry of a tester's image, as far as it is read."""
    registry[WINDOWS] = {
        "UBR": 4317,
        "DisplayVersion": "23H2",
        "ProductName": "Windows 10 Pro",
    }
    registry["HARDWARE\\DESCRIPTION\\System\\CentralProcessor\\0"] = {
        "ProcessorNameString": "Intel(R) Xeon(R) Platinum 8370C CPU @ 2.80GHz  "
    }
    registry["HARDWARE\\DESCRIPTION\\System\\BIOS"] = {
        "SystemManufacturer": "Microsoft Corporation",
        "SystemProductName": "Virtual Machine",
        "BIOSVersion": "Hyper-V UEFI Release v4.1",
    }
    registry[CONTROL + "Session Manager\\Environment"] = {"PROCESSOR_ARCHITECTURE": "AMD64"}
    registry[CONTROL + "Session Manager\\Memory Management"] = {
        "ExistingPageFiles": ["\\??\\D:\\pagefile.sys"],
        "PagingFiles": ["?:\\pagefile.sys"],
    }
    registry[CONTROL + "FileSystem"] = {
        "LongPathsEnabled": 1,
        "NtfsDisableLastAccessUpdate": 0x80000003,
    }
    plan = "8c5e7fda-e8bf-4a96-9a85-a6e23a8c635c"
    plans = CONTROL + "Power\\User\\PowerSchemes"
    registry[plans] = {"ActivePowerScheme": plan}
    name = "@%SystemRoot%\\system32\\powrprof.dll,-13,High performance"
    registry[plans + "\\" + plan] = {"FriendlyName": name}
    return registry


def test_all_facts_of_a_worker(worker_registry, monkeypatch):
    """All keys, with the name by which people know Windows 11; nothing is measured."""
    assert worker_registry
    status = counters.Memory(total=16 * GIB, available=9 * GIB, allowed=8 * GIB)
    monkeypatch.setattr(counters, "memory", lambda: status)
    monkeypatch.setattr(host, "_windows_version", lambda: (10, 0, 22631))
    monkeypatch.setattr(host, "usable_cpus", lambda: [0, 1, 2])
    monkeypatch.setattr(host.os, "cpu_count", lambda: 4)
    assert host.observe(may_measure=False) == {
        "kernel": "10.0.22631.4317",
        "kernel_version": "23H2",
        "architecture": "AMD64",
        "distribution": "Windows 11 Pro",
        "cpu_model": "Intel(R) Xeon(R) Platinum 8370C CPU @ 2.80GHz",
        "cpu_count": 3,
        "cpu_online_count": 4,
        "memory_bytes": 16 * GIB,
        "memory_available_bytes": 9 * GIB,
        "machine_vendor": "Microsoft Corporation",
        "machine_product": "Virtual Machine",
        "firmware": "Hyper-V UEFI Release v4.1",
        "boot_id": None,
        "container": None,
        "user_id": None,
        "transparent_huge_pages": None,
        "vm": {},
        "first_touch_ns_per_mib": [],
        "tools": {},
        "system": "windows",
        "windows": {
            "power_plan": "High performance",
            "paging_files": ["D:\\pagefile.sys"],
            "long_paths": True,
            "last_access": False,
            "defender": {"is_running": None, "is_real_time": None, "excluded_paths": []},
            "filters": None,
        },
    }
    assert host.available_bytes() == 8 * GIB


def test_facts_of_an_unreadable_registry(registry, monkeypatch):
    """What is not there is None, or empty where the format wants a text."""
    assert not registry
    monkeypatch.setattr(host, "usable_cpus", lambda: [0])
    facts = host.observe(may_measure=False)
    assert (facts["kernel_version"], facts["architecture"]) == ("", "")
    assert (facts["distribution"], facts["cpu_model"], facts["memory_bytes"]) == (None,) * 3
    settings = facts["windows"]
    names = ("power_plan", "paging_files", "long_paths", "last_access")
    assert [settings[name] for name in names] == [None] * 4


@pytest.mark.parametrize(
    ("name", "build", "shown"),
    [
        ("Windows 10 Enterprise", 19045, "Windows 10 Enterprise"),
        ("Windows 10 Enterprise", 26100, "Windows 11 Enterprise"),
        ("Windows Server 2022 Datacenter", 20348, "Windows Server 2022 Datacenter"),
        ("Windows Server 2025 Datacenter", 26100, "Windows Server 2025 Datacenter"),
        (None, 26100, None),
    ],
)
def test_product_name(name, build, shown):
    """The registry of Windows 11 still says Windows 10."""
    assert host.product_name(name, build) == shown


@pytest.mark.parametrize(
    ("setting", "updates"), [(0, True), (1, False), (0x80000002, True), (0x80000003, False)]
)
def test_last_access(registry, setting, updates):
    """The lowest bit switches it off, whoever chose that."""
    registry[CONTROL + "FileSystem"] = {"NtfsDisableLastAccessUpdate": setting}
    assert host._settings(may_measure=False)["last_access"] is updates


@pytest.mark.parametrize(
    ("values", "paths"),
    [
        ({"ExistingPageFiles": []}, []),
        ({"PagingFiles": ["D:\\pagefile.sys 8192 8192"]}, ["D:\\pagefile.sys"]),
        ({"PagingFiles": ["C:\\pagefile.sys"]}, ["C:\\pagefile.sys"]),
        (
            {"PagingFiles": ["D:\\page files\\1.sys 0 0", "E:\\2.sys 1 2"]},
            ["D:\\page files\\1.sys", "E:\\2.sys"],
        ),
        ({"PagingFiles": ["?:\\pagefile.sys"]}, None),
        ({"PagingFiles": "C:\\pagefile.sys 27 77"}, None),
        ({}, None),
    ],
)
def test_paging_files(registry, values, paths):
    """What exists counts before what was set; without a drive, nothing is known."""
    registry[CONTROL + "Session Manager\\Memory Management"] = values
    assert host.paging_files() == paths


@pytest.mark.parametrize(
    ("mask", "machine_mask", "count", "build", "cpus"),
    [
        pytest.param(0b1111, 0b1111, 4, 19045, [0, 1, 2, 3], id="all"),
        pytest.param(0b1010, 0b1111, 4, 20348, [1, 3], id="restricted"),
        pytest.param(2**48 - 1, 2**48 - 1, 96, 20348, list(range(96)), id="all-groups"),
        pytest.param(2**48 - 1, 2**48 - 1, 96, 17763, list(range(48)), id="older-has-one-group"),
        pytest.param(0, 0, 96, 17763, list(range(96)), id="threads-in-several-groups"),
        pytest.param(0b11, 2**48 - 1, 96, 20348, [0, 1], id="restricted-in-a-group"),
    ],
)
def test_usable_cpus(mask, machine_mask, count, build, cpus):
    """Since Windows Server 2022, a process that was not restricted uses all groups of CPUs."""
    assert host.cpus_in(mask, machine_mask, count, build) == cpus


@pytest.mark.parametrize(
    ("path", "output"),
    [
        ("C:\\Windows\\System32\\findstr.exe", ""),
        ("c:\\windows\\system32\\BASH.exe", ""),
        ("C:\\Windows\\System32\\curl.exe", "version"),
        ("C:\\mozilla-build\\msys2\\usr\\bin\\bash.exe", "version"),
    ],
)
def test_only_programs_with_a_version_are_started(monkeypatch, path, output):
    """The bash of Windows would start a virtual machine."""
    monkeypatch.setattr(host, "SYSTEM_ROOT", "C:\\Windows")
    monkeypatch.setattr(host.os.path, "basename", lambda path: path.rpartition("\\")[2])
    monkeypatch.setattr(host, "output_of", lambda command: "version" if command[1:] else "")
    assert host._version_of(path) == output


def test_dirty_limit_where_windows_does_not_say(monkeypatch):
    """It is about a fifth of the free memory, only to choose how much to write."""
    monkeypatch.setattr(host, "available_bytes", lambda: 10 * GIB)
    assert host.dirty_limit_bytes() == 2 * GIB
    monkeypatch.setattr(counters, "dirty_bytes", lambda: (4096, 3 * GIB))
    assert (host.dirty_limit_bytes(), host.unwritten_bytes()) == (3 * GIB, (4096, None))

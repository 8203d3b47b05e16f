# SPDX-License-Identifier: MPL-2.0
"""The storage of places, from recorded answers; the last tests run on Windows' Python."""

import struct
from contextlib import nullcontext
from types import SimpleNamespace

import pytest
from system.windows import storage

SYSTEM = "C:\\Windows"
MEMORY_MANAGEMENT = "SYSTEM\\CurrentControlSet\\Control\\Session Manager\\Memory Management"
FILE_SYSTEM = "SYSTEM\\CurrentControlSet\\Control\\FileSystem"
VOLUMES = {
    "C:\\": storage.Volume("Windows", 0x1234ABCD, 0x03E72EFF, "NTFS"),
    "D:\\": storage.Volume("Temporary Storage", 0xAB, 0x03E72EFF, "NTFS"),
    "E:\\": storage.Volume("Work", 0xEF, 0x08E706FF, "ReFS"),
    "D:\\mnt\\more\\": storage.Volume("", 1, 0x03E72EFF, "NTFS"),
    "\\\\server\\share\\": storage.Volume("", 2, 0x03E72EFF, "NTFS"),
}
DISKS = {"C:\\": [0], "D:\\": [1], "E:\\": [2, 3], "D:\\mnt\\more\\": [0]}
DRIVES = {"C:": "\\Device\\HarddiskVolume2", "D:": "\\Device\\HarddiskVolume5"}
DRIVES |= {"E:": "\\Device\\HarddiskVolume7", "Y:": "\\??\\D:\\task"}
# As FSCTL_QUERY_PERSISTENT_VOLUME_STATE answers.
DEV_DRIVE, TRUSTED, NO_SHORT_NAMES = 0x2000, 0x4000, 1


class Worker:
    """A worker of Azure with C:, D:, a Dev Drive E: and Y: by subst; facts can be changed."""

    def __init__(self, registry):
        self.registry = registry
        self.states = {"C:\\": NO_SHORT_NAMES, "E:\\": DEV_DRIVE | TRUSTED}
        self.drive_types = {}
        self.volumes = dict(VOLUMES)
        self.attributes = 0x10
        self.files = set()

    def root_of(self, path):
        final = path.replace("Y:", "D:\\task", 1)
        roots = [root for root in self.volumes if (final + "\\").startswith(root)]
        return max(roots, key=len, default=None)

    def volume_of(self, path):
        root = self.root_of(path)
        if root is None:
            raise PermissionError(13, "Access is denied")
        return self.volumes[root]

    def block_sizes(self, path):
        return 512, 65536 if self.volume_of(path).filesystem == "ReFS" else 4096

    def text(self, call, path):
        if call is storage._device:
            return DRIVES.get(path)
        return f"\\\\?\\Volume{{{path}}}\\" if path in DISKS else None

    def control(self, handle, code, question, size):
        flags, mask, version, reserved = struct.unpack("<4I", question)
        assert (code, flags, version, reserved, size) == (0x9023C, 0, 1, 0, 16)
        state = self.states.get(self.root_of(handle))
        if state is None:
            raise OSError(22, "Request not supported")
        return struct.pack("<4I", state & mask, mask, 1, 0)


@pytest.fixture
def worker(monkeypatch, registry):
    """A worker with its paging file on D:; 8.3 names are a setting of each volume."""
    registry[MEMORY_MANAGEMENT] = {"ExistingPageFiles": ["\\??\\D:\\pagefile.sys"]}
    registry[FILE_SYSTEM] = {"NtfsDisable8dot3NameCreation": 2}
    worker = Worker(registry)
    replaced = {
        "root_of": worker.root_of,
        "_volume_of": worker.volume_of,
        "_text": worker.text,
        "_final": lambda path: path,
        "_drive_type": lambda root: worker.drive_types.get(root, 3),
    }
    for name, value in replaced.items():
        monkeypatch.setattr(storage, name, value)
    monkeypatch.setattr(storage.calls, "opened", lambda path, _access: nullcontext(path))
    monkeypatch.setattr(storage.calls, "control", worker.control)
    monkeypatch.setattr(storage.host, "SYSTEM_ROOT", SYSTEM)
    monkeypatch.setattr(storage.devices, "numbers_of", lambda name: DISKS[name[11:-1]])
    monkeypatch.setattr(storage.devices, "describe", lambda number: {"name": number})
    monkeypatch.setattr(storage.files, "sector_and_cluster_bytes", worker.block_sizes)
    monkeypatch.setattr(storage.shutil, "disk_usage", lambda _: SimpleNamespace(total=2**38))
    system = SimpleNamespace(
        stat=lambda _: SimpleNamespace(st_file_attributes=worker.attributes),
        path=SimpleNamespace(exists=lambda path: path in worker.files, abspath=str),
        getcwd=lambda: "D:\\task",
    )
    monkeypatch.setattr(storage, "os", system)
    return worker


def facts(path):
    return storage.observe("workspace", path)["windows"]


def test_place_on_a_temporary_disk(worker):
    """All keys of a place, which has the paging file on its disk."""
    assert worker
    assert storage.observe("workspace", "D:\\task") == {
        "name": "workspace",
        "path": "D:\\task",
        "kind": "directory",
        "mount": {
            "device": "000000AB",
            "root": "\\",
            "point": "D:\\",
            "options": "",
            "filesystem": "NTFS",
            "source": "\\\\?\\Volume{D:\\}\\",
            "super_options": "",
        },
        "overlay": None,
        "filesystem": {"type": "NTFS", "ext4_options": None, "btrfs_data_profiles": None},
        "size_bytes": 2**38,
        "devices": [{"name": 1}],
        "windows": {
            "drive": "D:",
            "is_substituted_for": None,
            "is_dev_drive": False,
            "is_trusted_dev_drive": False,
            "cluster_bytes": 4096,
            "short_names": None,
            "is_compressed": False,
            "is_encrypted": False,
            "clones_blocks": False,
            "is_system_disk": False,
            "has_paging_file": True,
            "is_excluded": False,
            "is_temporary_disk": True,
        },
    }


def test_place_on_a_dev_drive(worker):
    """A Dev Drive clones blocks and lies over two disks, none of which is the system's."""
    worker.attributes |= 0x800 | 0x4000
    observed = storage.observe("workspace", "E:\\x")
    assert [device["name"] for device in observed["devices"]] == [2, 3]
    names = [
        "is_dev_drive",
        "is_trusted_dev_drive",
        "clones_blocks",
        "is_compressed",
        "is_encrypted",
        "cluster_bytes",
        "short_names",
        "has_paging_file",
    ]
    expected = [True, True, True, True, True, 65536, None, False]
    assert [observed["windows"][name] for name in names] == expected


def test_refs_that_does_not_say_whether_it_is_a_dev_drive(worker):
    """Older versions of Windows do not know the question."""
    del worker.states["E:\\"]
    observed = facts("E:\\x")
    assert (observed["is_dev_drive"], observed["is_trusted_dev_drive"]) == (None, None)


def test_drive_of_subst_is_the_folder_of_another(worker):
    """The volume and the disk are those of the folder for which the drive stands."""
    assert worker
    observed = storage.observe("workspace", "Y:\\work")
    assert observed["mount"]["point"] == "D:\\"
    assert observed["windows"]["drive"] == "Y:"
    assert observed["windows"]["is_substituted_for"] == "D:\\task"


def test_mounted_folder_has_another_disk_than_its_drive(worker):
    """A volume that is mounted in a folder of D: is here on the disk of the system."""
    assert worker
    observed = storage.observe("workspace", "D:\\mnt\\more\\x")
    assert observed["mount"]["point"] == "D:\\mnt\\more\\"
    windows = observed["windows"]
    assert (windows["drive"], windows["is_system_disk"], windows["has_paging_file"]) == (
        "D:",
        True,
        False,
    )


@pytest.mark.parametrize("path", ["\\\\server\\share\\x", "\\\\other\\share\\x"])
def test_share_has_no_disks_here(worker, path):
    """Nothing of its disks is known; whether its volume answers makes no difference."""
    assert worker
    observed = storage.observe("workspace", path)
    windows = observed["windows"]
    assert (observed["kind"], observed["devices"]) == ("network", [])
    assert (windows["is_system_disk"], windows["has_paging_file"]) == (None, None)


def test_drive_of_the_network(worker):
    """A letter can stand for a share."""
    worker.drive_types["E:\\"] = 4
    observed = storage.observe("workspace", "E:\\x")
    assert (observed["kind"], observed["devices"]) == ("network", [])


def test_volume_that_may_not_be_asked(worker):
    """Without rights, facts of the volume are not known, and the place is still described."""
    worker.volumes.clear()
    observed = storage.observe("workspace", "D:\\x")
    assert (observed["mount"], observed["filesystem"], observed["devices"]) == (None, None, [])
    assert observed["windows"] == {
        "drive": "D:",
        "is_substituted_for": None,
        "is_compressed": False,
        "is_encrypted": False,
        "is_excluded": False,
        **dict.fromkeys(
            (
                "is_dev_drive",
                "is_trusted_dev_drive",
                "cluster_bytes",
                "short_names",
                "clones_blocks",
                "is_temporary_disk",
                "is_system_disk",
                "has_paging_file",
            )
        ),
    }


@pytest.mark.parametrize(
    ("setting", "path", "makes"),
    [
        pytest.param(0, "C:\\x", True, id="all-volumes"),
        pytest.param(1, "C:\\x", False, id="none"),
        pytest.param(2, "C:\\x", False, id="not-this-one"),
        pytest.param(2, "D:\\x", None, id="volume-does-not-say"),
        pytest.param(3, "C:\\x", True, id="system-volume"),
        pytest.param(3, "D:\\x", False, id="not-the-system-volume"),
        pytest.param(None, "C:\\x", None, id="setting-unknown"),
        pytest.param(0, "E:\\x", None, id="not-ntfs"),
    ],
)
def test_short_names(worker, setting, path, makes):
    """A setting decides for all volumes, or leaves it to each one."""
    settings = {} if setting is None else {"NtfsDisable8dot3NameCreation": setting}
    worker.registry[FILE_SYSTEM] = settings
    assert facts(path)["short_names"] is makes


def test_volume_with_short_names(worker):
    """A volume that does not switch them off makes them."""
    worker.states["C:\\"] = 0
    assert facts("C:\\x")["short_names"] is True


@pytest.mark.parametrize(
    ("path", "files", "is_temporary"),
    [
        ("D:\\x", set(), True),
        ("C:\\x", set(), False),
        ("C:\\x", {"C:\\DATALOSS_WARNING_README.txt"}, True),
    ],
)
def test_temporary_disk_of_the_cloud(worker, path, files, is_temporary):
    """Its label or its warning says so."""
    worker.files = files
    assert facts(path)["is_temporary_disk"] is is_temporary


@pytest.mark.parametrize(
    ("paging_files", "has_one"),
    [
        (["\\??\\C:\\pagefile.sys", "\\??\\D:\\pagefile.sys"], True),
        (["\\??\\C:\\pagefile.sys"], False),
        ([], False),
        (["\\??\\Q:\\pagefile.sys"], None),
        (["?:\\pagefile.sys"], None),
    ],
)
def test_paging_file_on_the_disk_of_a_place(worker, paging_files, has_one):
    """A paging file whose disk is not known leaves the answer open."""
    worker.registry[MEMORY_MANAGEMENT] = {"ExistingPageFiles": paging_files}
    assert facts("D:\\x")["has_paging_file"] is has_one


def test_relative_place_is_on_the_current_drive(worker):
    """Tasks may name a place relative to their folder."""
    assert worker
    assert facts("work")["drive"] == "D:"

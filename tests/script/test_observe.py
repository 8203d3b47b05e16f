# SPDX-License-Identifier: MPL-2.0
"""The storage chain and the limits, read from recorded trees of /proc and /sys."""

from collections.abc import Callable

import pytest
from observe import devices, host, limits, mounts, storage

Record = Callable[..., None]


def block(name: str, number: str, **files: str) -> dict[str, str]:
    base = f"/sys/devices/{name}"
    found = {f"{base}/dev": number, f"{base}/size": "2048"}
    return found | {f"{base}/{path.replace('__', '/')}": text for path, text in files.items()}


def linked(*names: str) -> dict[str, str]:
    return {f"/sys/class/block/{name}": f"../../devices/{name}" for name in names}


NVME = {"queue__scheduler": "[none] mq-deadline", "device__model": "nvme_card"}
STRIPED = {
    **block("dm-0", "253:0", dm__uuid="LVM-abc", dm__name="instance--storage-all"),
    "/sys/devices/dm-0/queue/minimum_io_size": "65536",
    "/sys/devices/dm-0/queue/optimal_io_size": "131072",
    "/sys/devices/dm-0/slaves/nvme0n1": "",
    "/sys/devices/dm-0/slaves/nvme0n2": "",
    **block("nvme0n1", "259:0", **NVME),
    **block("nvme0n2", "259:1", **NVME),
}


def test_a_striped_volume_is_followed_to_both_disks(recorded: Record) -> None:
    """The seed's Intel worker: one LVM volume, two stripes, two NVMe leaves with their model."""
    recorded(STRIPED, linked("dm-0", "nvme0n1", "nvme0n2"))
    chain = devices.chain(["dm-0"])
    assert [(d["name"], d["kind"], d["stripe_count"]) for d in chain] == [
        ("dm-0", "lvm", 2),
        ("nvme0n1", "disk", None),
        ("nvme0n2", "disk", None),
    ]
    assert [(d["model"], d["scheduler"]) for d in chain[1:]] == [("nvme_card", "none")] * 2
    assert chain[0]["below"] == ["nvme0n1", "nvme0n2"]
    assert chain[0]["size_bytes"] == 1048576
    assert "model" not in chain[0]


def test_a_partition_stands_on_its_disk(recorded: Record) -> None:
    """The disk is found by the partition's place in /sys, and is the leaf."""
    recorded(
        block("sda", "8:0", queue__scheduler="mq-deadline [bfq]", queue__iosched__slice_idle="8")
        | {"/sys/devices/sda/sda1/dev": "8:1", "/sys/devices/sda/sda1/partition": "1"},
        linked("sda") | {"/sys/class/block/sda1": "../../devices/sda/sda1"},
    )
    chain = devices.chain(["sda1"])
    assert [(d["name"], d["kind"]) for d in chain] == [("sda1", "partition"), ("sda", "disk")]
    assert (chain[1]["scheduler"], chain[1]["scheduler_settings"]) == ("bfq", {"slice_idle": 8})


def test_a_software_raid_tells_its_level(recorded: Record) -> None:
    """md: level and stripes over its members."""
    recorded(
        block("md0", "9:0", md__level="raid0", queue__minimum_io_size="524288")
        | {
            "/sys/devices/md0/queue/optimal_io_size": "1572864",
            **{f"/sys/devices/md0/slaves/sd{letter}": "" for letter in "abc"},
        },
        linked("md0"),
    )
    top = devices._describe("md0")
    assert (top["kind"], top["raid_level"], top["stripe_count"]) == ("md", "raid0", 3)


@pytest.mark.parametrize(
    "links",
    [
        pytest.param({"/sys/dev/block/253:0": "../../devices/dm-0"}, id="by-sys-dev-block"),
        pytest.param({}, id="masked-as-in-a-container"),
    ],
)
def test_a_number_finds_its_device(recorded: Record, links: dict[str, str]) -> None:
    """/sys/dev/block may be empty in a container; /sys/class/block still tells."""
    recorded(STRIPED, linked("dm-0", "nvme0n1") | links)
    assert devices.name_of_number("253:0") == "dm-0"
    assert devices.name_of_number("1:1") is None


def test_a_mapper_node_finds_its_device_by_name(recorded: Record) -> None:
    """/dev/mapper/NAME is absent in a container; device mapper's own name is not."""
    recorded(STRIPED, linked("dm-0"))
    assert devices.name_of_node("/dev/mapper/instance--storage-all") == "dm-0"


MOUNTINFO = r"""
22 1 0:20 / / rw,relatime - overlay overlay rw,lowerdir=/l/A:/l/B:/l/C,upperdir=/u,workdir=/w
30 22 253:0 /volumes/x/_data /builds/worker/workspace rw - ext4 /dev/mapper/v rw,data=writeback
31 30 0:44 / /builds/worker/workspace/in\040memory rw - tmpfs tmpfs rw,size=64k
32 22 253:0 /containers/x/hostname /etc/hostname rw - ext4 /dev/mapper/v rw
"""


@pytest.mark.parametrize(
    ("path", "point", "kind"),
    [
        pytest.param(
            "/builds/worker/workspace/a", "/builds/worker/workspace", "volume", id="volume"
        ),
        pytest.param("/builds/worker/workspaces", "/", "overlay", id="only-a-prefix-of-the-name"),
        pytest.param(
            "/builds/worker/workspace/in memory/x",
            "/builds/worker/workspace/in memory",
            "memory",
            id="escaped-space",
        ),
        pytest.param("/builds/worker/io-benchmark", "/", "overlay", id="container-layer"),
    ],
)
def test_a_path_is_on_its_longest_mount(recorded: Record, path: str, point: str, kind: str) -> None:
    """Volume, overlay or memory: which one was measured changes what the result means."""
    recorded({"/.dockerenv": ""})
    table = mounts.parse(MOUNTINFO)
    mount = mounts.mount_of(path, table)
    assert mount is not None
    assert mount.point == point
    assert storage._kind_of_place(mount, storage.in_container(table)) == kind


def test_a_later_mount_covers_an_earlier_one() -> None:
    """Two mounts at one point: what is seen is the second."""
    table = mounts.parse("1 1 8:1 / /x rw - ext4 /dev/a rw\n2 1 8:2 / /x rw - xfs /dev/b rw\n")
    mount = mounts.mount_of("/x/y", table)
    assert mount is not None
    assert mount.filesystem == "xfs"


@pytest.mark.parametrize(
    ("upper", "mountinfo", "found"),
    [
        pytest.param("/run/upper", "", ([], None), id="in memory"),
        pytest.param(r"/on\040disk/upper", "", (["dm-0"], "/on disk/upper"), id="on a disk"),
        pytest.param("upper", "", ([], None), id="relative"),
        pytest.param("/elsewhere", "", ([], None), id="not visible"),
        pytest.param(
            "/elsewhere",
            "4 1 0:46 / /etc/hostname rw - tmpfs tmpfs rw\n"
            "5 1 253:0 /r /etc/resolv.conf rw - ext4 /dev/mapper/v rw\n",
            (["dm-0"], "/etc/resolv.conf"),
            id="a host's file in memory",
        ),
    ],
)
def test_the_disk_of_an_overlay(
    recorded: Record,
    monkeypatch: pytest.MonkeyPatch,
    upper: str,
    mountinfo: str,
    found: tuple[list[str], str | None],
) -> None:
    """That of the upper layer, and none rather than the root's, on which /etc/hostname is."""
    folders = {"/run/upper/x": "", "/on disk/upper/x": "", "/etc/hostname": ""}
    recorded(STRIPED | folders, linked("dm-0"))
    table = mounts.parse(
        "1 0 253:0 / / rw - ext4 /dev/mapper/v rw\n"
        "2 1 0:44 / /run rw - tmpfs tmpfs rw\n"
        f"3 1 0:45 / /place rw - overlay overlay rw,lowerdir=/l,upperdir={upper},workdir=/w\n"
        + mountinfo
    )
    monkeypatch.setattr(mounts.os.path, "realpath", lambda path: path)
    place = mounts.mount_of("/place", table)
    assert storage._find_devices(place, table, None) == found


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        pytest.param(
            "rw,lowerdir=/a:/b,upperdir=/u,workdir=/w,volatile",
            {"lower_layers": 2, "upper_directory": "/u", "volatile": True},
            id="volatile",
        ),
        pytest.param(
            "rw,lowerdir+=/a,lowerdir+=/b,lowerdir+=/c,upperdir=/u",
            {"lower_layers": 3, "upper_directory": "/u", "volatile": False},
            id="one-option-a-layer",
        ),
    ],
)
def test_overlays_are_described(options: str, expected: dict[str, object]) -> None:
    """How many layers, and whether fsync does nothing at all."""
    mount = mounts.Mount("0:1", "/", "/", "rw", "overlay", "overlay", options)
    assert mount.overlay() == expected


def test_layers_of_aufs_are_counted(recorded: Record) -> None:
    """Its options name none; each branch is a file in /sys, the first the one that is written to."""
    folder = "/sys/fs/aufs/si_5b1f0c8f"
    names = ("br0", "br1", "br2", "brid0", "xi_path")
    recorded({f"{folder}/{name}": "" for name in names})
    mount = mounts.Mount("0:1", "/", "/", "rw", "aufs", "none", "rw,si=5b1f0c8f,dio,dirperm1")
    found = {"lower_layers": 2, "upper_directory": None, "volatile": False}
    assert mount.overlay() == found


def test_btrfs_members_are_found_by_its_own_folder(recorded: Record) -> None:
    """btrfs shows a device number that no disk has; its members and profile are in /sys/fs."""
    base = "/sys/fs/btrfs/11-22"
    recorded(
        block("loop1", "7:1")
        | block("loop2", "7:2")
        | {f"{base}/devices/loop1": "", f"{base}/devices/loop2": ""}
        | {f"{base}/allocation/data/raid0/used_bytes": "1", f"{base}/allocation/data/flags": "1"},
        linked("loop1", "loop2"),
    )
    mount = mounts.Mount("0:50", "/", "/x", "rw", "btrfs", "/dev/loop1", "rw")
    assert storage._find_devices(mount, [mount], {}) == (["loop1", "loop2"], "btrfs")
    assert storage._filesystem_details(mount, ["loop1", "loop2"]) == {
        "type": "btrfs",
        "ext4_options": None,
        "btrfs_data_profiles": ["raid0"],
    }


def test_v2_limits_are_read_up_to_the_root(recorded: Record) -> None:
    """A limit set on the parent holds the child as well: every level is read."""
    group = "/sys/fs/cgroup/docker/task"
    recorded(
        {
            "/proc/self/cgroup": "0::/docker/task\n",
            # The second one is of a chroot: the same groups, read once.
            "/proc/self/mountinfo": "1 1 0:9 / /sys/fs/cgroup rw - cgroup2 cgroup rw\n"
            "2 1 0:9 / /chroot/sys/fs/cgroup rw - cgroup2 cgroup rw\n",
            "/chroot/sys/fs/cgroup/docker/task/cpu.max": "100000 100000",
            f"{group}/io.max": "259:0 rbps=max wbps=41943040 riops=max wiops=100\n",
            f"{group}/memory.max": "max",
            f"{group}/cpu.max": "max 100000",
            "/sys/fs/cgroup/docker/memory.max": "1073741824",
            "/sys/fs/cgroup/docker/cpu.max": "200000 100000",
            "/sys/fs/cgroup/docker/io.weight": "default 50",
        }
        | block("nvme0n1", "259:0"),
        linked("nvme0n1"),
    )
    found = limits.observe()
    found.pop("ulimits")
    assert found == {
        "cgroup_versions": ["v2"],
        "groups": {"unified": group},
        "io": [
            {
                "group": group,
                "device": "259:0",
                "device_name": "nvme0n1",
                "kind": kind,
                "value": value,
            }
            for kind, value in (("write_bytes_per_s", 41943040), ("write_operations_per_s", 100))
        ],
        "weights": [{"group": "/sys/fs/cgroup/docker", "file": "io.weight", "text": "default 50"}],
        "memory": [{"group": "/sys/fs/cgroup/docker", "file": "memory.max", "bytes": 1073741824}],
        "cpu": [{"group": "/sys/fs/cgroup/docker", "quota_us": 200000, "period_us": 100000}],
    }


@pytest.mark.parametrize(
    ("group", "root", "folder"),
    [
        pytest.param("/docker/abc", "/docker/abc", "", id="mounted-at-the-containers-own"),
        pytest.param("/docker/abc", "/", "/docker/abc", id="whole-hierarchy"),
        pytest.param("/", "/../..", "", id="seen-from-a-new-namespace"),
    ],
)
def test_v1_paths_are_relative_to_the_mounts_root(
    recorded: Record, group: str, root: str, folder: str
) -> None:
    """The same limit is found wherever the hierarchy is mounted from."""
    base = "/sys/fs/cgroup/blkio"
    recorded(
        {
            "/proc/self/cgroup": f"4:cpu,cpuacct:{group}\n3:blkio:{group}\n",
            "/proc/self/mountinfo": f"1 1 0:9 {root} {base} rw - cgroup cgroup rw,blkio\n",
            f"{base}{folder}/blkio.throttle.write_bps_device": "8:0 1048576\n",
        }
    )
    found = limits.observe()
    assert found["cgroup_versions"] == ["v1"]
    assert [(limit["group"], limit["kind"], limit["value"]) for limit in found["io"]] == [
        (f"{base}{folder}", "write_bytes_per_s", 1048576)
    ]


@pytest.mark.parametrize(
    ("mount", "group", "files"),
    [
        pytest.param(
            "cgroup2 cgroup rw",
            "0::/task",
            {"max": "72", "current": "50", "stat": "inactive_file 10\n"},
            id="v2",
        ),
        pytest.param(
            "cgroup cgroup rw,memory",
            "1:memory:/task",
            {
                "limit_in_bytes": "72",
                "usage_in_bytes": "50",
                "stat": "inactive_file 4\ntotal_inactive_file 10\n",
            },
            id="v1",
        ),
    ],
)
def test_memory_that_a_cgroup_leaves(
    recorded: Record, mount: str, group: str, files: dict[str, str]
) -> None:
    """The limit less what is used; the kernel gives up page cache before it ends a process."""
    recorded(
        {
            "/proc/meminfo": "MemAvailable: 100 kB\n",
            "/proc/self/cgroup": f"{group}\n",
            "/proc/self/mountinfo": f"1 1 0:9 / /sys/fs/cgroup rw - {mount}\n",
            **{f"/sys/fs/cgroup/task/memory.{name}": text for name, text in files.items()},
        }
    )
    assert host.available_bytes() == 72 - 50 + 10
    assert host._touch_new_memory() == []


def test_an_unlimited_v1_memory_group_is_no_limit(recorded: Record) -> None:
    """The kernel writes 'none' as a number near 2^63."""
    base = "/sys/fs/cgroup/memory"
    recorded(
        {
            "/proc/self/cgroup": "1:memory:/\n",
            "/proc/self/mountinfo": f"1 1 0:9 / {base} rw - cgroup cgroup rw,memory\n",
            f"{base}/memory.limit_in_bytes": "9223372036854771712",
        }
    )
    assert limits.observe()["memory"] == []

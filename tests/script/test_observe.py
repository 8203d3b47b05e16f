# SPDX-License-Identifier: MPL-2.0
"""The machine, storage chain, limits and a row of the timeline, from recorded /proc and /sys."""

import os

import pytest
from measuring import timelines
from system.linux import counters, devices, host, storage
from system.probes import touch_new_memory


def block(name: str, number: str, **files: str) -> dict[str, str]:
    base = f"/sys/devices/{name}"
    tree = {f"{base}/dev": number, f"{base}/size": "2048"}
    return tree | {f"{base}/{path.replace('__', '/')}": text for path, text in files.items()}


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


def test_what_slows_cpus_down(recorded, tmp_path):
    """The firmware, the governor and the throttling of all CPUs, where a machine shows them."""
    cpus = "/sys/devices/system/cpu"
    recorded(
        {
            "/sys/class/dmi/id/bios_version": "1.2.0\n",
            f"{cpus}/cpu0/cpufreq/scaling_governor": "powersave\n",
            f"{cpus}/cpu0/thermal_throttle/core_throttle_count": "40\n",
            f"{cpus}/cpu1/thermal_throttle/core_throttle_count": "2\n",
            f"{cpus}/online": "0-1\n",
        }
    )
    observed = host.observe(may_measure=False)
    names = ("firmware", "cpu_governor", "cpu_throttle_count")
    assert [observed[name] for name in names] == ["1.2.0", "powersave", 42]
    (tmp_path / "recorded/sys/class/dmi/id/bios_version").unlink()
    assert "firmware" not in host.observe(may_measure=False)


def test_a_partition_stands_on_its_disk(recorded):
    """The disk is found by the partition's place in /sys, and is the leaf."""
    recorded(
        block("sda", "8:0", queue__scheduler="mq-deadline [bfq]", queue__iosched__slice_idle="8")
        | {"/sys/devices/sda/sda1/dev": "8:1", "/sys/devices/sda/sda1/partition": "1"},
        linked("sda") | {"/sys/class/block/sda1": "../../devices/sda/sda1"},
    )
    chain = devices.chain(["sda1"])
    assert [(d["name"], d["kind"]) for d in chain] == [("sda1", "partition"), ("sda", "disk")]
    assert (chain[1]["scheduler"], chain[1]["scheduler_settings"]) == ("bfq", {"slice_idle": 8})
    # Where there is no choice, none is marked.
    recorded(block("sdb", "8:16", queue__scheduler="none"), linked("sdb"))
    assert devices.chain(["sdb"])[0]["scheduler"] == "none"


@pytest.mark.parametrize(
    ("minimum", "optimal", "of_members", "stripes"),
    [
        (4096, 12288, 512, 3),
        (4096, 4096, 512, None),
        (4096, 12288, 4096, None),
        (512, 1024, 0, None),
    ],
    ids=["striped", "linear", "as its members", "as any disk"],
)
def test_a_software_raid(recorded, minimum, optimal, of_members, stripes):
    """Its level, and stripes over its members where its hints are no member's."""
    queue = {"queue__minimum_io_size": f"{minimum}", "queue__optimal_io_size": f"{optimal}"}
    members = {f"slaves__sd{letter}": "" for letter in "abc"}
    member = block("sda", "8:0", queue__minimum_io_size=f"{of_members}")
    raid = block("md0", "9:0", md__level="raid0", **queue, **members)
    recorded(raid | member, linked("md0", "sda"))
    top = devices.chain(["md0"])[0]
    assert (top["kind"], top["raid_level"], top["stripe_count"]) == ("md", "raid0", stripes)


def test_a_device_is_found(recorded):
    """By its number, also in a container without /sys/dev/block, or by device mapper's name."""
    recorded(STRIPED, linked("dm-0", "nvme0n1"))
    assert devices.name_of("253:0") == "dm-0"
    assert devices.name_of("1:1") is None
    assert devices.name_of_node("/dev/mapper/instance--storage-all") == "dm-0"


MOUNTINFO = r"""
22 1 0:20 / / rw,relatime - overlay overlay rw,lowerdir=/l/A:/l/B:/l/C,upperdir=/u,workdir=/w
30 22 253:0 /volumes/x/_data /builds/worker/workspace rw - ext4 /dev/mapper/v rw,data=writeback
31 30 0:44 / /builds/worker/workspace/in\040memory rw - tmpfs tmpfs rw,size=64k
32 22 253:0 /containers/x/hostname /etc/hostname rw - ext4 /dev/mapper/v rw
33 22 8:1 / /x rw - ext4 /dev/a rw
34 22 8:2 / /x rw - nfs4 /dev/b rw
"""
WORK = "/builds/worker/workspace"


@pytest.mark.parametrize(
    ("path", "point", "kind"),
    [
        pytest.param(f"{WORK}/a", WORK, "volume", id="volume"),
        pytest.param(f"{WORK}s", "/", "overlay", id="only-a-prefix-of-the-name"),
        pytest.param(f"{WORK}/in memory/x", f"{WORK}/in memory", "memory", id="escaped-space"),
        pytest.param("/x/y", "/x", "network", id="the-second-of-two"),
    ],
)
def test_a_path_is_on_its_longest_mount(recorded, path, point, kind):
    """Volume, overlay or memory: which one was measured changes what the result means."""
    recorded({"/.dockerenv": "", "/proc/self/mountinfo": MOUNTINFO})
    table = storage.mount_table()
    mount = storage.mount_of(path, table)
    assert (mount.point, storage._kind_of_place(mount, table)) == (point, kind)


PODMAN = {"/run/.containerenv": ""}


@pytest.mark.parametrize(
    ("point", "marks", "kind"),
    [("/x", PODMAN, "volume"), ("/x", {}, "directory"), ("/", PODMAN, "directory")],
)
def test_kinds_of_places(recorded, point, marks, kind):
    """What is mounted into a container is a volume; the rest of it is its own."""
    recorded(marks)
    mount = storage._Mount("0:1", "/", point, "rw", "ext4", "none", "rw")
    assert storage._kind_of_place(mount, [mount]) == kind


HOSTS = "5 1 253:0 /r /etc/hosts rw - ext4 /dev/mapper/v rw\n"


@pytest.mark.parametrize(
    ("upper", "mountinfo", "disks"),
    [
        ("/run/upper", HOSTS, []),
        (r"/on\040disk/upper", "", ["dm-0"]),
        ("upper", "", []),
        ("/elsewhere", "", []),
        ("/elsewhere", "4 1 0:46 / /etc/hostname rw - tmpfs tmpfs rw\n" + HOSTS, ["dm-0"]),
    ],
    ids=["in memory", "on a disk", "relative", "not visible", "a host's file in memory"],
)
def test_the_disk_of_an_overlay(recorded, monkeypatch, upper, mountinfo, disks):
    """That of the upper layer, and none rather than the root's, on which /etc/hostname is."""
    folders = {"/run/upper/x": "", "/on disk/upper/x": "", "/etc/hostname": ""}
    table = (
        "1 0 253:0 / / rw - ext4 /dev/mapper/v rw\n"
        "2 1 0:44 / /run rw - tmpfs tmpfs rw\n"
        f"3 1 0:45 / /place rw - overlay overlay rw,lowerdir=/l,upperdir={upper},workdir=/w\n"
    )
    recorded(STRIPED | folders | {"/proc/self/mountinfo": table + mountinfo}, linked("dm-0"))
    monkeypatch.setattr(storage.os.path, "realpath", lambda path: path)
    place = storage.mount_of("/place", storage.mount_table())
    assert storage._find_devices(place, storage.mount_table(), None) == disks


def test_v2_limits_are_read_up_to_the_root(recorded):
    """A limit set on the parent holds the child as well: every level is read."""
    above, group = "/sys/fs/cgroup/docker", "/sys/fs/cgroup/docker/task"
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
            f"{above}/memory.max": "1073741824",
            f"{above}/cpu.max": "200000 100000",
        }
        | block("nvme0n1", "259:0"),
        linked("nvme0n1"),
    )
    observed = host.observe_limits()
    disk = {"group": group, "device": "259:0", "device_name": "nvme0n1"}
    assert observed == {
        "cgroup_versions": ["v2"],
        "groups": {"unified": group},
        "io": [
            {**disk, "kind": kind, "value": value}
            for kind, value in (("write_bytes_per_s", 41943040), ("write_operations_per_s", 100))
        ],
        "memory": [{"group": above, "file": "memory.max", "bytes": 1073741824}],
        "cpu": [{"group": above, "quota_us": 200000, "period_us": 100000}],
    }


@pytest.mark.parametrize(
    ("group", "root", "folder"),
    [
        pytest.param("/docker/abc", "/docker/abc", "", id="mounted-at-the-containers-own"),
        pytest.param("/docker/abc", "/", "/docker/abc", id="whole-hierarchy"),
        pytest.param("/", "/../..", "", id="seen-from-a-new-namespace"),
    ],
)
def test_v1_paths_are_relative_to_the_mounts_root(recorded, group, root, folder):
    """The same limit is found wherever the hierarchy is mounted from; near 2^63 there is none."""
    base = "/sys/fs/cgroup/blkio"
    recorded(
        {
            "/proc/self/cgroup": f"4:cpu,cpuacct:{group}\n3:blkio,memory:{group}\n",
            "/proc/self/mountinfo": f"1 1 0:9 {root} {base} rw - cgroup cgroup rw,blkio,memory\n",
            f"{base}{folder}/blkio.throttle.write_bps_device": "8:0 1048576\n",
            f"{base}{folder}/memory.limit_in_bytes": "9223372036854771712",
        }
    )
    observed = host.observe_limits()
    assert (observed["cgroup_versions"], observed["memory"]) == (["v1"], [])
    assert [(limit["group"], limit["kind"], limit["value"]) for limit in observed["io"]] == [
        (f"{base}{folder}", "write_bytes_per_s", 1048576)
    ]


V1_MEMORY = {"limit_in_bytes": "72", "usage_in_bytes": "50"}
V1_MEMORY["stat"] = "inactive_file 4\ntotal_inactive_file 10\n"
V2_MEMORY = {"max": "72", "current": "50", "stat": "inactive_file 10"}


@pytest.mark.parametrize(
    ("mount", "group", "files"),
    [
        ("cgroup2 cgroup rw", "0::/task", V2_MEMORY),
        ("cgroup cgroup rw,memory", "1:memory:/task", V1_MEMORY),
    ],
)
def test_memory_that_a_cgroup_leaves(recorded, mount, group, files):
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
    assert touch_new_memory(host.available_bytes()) == []


@pytest.mark.parametrize(("free_mib", "chunks"), [(15, 0), (16, 1), (33, 2), (1000, 8)])
def test_the_probe_of_memory(free_mib, chunks):
    """It takes chunks of 8 MiB, half of what is free at most."""
    assert len(touch_new_memory(free_mib * MIB)) == chunks


MIB = 2**20
QUIET: list[dict[str, int]] = [{}] * 8
PROBE, SHARE = 8 * MIB, MIB // 2
BUSY_BUT_ONCE = [*[{"b": 9 * MIB}, {}] * 3, {}, {}]


@pytest.mark.parametrize(
    ("by_probe", "between", "disks"),
    [
        pytest.param({"a": PROBE // 2, "b": PROBE // 2}, QUIET, ["a", "b"], id="stripe"),
        pytest.param({}, [{"b": 3 * MIB}] * 8, [], id="another disk is busy, nothing arrives"),
        pytest.param({"a": PROBE}, BUSY_BUT_ONCE, ["a"], id="another disk is busy but once"),
        pytest.param({"a": PROBE}, [{"a": 2 * MIB}] * 8, ["a"], id="its disk is busy"),
        pytest.param({"a": PROBE}, [{"a": 60 * MIB}] * 8, [], id="its disk is too busy"),
        pytest.param({"a": SHARE}, QUIET, ["a"], id="enough"),
        pytest.param({"a": SHARE - 1}, QUIET, [], id="too little"),
        pytest.param(None, QUIET, [], id="direct writes are refused"),
    ],
)
def test_devices_written_to(monkeypatch, by_probe, between, disks):
    """A device that writes whenever the place is written to; none rather than a wrong one."""
    written, waiting = dict.fromkeys("abcd", 0), list(between)

    def add(amounts: dict[str, int]) -> None:
        for name, size_bytes in (*amounts.items(), *waiting.pop(0).items()):
            written[name] += size_bytes

    def write(_path: str) -> None:
        if by_probe is None:
            raise OSError(22, "Invalid argument")
        add(by_probe)

    def counters() -> dict[str, tuple[int, int]]:
        return {name: (0, total) for name, total in written.items()}

    monkeypatch.setattr(storage, "write_probe", write)
    monkeypatch.setattr(storage.devices, "counters", counters)
    monkeypatch.setattr(storage.time, "sleep", lambda _seconds: add({}))
    monkeypatch.setattr(storage.devices, "below", lambda _name: [])
    assert storage._devices_written_to("/place") == disks


def test_a_row_has_a_value_for_each_column(recorded):
    """Recorded figures of every source arrive under their names, with their units."""
    recorded(
        {
            "/proc/meminfo": "Dirty: 10 kB\nWriteback: 4 kB\nMemAvailable: 100 kB\n",
            "/proc/pressure/io": "some avg10=0.00 total=11\nfull avg10=0.00 total=7\n",
            "/proc/pressure/memory": "some avg10=0.00 total=5\n",
            "/proc/stat": "cpu  100 0 200 300 400 0 0 50 0 0\ncpu0 1\n",
            "/proc/9/stat": "9 (a) b) S 1 1 1 0 -1 0 0 0 0 0 3 4 1 2 20 0 1 0 5\n",
            "/proc/diskstats": "259 0 nvme0n1 1 0 16 1 1 0 32 1 0 77 1 0 0 0 0 0 0\n",
        }
    )
    disks = ["nvme0n1", "gone"]
    timeline = timelines.Timeline(disks, every_s=1.0, origin_ns=0, process_id=9)
    row = dict(zip(timeline._names, timeline.row(), strict=True))
    tick_ms = 1000 // os.sysconf("SC_CLK_TCK")
    ticks = {"user": 100, "nice": 0, "system": 200, "idle": 300, "iowait": 400, "steal": 50}
    row.pop("time_ns")
    assert row == {
        "dirty_bytes": 10240,
        "writeback_bytes": 4096,
        "memory_available_bytes": 102400,
        "psi_io_some_us": 11,
        "psi_io_full_us": 7,
        "psi_memory_some_us": 5,
        "psi_cpu_some_us": None,
        **{f"cpu_{name}_ms": ticks.get(name, 0) * tick_ms for name in counters.CPU_TICKS},
        "own_user_ms": 4 * tick_ms,
        "own_system_ms": 6 * tick_ms,
        "nvme0n1:read_bytes": 8192,
        "nvme0n1:written_bytes": 16384,
        "nvme0n1:busy_ms": 77,
        **dict.fromkeys(("gone:read_bytes", "gone:written_bytes", "gone:busy_ms")),
    }

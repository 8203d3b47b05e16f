# SPDX-License-Identifier: MPL-2.0
"""The program in a container of rootless podman: what other CI systems' runners often use."""

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

from io_benchmark.graph.root import Root
from io_benchmark.graph.worker_script import build_worker_script
from io_benchmark.sources.folder.run_files import read_run

ROOT = Path(__file__).resolve().parents[2]
NOBODY = 65534
NEEDED = ("podman", "crun", "newuidmap", "setpriv", "unshare")
pytestmark = [
    pytest.mark.container,
    pytest.mark.root,
    pytest.mark.skipif(
        not all(map(shutil.which, NEEDED)) or os.geteuid() != 0, reason=f"needs root, {NEEDED}"
    ),
]

# One of processes too: podman leaves one running, which ends with it.
NAMESPACES = ("--mount", "--pid", "--fork", "--kill-child", "--mount-proc")
# Without ranges of other users, all of the container's files belong to one user.
IN_NAMESPACE = """
mount --make-rprivate /
umount --recursive /sys/fs/cgroup
mount -t cgroup2 none /sys/fs/cgroup
cd "$1"
mount -t tmpfs -o uid=65534,gid=65534 none run
export HOME="$1/home" XDG_RUNTIME_DIR="$1/run" CONTAINERS_CONF="$1/containers.conf"
exec setpriv --reuid 65534 --regid 65534 --clear-groups bash -c "$2" bash "$3"
"""
CONTAINERS_CONF = """
[containers]
cgroups = "disabled"
netns = "host"
[engine]
cgroup_manager = "cgroupfs"
events_logger = "file"
runtime = "crun"
"""
# The image has links and empty folders alone; /usr is the host's.
JOB = """
set -eu
podman() { command podman --log-level error --root "$HOME/store" --storage-driver "$1" "${@:2}"; }
tar -C tree --owner=0 --group=0 -c . | podman "$1" import - localhost/tiny >&2
podman "$1" run --rm --volume /usr:/usr:ro --volume "$PWD/volume:/volume" --workdir /root \
    --env CI_PROJECT_DIR=/root --env GITLAB_CI=true localhost/tiny \
    python3 /volume/io-benchmark.pyz run --profile quick --sizes 3x1 --retrieves 20 \
    --place workspace=/root --place volume=/volume/place --output /volume/out
"""


@pytest.fixture
def folder():
    """Not pytest's own: its parents are root's alone."""
    with tempfile.TemporaryDirectory(prefix="io-benchmark-rootless-") as name:
        path = Path(name)
        for part in ("home", "run", "volume", "tree/root", "tree/tmp", "tree/usr", "tree/volume"):
            (path / part).mkdir(parents=True)
        for part in ("bin", "lib", "lib64", "sbin"):
            (path / "tree" / part).symlink_to(f"usr/{part}")
        for part in ("dev", "etc", "proc", "run", "sys"):
            (path / "tree" / part).mkdir()
        (path / "containers.conf").write_text(CONTAINERS_CONF)
        application = build_worker_script(Root(ROOT, "checkout"))
        (path / "volume/io-benchmark.pyz").write_bytes(application.data)
        subprocess.run(["chown", "--recursive", f"{NOBODY}:{NOBODY}", path], check=True)
        path.chmod(0o755)
        yield path


@pytest.mark.parametrize("driver", ["overlay", "vfs"])
def test_observed(folder, driver):
    """Engine, driver, devices and limits, as in a container of root; the machine's id is no image's."""
    done = subprocess.run(
        ["unshare", *NAMESPACES, "bash", "-c", IN_NAMESPACE, "bash", folder, JOB, driver],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout
    result = read_run(folder / "volume/out/io-benchmark/io-benchmark.json").result
    host, limits, (workspace, volume) = result.host, result.limits, result.storage.places
    assert host is not None
    assert host.container is not None
    assert limits is not None
    assert volume.mount is not None
    expected_root = {"overlay": "overlay", "vfs": volume.mount.filesystem}[driver]
    assert (host.container.engine, host.container.root_filesystem) == ("podman", expected_root)
    assert host.boot_id == Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    assert (host.machine_id, host.user_id) == (None, 0)
    assert limits.cgroup_versions == ["v2"]
    assert (volume.kind, volume.identified_by) == ("volume", "mount")
    disks = [device.name for device in volume.leaf_devices]
    assert disks
    if driver == "overlay":
        assert workspace.kind == "overlay"
        # None rather than a wrong one, where the disk is busy with other work.
        found = [device.name for device in workspace.leaf_devices]
        assert found in (disks, [])
        assert workspace.identified_by == ("probe" if found else None)
    else:
        assert workspace.identified_by == "mount"
        assert [device.name for device in workspace.leaf_devices] == disks
    assert result.task.ci is not None
    assert result.task.ci.system == "gitlab-ci"

# SPDX-License-Identifier: MPL-2.0
"""A podman of the tests: storage, mounts and images in one mount namespace."""

import ast
import configparser
import fcntl
import os
import pwd
import shlex
import shutil
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request
from contextlib import contextmanager
from pathlib import Path

import pytest
from taskgraph.util.docker import create_context_tar

from io_benchmark_taskgraph.stanza import ARTIFACTS_PATH

ROOT = Path(__file__).resolve().parents[2]

IMAGE = "update-verify"

REPORT_IMAGE = "io-benchmark-report"

REPORT_SOURCES = (f"taskcluster/docker/{REPORT_IMAGE}/Dockerfile", "python/requirements.txt")

BASE = "docker.io/library/debian:12"

MIRROR = "http://deb.debian.org/debian/dists/bookworm/Release"

NEEDED = ("podman", "crun", "debootstrap", "unshare", "nsenter")

# The init that podman puts before run-task, as docker does with its own.
INIT_PATHS = ("/usr/libexec/podman/catatonit", "/usr/bin/catatonit")

# Raise it when what is kept is made in another way.
STORE_VERSION = 2

STORE_LINE = pytest.StashKey[str]()

# crun refuses hybrid cgroups, so the namespace shows version 2 alone, and no cgroup is made: the
# tests limit nothing. The host's network needs no plugins. Another podman's records stay untouched.
CONTAINERS_CONF = """
[containers]
cgroups = "disabled"
netns = "host"
default_ulimits = ["nofile=1024:4096", "nproc=4096:8192"]
[engine]
cgroup_manager = "cgroupfs"
events_logger = "file"
tmp_dir = "{folder}/run/libpod"
"""

STORAGE_CONF = """
[storage]
driver = "overlay"
graphroot = "{folder}/graph"
runroot = "{folder}/run"
[storage.options]
additionalimagestores = [{stores}]
"""

HOLD_NAMESPACE = """
mount --make-rprivate /
umount --recursive /sys/fs/cgroup
mount -t cgroup2 none /sys/fs/cgroup
mkdir -p "$1" /var/lib/containers
mount --bind "$1" /var/lib/containers
echo ready
exec sleep infinity
"""

# Building in a chroot needs no container runtime and no devices. The first FROM of a Dockerfile is
# replaced by the base made here, since a digest can only be had from a registry; all other lines
# are built as they are.
WRAPPER = """\
#!/bin/sh
export CONTAINERS_CONF={folder}/containers.conf CONTAINERS_STORAGE_CONF={folder}/storage.conf
if [ "$1" = build ]; then
  shift
  set -- build --network=host --isolation=chroot --from={base} {build_options} "$@"
fi
exec nsenter --mount=/proc/{holder}/ns/mnt {podman} "$@"
"""


def write_context(image, archive):
    """Write what an image is built from, as a worker gets it; its hash."""
    return create_context_tar(str(ROOT), f"taskcluster/docker/{image}", str(archive))


class Lab:
    """podman, by way of a script that replaces it."""

    def __init__(self, folder):
        self.folder = folder
        self.script = folder / "podman"

    def podman(self, *arguments):
        """The lines of a call that must succeed."""
        done = subprocess.run(
            [self.script, *arguments], stdout=subprocess.PIPE, text=True, check=True
        )
        return done.stdout.splitlines()

    @property
    def enter(self):
        """What comes before a command to run it in the namespace."""
        holder = (self.folder / "holder").read_text()
        return ["nsenter", f"--mount=/proc/{holder}/ns/mnt"]

    def build(self, image):
        """Build an image of the project's where podman does not have it; its name there."""
        with tempfile.TemporaryDirectory(prefix="io-benchmark-context-") as folder:
            archive = Path(folder, "context.tar.gz")
            reference = f"localhost/io-benchmark/{image}:{write_context(image, archive)[:16]}"
            inspected = [self.script, "image", "inspect", reference]
            if subprocess.run(inspected, capture_output=True, check=False).returncode != 0:
                subprocess.run(["tar", "-C", folder, "-xzf", archive], check=True)
                archive.unlink()
                self.podman("build", "--tag", reference, folder)
        return reference

    def run(self, image, run, *options):
        """Run a task's command as d2g does on a worker; its exit code and its log's lines.

        Its folder of artifacts is copied into the run's output.
        """
        name = f"io-benchmark-{run.task_id}"
        variables = [
            word for pair in run.environment().items() for word in ("--env", "=".join(pair))
        ]
        limits = ("--memory-swap", "-1", "--pids-limit", "-1")
        words = ("--name", name, "--init", "--tty", *limits, *variables, *options)
        # All of it: run-task drops to the user of the image.
        command = run.task.definition["payload"]["command"]
        self.podman("create", *words, image, *command)
        done = subprocess.run(
            [self.script, "start", "--attach", name],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=run.task.definition["payload"]["maxRunTime"],
            check=False,
        )
        run.output.mkdir(parents=True)
        self.podman("cp", f"{name}:{ARTIFACTS_PATH}/io-benchmark/.", str(run.output))
        self.podman("rm", "--force", "--volumes", name)
        return done.returncode, done.stdout.splitlines()

    def left_over(self):
        """Containers, those of builds included, volumes, and mounts in the namespace."""
        holder = (self.folder / "holder").read_text()
        mounts = Path(f"/proc/{holder}/mountinfo").read_text().splitlines()
        return [
            *self.podman("ps", "--all", "--external", "--quiet"),
            *self.podman("volume", "ls", "--quiet"),
            *(line for line in mounts if str(self.folder) in line and " overlay " in line),
        ]


def pip_as_here(folder):
    """What makes pip ask in a build whom it asks here, and trust whom it trusts here."""
    command = [sys.executable, "-I", "-m", "pip", "config", "list"]
    listed = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout
    settings = {}
    # Lines such as global.cert='/etc/ssl/…'; what the environment says, :env:.cert, goes before
    # files.
    for line in sorted(listed.splitlines(), key=lambda line: line.startswith(":env:")):
        name, _, value = line.partition("=")
        section, _, key = name.rpartition(".")
        if section in ("global", "install", ":env:"):
            settings[key] = str(ast.literal_eval(value))
    options = []
    for key in {"cert", "find-links"} & set(settings):
        there = f"/run/pip/{key}"
        options += ["--volume", f"{Path(settings[key]).resolve()}:{there}:ro"]
        settings[key] = there
    configuration = configparser.RawConfigParser()
    configuration["global"] = settings
    with (folder / "pip.conf").open("w") as file:
        configuration.write(file)
    return [*options, "--volume", f"{folder / 'pip.conf'}:/etc/pip.conf:ro"]


def can_download(folder):
    """Whether what the report's image is built from can be had here."""
    try:
        with urllib.request.urlopen(MIRROR, timeout=30):
            pass
    except (urllib.error.URLError, TimeoutError):
        return False
    pip = [sys.executable, "-m", "pip", "download", "--no-deps", "--require-hashes"]
    lines = (ROOT / "python/requirements.txt").read_text().splitlines()
    start = next(at for at, line in enumerate(lines) if line.startswith("slugid=="))
    end = next(at for at in range(start, len(lines)) if not lines[at].endswith("\\"))
    (folder / "one.txt").write_text("\n".join(lines[start : end + 1]) + "\n")
    where = ["--dest", str(folder / "one"), "--requirement", str(folder / "one.txt")]
    return subprocess.run([*pip, *where], capture_output=True, check=False).returncode == 0


@contextmanager
def namespace(folder, stores):
    """podman in a mount namespace; the namespace goes and takes every mount with it."""
    folder.mkdir(parents=True, exist_ok=True)
    quoted = ", ".join(f'"{store}"' for store in stores)
    (folder / "containers.conf").write_text(CONTAINERS_CONF.format(folder=folder))
    (folder / "storage.conf").write_text(STORAGE_CONF.format(folder=folder, stores=quoted))
    with subprocess.Popen(
        ["unshare", "--mount", "sh", "-ec", HOLD_NAMESPACE, "sh", str(folder / "blob-cache")],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    ) as holder:
        try:
            assert holder.stdout is not None
            line = holder.stdout.readline()
            if line != "ready\n":
                pytest.skip(f"no mount namespace can be made: {line.strip()}")
            (folder / "holder").write_text(str(holder.pid))
            wrapper = WRAPPER.format(
                folder=shlex.quote(str(folder)),
                holder=holder.pid,
                podman=shutil.which("podman"),
                base=BASE,
                build_options=shlex.join(pip_as_here(folder)),
            )
            (folder / "podman").write_text(wrapper)
            (folder / "podman").chmod(0o755)
            lab = Lab(folder)
            try:
                yield lab
            finally:
                lab.podman("rm", "--all", "--force", "--volumes", "--time", "0")
        finally:
            holder.kill()


def import_base(lab):
    """Debian's base where the Dockerfile looks for it: no registry is asked."""
    tree = lab.folder / "debian"
    done = subprocess.run(
        # What it mounts goes with the namespace, even if it is cut off.
        [*lab.enter, "nice", "debootstrap", "--variant=minbase", "bookworm", str(tree)],
        capture_output=True,
        text=True,
        check=False,
    )
    if "Failed getting release file" in done.stdout + done.stderr:
        pytest.skip("no Debian mirror can be reached")
    assert done.returncode == 0, done.stdout + done.stderr
    with subprocess.Popen(["tar", "-C", str(tree), "-c", "."], stdout=subprocess.PIPE) as tar:
        command = ["nice", str(lab.script), "import", "--quiet", "-", BASE]
        subprocess.run(command, stdin=tar.stdout, stdout=subprocess.DEVNULL, check=True)
    shutil.rmtree(tree)


def make_store(cache, store):
    """Base and image, built once; the store appears whole or not at all."""
    making = Path(tempfile.mkdtemp(prefix="making-", dir=cache))
    try:
        with namespace(making, []) as lab:
            import_base(lab)
            lab.build(IMAGE)
            if can_download(making):
                lab.build(REPORT_IMAGE)
        # Containers' records name the folder that the store was made in; images' do not.
        shutil.rmtree(making / "graph" / "libpod", ignore_errors=True)
        (making / "graph").rename(store)
    finally:
        shutil.rmtree(making)


def kept_store(config, digest):
    """The store for this context, made if need be.

    Those of former contexts stay until somebody removes them.
    """
    cache = Path(pwd.getpwuid(os.getuid()).pw_dir, ".cache", "io-benchmark-tests")
    cache.mkdir(parents=True, exist_ok=True)
    store = cache / f"store-{STORE_VERSION}-{digest[:16]}"
    with (cache / "lock").open("w") as making:
        fcntl.flock(making, fcntl.LOCK_EX)
        if not store.exists():
            make_store(cache, store)
    config.stash[STORE_LINE] = f"container image: {store}"
    return store

# SPDX-License-Identifier: MPL-2.0
"""A Linux kernel for a virtual machine, with those modules that the machine needs.

It is this machine's own where the user may read it, else Debian's, by apt, which verifies it. That one
is kept under ~/.cache/io-benchmark-tests.
"""

import fcntl
import lzma
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

# In the order of loading; what each depends on is loaded before it.
WANTED = ("virtio_pci", "9pnet_virtio", "9p", "nvme", "dm_mod", "crc32c_generic", "ext4")
MODULE_FOLDERS = ("lib/modules", "usr/lib/modules")
READERS: dict[str, Callable[[bytes], bytes]] = {".ko": bytes, ".ko.xz": lzma.decompress}
METAPACKAGE = "linux-image-amd64"
CACHE = Path(".cache", "io-benchmark-tests")
KEPT = "kernel-amd64"


class NoKernelError(Exception):
    """What is missing, in one line."""


@dataclass(frozen=True)
class Kernel:
    """An image, and modules in the order of loading."""

    image: Path
    builtin: Path  # the list of what needs no module
    modules: tuple[Path, ...]


def read_module(path: Path) -> bytes:
    """What the kernel loads."""
    _, dot, suffix = path.name.partition(".")
    reader = READERS.get(dot + suffix)
    if reader is None:
        raise NoKernelError(f"{path}: compressed in a way that is not read here")
    return reader(path.read_bytes())


def _same(name: str) -> str:
    """The kernel takes `dm-mod` and `dm_mod` for one name."""
    return name.replace("-", "_")


class _Tree:
    """The modules of one kernel, as its package has them: nothing has run depmod there."""

    def __init__(self, builtin: Path) -> None:
        self._folder = builtin.parent
        self._paths = {_same(path.name.split(".")[0]): path for path in self._folder.rglob("*.ko*")}
        lines = builtin.read_text(encoding="ascii").split()
        self._builtin = {_same(Path(line).stem) for line in lines}

    def in_order(self, names: Iterable[str]) -> tuple[Path, ...]:
        """These modules, each after those that it needs."""
        ordered: list[Path] = []
        for name in map(_same, names):
            if name in self._builtin:
                continue
            if name not in self._paths:
                raise NoKernelError(f"{self._folder}: has no module {name}")
            path = self._paths[name]
            needed = re.search(rb"\bdepends=([\w,-]*)\0", read_module(path))
            if needed is None:
                raise NoKernelError(f"{path}: does not say what it depends on")
            first = filter(None, needed.group(1).decode().split(","))
            ordered += [*self.in_order(first), path]
        return tuple(dict.fromkeys(ordered))


def kernel_in(root: Path) -> Kernel:
    """The newest one in a folder that is laid out like a system's root, or like a package."""
    images = sorted((root / "boot").glob("vmlinuz-*"), key=lambda path: path.stat().st_mtime)
    if not images:
        raise NoKernelError(f"{root / 'boot'}: has no vmlinuz-*")
    image = images[-1]
    if not os.access(image, os.R_OK):
        raise NoKernelError(f"{image}: may not be read")
    release = image.name.removeprefix("vmlinuz-")
    for name in MODULE_FOLDERS:
        builtin = root / name / release / "modules.builtin"
        if builtin.is_file():
            return Kernel(image, builtin, _Tree(builtin).in_order(WANTED))
    raise NoKernelError(f"{root}: has no modules of {release}")


def _run(*command: str, folder: Path) -> str:
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    except FileNotFoundError as error:
        raise NoKernelError(f"no {command[0]} here") from error
    if done.returncode != 0:
        lines = done.stderr.strip().splitlines() or [f"exit code {done.returncode}"]
        raise NoKernelError(f"{' '.join(command)}: {lines[-1]}")
    return done.stdout


def _keep(kernel: Kernel, root: Path, target: Path) -> None:
    """The image and the modules that are needed: a package's others take 400 MiB."""
    for path in (kernel.image, kernel.builtin, *kernel.modules):
        copy = target / path.relative_to(root)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, copy)


def _download(making: Path) -> Path:
    """Debian's newest, by apt, which knows from signed lists what it must be."""
    depends = _run("apt-cache", "depends", METAPACKAGE, folder=making)
    package = re.search(r"Depends: (linux-image-\S+)", depends)
    if package is None:
        raise NoKernelError(f"apt knows no {METAPACKAGE}; has `apt-get update` been run?")
    verified = ("-o", "APT::Get::AllowUnauthenticated=false")
    _run("apt-get", "--quiet", *verified, "download", package.group(1), folder=making)
    (archive,) = making.glob("*.deb")
    unpacked = making / "unpacked"
    _run("dpkg-deb", "--extract", str(archive), str(unpacked), folder=making)
    kept = making / "kept"
    _keep(kernel_in(unpacked), unpacked, kept)
    return kept


def debians_kernel(home: Path) -> Kernel:
    """Kept from an earlier run, or fetched now; it appears whole or not at all."""
    cache = home / CACHE
    cache.mkdir(parents=True, exist_ok=True)
    kept = cache / KEPT
    with (cache / f"{KEPT}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not kept.exists():
            making = Path(tempfile.mkdtemp(prefix="making-", dir=cache))
            try:
                _download(making).rename(kept)
            finally:
                shutil.rmtree(making)
    return kernel_in(kept)


def find_kernel(named: Path | None) -> Kernel:
    """The one that was named, and no other; else this machine's; else Debian's."""
    if named is not None:
        return kernel_in(named)
    missing = []
    for find, where in ((kernel_in, Path("/")), (debians_kernel, Path.home())):
        try:
            return find(where)
        except (NoKernelError, OSError) as error:
            missing.append(str(error))
    raise NoKernelError("; ".join(missing))

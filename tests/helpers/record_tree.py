# SPDX-License-Identifier: MPL-2.0
r"""Record what the worker's observers read from this machine about a place: tests/fixtures/trees/.

    PYTHONPATH=python:tests/helpers:scripts/io-benchmark \
        python tests/helpers/record_tree.py NAME PLACE --origin TEXT [--rename OLD=NEW] [--hide PATH]

Only what they ask is kept, and of that only what the place has a part in. Names that tell which
machine it was are left out, further ones are renamed by --rename. The tree is replayed at the end
and must tell the same.
"""

import argparse
import os
import platform
import re
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest import mock

import reading  # type: ignore[import-not-found] # on the worker's path
import trees
from observe import devices, mounts, storage  # type: ignore[import-not-found]

TREES = ("/proc/", "/sys/")
# Asked of the machine beside the two trees; an overlay's upper folder is such as well.
BESIDE = ("/.dockerenv", "/run/.containerenv", "/etc/os-release")
# Told by the probe; of this start of the machine alone.
LEFT_OUT = ("/proc/diskstats", "/proc/sys/kernel/random/boot_id")
# Of long files, the lines that are read.
LINES = {
    "/proc/cpuinfo": re.compile(r"model name\s"),
    "/proc/meminfo": re.compile(r"(MemTotal|MemAvailable):"),
    "/proc/self/cgroup": re.compile(r"[0-9]+:([a-z,]*\b(blkio|memory|cpu)\b[a-z,]*)?:"),
    "/usr/lib/os-release": re.compile(r"PRETTY_NAME="),
}
# Identifiers: of file systems, volumes, containers, machines.
IDENTIFIER = re.compile(
    r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|\b[0-9a-f]{24,}\b"
    r"|(?<=\bLVM-)[0-9A-Za-z]{64}\b"
)


class Asked:
    """The paths that were read, and the folders that were listed."""

    def __init__(self, hidden: Sequence[str]) -> None:
        self.hidden = hidden
        self.paths: set[str] = set()
        self.listed: set[str] = set()
        self.opened: set[str] = set()
        self.resolved: dict[str, str] = {}

    @contextmanager
    def watching(self) -> Iterator[None]:
        really = os.path.realpath

        def noted(function: Callable[..., Any], where: set[str]) -> Callable[..., Any]:
            def call(path: str, *arguments: Any, **keywords: Any) -> Any:
                where.add(os.path.normpath(path))
                return function(path, *arguments, **keywords)

            return call

        def resolved(path: str) -> str:
            found = really(path)
            if found != path and not path.startswith(TREES):
                self.resolved[path] = found
            return found

        def exists(path: str) -> bool:
            return path not in self.hidden and Path(path).exists()

        path = SimpleNamespace(
            exists=noted(exists, self.paths),
            isdir=noted(os.path.isdir, self.paths),
            realpath=noted(really, self.paths),
        )
        system = SimpleNamespace(listdir=noted(os.listdir, self.listed), path=path)
        with (
            mock.patch.object(reading, "open", noted(open, self.opened), create=True),
            mock.patch.object(reading, "os", system),
            mock.patch.object(os.path, "realpath", resolved),
        ):
            yield


class Snapshot:
    """Return the contents of the paths that were read."""

    def __init__(self, asked: Asked, place: dict[str, Any]) -> None:
        self.devices = {device["name"] for device in place["devices"]}
        self.numbers = {device["number"] for device in place["devices"]} | {
            place["mount"]["device"]
        }
        self.hidden = asked.hidden
        self.upper = (place["overlay"] or {}).get("upper_directory")
        self.place = place["path"]
        self.files: dict[str, str] = {}
        self.links: dict[str, str] = {}
        self.folders: set[str] = set()
        self.opened = {os.path.realpath(path) for path in asked.opened}
        for path in sorted(asked.paths | asked.listed | asked.opened):
            if self._has_a_part(path):
                self._keep(Path(path))
        for path in sorted(asked.listed):
            if self._has_a_part(path) and Path(path).is_dir():
                self._keep_names(Path(path))

    def _has_a_part(self, path: str) -> bool:
        """Return whether the tree keeps a path; other disks and file systems of this machine are left out."""
        if path in (*LEFT_OUT, *self.hidden) or not (
            path.startswith(TREES) or path in (*BESIDE, self.upper)
        ):
            return False
        parts = path.split("/")
        if path.startswith(devices.CLASS + "/"):
            return parts[4] in self.devices
        if path.startswith("/sys/dev/block/"):
            return parts[4] in self.numbers
        if path.startswith("/sys/fs/btrfs/"):
            members = Path(*("/", *parts[1:5]), "devices")
            return members.is_dir() and any(each.name in self.devices for each in members.iterdir())
        return True

    def _keep(self, path: Path) -> None:
        """Return the path and each link on the way to it."""
        for link in (*reversed(path.parents), path):
            # /proc/self leads to whoever looks.
            if link == Path("/proc/self") or not link.is_symlink():
                continue
            to = os.path.normpath(link.parent / link.readlink())
            self.links[str(link)] = os.path.relpath(to, link.parent)
            self._keep(Path(os.path.normpath(to / path.relative_to(link))))
            return
        if path.is_dir():
            self.folders.add(str(path))
        elif path.exists():
            self.files[str(path)] = self._read(str(path)) if self._was_opened(str(path)) else ""

    def _was_opened(self, path: str) -> bool:
        return path.startswith("/proc/self/") or path in self.opened

    def _keep_names(self, folder: Path) -> None:
        for path in folder.resolve().iterdir():
            if not self._has_a_part(str(path)):
                continue
            if path.is_symlink():
                self.links[str(path)] = str(path.readlink())
            elif path.is_dir():
                self.folders.add(str(path))
            else:
                self.files.setdefault(str(path), "")

    def _read(self, path: str) -> str:
        try:
            text = Path(path).read_text(encoding="utf-8", errors="replace")
        except OSError:
            return ""
        if path == "/proc/self/mountinfo":
            return "\n".join(filter(self._is_needed, text.splitlines()))
        if "/blkio.throttle." in path or path.endswith("/io.max"):
            lines = text.splitlines()
            return "\n".join(line for line in lines if line.split()[0] in self.numbers)
        if path in LINES:
            kept = [line for line in text.splitlines() if LINES[path].match(line)]
            return "\n".join(kept[:1] if path == "/proc/cpuinfo" else kept)
        return text

    def _is_needed(self, line: str) -> bool:
        """Return the mounts of the place, of what is read for its device, and of cgroups that are read."""
        (mount,) = mounts._parse(line) or (None,)
        if mount is None:
            return False
        if mount.filesystem == "cgroup":
            return bool({"blkio", "memory", "cpu"} & set(mount.super_options.split(",")))
        looked_at = [self.place, *storage.HOST_FILES, *([self.upper] if self.upper else [])]
        return mount.filesystem == "cgroup2" or any(
            f"{Path(path).resolve()}/".startswith(mount.point.rstrip("/") + "/")
            for path in looked_at
        )


def tools_found(found: dict[str, Any]) -> dict[str, Any]:
    return {**found, "python3": {**found["python3"], "path": "/usr/bin/python3"}}


def record(place: str, origin: str, hidden: Sequence[str] = ()) -> trees.Tree:
    asked = Asked(hidden)
    with asked.watching():
        seen = trees.observed(place)
    (found,) = seen["storage"]["places"]
    snapshot = Snapshot(asked, found)
    written = found["probe"]["written_bytes"]
    if written is not None:  # by others as well
        own = {name: moved for name, moved in written.items() if name in snapshot.devices}
        found["probe"]["written_bytes"] = own
    host = seen["host"]
    needed = {place, *storage.HOST_FILES, snapshot.upper}
    head = {
        "origin": origin,
        "place": place,
        "uname": {
            "release": platform.release(),
            "version": platform.version(),
            "machine": platform.machine(),
        },
        "cpus": {"allowed": host["cpu_count"], "online": host["cpu_online_count"]},
        "user_id": host["user_id"],
        "environment": {
            name: os.environ[name] for name in ("TASKCLUSTER_INSTANCE_TYPE",) if name in os.environ
        },
        "tools": tools_found(host["tools"]),
        "first_touch_ns_per_mib": host["first_touch_ns_per_mib"],
        "resolved": {path: to for path, to in asked.resolved.items() if path in needed},
        "statvfs": {"size_bytes": found["size_bytes"], "free_bytes": found["free_bytes"]},
        "probe": found["probe"],
        "reflink": found["reflink"],
    }
    tree = trees.Tree(head, snapshot.files, snapshot.links, frozenset(snapshot.folders))
    check(tree, seen)
    return tree


# What changes while one looks, and what is left out.
PASSING = ("memory_available_bytes", "boot_id", "tools")


def check(tree: trees.Tree, seen: dict[str, Any]) -> None:
    """Check that the observers report about the replayed tree what they reported about the machine."""
    with tempfile.TemporaryDirectory() as folder:
        again = trees.observe(tree, Path(folder))
    numbers = {device["number"] for device in seen["storage"]["places"][0]["devices"]}
    for document in (seen, again):
        caps = document["limits"]["io"]
        document["limits"]["io"] = [cap for cap in caps if cap["device"] in numbers]
        document["host"] = {k: v for k, v in document["host"].items() if k not in PASSING}
        document["limits"].pop("ulimits")
        document["limits"]["groups"] = {
            key: value
            for key, value in document["limits"]["groups"].items()
            if key in ("blkio", "cpu", "memory", "unified")
        }
    for part in ("host", "storage", "limits"):
        if again[part] != seen[part]:
            sys.exit(f"error: replayed, {part} is {again[part]}, not {seen[part]}")


def anonymous(text: str, renames: dict[str, str]) -> str:
    """Replace identifiers with numbers; the observers read no machine's name."""
    for old, new in renames.items():
        text = text.replace(old, new)
    found: dict[str, str] = {}

    def number(match: re.Match[str]) -> str:
        return found.setdefault(match.group(), f"identifier-{len(found) + 1}")

    return IDENTIFIER.sub(number, text)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("name")
    parser.add_argument("place")
    parser.add_argument("--origin", required=True, help="which storage, which kernel, made how")
    parser.add_argument("--rename", action="append", default=[], metavar="OLD=NEW")
    parser.add_argument("--hide", action="append", default=[], metavar="PATH")
    arguments = parser.parse_args()
    renames = {old: new for old, _, new in (each.rpartition("=") for each in arguments.rename)}
    tree = record(arguments.place, arguments.origin, arguments.hide)
    text = trees.as_text(trees.parse(anonymous(trees.as_text(tree), renames)))
    trees.FOLDER.mkdir(exist_ok=True)
    (trees.FOLDER / f"{arguments.name}.tree").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()

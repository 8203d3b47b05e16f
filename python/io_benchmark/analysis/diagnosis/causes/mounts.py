# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""What the place is mounted with, by what each option costs a copy."""

from collections.abc import Mapping

from io_benchmark.analysis.diagnosis.case import Case, Finding, Rule, View
from io_benchmark.analysis.diagnosis.evidence import plain
from io_benchmark.analysis.diagnosis.judging import NOTHING_TO_EXPLAIN, Reading, Words, by_rank
from io_benchmark.analysis.model import State

# Follow from the device, the user or the container, and tell nothing about how it is mounted.
IGNORED = frozenset(
    (
        *("stripe", "sunit", "swidth", "resuid", "resgid", "subvol", "subvolid", "seclabel"),
        *("lowerdir", "lowerdir+", "datadir+", "upperdir", "workdir", "context", "rw", "ro"),
        *("nosuid", "nodev", "noexec", "idmapped"),
    )
)
EXT4_DEFAULT_COMMIT_S = 5.0


def mounted_with(view: View) -> dict[str, str]:
    """The options in the mount table: not every default stands there."""
    mount = view.place.mount if view.place is not None else None
    if mount is None:
        return {}
    words = [*mount.options.split(","), *mount.super_options.split(",")]
    return dict(_split(word) for word in words if word)


def options_of(view: View) -> dict[str, str]:
    """Every option that the mount, the super block and ext4 itself name."""
    details = view.place.filesystem if view.place is not None else None
    options = mounted_with(view)
    if details is not None:
        options |= dict(_split(word) for word in details.ext4_options or [] if word)
    for old, new in (("barrier=0", "nobarrier"), ("barrier=1", "barrier")):
        name, value = old.split("=")
        if options.get(name) == value:
            del options[name]
            options[new] = ""
    return options


def _split(word: str) -> tuple[str, str]:
    name, _, value = word.partition("=")
    return name, value


def _seconds(options: Mapping[str, str]) -> float:
    value = options.get("commit", "")
    usable = value.isascii() and value.isdigit() and len(value) < 9
    return float(value if usable else 0) or EXT4_DEFAULT_COMMIT_S


def costs(view: View, destination: str) -> dict[str, tuple[str, float]]:
    """What is known to matter: how it is set, and how much worse that is than the best."""
    options = options_of(view)

    def flag(name: str, cost: float) -> tuple[str, float]:
        return (name, cost) if name in options else (f"no {name}", 0.0)

    found = {"sync": flag("sync", 8.0), "dirsync": flag("dirsync", 2.0)}
    found["discard"] = flag("discard", 0.5)
    found["strictatime"] = flag("strictatime", 0.5)
    if view.place is not None and view.place.mount is not None:
        kind = view.place.mount.filesystem
        if kind in ("ext3", "ext4"):
            mode = options.get("data", "ordered")
            found["data"] = (
                f"data={mode}",
                {"journal": 4.0, "ordered": 1.0, "writeback": 0.0}.get(mode, 1.0),
            )
            off = "nobarrier" in options
            found["barrier"] = ("nobarrier", 0.0) if off else ("barrier", 1.0)
            commit_s = _seconds(options)
            found["commit"] = (f"commit={commit_s:g}", 1 / max(1.0, commit_s))
        if kind == "ext4":
            flushes = destination == "overwrite"
            off = "noauto_da_alloc" in options
            found["auto_da_alloc"] = (
                ("noauto_da_alloc", 0.0) if off else ("auto_da_alloc", 4.0 * flushes)
            )
            found["delalloc"] = (
                ("nodelalloc", 1.0) if "nodelalloc" in options else ("delalloc", 0.0)
            )
    return found


def others(view: View) -> frozenset[str]:
    """Options that nothing is known of."""
    known = {
        *("sync", "dirsync", "discard", "nodiscard", "strictatime", "relatime", "noatime"),
        *("data", "barrier", "nobarrier", "commit", "auto_da_alloc", "noauto_da_alloc"),
        *("delalloc", "nodelalloc"),
    }
    return frozenset(
        f"{name}={value}" if value else name
        for name, value in mounted_with(view).items()
        if name not in known and name not in IGNORED
    )


def mount_options(case: Case) -> Finding:
    destination = case.subject.destination

    def look(view: View) -> Reading | None:
        if view.place is None or view.place.mount is None:
            return None
        found = costs(view, destination)
        text = ", ".join(text for text, _ in found.values() if not text.startswith("no "))
        return Reading(
            f"{plain(view.place.mount.filesystem, 20)}: {text or 'nothing that costs time'}",
            sum(cost for _, cost in found.values()),
        )

    finding = by_rank(
        case,
        look,
        Words(
            supported="the slower side is mounted with options that make writing slower",
            missing="the mount of the place could not be seen",
            same="the same options on both sides, as far as they matter for copying",
        ),
    )
    unlike = _unlike(case)
    if finding.state is not State.RULED_OUT or finding.explanation == NOTHING_TO_EXPLAIN:
        return finding
    if unlike and case.differs:
        return Finding(
            State.NOT_OBSERVABLE,
            finding.baseline_evidence,
            finding.candidate_evidence,
            f"{finding.explanation}; they differ in {plain(', '.join(unlike))}: only the same "
            "options on both would tell",
        )
    return finding


def _unlike(case: Case) -> list[str]:
    """Options that one side has on every worker and the other on none."""
    baseline = [others(view) for view in case.baseline]
    candidate = [others(view) for view in case.candidate]
    if not baseline or not candidate:
        return []
    every = frozenset.intersection(*baseline) - frozenset.union(*candidate)
    none = frozenset.intersection(*candidate) - frozenset.union(*baseline)
    return sorted(every | none)


RULES = (
    Rule(
        "mount-options",
        "The slower side's file system is mounted with slower options.",
        mount_options,
        frozenset(("cache-retrieve", "sync-write", "metadata")),
    ),
)

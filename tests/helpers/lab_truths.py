# SPDX-License-Identifier: MPL-2.0
"""What makes one side of a case of the storage lab slower, and whether a comparison says so."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from io_benchmark.analysis.time_parts import Part

Document = Mapping[str, Any]


@dataclass(frozen=True)
class Truth:
    """The causes that name what is slower, and the parts of the time where it is."""

    causes: frozenset[str]
    parts: frozenset[Part]
    ratio_above: float = 1.2


def mistakes(document: Document, truth: Truth) -> list[str]:
    """Return what a comparison says wrongly; nothing where it is right."""
    diagnoses = document["diagnoses"]
    causes = [cause for diagnosis in diagnoses for cause in diagnosis["causes"]]
    named = {
        state: {cause["name"] for cause in causes if cause["state"] == state}
        for state in ("supported", "not separable")
    }
    found = _wrong_time(document, truth)
    if truth.causes and not truth.causes & (named["supported"] | named["not separable"]):
        states = {cause["name"]: cause["state"] for cause in causes}
        found.append(f"not named: { ({name: states.get(name) for name in sorted(truth.causes)}) }")
    if named["supported"] - truth.causes:
        found.append(f"wrong: {', '.join(sorted(named['supported'] - truth.causes))}")
    remedies = [remedy["cause"] for diagnosis in diagnoses for remedy in diagnosis["remedies"]]
    # What both sides share helps whichever of several causes it is.
    if remedies and remedies[0] not in truth.causes | {"ext4-flush"}:
        found.append(f"first remedy for {remedies[0]}")
    return found


def _wrong_time(document: Document, truth: Truth) -> list[str]:
    """Return whether the verdict, or where the time went, is another than it is."""
    about = document["diagnoses"][0]["subject"]
    (report,) = (report for report in document["subjects"] if report["subject"] == about)
    (comparison,) = report["comparisons"]
    if comparison["verdict"] != "slower":
        return [f"{comparison['verdict']} ({comparison['ratio']:.2f})"]
    if comparison["ratio"] < truth.ratio_above:
        return [f"ratio {comparison['ratio']:.2f}"]
    (division,) = report["divisions"]
    parts_ns = {
        (part["phase"], part["kind"]): part["candidate_ns"] - part["baseline_ns"]
        for part in division["parts"]
    }
    if max(parts_ns, key=parts_ns.__getitem__) in truth.parts:
        return []
    whole_ns = sum(parts_ns.values())
    shares = (f"{' '.join(part)} {part_ns / whole_ns:.0%}" for part, part_ns in parts_ns.items())
    return [f"the time went to {', '.join(shares)}"]

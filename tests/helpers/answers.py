# SPDX-License-Identifier: MPL-2.0
"""What a test asks of a comparison of two pools, as its JSON tells it."""

from collections.abc import Mapping
from typing import Any


def comparison(document: Mapping[str, Any], at: int = 0) -> dict[str, Any]:
    """The only candidate against the baseline."""
    (found,) = document["subjects"][at]["comparisons"]
    return dict(found)


def states(document: Mapping[str, Any]) -> dict[str, str]:
    """Each cause's state."""
    (diagnosis,) = document["diagnoses"]
    return {cause["name"]: cause["state"] for cause in diagnosis["causes"]}


def evidence(document: Mapping[str, Any], cause: str) -> tuple[str, str]:
    """The baseline's and the candidate's."""
    (diagnosis,) = document["diagnoses"]
    (found,) = [one for one in diagnosis["causes"] if one["name"] == cause]
    return _text(found["baseline_evidence"]), _text(found["candidate_evidence"])


def _text(evidence: Mapping[str, Any]) -> str:
    observations = evidence["observations"]
    return "; ".join(observation["seen"][0]["value"]["text"] for observation in observations)


def measured(document: Mapping[str, Any], variant: str, threads: int | None = None) -> Any:
    """What was compared of one variant, by so many at once."""
    (found,) = [
        report
        for report in document["subjects"]
        if report["subject"]["variant"] == variant
        and threads in (None, report["subject"].get("threads"))
    ]
    return found


def mean_ns(report: Mapping[str, Any], side: str) -> float:
    return float(report["figures"][side]["mean_ns"])


def detail(report: Mapping[str, Any], side: str, name: str) -> float:
    """A figure that one workload alone has."""
    details = report["figures"][side]["details"]
    (found,) = [one["value"] for one in details if one["name"] == name]
    return float(found)


def supported(document: Mapping[str, Any]) -> set[str]:
    """The causes that explain any of what was compared."""
    return {
        cause["name"]
        for diagnosis in document["diagnoses"]
        for cause in diagnosis["causes"]
        if cause["state"] == "supported"
    }

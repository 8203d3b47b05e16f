# SPDX-License-Identifier: MPL-2.0
"""metadata: looking at files, creating, renaming and removing them, by several threads at once."""

from operator import attrgetter

from io_benchmark.results.parts import (
    BatchEntry,
    Count,
    Name,
    Observations,
    Parameters,
    SideFinding,
    Workload,
    WorkloadFigure,
)

SCALING, NOT_VISIBLE = "scaling", "not-visible"
VISIBILITY = "visibility"  # the variant that counts files that appear late


class _MetadataParameters(Parameters, frozen=True):
    concurrency: Name
    files: Count
    window_ns: Count | None


class _MetadataObservations(Observations, frozen=True):
    """Only the variant `visibility` has the last two."""

    cpus: Count | None
    checks: Count | None
    not_visible: Count | None


class _MetadataEntry(BatchEntry, frozen=True, tag_field="name", tag="metadata"):
    parameters: _MetadataParameters
    observed: _MetadataObservations


WORKLOAD = Workload(
    "metadata",
    _MetadataEntry,
    position=4,
    operation="operation",
    unit="ops/s",
    figures=(
        WorkloadFigure(
            SCALING,
            "over one alone",
            over_one_thread=True,
            higher_is_better=True,
            finding=SideFinding(
                "{threads} at once do {percent} of what one alone does (metadata, {variant}): "
                "something locks",
                # Several that together do no more than one alone wait for each other.
                at_most=1.0,
                needs_spare_cpu=True,
            ),
        ),
        WorkloadFigure(
            NOT_VISIBLE,
            "not visible",
            total_of=attrgetter("observed.not_visible"),
            finding=SideFinding(
                "{count} files that one thread had created were not visible to another at once, as "
                "POSIX promises (metadata, visibility)",
                at_least=1,
            ),
        ),
    ),
)

# SPDX-License-Identifier: MPL-2.0
"""upload: small objects over HTTP."""

from operator import attrgetter

from io_benchmark.results.parts import (
    BatchEntry,
    Count,
    Observations,
    Parameters,
    SideFinding,
    Text,
    Workload,
    WorkloadFigure,
)


class _UploadParameters(Parameters, frozen=True):
    target: Text
    object_bytes: Count
    objects_planned: Count
    objects_at_once: Count
    delay_ns: Count | None


class _UploadObservations(Observations, frozen=True):
    method: Text | None
    http_version: Text | None
    expect_100_stalls: Count | None


class UploadEntry(BatchEntry, frozen=True, tag_field="name", tag="upload"):
    parameters: _UploadParameters
    observed: _UploadObservations


WORKLOAD = Workload(
    "upload",
    UploadEntry,
    position=6,
    operation="object",
    unit="ms",
    unit_ns=1e6,
    per_place=False,
    figures=(
        WorkloadFigure(
            "over-keep-alive", "over keep-alive", over_variant=("connection-each", "keep-alive")
        ),
        WorkloadFigure(
            "expect-stalls",
            "stalled",
            total_of=attrgetter("observed.expect_100_stalls"),
            finding=SideFinding(
                "{count} uploads waited for an answer to Expect: 100-continue that did not come "
                "(upload): do not send this header",
                at_least=1,
            ),
        ),
    ),
)

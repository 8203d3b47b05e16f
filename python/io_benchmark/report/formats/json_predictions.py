# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Predictions as JSON, by the rules of `json_documents`.

Versions:
  1 (2026-11-22)  the first
"""

from typing import Any, Literal

from msgspec import Struct
from msgspec.structs import asdict

from io_benchmark.analysis.prediction.prediction_model import Predictions, TaskPrediction
from io_benchmark.report.formats import PLAIN, Layout
from io_benchmark.report.formats.json_documents import RULES

_VERSION: Literal[1] = 1


class _PredictionsDocument(Struct, frozen=True):
    """How long profiled tasks take on other pools."""

    version: Literal[1]
    tasks: tuple[TaskPrediction, ...]
    unreadable: tuple[str, ...]
    remarks: tuple[str, ...]


def render_predictions(predictions: Predictions, _layout: Layout = PLAIN) -> str:
    return RULES.encode(_PredictionsDocument(_VERSION, **asdict(predictions)))


def _predictions_schema() -> dict[str, Any]:
    return RULES.schema(f"io-benchmark predictions, version {_VERSION}", _PredictionsDocument)

# SPDX-License-Identifier: MPL-2.0
"""The file that keeps the phases of runs, so that no log is read twice."""

from collections.abc import Iterable
from pathlib import Path

import msgspec
from msgspec import Struct

from io_benchmark.analysis.phases.phase_model import RunPhases
from io_benchmark.errors import ResultError
from io_benchmark.files import read_file
from io_benchmark.paths import explain_refusal, write_file
from io_benchmark.sources.protocol import RunKey
from io_benchmark.text import clean, clean_name

# Ten thousand runs have a quarter of it.
_MOST_BYTES = 96 * 1024 * 1024
_ADVICE = "name another file, or remove it to read all logs again"


class _KeptPhases(Struct, frozen=True, tag_field="version", tag=1):
    runs: tuple[RunPhases, ...]


def read_kept_phases(path: Path) -> dict[RunKey, RunPhases]:
    """Return the phases that a file keeps; none where it does not exist yet."""
    try:
        kept = msgspec.json.decode(read_file(path, _MOST_BYTES), type=_KeptPhases)
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise ResultError(f"{clean_name(str(path))}: {error.strerror}; {_ADVICE}") from None
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        problem = clean(str(error), 150)
        raise ResultError(
            f"{clean_name(str(path))}: is not a file of kept phases ({problem}); {_ADVICE}"
        ) from None
    return {(run.task_id, run.run_id): run for run in kept.runs if run.run_id is not None}


def write_kept_phases(path: Path, runs: Iterable[RunPhases]) -> None:
    with explain_refusal(f"--readings {clean_name(str(path))}", "name another file"):
        write_file(path, msgspec.json.encode(_KeptPhases(tuple(runs))) + b"\n")

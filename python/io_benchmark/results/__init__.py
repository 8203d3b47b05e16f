# SPDX-License-Identifier: MPL-2.0
"""The result file, which is all that a worker passes to a reader."""

from io_benchmark.results.format import Result
from io_benchmark.results.parts import BatchEntry
from io_benchmark.results.reader import load, parse
from io_benchmark.results.workloads.cache_retrieve import CacheRetrieveEntry

__all__ = ["BatchEntry", "CacheRetrieveEntry", "Result", "load", "parse"]

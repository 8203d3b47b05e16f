# SPDX-License-Identifier: MPL-2.0
"""What a run's downloads took, by their steps, each at its median; None where it is not known."""

from statistics import median

from io_benchmark.analysis.model.run import Run
from io_benchmark.analysis.model.statements import Statement, statement

_ONE_TRIP = 1 + 1  # to connect, and for the request
_TLS_TRIPS = {"TLSv1.3": 1}  # of a handshake; 2 before
# Where a cache or a region names itself.
_REGION_HEADERS = ("x-amz-bucket-region", "x-amz-cf-pop", "x-served-by", "cf-ray", "via")


def _median_ns(run: Run, *names: str) -> float | None:
    """Return what these steps of a download take, each at its median; None where none is known."""
    steps = run.measured.observed.steps if run.measured is not None else None
    columns = [steps.times_ns(name) for name in names] if steps is not None else []
    medians = [median(column) for column in columns if column]
    return sum(medians) if medians else None


def round_trip_ns(run: Run) -> float | None:
    return _median_ns(run, "connect_ns")


def body_ns(run: Run) -> float | None:
    return _median_ns(run, "body_ns")


def steady_ns(run: Run) -> float | None:
    """Return what the bytes would take at the rate of their second half."""
    half_ns = _median_ns(run, "second_half_ns")
    return body_ns(run) if half_ns is None else 2 * half_ns


def beginning_ns(run: Run) -> float | None:
    """Return what the bytes take longer because a connection begins slowly."""
    whole_ns, at_full_speed_ns = body_ns(run), steady_ns(run)
    if whole_ns is None or at_full_speed_ns is None:
        return None
    return max(0.0, whole_ns - at_full_speed_ns)


def before_body_ns(run: Run) -> float | None:
    return _median_ns(run, "redirect_ns", "resolve_ns", "connect_ns", "tls_ns", "first_byte_ns")


def trips_ns(run: Run) -> float | None:
    """Return what the round trips before the first byte take, also those of redirects."""
    trip_ns, redirect_ns = round_trip_ns(run), _median_ns(run, "redirect_ns")
    if trip_ns is None or redirect_ns is None or run.measured is None:
        return None
    observed = run.measured.observed
    trips = _ONE_TRIP
    if observed.tls_version is not None:
        trips += _TLS_TRIPS.get(observed.tls_version, 2)
    return trips * trip_ns + min(redirect_ns, (observed.redirects or 0) * trips * trip_ns)


def waits_ns(run: Run) -> float | None:
    """Return what precedes the first byte beyond round trips."""
    before_ns, in_trips_ns = before_body_ns(run), trips_ns(run)
    return None if before_ns is None or in_trips_ns is None else max(0.0, before_ns - in_trips_ns)


def bytes_per_s(run: Run) -> float | None:
    """Return the rate of a connection's bytes."""
    whole_ns = body_ns(run)
    if not whole_ns or run.measured is None:
        return None
    return (run.measured.parameters.piece_bytes or 0) / (whole_ns / 1e9)


def answered_by(run: Run) -> Statement | None:
    """Return the host that answered, and its region or cache where a header names one."""
    observed = run.measured.observed if run.measured is not None else None
    if observed is None or not observed.answered_by:
        return None
    headers = observed.answered_by
    region = next((headers[name] for name in _REGION_HEADERS if name in headers), "")
    template = "{host} by {family}, {region}" if region else "{host} by {family}"
    return statement(
        template,
        host=headers.get("host", "unknown"),
        family=observed.address_family or "an unknown address",
        region=region,
    )


def cpu_ns(run: Run) -> float | None:
    """Return the time of a download on a CPU and waiting for one, most of it for the bytes."""
    if run.measured is None or run.measured.process_times is None:
        return None
    times, steps = run.measured.process_times, run.measured.observed.steps
    downloads = len(steps.body_ns) if steps is not None else 0
    spent_ns = times.user_ns + times.kernel_ns + (times.waiting_ns or 0)
    return spent_ns / downloads if downloads else None


def operations_of_sample(run: Run) -> float | None:
    return run.operations_done / len(run.total_ns) if len(run.total_ns) else None

# SPDX-License-Identifier: MPL-2.0
"""Errors of a workload, and what they say to people."""


class WorkloadError(Exception):
    """The workload cannot continue in this place; the message is for people."""


class SkippedError(WorkloadError):
    """This place or this machine cannot do what is to be measured.

    The rest of the run continues, and fails only if nothing at all is measured.
    """


def reason_of(error):
    return getattr(error, "strerror", None) or str(error) or "out of memory"

# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""How a workload says that it cannot go on; each message is for people."""


class WrongArgumentsError(Exception):
    """The command line cannot be used."""


class WorkloadError(Exception):
    """The workload cannot go on in this place."""


class SkippedError(WorkloadError):
    """This part cannot be measured here, by the nature of the place or of the machine.

    The rest of the run does not fail for it, unless nothing is measured at all.
    """

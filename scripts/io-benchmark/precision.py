# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""The interval of the mean by batch means, to stop when the mean is known well enough.

Neighbouring retrieves are not independent (writeback comes in waves of 5 to 20). So the interval is
computed from the means of batches of more than 20 retrieves. File sizes differ as planned, the same
on every pool, and cancel when pools are compared. So the mean of its file size is first subtracted
from each time, and only the rest counts as noise.
"""

import math

from log import say

BATCH_RETRIEVES = 32
BATCHES_AT_LEAST = 8
CHECK_EVERY = 16  # retrieves between two checks

# Student's t, two-sided 95 %, for 7 to 19 degrees of freedom.
T_95 = [2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160]
T_95 += [2.145, 2.131, 2.120, 2.110, 2.101, 2.093]


def is_reached(entry, wanted, groups, times_ns, planned):
    """Return whether the mean is known as precisely as --precision demands; note it in the entry."""
    reached = _relative_half_width(groups, times_ns)
    if reached is None or reached > wanted:
        return False
    figures = (reached * 100, len(times_ns), planned)
    entry["stopped_early"] = "the mean is known to ± %.2f %% after %d of %s" % figures
    entry["precision_reached_ratio"] = round(reached, 6)
    say("  stopped early: %s" % entry["stopped_early"])
    return True


def _relative_half_width(groups, times_ns):
    """Return half the 95 % interval of the mean, as a part of the mean; None if too few times."""
    count = len(times_ns)
    batch = max(BATCH_RETRIEVES, count // 20)
    batches = count // batch
    if batches < BATCHES_AT_LEAST:
        return None
    used = batches * batch
    residuals = _without_group_means(groups[:used], times_ns[:used])
    means = [sum(residuals[at : at + batch]) / batch for at in range(0, used, batch)]
    centre = sum(means) / batches
    variance = sum((mean - centre) ** 2 for mean in means) / (batches - 1)
    half_ns = T_95[batches - BATCHES_AT_LEAST] * math.sqrt(variance / batches)
    return half_ns / (sum(times_ns[:used]) / used)


def _without_group_means(groups, times_ns):
    sums, counts = {}, {}
    for group, time_ns in zip(groups, times_ns):
        sums[group] = sums.get(group, 0) + time_ns
        counts[group] = counts.get(group, 0) + 1
    means = {group: sums[group] / counts[group] for group in sums}
    return [time_ns - means[group] for group, time_ns in zip(groups, times_ns)]

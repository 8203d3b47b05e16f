# SPDX-License-Identifier: MPL-2.0
"""From workers' times to ratios, intervals, verdicts and the number of workers needed."""

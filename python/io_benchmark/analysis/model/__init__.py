# SPDX-License-Identifier: MPL-2.0
"""Records: subjects, runs, sides, comparisons, causes and reports."""

# SPDX-License-Identifier: MPL-2.0
"""Sections: functions that write a part of a report as blocks, and the document of each report."""

# SPDX-License-Identifier: MPL-2.0
"""Runs a task's own command on this machine, as a process."""

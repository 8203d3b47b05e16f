# SPDX-License-Identifier: MPL-2.0
"""Results of tasks in a Taskcluster deployment."""

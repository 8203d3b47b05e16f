# SPDX-License-Identifier: MPL-2.0
"""Find slow machines: read the runs of real tasks, and results of the benchmark."""

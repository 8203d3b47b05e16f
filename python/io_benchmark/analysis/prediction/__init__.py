# SPDX-License-Identifier: MPL-2.0
"""How long a profiled task takes on other pools, by what the benchmark measured there."""

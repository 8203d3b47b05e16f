# SPDX-License-Identifier: MPL-2.0
"""Which machines of a pool are slow: by the runs of real tasks that each machine had."""

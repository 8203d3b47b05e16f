# SPDX-License-Identifier: MPL-2.0
"""Where results come from; `gather` lists the sources and reads them."""

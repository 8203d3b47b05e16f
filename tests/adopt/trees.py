# SPDX-License-Identifier: MPL-2.0
"""Trees that adopt the kind: install it, and return what is in them."""

from checkout import ROOT

from io_benchmark.adopt.firefox_checkout import Checkout
from io_benchmark.adopt.firefox_kind import FirefoxKind
from io_benchmark.adopt.firefox_workers import FirefoxWorkers
from io_benchmark.graph.root import Root

OWN_ROOT = Root(ROOT, "checkout")


def kind_for(checkout, pools=(), root=OWN_ROOT, is_embedded=False):
    return FirefoxKind.of(root, FirefoxWorkers.read(checkout), dict(pools), is_embedded)


def install(folder, pools=(), is_embedded=False):
    """Do what the command does; return the changed paths."""
    checkout = Checkout.open(folder)
    changes = checkout.changes(kind_for(checkout, pools, is_embedded=is_embedded))
    checkout.write(changes)
    return [change.path for change in changes]

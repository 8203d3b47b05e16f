# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""What a Firefox checkout is known by, and what is read in it."""

import re

import pytest

from io_benchmark.errors import IoBenchmarkError, UsageError
from io_benchmark.firefox import checkout

from .conftest import plan


def test_form_of_the_pages(any_firefox):
    """The pages are those that the checkout has."""
    opened = checkout.Checkout.open(any_firefox)
    assert (any_firefox / opened.kinds_page).is_file()
    assert (any_firefox / opened.attributes_page).is_file()


@pytest.mark.parametrize("mark", checkout.MARKS)
def test_no_checkout(firefox, mark):
    """The first file that is missing is named, and what to name instead."""
    (firefox / mark).unlink()
    expected = f"{firefox}: is not a Firefox checkout: {mark} is missing; name the folder that contains mach"
    with pytest.raises(UsageError, match=f"^{re.escape(expected)}$"):
        checkout.Checkout.open(firefox)


def test_no_pages(firefox):
    """Both pages of one form must be there."""
    (firefox / "taskcluster/docs/kinds.md").unlink()
    with pytest.raises(UsageError, match=r"checkout: taskcluster/docs/kinds\.md and"):
        checkout.Checkout.open(firefox)


def test_link_out_of_the_checkout(firefox, tmp_path):
    """A folder that is a link to elsewhere is never written into."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (firefox / "taskcluster/kinds/io-benchmark").symlink_to(outside)
    with pytest.raises(IoBenchmarkError, match="a link leads out of the checkout; replace"):
        plan(firefox)
    assert list(outside.iterdir()) == []


def test_not_a_file(firefox):
    """Something else in a file's place is left there."""
    (firefox / "taskcluster/kinds/io-benchmark/kind.yml").mkdir(parents=True)
    with pytest.raises(IoBenchmarkError, match=r"kind\.yml: is not a regular file"):
        plan(firefox)


@pytest.mark.parametrize(
    ("path", "old", "new", "message"),
    [
        pytest.param(
            checkout.CONFIG,
            "b-linux(|-docker(|-x?large)-amd|",
            "b-linux(|-docker(|-x?large)-arm|",
            "taskcluster/config.yml: workers.aliases has no b-linux-docker-amd, which the pool "
            "amd-16 needs; add it there, or remove the pool from "
            "taskcluster/kinds/io-benchmark/kind.yml here",
            id="worker-type",
        ),
        pytest.param(
            checkout.IMAGES,
            "update-verify:",
            "update-check:",
            "taskcluster/kinds/docker-image/kind.yml: no image update-verify, which the "
            "tasks run in; add it, or name a different image in "
            "taskcluster/kinds/io-benchmark/kind.yml here",
            id="image",
        ),
        pytest.param(
            checkout.CONFIG,
            "    aliases:",
            "    other:",
            "taskcluster/config.yml: has no workers.aliases; update the checkout",
            id="no-aliases",
        ),
    ],
)
def test_what_the_kind_needs(firefox, path, old, new, message):
    """Without the image and the worker types no graph would be generated, so nothing is put in."""
    file = firefox / path
    assert old in file.read_text()
    file.write_text(file.read_text().replace(old, new))
    with pytest.raises(IoBenchmarkError, match=f"^{re.escape(message)}$"):
        plan(firefox)


def test_text_that_is_not_utf_8(firefox):
    """A page that cannot be read as text is not edited."""
    (firefox / "taskcluster/docs/kinds.md").write_bytes(b"# Kinds\n\xff\n")
    with pytest.raises(
        IoBenchmarkError, match=r"kinds\.md: is not UTF-8 at byte 8; save it as UTF-8"
    ):
        plan(firefox)

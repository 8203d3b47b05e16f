# SPDX-License-Identifier: MPL-2.0
"""Images are built for the tasks that need them."""

from io_benchmark_taskgraph.transforms.on_demand import transforms


def test_no_image_by_itself(run_transform, make_transform_config):
    """What taskgraph's own transform says is taken back, and nothing else is changed."""
    made = run_transform(
        transforms, [{"label": "i", "always-target": True}], config=make_transform_config()
    )
    assert made == [{"label": "i", "always-target": False}]

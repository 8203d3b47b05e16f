# SPDX-License-Identifier: MPL-2.0
"""The jobs of .cron.yml, in the form that build-decision reads."""

import yaml

from .conftest import REPOSITORY


def test_jobs():
    """One job, once a week, that selects what `-j io-benchmark` does.

    build-decision knows weekdays by their English names, and quarters of an hour.
    """
    assert yaml.safe_load((REPOSITORY / ".cron.yml").read_text()) == {
        "jobs": [
            {
                "name": "io-benchmark",
                "job": {
                    "type": "decision-task",
                    "treeherder-symbol": "io-benchmark",
                    "target-tasks-method": "io-benchmark",
                },
                "when": [{"weekday": "Monday", "hour": 3, "minute": 0}],
            }
        ]
    }

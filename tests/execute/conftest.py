# SPDX-License-Identifier: MPL-2.0
"""Task runs with small commands, in separate folders."""

import pytest
from local_runs import RESULT, local_run

VARIABLES = {"MOZ_SCM_LEVEL": "1", "TASKCLUSTER_VOLUMES": "/builds/worker/workspace"}


@pytest.fixture
def make_run(tmp_path):
    def make(script="true", *, artifacts=RESULT, changes=None, **fields):
        payload = {"env": VARIABLES, "artifacts": artifacts, "onExitStatus": {"retry": [72]}}
        return local_run(tmp_path, script, {**payload, **(changes or {})}, **fields)

    return make

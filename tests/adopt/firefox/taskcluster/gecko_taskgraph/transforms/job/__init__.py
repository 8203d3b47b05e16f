# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""taskgraph's `run` in place of Firefox's `job`, after the keys that Firefox's takes were checked.

The names are what the schema there lists, read in the middle of 2026: a job description and its
`run` of `using: run-task` allow no other key.
"""

from taskgraph.transforms.base import TransformSequence
from taskgraph.transforms.run import transforms as run_transforms

JOB_KEYS = """
always-target attributes dependencies description expiration-policy expires-after
extra fetches if-dependencies index label name optimization priority requires routes
run run-on-git-branches run-on-projects run-on-repo-type scopes shipping-phase
shipping-product soft-dependencies tags task-from treeherder use-python use-sccache
use-uv when worker worker-type
"""
RUN_KEYS = """
checkout comm-checkout command cwd run-as-root sparse-profile sparse-profile-prefix
tooltool-downloads use-caches using workdir
"""

transforms = TransformSequence()


@transforms.add
def check_keys(config, jobs):
    for job in jobs:
        unknown = set(job) - set(JOB_KEYS.split()) | set(job["run"]) - set(RUN_KEYS.split())
        missing = {"description", "worker-type"} - set(job)
        if unknown or missing:
            raise ValueError(
                f"{config.kind} {job.get('name')}: {sorted(unknown)} are not known, {missing}"
            )
        yield job


transforms.add(run_transforms)

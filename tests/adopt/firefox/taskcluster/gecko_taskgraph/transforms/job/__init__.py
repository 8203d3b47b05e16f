# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""taskgraph's `run` in place of Firefox's `job`, after the keys that Firefox's takes were checked.

The names are what the schemas there list, read in the middle of 2026: a job description, its `run`
of `using: run-task` and a native `worker` allow no other key.
"""

from taskgraph.transforms.base import TransformSequence
from taskgraph.transforms.run import transforms as run_transforms

from gecko_taskgraph.util.workertypes import worker_type_implementation

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
# Of a native worker, as far as a kind may write them
NATIVE_KEYS = """
artifacts chain-of-trust env max-run-time mounts os-groups retry-exit-status run-as-administrator
skip-artifacts taskcluster-proxy
"""

transforms = TransformSequence()


@transforms.add
def check_keys(config, jobs):
    for job in jobs:
        unknown = set(job) - set(JOB_KEYS.split()) | set(job["run"]) - set(RUN_KEYS.split())
        worker = worker_type_implementation(config.graph_config, None, job["worker-type"])[0]
        if worker == "generic-worker":
            unknown |= set(job["worker"]) - set(NATIVE_KEYS.split())
        missing = {"description", "worker-type"} - set(job)
        if unknown or missing:
            raise ValueError(
                f"{config.kind} {job.get('name')}: {sorted(unknown)} are not known, {missing}"
            )
        yield job


transforms.add(run_transforms)

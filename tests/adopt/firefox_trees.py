# SPDX-License-Identifier: MPL-2.0
"""What two of Firefox's trees have, as read in their config.yml and attributes' page in 2026."""

from typing import Any

DOCKER, NATIVE = ("docker-worker", "linux"), ("generic-worker", "linux")
# Implementation and operating system by alias; some of those that are not for Linux.
MAIN = {
    "b-linux(|-docker(|-x?large)-amd|-medium|-aarch64|-xlarge|-kvm)": DOCKER,
    "images.*": DOCKER,
    "t-linux-docker(|-noscratch|-noscratch-amd|-16c32gb-amd|-amd)": DOCKER,
    "t-linux-kvm": DOCKER,
    "t-linux-arm64-docker": DOCKER,
    "misc": DOCKER,
    "t-linux-(talos|netperf)(-1804|-2404)?": NATIVE,
    "t-linux-wayland": NATIVE,
    "t-linux-xlarge-wayland": NATIVE,
    "t-linux-2204-wayland-snap": NATIVE,
    "t-linux-2404-wayland-snap": NATIVE,
    "b-win2022": ("generic-worker", "windows"),
    "win11-64-24h2(|-gpu|-source|-large|-webgpu|-privileged)": ("generic-worker", "windows"),
    "t-osx-1400-r8": ("generic-worker", "macosx"),
    "t-bitbar-gw.*": ("generic-worker", "linux-bitbar"),
    "t-lambda-.*": ("generic-worker", "linux-lambda"),
    "linux-signing": ("scriptworker-signing", "linux"),
    "succeed": ("succeed", "none"),
}
ESR_140 = {
    "b-linux-gcp": DOCKER,
    "b-linux-gcp-aarch64": DOCKER,
    "b-linux-kvm-gcp": DOCKER,
    "b-linux-medium-gcp": DOCKER,
    "b-linux-large-gcp": DOCKER,
    "b-linux-xlarge-gcp": DOCKER,
    "image": DOCKER,
    "images": DOCKER,
    "images-gcp": DOCKER,
    "images-gcp-aarch64": DOCKER,
    "t-linux-docker(|-noscratch)": DOCKER,
    "t-linux-kvm": DOCKER,
    "t-linux-arm64-docker": DOCKER,
    "t-linux-talos": NATIVE,
    "t-linux-netperf-1804": NATIVE,
    "t-linux-talos-1804": NATIVE,
    "t-linux-wayland": NATIVE,
    "t-linux-xlarge-wayland": NATIVE,
    "t-linux-wayland-vm": NATIVE,
    "t-linux-2204-wayland-snap": NATIVE,
    "t-linux-2404-wayland-snap": NATIVE,
    "b-win2022": ("generic-worker", "windows"),
    "t-osx-1500-m4": ("generic-worker", "macosx"),
    "t-bitbar-gw.*": ("generic-worker", "linux-bitbar"),
    "mac-signing": ("scriptworker-signing", "macosx"),
    "balrog": ("balrog", "linux"),
}
# Names that these have or match: what a pool can be there.
_MAIN_DOCKER = """
    b-linux b-linux-docker-amd b-linux-docker-large-amd b-linux-docker-xlarge-amd b-linux-medium
    b-linux-aarch64 b-linux-xlarge b-linux-kvm images t-linux-docker t-linux-docker-noscratch
    t-linux-docker-noscratch-amd t-linux-docker-16c32gb-amd t-linux-docker-amd t-linux-kvm
    t-linux-arm64-docker misc
"""
_MAIN_NATIVE = """
    t-linux-talos t-linux-talos-1804 t-linux-talos-2404 t-linux-netperf t-linux-netperf-1804
    t-linux-netperf-2404 t-linux-wayland t-linux-xlarge-wayland t-linux-2204-wayland-snap
    t-linux-2404-wayland-snap
"""
_ESR_140_DOCKER = """
    b-linux-gcp b-linux-gcp-aarch64 b-linux-kvm-gcp b-linux-medium-gcp b-linux-large-gcp
    b-linux-xlarge-gcp image images images-gcp images-gcp-aarch64 t-linux-docker
    t-linux-docker-noscratch t-linux-kvm t-linux-arm64-docker
"""
_ESR_140_NATIVE = [alias for alias, engine in ESR_140.items() if engine == NATIVE]
TREES = {
    "main": (MAIN, {DOCKER: _MAIN_DOCKER.split(), NATIVE: _MAIN_NATIVE.split()}),
    "esr140": (ESR_140, {DOCKER: _ESR_140_DOCKER.split(), NATIVE: _ESR_140_NATIVE}),
}
# The attributes of tasks that both trees document; a task with another one fails every decision
# task there.
_DOCUMENTED = """
    kind run_on_projects run_on_hg_branches task_duplicates build_platform build_type test_platform
    unittest_suite unittest_category unittest_try_name unittest_variant talos_try_name
    raptor_try_name job_try_name test_chunk test_manifests image_name nightly shippable all_locales
    all_locales_with_changesets l10n_chunk chunk_locales locale signed stub-installer repackage_type
    fetch-artifact fetch-alias toolchain-artifact toolchain-extract toolchain-alias toolchain-env
    toolchain-command always_target shipping_product shipping_phase artifact_prefix artifact_map
    release_artifacts batch perftest_name enable-full-crashsymbols skip-upload-crashsymbols
    upload-generated-sources cron cached_task eager_indexes update-channel mar-channel-id
    accepted-mar-channel-ids code-review retrigger disable-push-apk disable-build-signing
    enable-build-signing run-visual-metrics skip-verify-test-packaging geckodriver
    rebuild-on-release local-toolchain artifact-build maven_packages supports-artifact-builds
    primary-kind-dependency snap_test_type snap_test_release
"""
DOCUMENTED = frozenset(_DOCUMENTED.split())
# The settings of taskcluster/.yamllint.
YAMLLINT = """
    {extends: default,
     rules: {document-start: {present: true}, document-end: {present: false},
             indentation: {spaces: 4}, line-length: disable}}
"""


def workers(aliases: dict[str, tuple[str, str]]) -> dict[str, Any]:
    """Return what config.yml has under `workers`."""
    return {
        "aliases": {
            alias: {
                "provisioner": "{trust-domain}-{level}",
                "implementation": implementation,
                "os": system,
                "worker-type": "{alias}",
            }
            for alias, (implementation, system) in aliases.items()
        }
    }

# SPDX-License-Identifier: MPL-2.0
"""Run the pipelines of other-ci.md on this machine, each as its system runs it.

The commands come from the page and go to the shell that the system uses, with variables as its
documentation describes them. Artifacts are moved as the system moves them. Three programs stand for the
network: `curl` copies the worker's program or keeps what is posted, `pip` finds the package installed,
and `buildkite-agent` moves files of this machine. The measurements are real and small.
"""

import fnmatch
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import yaml

POOLS = ("amd-16", "intel")
PROGRAM = "https://github.com/mozilla-releng/io-benchmark/releases/latest/download/io-benchmark.pyz"
PACKAGE = "git+https://github.com/mozilla-releng/io-benchmark"

_PYTHON = f"""
case "$1 $2 $3" in
    "-m pip install") [ "$4" = {PACKAGE} ]; exit ;;
    "-m venv venv")
        mkdir -p venv/bin
        printf '#!/bin/sh\\n[ "$1 $2" = "install {PACKAGE}" ]\\n' > venv/bin/pip
        chmod +x venv/bin/pip
        ln -sf {shlex.quote(sys.prefix)}/bin/io-benchmark venv/bin/io-benchmark
        exit ;;
    "io-benchmark.pyz run "*)
        exec {shlex.quote(sys.executable)} "$@" --sizes 3x0.1 --retrieves 20 ;;
esac
echo "unexpected: python3 $*" >&2
exit 1
"""
_CURL = f"""
case "$*" in
    "-fsSLO {PROGRAM}") exec cp "$STORE/io-benchmark.pyz" . ;;
    *"PRIVATE-TOKEN: secret --data-urlencode body@report.md https://gitlab.example/v4/projects/34/merge_requests/7/notes")
        exec cp report.md "$STORE/markdown" ;;
esac
echo "unexpected: curl $*" >&2
exit 1
"""
# The destination keeps the path of each artifact as it was uploaded.
_BUILDKITE_AGENT = """
case "$*" in
    "artifact download "*" downloads") mkdir -p downloads && exec cp -r "$STORE/artifacts/." downloads ;;
    "annotate --context io-benchmark --style info") exec cat > "$STORE/markdown" ;;
esac
echo "unexpected: buildkite-agent $*" >&2
exit 1
"""


STAND_INS = {
    "python3": _PYTHON,
    "curl": _CURL,
    "buildkite-agent": _BUILDKITE_AGENT,
    "io-benchmark": f'exec {shlex.quote(sys.prefix)}/bin/io-benchmark "$@"',
}


class Pipeline(NamedTuple):
    """What a pipeline does in the job of one pool, and in the job that compares."""

    shell: str
    # By which the worker's program knows the system; {folder} is the work folder, {pool} the pool.
    variables: Mapping[str, Any]
    measure: str
    uploads: str  # pattern of files
    compare: str
    page: str
    artifact: str = ""  # the folder that the uploaded files get
    base: str = ""  # the folder whose files are uploaded without its name
    downloads: str = ""  # the folder that the artifacts are downloaded to
    works_in: str = ""  # a folder within the work folder


Reader = Callable[[str], Pipeline]


class Machine:
    """Runs the jobs of one pipeline, each in a separate folder."""

    def __init__(self, folder: Path, compare_code: int = 0) -> None:
        """Make the stand-ins; the job with the comparison has to have this exit code."""
        self._folder, self._compare_code = folder, compare_code
        self.store = folder / "store"
        self.artifacts = self.store / "artifacts"
        self.artifacts.mkdir(parents=True)
        (folder / "bin").mkdir()
        for name, text in STAND_INS.items():
            (folder / "bin" / name).write_text(f"#!/bin/sh\n{text}\n")
            (folder / "bin" / name).chmod(0o755)

    def run(self, read: Reader, text: str) -> tuple[str, str | None]:
        """Return the page that the pipeline shows, and the Markdown where the system has a place for it."""
        for pool in POOLS:
            pipeline = read(_filled(text, pool))
            folder = self._folder / "jobs" / pool
            self._call(pipeline, pipeline.measure, folder, 0)
            for path in (folder / pipeline.base).glob(pipeline.uploads):
                if path.is_file():
                    name = path.relative_to(folder / pipeline.base)
                    kept = self.artifacts / pipeline.artifact / name
                    kept.parent.mkdir(parents=True, exist_ok=True)
                    shutil.copy(path, kept)
        folder = self._folder / "jobs/compare"
        shutil.copytree(self.artifacts, folder / pipeline.downloads)
        output = self._call(pipeline, pipeline.compare, folder, self._compare_code)
        markdown = self.store / "markdown"
        for summary in re.findall(r"^##vso\[task.uploadsummary\](.+)$", output, re.MULTILINE):
            shutil.copy(summary, markdown)
        page = (folder / pipeline.page).read_text()
        return page, markdown.read_text() if markdown.exists() else None

    def _call(self, pipeline: Pipeline, script: str, folder: Path, code: int) -> str:
        for name in (pipeline.works_in, pipeline.base):
            (folder / name).mkdir(parents=True, exist_ok=True)
        values = {"folder": folder, "pool": folder.name, "store": self.store}
        variables = {key: str(value).format(**values) for key, value in pipeline.variables.items()}
        variables |= {"PATH": f"{self._folder}/bin:{os.environ['PATH']}"}
        variables |= {"HOME": str(self._folder), "STORE": str(self.store)}
        command = [*shlex.split(pipeline.shell), "-c", script]
        done = subprocess.run(
            command,
            cwd=folder / pipeline.works_in,
            env=variables,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == code, f"{script}\n{done.stdout}{done.stderr}"
        return done.stdout


# Of GitHub, Buildkite, CircleCI and Azure; Buildkite's agent also leaves one of two dollars.
_EXPRESSION = re.compile(r"\$\{\{ (.+?) \}\}|\{\{([\w.]+)\}\}|<< (.+?) >>|\$\(([\w.]+)\)")


def _filled(text: str, pool: str) -> str:
    """Replace a system's expressions by values; those of jobs without a pool stay."""
    values = {"github.run_attempt": "1", "System.JobAttempt": "1", "POOL": pool}
    values["Build.ArtifactStagingDirectory"] = "a"
    for name in ("matrix", "parameters"):
        values |= {f"{name}.pool": pool, f"{name}.worker": "1"}
    filled = _EXPRESSION.sub(lambda match: values.get(match[match.lastindex or 0], match[0]), text)
    return filled.replace("$$", "$")


def github(text: str) -> Pipeline:
    jobs = yaml.safe_load(text)["jobs"]
    run, upload = jobs["measure"]["steps"]
    _, download, compare, report = jobs["compare"]["steps"]
    assert fnmatch.fnmatch(upload["with"]["name"], download["with"]["pattern"])
    variables = {"GITHUB_ACTIONS": "true", "GITHUB_STEP_SUMMARY": "{store}/markdown"}
    return Pipeline(
        "bash -e",
        {**variables, "GITHUB_WORKSPACE": "{folder}", **run["env"]},
        *(run["run"], "**/*", compare["run"], report["with"]["path"]),
        artifact=upload["with"]["name"],
        base=upload["with"]["path"],
        downloads=download["with"]["path"],
    )


def gitlab(text: str) -> Pipeline:
    jobs = yaml.safe_load(text)
    measure, compare = jobs["measure"], jobs["compare"]
    (folder,) = measure["artifacts"]["paths"]
    page, _ = compare["artifacts"]["paths"]
    variables = {"GITLAB_CI": "true", "CI_PROJECT_DIR": "{folder}", "POOL": "{pool}", "WORKER": "1"}
    variables |= {"CI_API_V4_URL": "https://gitlab.example/v4", "CI_PROJECT_ID": "34"}
    variables |= {"CI_MERGE_REQUEST_IID": "7", "NOTE_TOKEN": "secret"}
    scripts = ["\n".join(job["script"]) for job in (measure, compare)]
    return Pipeline("bash -eo pipefail", variables, scripts[0], f"{folder}/**/*", scripts[1], page)


def buildkite(text: str) -> Pipeline:
    measure, compare = yaml.safe_load(text)["steps"]
    scripts = ["\n".join(step["command"]) for step in (measure, compare)]
    variables = {"BUILDKITE": "true", "BUILDKITE_BUILD_CHECKOUT_PATH": "{folder}"}
    return Pipeline(
        *("bash -e", {**variables, "BUILDKITE_JOB_ID": "e4-{pool}"}, scripts[0]),
        *(measure["artifact_paths"], scripts[1], compare["artifact_paths"]),
        downloads="not-here",
    )


def jenkins(text: str) -> Pipeline:
    measure, clean, compare = re.findall(r"sh '{3}\n(.*?)'{3}|sh '([^'\n]+)'", text, re.DOTALL)
    assert clean[1] == "rm -rf results"
    (page,) = re.findall(r"archiveArtifacts artifacts: '([^*']+)'", text)
    variables = {"BUILD_TAG": "jenkins-1", "WORKSPACE": "{folder}", "POOL": "{pool}", "WORKER": "1"}
    return Pipeline("sh -xe", variables, measure[0], "results/**/*", compare[0], page)


def azure(text: str) -> Pipeline:
    measure, compare = yaml.safe_load(text)["jobs"]
    matrix = measure["strategy"]["matrix"].values()
    assert {job["POOL"] for job in matrix} == set(POOLS)
    _, run, publish = measure["steps"]
    (script,) = [step["script"] for step in compare["steps"] if "script" in step]
    variables = {"TF_BUILD": "True", "POOL": "{pool}", "AGENT_BUILDDIRECTORY": "{folder}"}
    variables |= {"PIPELINE_WORKSPACE": "{folder}", "BUILD_ARTIFACTSTAGINGDIRECTORY": "{folder}/a"}
    return Pipeline(
        *("bash --noprofile --norc", variables, run["script"], "**/*", script, "a/report.html"),
        artifact=publish["artifact"],
        base=publish["publish"],
        works_in="s",
    )


def circleci(text: str) -> Pipeline:
    jobs = yaml.safe_load(text)["jobs"]
    measure, compare = (
        {name: value for step in jobs[job]["steps"] for name, value in step.items()}
        for job in ("measure", "compare")
    )
    (folder,) = measure["persist_to_workspace"]["paths"]
    variables = {"CIRCLECI": "true", "CIRCLE_WORKING_DIRECTORY": "{folder}"}
    return Pipeline(
        *("bash -eo pipefail", {**variables, **jobs["measure"]["environment"]}, measure["run"]),
        *(f"{folder}/**/*", compare["run"], compare["store_artifacts"]["path"]),
        downloads=compare["attach_workspace"]["at"],
    )


READERS: Mapping[str, Reader] = {
    "GitHub Actions": github,
    "GitLab": gitlab,
    "Buildkite": buildkite,
    "Jenkins": jenkins,
    "Azure Pipelines": azure,
    "CircleCI": circleci,
}

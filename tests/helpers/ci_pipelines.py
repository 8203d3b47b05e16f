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
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

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


class Measuring(NamedTuple):
    """The job of one pool."""

    script: str
    variables: Mapping[str, str]
    artifact: str = ""  # the folder that its files get


class Pipeline(NamedTuple):
    shell: str
    # By which the worker's program knows the system, and the one with the work folder.
    variables: Mapping[str, str]
    folder_variable: str
    measuring: Mapping[str, Measuring]  # by pool
    uploads: str  # pattern of files
    compare: str
    page: str
    downloads: str = ""  # the folder that the artifacts are downloaded to
    base: str = ""  # the folder whose files are uploaded without its name
    works_in: str = ""  # a folder within the work folder


@dataclass
class Machine:
    """Runs the jobs of one pipeline, each in a separate folder."""

    folder: Path
    compare_code: int = 0  # the exit code that the job with the comparison has to have
    store: Path = field(init=False)

    def __post_init__(self) -> None:
        self.store = self.folder / "store"
        self.artifacts = self.store / "artifacts"
        self.artifacts.mkdir(parents=True)
        (self.folder / "bin").mkdir()
        for name, text in (
            *(("python3", _PYTHON), ("curl", _CURL), ("buildkite-agent", _BUILDKITE_AGENT)),
            ("io-benchmark", f'exec {shlex.quote(sys.prefix)}/bin/io-benchmark "$@"'),
        ):
            (self.folder / "bin" / name).write_text(f"#!/bin/sh\n{text}\n")
            (self.folder / "bin" / name).chmod(0o755)

    def run(self, pipeline: Pipeline) -> tuple[str, str | None]:
        """Return the page that the pipeline shows, and the Markdown where the system has a place for it."""
        for pool, job in pipeline.measuring.items():
            folder = self.folder / "jobs" / pool
            self._call(pipeline, job.script, folder, job.variables, 0)
            for path in (folder / pipeline.base).glob(pipeline.uploads):
                if path.is_file():
                    name = path.relative_to(folder / pipeline.base)
                    (self.artifacts / job.artifact / name).parent.mkdir(parents=True, exist_ok=True)
                    shutil.copy(path, self.artifacts / job.artifact / name)
        folder = self.folder / "jobs/compare"
        shutil.copytree(self.artifacts, folder / pipeline.downloads)
        output = self._call(pipeline, pipeline.compare, folder, {}, self.compare_code)
        for name in re.findall(r"^##vso\[task.uploadsummary\](.+)$", output, re.MULTILINE):
            shutil.copy(name, self.store / "markdown")
        markdown = self.store / "markdown"
        page = (folder / pipeline.page).read_text()
        return page, markdown.read_text() if markdown.exists() else None

    def _call(
        self, pipeline: Pipeline, script: str, folder: Path, more: Mapping[str, str], code: int
    ) -> str:
        for name in (pipeline.works_in, pipeline.base):
            (folder / name).mkdir(parents=True, exist_ok=True)
        done = subprocess.run(
            [*shlex.split(pipeline.shell), "-c", script],
            cwd=folder / pipeline.works_in,
            env={
                "PATH": f"{self.folder}/bin:{os.environ['PATH']}",
                "HOME": str(self.folder),
                "STORE": str(self.store),
                "CI": "true",
                pipeline.folder_variable: str(folder),
                **{
                    name: value.format(folder=folder, store=self.store)
                    for name, value in pipeline.variables.items()
                },
                **more,
            },
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == code, f"{script}\n{done.stdout}{done.stderr}"
        return done.stdout


def _filled(text: str, form: str, pool: str) -> str:
    """Replace a system's expressions by values; each has to be known."""
    values = {"pool": pool, "worker": "1", "POOL": pool, "WORKER": "1"}
    values |= {"github.run_attempt": "1", "System.JobAttempt": "1"}
    for name in ("pool", "worker"):
        values |= {f"matrix.{name}": values[name], f"parameters.{name}": values[name]}
    return re.sub(form, lambda match: values[match[1].strip()], text)


def github(text: str) -> Pipeline:
    jobs = yaml.safe_load(text)["jobs"]
    run, upload = jobs["measure"]["steps"]
    form = r"\$\{\{(.+?)\}\}"
    measuring = {
        pool: Measuring(
            run["run"],
            {name: _filled(value, form, pool) for name, value in run["env"].items()},
            _filled(upload["with"]["name"], form, pool),
        )
        for pool in POOLS
    }
    _, download, run, report = jobs["compare"]["steps"]
    assert all(
        fnmatch.fnmatch(job.artifact, download["with"]["pattern"]) for job in measuring.values()
    )
    variables = {"GITHUB_ACTIONS": "true", "GITHUB_STEP_SUMMARY": "{store}/markdown"}
    return Pipeline(
        *("bash -e", variables, "GITHUB_WORKSPACE", measuring, "**/*", run["run"]),
        page=report["with"]["path"],
        downloads=download["with"]["path"],
        base=upload["with"]["path"],
    )


def gitlab(text: str) -> Pipeline:
    measure, compare = (yaml.safe_load(text)[name] for name in ("measure", "compare"))
    script = "\n".join(measure["script"])
    variables = {
        "GITLAB_CI": "true",
        "CI_API_V4_URL": "https://gitlab.example/v4",
        "CI_PROJECT_ID": "34",
        "CI_MERGE_REQUEST_IID": "7",
        "NOTE_TOKEN": "secret",
    }
    measuring = {pool: Measuring(script, {"POOL": pool, "WORKER": "1"}) for pool in POOLS}
    (folder,) = measure["artifacts"]["paths"]
    page, _ = compare["artifacts"]["paths"]
    return Pipeline(
        *("bash -eo pipefail", variables, "CI_PROJECT_DIR", measuring, f"{folder}/**/*"),
        *("\n".join(compare["script"]), page),
    )


def buildkite(text: str) -> Pipeline:
    measure, compare = yaml.safe_load(text)["steps"]
    # The agent leaves one of two dollars when it reads the pipeline.
    script, compare_script = (
        "\n".join(step["command"]).replace("$$", "$") for step in (measure, compare)
    )
    measuring = {
        pool: Measuring(_filled(script, r"\{\{(.+?)\}\}", pool), {"BUILDKITE_JOB_ID": f"e4-{pool}"})
        for pool in POOLS
    }
    return Pipeline(
        *("bash -e", {"BUILDKITE": "true"}, "BUILDKITE_BUILD_CHECKOUT_PATH", measuring),
        *(measure["artifact_paths"], compare_script, compare["artifact_paths"]),
        downloads="elsewhere",
    )


def jenkins(text: str) -> Pipeline:
    measure, clean, compare = re.findall(r"sh '{3}\n(.*?)'{3}|sh '([^'\n]+)'", text, re.DOTALL)
    assert clean[1] == "rm -rf results"
    measuring = {pool: Measuring(measure[0], {"POOL": pool, "WORKER": "1"}) for pool in POOLS}
    (page,) = re.findall(r"archiveArtifacts artifacts: '([^*']+)'", text)
    variables = {"BUILD_TAG": "jenkins-project-153"}
    return Pipeline("sh -xe", variables, "WORKSPACE", measuring, "results/**/*", compare[0], page)


def azure(text: str) -> Pipeline:
    measure, compare = yaml.safe_load(text)["jobs"]
    _, run, publish = measure["steps"]
    assert publish["publish"] == "$(Build.ArtifactStagingDirectory)"
    matrix = measure["strategy"]["matrix"].values()
    measuring = {
        job["POOL"]: Measuring(
            run["script"], job, _filled(publish["artifact"], r"\$\(([\w.]+)\)", job["POOL"])
        )
        for job in matrix
        if job["WORKER"] == "1"
    }
    variables = {
        "TF_BUILD": "True",
        "PIPELINE_WORKSPACE": "{folder}",
        "BUILD_ARTIFACTSTAGINGDIRECTORY": "{folder}/a",
    }
    (script,) = [step["script"] for step in compare["steps"] if "script" in step]
    return Pipeline(
        *("bash --noprofile --norc", variables, "AGENT_BUILDDIRECTORY", measuring, "**/*", script),
        page="a/report.html",
        base="a",
        works_in="s",
    )


def circleci(text: str) -> Pipeline:
    jobs = yaml.safe_load(text)["jobs"]
    measure, compare = (
        {name: value for step in jobs[job]["steps"] for name, value in step.items()}
        for job in ("measure", "compare")
    )
    environment = jobs["measure"]["environment"].items()
    measuring = {
        pool: Measuring(
            measure["run"],
            {name: _filled(value, r"<<(.+?)>>", pool) for name, value in environment},
        )
        for pool in POOLS
    }
    (folder,) = measure["persist_to_workspace"]["paths"]
    return Pipeline(
        *("bash -eo pipefail", {"CIRCLECI": "true"}, "CIRCLE_WORKING_DIRECTORY", measuring),
        *(f"{folder}/**/*", compare["run"], compare["store_artifacts"]["path"]),
        downloads=compare["attach_workspace"]["at"],
    )


READERS: Mapping[str, Callable[[str], Pipeline]] = {
    "GitHub Actions": github,
    "GitLab": gitlab,
    "Buildkite": buildkite,
    "Jenkins": jenkins,
    "Azure Pipelines": azure,
    "CircleCI": circleci,
}

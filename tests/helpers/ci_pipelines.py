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
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

POOLS = ("amd-16", "intel")
PROGRAM = "https://github.com/mozilla-releng/io-benchmark/releases/latest/download/io-benchmark.pyz"
PACKAGE = "git+https://github.com/mozilla-releng/io-benchmark"
_SMALL = "--sizes 3x0.1 --retrieves 20"

# As the systems document them, each of one job.
_GITHUB = {
    "CI": "true",
    "GITHUB_ACTIONS": "true",
    "GITHUB_JOB": "measure",
    "GITHUB_REPOSITORY": "octocat/hello-world",
    "GITHUB_RUN_ATTEMPT": "1",
    "GITHUB_RUN_ID": "1658821493",
    "GITHUB_SERVER_URL": "https://github.com",
    "RUNNER_ARCH": "X64",
    "RUNNER_ENVIRONMENT": "self-hosted",
    "RUNNER_NAME": "amd-16-3",
    "RUNNER_OS": "Linux",
}
_GITLAB = {
    "CI": "true",
    "GITLAB_CI": "true",
    "CI_API_V4_URL": "https://gitlab.example.com/api/v4",
    "CI_JOB_ID": "50",
    "CI_JOB_NAME": "measure: [amd-16, 1]",
    "CI_JOB_URL": "https://gitlab.example.com/group/project/-/jobs/50",
    "CI_MERGE_REQUEST_IID": "7",
    "CI_PIPELINE_ID": "1000",
    "CI_PROJECT_ID": "34",
    "CI_RUNNER_TAGS": '["amd-16"]',
}
_BUILDKITE = {
    "CI": "true",
    "BUILDKITE": "true",
    "BUILDKITE_AGENT_META_DATA_QUEUE": "amd-16",
    "BUILDKITE_AGENT_NAME": "amd-16-3",
    "BUILDKITE_BUILD_ID": "4735ba57-80d0-46e2-8fa0-b28223a86586",
    "BUILDKITE_BUILD_URL": "https://buildkite.com/example/project/builds/1514",
    "BUILDKITE_LABEL": "measure amd-16 1",
    "BUILDKITE_RETRY_COUNT": "0",
}
_JENKINS = {
    "BUILD_NUMBER": "153",
    "BUILD_TAG": "jenkins-project-153",
    "BUILD_URL": "https://jenkins.example.com/job/project/153/",
    "JENKINS_URL": "https://jenkins.example.com/",
    "JOB_NAME": "project",
    "NODE_LABELS": "amd-16 agent-7",
    "NODE_NAME": "agent-7",
}
_AZURE = {
    "TF_BUILD": "True",
    "AGENT_NAME": "amd-16-3",
    "AGENT_OS": "Linux",
    "AGENT_OSARCHITECTURE": "X64",
    "BUILD_BUILDID": "4321",
    "SYSTEM_COLLECTIONURI": "https://dev.azure.com/example/",
    "SYSTEM_JOBATTEMPT": "1",
    "SYSTEM_JOBDISPLAYNAME": "measure amd_16_1",
    "SYSTEM_TEAMPROJECT": "project",
}
_CIRCLE = {
    "CI": "true",
    "CIRCLECI": "true",
    "CIRCLE_BUILD_URL": "https://circleci.com/gh/example/project/42",
    "CIRCLE_JOB": "measure",
    "CIRCLE_WORKFLOW_ID": "9a956048-86ba-436a-aac0-9cd461ae266a",
}

_PYTHON = f"""
case "$1 $2 $3" in
    "-m pip install") [ "$4" = {PACKAGE} ]; exit ;;
    "-m venv venv")
        mkdir -p venv/bin
        printf '#!/bin/sh\\n[ "$1 $2" = "install {PACKAGE}" ]\\n' > venv/bin/pip
        chmod +x venv/bin/pip
        ln -sf {shlex.quote(sys.prefix)}/bin/io-benchmark venv/bin/io-benchmark
        exit ;;
    "io-benchmark.pyz run "*) exec {shlex.quote(sys.executable)} "$@" {_SMALL} ;;
esac
echo "unexpected: python3 $*" >&2
exit 1
"""
_CURL = """
case "$*" in
    "-fsSLO {program}") exec cp "$STORE/io-benchmark.pyz" . ;;
    *"--data-urlencode body@report.md"*) echo "$*" > "$STORE/posted"; cp report.md "$STORE/note.md"; exit ;;
esac
echo "unexpected: curl $*" >&2
exit 1
"""
# The destination keeps the path of each artifact as it was uploaded.
_BUILDKITE_AGENT = """
case "$*" in
    "artifact download "*" downloads") mkdir -p downloads && exec cp -r "$STORE/artifacts/." downloads ;;
    "annotate --context io-benchmark --style info") exec cat > "$STORE/annotation.md" ;;
esac
echo "unexpected: buildkite-agent $*" >&2
exit 1
"""


@dataclass
class Machine:
    """Runs the jobs of one pipeline, each in a separate folder."""

    folder: Path
    compare_code: int = 0  # the exit code that the job with the comparison has to have
    output: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.store = self.folder / "store"
        (self.store / "artifacts").mkdir(parents=True)
        programs = self.folder / "bin"
        programs.mkdir()
        curl = _CURL.replace("{program}", PROGRAM)
        for name, text in (
            *(("python3", _PYTHON), ("curl", curl), ("buildkite-agent", _BUILDKITE_AGENT)),
            ("io-benchmark", f'exec {shlex.quote(sys.prefix)}/bin/io-benchmark "$@"'),
        ):
            (programs / name).write_text(f"#!/bin/sh\n{text}\n")
            (programs / name).chmod(0o755)

    def job(self, name: str) -> Path:
        """Make the work folder of a job."""
        folder = self.folder / "jobs" / name
        folder.mkdir(parents=True)
        return folder

    def run(self, script: str, folder: Path, variables: Mapping[str, str], shell: str) -> None:
        done = subprocess.run(
            [*shell.split(), "-c", script],
            cwd=folder,
            env={
                "PATH": f"{self.folder}/bin:{os.environ['PATH']}",
                "HOME": str(self.folder),
                "STORE": str(self.store),
                **variables,
            },
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        code = self.compare_code if "io-benchmark compare" in script else 0
        assert done.returncode == code, f"{script}\n{done.stdout}{done.stderr}"
        self.output.append(done.stdout)

    def upload(self, folder: Path, pattern: str) -> None:
        """Keep files with their paths."""
        for path in folder.glob(pattern):
            if path.is_file():
                kept = self.store / "artifacts" / path.relative_to(folder)
                kept.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(path, kept)


@dataclass(frozen=True)
class Shown:
    """What a pipeline shows: the report's Markdown, where the system has a place for it, and its page."""

    markdown: str | None
    page: str


def _filled(text: str, form: str, values: Mapping[str, str]) -> str:
    """Replace a system's expressions by values; each has to be known."""
    return re.sub(form, lambda match: values[match[1].strip()], text)


def github(text: str, machine: Machine) -> Shown:
    jobs = yaml.safe_load(text)["jobs"]
    run, upload = jobs["measure"]["steps"]
    for pool in POOLS:
        values = {"matrix.pool": pool, "matrix.worker": "1", "github.run_attempt": "1"}
        form = r"\$\{\{(.+?)\}\}"
        folder = machine.job(pool)
        variables = {name: _filled(value, form, values) for name, value in run["env"].items()}
        machine.run(
            run["run"], folder, {**_GITHUB, "GITHUB_WORKSPACE": str(folder), **variables}, "bash -e"
        )
        name = _filled(upload["with"]["name"], form, values)
        shutil.copytree(folder / upload["with"]["path"], machine.store / "artifacts" / name)
    _, download, run, upload = jobs["compare"]["steps"]
    folder = machine.job("compare")
    for artifact in (machine.store / "artifacts").iterdir():
        assert fnmatch.fnmatch(artifact.name, download["with"]["pattern"])
        shutil.copytree(artifact, folder / download["with"]["path"] / artifact.name)
    summary = machine.store / "summary.md"
    summary.touch()
    machine.run(run["run"], folder, {**_GITHUB, "GITHUB_STEP_SUMMARY": str(summary)}, "bash -e")
    return Shown(summary.read_text(), (folder / upload["with"]["path"]).read_text())


def gitlab(text: str, machine: Machine) -> Shown:
    jobs = yaml.safe_load(text)
    for pool in POOLS:
        folder = machine.job(pool)
        (matrix,) = jobs["measure"]["parallel"]["matrix"]
        variables = {"POOL": pool, "WORKER": matrix["WORKER"][0]}
        script = "\n".join(jobs["measure"]["script"])
        machine.run(
            script,
            folder,
            {**_GITLAB, "CI_PROJECT_DIR": str(folder), **variables},
            "bash -eo pipefail",
        )
        for path in jobs["measure"]["artifacts"]["paths"]:
            machine.upload(folder, f"{path}/**/*")
    # A later stage gets the artifacts of all jobs before it.
    folder = machine.job("compare")
    shutil.copytree(machine.store / "artifacts", folder, dirs_exist_ok=True)
    script = "\n".join(jobs["compare"]["script"])
    machine.run(script, folder, {**_GITLAB, "NOTE_TOKEN": "secret"}, "bash -eo pipefail")
    posted = (machine.store / "posted").read_text()
    assert "https://gitlab.example.com/api/v4/projects/34/merge_requests/7/notes" in posted
    markdown, page = ((folder / name).read_text() for name in ("report.md", "report.html"))
    assert set(jobs["compare"]["artifacts"]["paths"]) == {"report.html", "report.md"}
    assert (machine.store / "note.md").read_text() == markdown
    return Shown(markdown, page)


def buildkite(text: str, machine: Machine) -> Shown:
    measure, compare = yaml.safe_load(text)["steps"]
    for pool in POOLS:
        folder = machine.job(pool)
        values = {"matrix.pool": pool, "matrix.worker": "1"}
        script = _filled("\n".join(measure["command"]), r"\{\{(.+?)\}\}", values)
        variables = {"BUILDKITE_JOB_ID": f"e44f9784-{pool}"}
        machine.run(
            # The agent leaves one of two dollars when it reads the pipeline.
            script.replace("$$", "$"),
            folder,
            {**_BUILDKITE, "BUILDKITE_BUILD_CHECKOUT_PATH": str(folder), **variables},
            "bash -e",
        )
        machine.upload(folder, measure["artifact_paths"])
    folder = machine.job("compare")
    machine.run("\n".join(compare["command"]).replace("$$", "$"), folder, _BUILDKITE, "bash -e")
    page = (folder / compare["artifact_paths"]).read_text()
    return Shown((machine.store / "annotation.md").read_text(), page)


def jenkins(text: str, machine: Machine) -> Shown:
    measure, clean, compare = re.findall(r"sh '{3}\n(.*?)'{3}|sh '([^'\n]+)'", text, re.DOTALL)
    for pool in POOLS:
        folder = machine.job(pool)
        variables = {"POOL": pool, "WORKER": "1"}
        machine.run(
            measure[0], folder, {**_JENKINS, "WORKSPACE": str(folder), **variables}, "sh -xe"
        )
        machine.upload(folder, "results/**/*")
    folder = machine.job("compare")
    machine.run(clean[1], folder, _JENKINS, "sh -xe")
    shutil.copytree(machine.store / "artifacts", folder, dirs_exist_ok=True)
    machine.run(compare[0], folder, _JENKINS, "sh -xe")
    (name,) = re.findall(r"archiveArtifacts artifacts: '([^*']+)'", text)
    return Shown(None, (folder / name).read_text())


def azure(text: str, machine: Machine) -> Shown:
    measure, compare = yaml.safe_load(text)["jobs"]
    form = r"\$\(([\w.]+)\)"
    for variables in measure["strategy"]["matrix"].values():
        if variables["WORKER"] != "1":
            continue
        folder = machine.job(variables["POOL"])
        sources, staging = folder / "s", folder / "a"
        sources.mkdir()
        staging.mkdir()
        _, run, publish = measure["steps"]
        machine.run(
            run["script"],
            sources,
            {
                **_AZURE,
                "AGENT_BUILDDIRECTORY": str(folder),
                "SYSTEM_DEFAULTWORKINGDIRECTORY": str(sources),
                "BUILD_ARTIFACTSTAGINGDIRECTORY": str(staging),
                **variables,
            },
            "bash --noprofile --norc",
        )
        values = {**variables, "System.JobAttempt": "1"}
        name = _filled(publish["artifact"], form, values)
        assert publish["publish"] == "$(Build.ArtifactStagingDirectory)"
        shutil.copytree(staging, machine.store / "artifacts" / name)
    folder = machine.job("compare")
    shutil.copytree(machine.store / "artifacts", folder, dirs_exist_ok=True)
    (folder / "a").mkdir()
    variables = {
        "PIPELINE_WORKSPACE": str(folder),
        "BUILD_ARTIFACTSTAGINGDIRECTORY": str(folder / "a"),
    }
    run = next(step for step in compare["steps"] if "script" in step)
    machine.run(run["script"], folder, {**_AZURE, **variables}, "bash --noprofile --norc")
    (name,) = re.findall(r"^##vso\[task.uploadsummary\](.+)$", machine.output[-1], re.MULTILINE)
    return Shown(Path(name).read_text(), (folder / "a/report.html").read_text())


def circleci(text: str, machine: Machine) -> Shown:
    jobs = yaml.safe_load(text)["jobs"]
    steps = _steps(jobs["measure"])
    for pool in POOLS:
        folder = machine.job(pool)
        values = {"parameters.pool": pool, "parameters.worker": "1"}
        variables = {
            name: _filled(value, r"<<(.+?)>>", values)
            for name, value in jobs["measure"]["environment"].items()
        }
        machine.run(
            steps["run"],
            folder,
            {**_CIRCLE, "CIRCLE_WORKING_DIRECTORY": str(folder), **variables},
            "bash -eo pipefail",
        )
        for path in steps["persist_to_workspace"]["paths"]:
            machine.upload(folder, f"{path}/**/*")
    folder = machine.job("compare")
    steps = _steps(jobs["compare"])
    shutil.copytree(
        machine.store / "artifacts", folder / steps["attach_workspace"]["at"], dirs_exist_ok=True
    )
    machine.run(steps["run"], folder, _CIRCLE, "bash -eo pipefail")
    return Shown(None, (folder / steps["store_artifacts"]["path"]).read_text())


def _steps(job: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for step in job["steps"] for name, value in step.items()}

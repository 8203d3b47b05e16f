# SPDX-License-Identifier: MPL-2.0
"""submit, with hostile values for its options, and killed again and again."""

import itertools

import program
import submitted_tasks
from killed_submit import Killer, labels, named_group, submit
from loopback import Loopback
from loopback_deployment import Deployment

POOLS = ("amd-16", "amd-30", "intel")
WANTED = [f"io-benchmark-{pool}-{number}" for number in (1, 2) for pool in POOLS]
# Three questions for worker pools, six tasks, a listing.
REQUESTS = range(10)

OPTIONS = {
    "--pool": ["{}=a/b", "intel={}"],
    "--image": ["{}", "task:{}", "index:{}"],
    "--replicates": ["{}"],
    "--owner": ["{}", "{}@b", "a@{}"],
    "--scheduler": ["{}"],
    "--priority": ["{}"],
    "--baseline": ["{}"],
    "--expect": ["{}", "{}/intel<1.05"],
    "--write": ["{}=x", "text={}", "text={}/x"],
    "--every": ["{}"],
    "--timeout": ["{}"],
    "--resume": ["{}", "group:{}", "http://h/{}"],
    "--cancel": ["{}", "group:{}"],
    "-j": ["{}"],
}
VALUES = (
    "\x1b[31mred\n\r",
    "a" * 300,
    "a\n@b",
    "\u202eevil\u2066",
    "x/" * 3000,
    "",
    "\udcff",
    "9" * 5000,
    "{}{0}%s%n",
)


def hostile(everything):
    """Every option with every value, or each option's first form with the first two."""
    for option, forms in OPTIONS.items():
        for form, value in itertools.product(
            forms if everything else forms[:1], VALUES if everything else VALUES[:2]
        ):
            yield option, form.replace("{}", value)


def test_hostile_options(request, tmp_path):
    """One short printable line for each, exit code 2 or 1, and nothing of it on stdout."""
    environment = {"TASKCLUSTER_ROOT_URL": "http://127.0.0.1:9", **submitted_tasks.IDENTITY}
    wrong = []
    for option, value in hostile(request.config.getoption("--long")):
        base = [] if option in ("--resume", "--cancel") else ["--dry-run"]
        image = [] if not base or option == "--image" else ["--image", "x/y:1"]
        done = program.run(
            *("submit", *base, *image, f"{option}={value}"),
            folder=tmp_path,
            environment=environment,
            expected=None,
        )
        last = done.stderr.splitlines()[-1] if done.stderr else ""
        taken = done.exit_code == 0 and "Scopes the tasks get" in done.stderr
        if not taken and not (
            done.exit_code in (1, 2)
            and "error: " in last
            and last.isprintable()
            and len(last) < 1000 + len(value)
            and done.stdout == ""
        ):
            wrong.append((option, value[:40], done.exit_code, last[:200]))
    assert wrong == []


def test_killed_at_every_request(request):
    """Once while it submits and once while it resumes: in the end there is what was wanted, once."""
    moments = itertools.product(REQUESTS, (False, True))
    for number, answered in moments if request.config.getoption("--long") else [(5, True)]:
        deployment = Deployment(on_create=submitted_tasks.complete)
        with Loopback(deployment) as loopback:
            first = loopback.faults = Killer(number, answered=answered, method=None)
            arguments = ["--image", "host/image:1", "--replicates", "2"]
            code, _, stderr = submit(loopback, *arguments, killer=first)
            if not deployment.definitions:  # nothing to complete: it had not begun
                assert code == -9
                continue
            group, resume = named_group(stderr)
            assert list(deployment.groups) == [group]
            second = loopback.faults = Killer(number, answered=not answered, method=None)
            submit(loopback, *resume, killer=second)
            code, stdout, stderr = submit(loopback, *resume)
        assert (code, labels(deployment)) == (0, WANTED), stderr
        assert "1.92×" in stdout
        assert deployment.groups == {group: list(deployment.definitions)}

# SPDX-License-Identifier: MPL-2.0
"""The command init, run as a user runs it."""

import program

CONFIG = """\
taskgraph:
    cached-task-prefix: a
workers:
    aliases:
        b-small: {os: linux}
"""


def test_init(tmp_path):
    """stdout is the patch, also with --diff, which writes nothing; stderr says what is next."""
    folder = tmp_path / "project"
    files = {"config.yml": CONFIG, "kinds/docker-image/kind.yml": "tasks: {base: {}}\n"}
    for name, text in files.items():
        path = folder / "taskcluster" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    shown = program.run("init", folder, "--diff", "--pool", "small=b-small", folder=tmp_path)
    assert (folder / "taskcluster/config.yml").read_text() == CONFIG
    written = program.run("init", "--pool", "small=b-small", folder=folder)
    assert written.stdout == shown.stdout
    assert written.stdout.count("\n+++ ") == 3
    assert "\n+    small:\n" in written.stdout
    assert written.stderr.startswith("Written, not committed. Next: make taskcluster/requirements")
    assert written.stderr.endswith("; then try it: io-benchmark rehearse\n")
    again = program.run("init", "--pool", "small=b-small", folder=folder)
    assert (again.stdout, again.stderr) == ("", "Nothing differs\n")

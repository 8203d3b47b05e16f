# SPDX-License-Identifier: MPL-2.0
"""The command init, run as a user runs it."""

import program

CONFIG = """\
taskgraph:
    cached-task-prefix: a
workers:
    aliases:
        b-small: {implementation: docker-worker, os: linux}
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
    shown_notes, written_notes = shown.stderr.splitlines(), written.stderr.splitlines()
    assert shown_notes[0] == "Nothing written"
    assert written_notes[0] == "Written, not committed"
    assert written_notes[1:-1] == shown_notes[1:]
    assert [note.split(" ", 2)[:2] for note in shown_notes[1:]] == [
        ["note:", "b-small"],
        ["next:", "make"],
        ["next:", "set"],
    ]
    assert written_notes[-1] == "then try it: io-benchmark rehearse"
    again = program.run("init", "--pool", "small=b-small", folder=folder)
    # What is left to do is said until it is done.
    assert (again.stdout, again.stderr.splitlines()) == ("", ["Nothing differs", *shown_notes[2:]])

# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""What differs, and what is done about it."""

import pytest

from io_benchmark.firefox import record
from io_benchmark.firefox.kind import SCRIPT_THERE

from .conftest import copy_firefox, install, plan, snapshot, states

KIND = "taskcluster/kinds/io-benchmark/kind.yml"
STANZA = "taskcluster/io_benchmark_taskgraph/stanza.py"
OURS = tuple(f"{folder}/" for folder in record.OWN_FOLDERS)


def edit(file, old, new):
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new))


def test_first_and_second_time(any_firefox):
    """The first run adds everything, the second finds nothing to do."""
    assert set(states(any_firefox).values()) == {"missing"}
    install(any_firefox)
    after = snapshot(any_firefox)
    assert states(any_firefox) == {}
    assert install(any_firefox).contents == ()
    assert snapshot(any_firefox) == after


def test_other_lines_stay(any_firefox):
    """Of what was there, three files have lines more, none has one less, and modes are the same."""
    before = snapshot(any_firefox)
    install(any_firefox)
    after = snapshot(any_firefox)
    changed = {path for path in before if after[path] != before[path]}
    assert {path.rpartition("/")[2].partition(".")[0] for path in changed} == {
        "config",
        "kinds",
        "attributes",
    }
    for path in changed:
        lines, more = before[path][0].splitlines(True), iter(after[path][0].splitlines(True))
        assert all(line in more for line in lines), path
        assert after[path][1] == before[path][1]
    assert {path for path in after if path not in before and not path.startswith(OURS)} == set()


def test_deterministic(tmp_path):
    """Two checkouts get the same bytes."""
    one, two = (copy_firefox(tmp_path / name) for name in ("one", "two"))
    install(one)
    install(two)
    assert snapshot(one) == snapshot(two)


def test_modes(firefox):
    """A file that is edited keeps its mode; new ones are plain files."""
    (firefox / "taskcluster/config.yml").chmod(0o640)
    install(firefox)
    assert (firefox / "taskcluster/config.yml").stat().st_mode & 0o777 == 0o640
    assert (firefox / KIND).stat().st_mode & 0o111 == 0


def test_converted_line_ends(firefox):
    """A checkout with CRLF everywhere is the same one, and an update keeps its line ends."""
    install(firefox)
    for path in snapshot(firefox):
        file = firefox / path
        file.write_bytes(file.read_bytes().replace(b"\n", b"\r\n"))
    assert states(firefox) == {}
    (firefox / KIND).write_bytes((firefox / KIND).read_bytes().replace(b"2000", b"1000"))
    assert states(firefox) == {KIND: "changed there"}
    install(firefox)
    data = (firefox / KIND).read_bytes()
    assert b"2000" in data
    assert data.count(b"\n") == data.count(b"\r\n")


def test_update(firefox, other_version):
    """What an older version put there is updated and what it alone had is removed."""
    root = other_version.path
    package = root / "python/io_benchmark_taskgraph"
    edit(root / "taskcluster/kinds/io-benchmark/kind.yml", "retrieves: 2000", "retrieves: 1000")
    edit(root / "taskcluster/config.yml", "'I/O benchmark'", "'Disks'")
    edit(root / "taskcluster/docs/attributes.md", "The pool that", "What pool")
    (package / "gone.py").write_text("")
    edit(package / "stanza.py", "import posixpath", "from io_benchmark_taskgraph import gone")
    (root / "scripts/io-benchmark/early").mkdir()
    (root / "scripts/io-benchmark/early/gone.py").write_text("")
    install(firefox, other_version)
    assert states(firefox) == {
        KIND: "older",
        STANZA: "older",
        "taskcluster/config.yml: IOB": "older",
        "taskcluster/docs/attributes.md: io_benchmark_pool": "older",
        "taskcluster/io_benchmark_taskgraph/gone.py": "no longer needed",
        f"{SCRIPT_THERE}/early/gone.py": "no longer needed",
        record.PATH: "older",
    }
    install(firefox)
    fresh = copy_firefox(firefox.with_name("fresh"))
    install(fresh)
    assert snapshot(firefox) == snapshot(fresh)
    assert not (firefox / SCRIPT_THERE / "early").exists()


def test_an_attribute_no_longer_used(firefox, other_version):
    """A heading that was put there is taken out again, with the blank line before it."""
    before = (firefox / "taskcluster/docs/attributes.md").read_text()
    root = other_version.path
    edit(
        root / "taskcluster/docs/attributes.md",
        "## job_try_name",
        "## io_benchmark_old\n\nOnce.\n\n## job_try_name",
    )
    edit(root / "taskcluster/kinds/io-benchmark/kind.yml", "retrigger: true", "io_benchmark_old: 1")
    install(firefox, other_version)
    assert (
        "## io_benchmark_old\n\nOnce.\n" in (firefox / "taskcluster/docs/attributes.md").read_text()
    )
    install(firefox)
    after = (firefox / "taskcluster/docs/attributes.md").read_text()
    start = after.index("\n## io_benchmark_pool")
    assert after[:start] + after[after.index("\n[elsewhere]") :] == before


def test_changed_there(firefox):
    """What someone changed there is told apart from what is merely older."""
    install(firefox)
    edit(firefox / KIND, "retrieves: 2000", "retrieves: 5")
    edit(firefox / "taskcluster/config.yml", "'I/O benchmark'", "'Disks'")
    edit(firefox / "taskcluster/docs/kinds.md", "The same I/O benchmark", "Some benchmark")
    made = plan(firefox)
    assert [str(one.place) for one in made.conflicts] == [
        "taskcluster/config.yml: IOB",
        "taskcluster/docs/kinds.md: io-benchmark",
        KIND,
    ]


def test_another_s_of_that_name(firefox):
    """Without a record, what is there under such a name is someone else's."""
    (firefox / KIND).parent.mkdir(parents=True)
    (firefox / KIND).write_text("another kind\n")
    edit(firefox / "taskcluster/config.yml", "'UV':", "'IOB': 'Something'\n        'UV':")
    found = states(firefox)
    assert {place for place, state in found.items() if state == "changed there"} == {
        KIND,
        "taskcluster/config.yml: IOB",
    }


def test_firefox_documents_an_attribute_itself(firefox):
    """Attributes that others use too are documented by whoever was first."""
    page = firefox / "taskcluster/docs/attributes.md"
    page.write_text(page.read_text() + "\n## io_benchmark_pool\n\nFirefox says so.\n")
    install(firefox)
    assert page.read_text().count("io_benchmark_pool") == 1
    assert states(firefox) == {}


@pytest.mark.parametrize("title", ["job_try_name", "retrigger"])
def test_an_attribute_that_is_missing_there(firefox, title):
    """Each of ours that a checkout does not document is put there, with this project's text."""
    page = firefox / "taskcluster/docs/attributes.md"
    edit(page, f"## {title}\n", f"## other_{title}\n")
    assert states(firefox)[f"taskcluster/docs/attributes.md: {title}"] == "missing"
    install(firefox)
    assert f"\n## {title}\n" in page.read_text()


def test_lost_record(firefox):
    """Where all is as it should be, a lost record is simply written again."""
    install(firefox)
    after = snapshot(firefox)
    (firefox / record.PATH).unlink()
    assert states(firefox) == {record.PATH: "missing"}
    install(firefox)
    assert snapshot(firefox) == after


def test_what_is_not_ours_stays(firefox, other_version):
    """A file that others put into our folders is neither named nor removed."""
    extra = firefox / SCRIPT_THERE / "workloads/another.py"
    extra.parent.mkdir(parents=True)
    extra.write_text("theirs\n")
    install(firefox, other_version)
    install(firefox)
    assert extra.read_text() == "theirs\n"
    assert states(firefox) == {}


def test_needless_but_changed_there(firefox, other_version):
    """A file that goes away and was changed there is a conflict, not silently removed."""
    gone = other_version.path / "scripts/io-benchmark/gone.py"
    gone.write_text("ours\n")
    install(firefox, other_version)
    there = firefox / SCRIPT_THERE / "gone.py"
    there.write_text("theirs\n")
    assert states(firefox)[f"{SCRIPT_THERE}/gone.py"] == "changed there"
    there.unlink()
    assert states(firefox) == {record.PATH: "older"}


def test_pages_that_changed_their_form(firefox):
    """A checkout whose pages became Markdown since gets the headings there."""
    older = copy_firefox(firefox.with_name("older"), older_docs=True)
    install(older)
    docs = older / "taskcluster/docs"
    for page in ("kinds", "attributes"):
        (docs / f"{page}.rst").unlink()
        (docs / f"{page}.md").write_bytes((firefox / f"taskcluster/docs/{page}.md").read_bytes())
    assert states(older) == {
        "taskcluster/docs/kinds.md: io-benchmark": "missing",
        "taskcluster/docs/attributes.md: io_benchmark_pool": "missing",
        record.PATH: "older",
    }
    install(older)
    install(firefox)
    assert snapshot(older) == snapshot(firefox)

# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""What differs, and what is done about it."""

import pytest

from io_benchmark.firefox.checkout import KIND, SCRIPT, TRANSFORMS

from .conftest import copy_firefox, install, plan, snapshot, states


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
    """Of what was there, two files have lines more, none has one less, and modes are the same."""
    before = snapshot(any_firefox)
    install(any_firefox)
    after = snapshot(any_firefox)
    changed = {path for path in before if after[path] != before[path]}
    assert {path.rpartition("/")[2].partition(".")[0] for path in changed} == {
        "config",
        "kinds",
    }
    for path in changed:
        lines, more = before[path][0].splitlines(True), iter(after[path][0].splitlines(True))
        assert all(line in more for line in lines), path
        assert after[path][1] == before[path][1]
    new = {path for path in after if path not in before and not path.startswith(f"{SCRIPT}/")}
    assert new == {KIND, TRANSFORMS}


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
    assert states(firefox) == {KIND: "differs"}
    install(firefox)
    data = (firefox / KIND).read_bytes()
    assert b"2000" in data
    assert data.count(b"\n") == data.count(b"\r\n")


def test_another_version(firefox, other_version):
    """What another version put there differs, and its modules that this one lacks are extra."""
    root = other_version.path
    edit(root / "taskcluster/kinds/io-benchmark/kind.yml", "retrieves: 2000", "retrieves: 1000")
    edit(root / "taskcluster/config.yml", "'I/O benchmark'", "'Disks'")
    edit(root / "python/io_benchmark_taskgraph/estimate.py", "MARGIN_S = 300", "MARGIN_S = 200")
    (root / "scripts/io-benchmark/early").mkdir()
    (root / "scripts/io-benchmark/early/gone.py").write_text("")
    edit(root / "scripts/io-benchmark/__main__.py", "import pkgutil", "import early.gone")
    install(firefox, other_version)
    assert states(firefox) == {
        KIND: "differs",
        TRANSFORMS: "differs",
        "taskcluster/config.yml: IOB": "differs",
        f"{SCRIPT}/__main__.py": "differs",
        f"{SCRIPT}/early/gone.py": "extra",
    }
    assert len(plan(firefox).conflicts) == 5
    install(firefox)
    fresh = copy_firefox(firefox.with_name("fresh"))
    install(fresh)
    assert snapshot(firefox) == snapshot(fresh)
    assert not (firefox / SCRIPT / "early").exists()


def test_more_workloads(firefox):
    """They come with their modules; without the option again, these are extra."""
    install(firefox, workloads=["spawn"])
    assert "        workloads: [cache-retrieve, spawn]\n" in (firefox / KIND).read_text()
    assert states(firefox, workloads=["spawn"]) == {}
    found = states(firefox)
    assert found.pop(KIND) == "differs"
    assert found.pop(f"{SCRIPT}/workloads/spawn.py") == "extra"
    assert set(found.values()) <= {"extra"}
    install(firefox)
    assert states(firefox) == {}
    assert states(firefox, workloads=["cache-retrieve"]) == {}


def test_only_what_is_needed(firefox):
    """Of the workloads, the one that the kind names; nothing else is there than what is listed."""
    install(firefox)
    files = sorted(path.name for path in (firefox / SCRIPT / "workloads").iterdir())
    assert files == ["cache_retrieve.py"]
    assert not list(firefox.rglob("*.json"))


def test_edited_there(firefox):
    """What someone edited there differs, and is replaced by --force alone."""
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
    """What is there already under such a name may be someone else's."""
    (firefox / KIND).parent.mkdir(parents=True)
    (firefox / KIND).write_text("another kind\n")
    edit(firefox / "taskcluster/config.yml", "'UV':", "'IOB': 'Something'\n        'UV':")
    found = states(firefox)
    assert {place for place, state in found.items() if state == "differs"} == {
        KIND,
        "taskcluster/config.yml: IOB",
    }


def test_firefox_documents_an_attribute_itself(firefox):
    """Attributes that others use too are documented by whoever was first."""
    page = firefox / "taskcluster/docs/attributes.md"
    edit(page, "## retrigger\n", "## retrigger\n\nFirefox says so.\n")
    install(firefox)
    assert page.read_text().count("## retrigger") == 1
    assert states(firefox) == {}


@pytest.mark.parametrize("title", ["job_try_name", "retrigger"])
def test_an_attribute_that_is_missing_there(firefox, title):
    """Each of ours that a checkout does not document is put there, with this project's text."""
    page = firefox / "taskcluster/docs/attributes.md"
    edit(page, f"## {title}\n", f"## other_{title}\n")
    assert states(firefox)[f"taskcluster/docs/attributes.md: {title}"] == "missing"
    install(firefox)
    assert f"\n## {title}\n" in page.read_text()


def test_what_is_no_module_stays(firefox):
    """A file that does not come into the command is neither named nor removed."""
    extra = firefox / SCRIPT / "workloads/notes.txt"
    extra.parent.mkdir(parents=True)
    extra.write_text("theirs\n")
    install(firefox)
    assert extra.read_text() == "theirs\n"
    assert states(firefox) == {}

# SPDX-License-Identifier: MPL-2.0
"""Files and folders on Windows, under Wine with each version of Python."""

import pytest
import windows_python
import wine
from wine_programs import answers
from worker import SCRIPT

pytestmark = pytest.mark.windows
VERSIONS = pytest.mark.parametrize("version", windows_python.VERSIONS)
MIB = 1024 * 1024

COPYING = """
import contextlib, tempfile
from system import copies, page_cache
from system.probes import read_file, write_new_file
SIZE = 2 * 2**20 + 7
write_new_file("source", SIZE, os.urandom(2**20), is_synced=True)
os.utime("source", (1e9, 1e9))
page_cache.evict("source")
read_file("source")
page_cache.sync_filesystem(os.curdir)

def copy(source, target):
    ends = copies.open_to_read(source), copies.open_to_write(target)
    done, parts = 0, []
    while not parts or parts[-1]:
        parts.append(copies.copy_part(ends[1], ends[0], done, SIZE - done or 1))
        done += parts[-1]
    for end in ends:
        os.close(end)
    return parts

content = open("source", "rb").read()
open("target", "wb").write(b"longer" + content)
print(json.dumps(copy("source", "target")))
copies.copy_whole("source", "whole")
copies.copy_whole("source", "whole")
print(json.dumps([open(name, "rb").read() == content for name in ("target", "whole")]))
print(json.dumps(os.stat("whole").st_mtime))
print(json.dumps(page_cache.resident_bytes("source")))
os.environ["TEMP"] = os.environ["TMP"] = os.getcwd()
with contextlib.ExitStack() as stack:
    print(json.dumps(copies.copying(stack, 2 * 2**20)()))
    print(json.dumps(copies.calling(stack, 10)()))
print(json.dumps(sorted(os.listdir())))
"""


@VERSIONS
def test_files_are_copied(windows, version, tmp_path):
    """By blocks and by one call, also over a longer file; temporary files go when they close."""
    parts, same, modified_s, resident, copied, called, left = answers(
        windows, version, COPYING, tmp_path
    )
    assert parts == [MIB, MIB, 7, 0]
    assert same == [True, True]
    assert modified_s == 1e9
    assert resident is None
    assert (copied, called) == (1, 10)
    assert left == ["source", "target", "whole"]


WRITING = """
import mmap
from system import files
block = mmap.mmap(-1, 512)
block.write(bytes(range(256)) * 2)
file = files.open_new("new")
os.write(file, bytes(4096))
files.finish_unpacked(file, 0o644, 1_000_000_000)
files.sync(file)
os.close(file)
print(json.dumps([files.sync_block_bytes("."), files.sync_block_bytes("missing/below")]))
print(json.dumps(os.stat("new").st_mtime))
try:
    files.open_new("new")
except FileExistsError as error:
    print(json.dumps(error.filename))
file = files.open_synced("new")
files.write_at(file, block, 1024)
os.close(file)
file, page = files.open_direct("new", writes=False), mmap.mmap(-1, 512)
files.read_at(file, page, 1024)
print(json.dumps(page[:] == block[:]))
try:
    files.read_at(file, page, 8192)
except OSError as error:
    print(json.dumps(error.strerror))
os.close(file)
for is_synced in (True, False):
    file = files.open_to_append("synced %s" % is_synced, is_synced=is_synced)
    for _ in range(3):
        os.write(file, block)
    os.close(file)
print(json.dumps({name: os.path.getsize(name) for name in os.listdir()}))
"""


@VERSIONS
def test_files_are_written_past_the_cache(windows, version, tmp_path):
    """At an offset, and at the end; what is not whole is an error."""
    *facts, sizes = answers(windows, version, WRITING, tmp_path)
    whole = "only 0 bytes of 512 were read or written"
    assert facts == [[512, 512], 1e9, "new", True, whole]
    assert sizes == {"new": 4096, "synced True": 1536, "synced False": 1536}


SHARING = """
import threading
from system import copies, folders
from system.windows.support import sharing
sharing.REPEATED_S = 0.3
for name in ("held", "new"):
    open(name, "w").close()
held = open("held")  # Python shares no deletion
try:
    folders.remove("held")
except OSError as error:
    print(json.dumps([error.winerror, folders.sharing_violations()]))
sharing.REPEATED_S = 60.0
threading.Timer(0.1, held.close).start()
folders.replace("new", "held")
print(json.dumps([folders.sharing_violations() > 0, os.listdir()]))
reader = copies.open_to_read("held")  # as this program opens files
folders.remove("held")
os.close(reader)
print(json.dumps(os.listdir()))
"""


@VERSIONS
def test_sharing_violations(windows, version, tmp_path):
    """What Python holds is waited for, and counted if that helps; this program holds nothing."""
    assert answers(windows, version, SHARING, tmp_path) == [[32, 0], [True, ["held"]], []]


IN_MEMBERS = """
import crew_members
from system import crews, folders
open("held", "w").close()
with crews.Crew(1, crew_members.remove_held, "held") as crew:
    list(crew.messages())
print(json.dumps([folders.sharing_violations() > 0, os.listdir()]))
"""


def test_sharing_violations_of_members(windows, tmp_path):
    """They count for the whole run."""
    assert answers(windows, windows_python.USUAL, IN_MEMBERS, tmp_path) == [[True, []]]


EXCLUDED = """
import contextlib
from system import copies
from system.windows.support import defender
for name in ("work", "excluded"):
    os.mkdir(name)
work, excluded = (os.path.abspath(name) for name in ("work", "excluded"))
others = ["C:\\\\windows", os.path.abspath("missing"), os.path.abspath("other/*")]
for paths in (None, [*others, excluded], [excluded, work]):
    defender.excluded_paths = lambda: paths
    print(json.dumps(copies.unscanned_folders(work) == [excluded]))
defender.excluded_paths = lambda: [excluded]
with contextlib.ExitStack() as stack:
    ways = copies.more_ways(stack, work)
    for kind in ways:
        print(json.dumps(kind))
    plain = lambda source, target, size: [source, target.startswith(excluded), size]
    print(json.dumps(ways["excluded"](plain, "source", "target", 7)))
print(json.dumps(os.listdir(excluded)))
"""


def test_copies_into_a_folder_that_defender_skips(windows, tmp_path):
    """One on the place's volume, unless it skips the place as well; nothing is left there."""
    text = answers(windows, windows_python.USUAL, EXCLUDED, tmp_path)
    assert text[:3] == [False, True, False]
    assert text[3:] == ["copy-file", "excluded", ["source", True, 7], []]


FOLDERS = """
from system import folders, page_cache
from system.probes import write_new_file
from system.windows import calls
folders.make_marked("made")
os.mkdir("plain")
print(json.dumps([folders.is_made_here("made"), folders.is_made_here("plain")]))
lock = folders.lock("plain")
try:
    folders.lock("plain")
except OSError as error:
    print(json.dumps([error.strerror, error.filename]))
calls.close_handle(lock)
print(json.dumps(os.listdir("plain")))
calls.close_handle(folders.lock("plain"))
free = folders.free_space_bytes
difference = free("missing/below") - free(".")  # others use this disk, too
print(json.dumps([abs(difference) < free("."), free("Q:\\\\")]))
long = folders.long_path(os.path.join(os.getcwd(), *["Käse %03d" % number for number in range(40)]))
os.makedirs(long)
write_new_file(os.path.join(long, "file"), 3, b"abc")
page_cache.sync_filesystem(long)
page_cache.evict(os.path.join(long, "file"))
print(json.dumps([len(long) > 260, long[:4]]))
folders.remove_tree(folders.long_path(os.path.join(os.getcwd(), "Käse 000")))
print(json.dumps(sorted(os.listdir())))
"""
TAKEN = "another run writes its result there; wait for it, or use another --output"


@VERSIONS
def test_folders(windows, version, tmp_path):
    """Marked, locked until the process ends, with more than 260 characters, and removed."""
    assert answers(windows, version, FOLDERS, tmp_path) == [
        [True, False],
        [TAKEN, "plain"],
        [],
        [True, 0],
        [True, "\\\\?\\"],
        ["made", "plain"],
    ]


CLOCK = """
from system import clock
print(json.dumps(clock.now_ns()))
"""


@VERSIONS
def test_processes_share_the_clock(windows, version, tmp_path):
    """Also with Python 3.8, whose own counts from the start of each process."""
    (first,), (second,) = (answers(windows, version, CLOCK, tmp_path) for _ in range(2))
    assert first < second < first + 120e9


def test_a_drive_on_which_nothing_can_be_written(windows, mount, tmp_path):
    """It fails at once, in one line: Python's tempfile would try for ever there."""
    point = mount("size=1m,ro")
    with windows.drive("e", point) as root:
        words = f"run --pool x --retrieves 1 --sizes 1x0.001 --place w={root} --output".split()
        code, output = windows.run_python(wine.path_of(SCRIPT), *words, wine.path_of(tmp_path))
    assert code == 1, output
    errors = [line for line in output.splitlines() if line.startswith("error")]
    assert errors == [r"error: place w (E:\): Access denied"]
    assert "Traceback" not in output

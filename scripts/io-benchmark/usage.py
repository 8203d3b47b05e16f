# SPDX-License-Identifier: MPL-2.0
"""What --help prints. It is a module of its own because a task's program does not carry it."""

import textwrap

from log import say
from settings import HELP_COLUMNS

# One screen for people; %s stands for the workloads.
HELP = """\
usage: python3 io-benchmark.pyz run --pool NAME [OPTION ...]
       python3 io-benchmark.pyz measure [OPTION ...] -- COMMAND

`run` measures the storage of this machine and writes one result file. First it
prints where it works and how much it writes. At the end it removes its files.
`io-benchmark compare` compares result files.
`measure` runs a command, and writes what it asked of this machine.

  --pool NAME           one name for all machines of this kind
  --capacities          measure in about a minute per place all that
                        `io-benchmark predict` needs of a pool
  --place NAME=/PATH    measure this folder; repeatable (default: workspace=,
                        the CI job's folder, else the current one)
  --output FOLDER       write FOLDER/io-benchmark/io-benchmark.json (default: .)
  --profile PROFILE     full: 6 GB of files, 2000 copies; quarter: files of a
                        quarter; twentieth: 200 copies; quick: an eightieth,
                        100 copies
                        (default: quick; in a CI job the first that leaves half
                        of the space free)
  --time-budget SECONDS end after this time, with what was measured until then
                        (default: 600, times workloads, places, destinations;
                        of --capacities 300, times places)
  --workload NAME       repeatable (default: cache-retrieve); one of
%s
  --retrieves N         number of copies (default: 2000)
  --sizes COUNTxMIB,... sizes of the files, instead of the profile's
  --destination WHICH   overwrite, unlink or fresh; repeatable
                        (default: overwrite)
  --trials WHEN         auto, always or never try what makes a difference
                        (default: auto)
  --pace BYTES_PER_S    one of the trials copies at this speed
  --seed N              another order of the copies (default: 1)
  --perfherder WHOSE    also write Perfherder's file: pool or neutral
  --upload-url URL      where `upload` uploads to (default: this machine)
  --download-url URL    what `download` downloads (default: from this machine)
  --version             print the version

Exit code: 0 measured, 1 failed, 2 wrong arguments, 128+N ended by signal N.
"""


def show(workload_names):
    indent = " " * 24
    wrapper = textwrap.TextWrapper(HELP_COLUMNS, indent, indent, break_on_hyphens=False)
    for line in (HELP % wrapper.fill(", ".join(workload_names))).splitlines():
        say(line)

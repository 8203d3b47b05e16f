# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Shows the progress of a rehearsal: a bar on a terminal, lines elsewhere."""

import re

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

# The script's own lines for people; only this bar may read them.
STEP = re.compile(r"\[ *([0-9]{1,9})/([0-9]{1,9})\]")
# The cache is written, then read back: two counts for each task with one place.
COUNTS_A_TASK = 2
LINE_LENGTH = 400


class RehearsalProgress:
    """Shows each task and, where wanted, each line of its log."""

    def __init__(self, console: Console, tasks: int, verbose: bool) -> None:
        self._console = console
        self._verbose = verbose
        self._tasks = tasks
        self._done = 0
        self._label = ""
        self._counts = 0
        self._last = 0.0
        self._bar: Progress | None = None
        self._bar_task = TaskID(0)
        if console.is_terminal:
            self._bar = Progress(
                TextColumn("{task.description}"),
                BarColumn(),
                TextColumn("{task.percentage:>3.0f} %"),
                TimeRemainingColumn(),
                console=console,
                transient=True,
            )
            self._bar_task = self._bar.add_task("starting", total=tasks)
            self._bar.start()

    def close(self) -> None:
        if self._bar:
            self._bar.stop()

    def begin(self, label: str) -> None:
        self._label, self._counts, self._last = label, 0, 0.0
        if self._bar:
            self._bar.update(self._bar_task, description=label)
        else:
            self._say(f"[{self._done + 1}/{self._tasks}] {label}")

    def line(self, line: str) -> None:
        if self._verbose:
            # run-task says the whole command, script and all, in one line.
            self._say(line if len(line) <= LINE_LENGTH else line[:LINE_LENGTH] + " …")
        step = STEP.search(line)
        if step is None or not self._bar or int(step[2]) == 0:
            return
        share = min(int(step[1]) / int(step[2]), 1.0)
        if share < self._last:
            self._counts += 1
        self._last = share
        # Several places or destinations count more often: the bar waits rather than overshoots.
        within = min((self._counts + share) / COUNTS_A_TASK, 0.99)
        self._bar.update(self._bar_task, completed=self._done + within)

    def end(self, state: str, seconds: float) -> None:
        self._done += 1
        if self._bar:
            self._bar.update(self._bar_task, completed=self._done)
        self._say(f"  {self._label}: {state} in {seconds:.1f} s")

    def _say(self, text: str) -> None:
        # Plain text: what a task prints is never read as markup.
        self._console.print(text, markup=False, highlight=False, soft_wrap=True)

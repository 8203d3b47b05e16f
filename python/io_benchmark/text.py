# SPDX-License-Identifier: MPL-2.0
"""Untrusted text, made safe to show: the only place that decides what is shown.

Anyone's task can write into a result file, a label or an answer. The functions remove user
information from addresses, and break what a CI system would take for a command in its log. U+FFFD
replaces what a terminal does not show as a character: escape sequences, bidirectional controls,
zero-width characters, lone surrogates, private characters. Markup stays, because each output format
escapes it.
"""

import re
from unicodedata import category

# Characters of a text, of a name in a message, and cells of a name in a table or a figure. Chosen.
LINE_LENGTH = 1000
NAME_LENGTH = 200
NAME_CELLS = 40
# No script puts more accents on one letter. More would be drawn over the lines above.
_MAXIMUM_ACCENTS = 3
# Longer text is cut before it is searched, so that a hostile megabyte costs no time.
_MARGIN = 4000
# User name and password in an address; a slash in the password seems to end the host.
_USER_INFORMATION = re.compile(r"(?<=//)(?:[^\s/?#@]*|[^\s/?#:@]*:[^\s@]*)@", re.ASCII)
# `##vso[…]` of Azure Pipelines, `##[…]` and `::…::` of GitHub Actions.
_LOG_COMMAND = re.compile(r"#(?=#(?:vso)?\[)|:(?=:[a-z-]+(?:::| ))")
_MISSING = re.compile(r"Object missing required field `(.*?)`(?: - at `(.*)`)?", re.DOTALL)
_PLAIN_WORD = re.compile("[a-z]+[,.:;]?")
# How a run ended, by the queue's `reasonResolved` of an exception. Machines that a cloud may take
# back end runs in two ways: a worker that was told in time says so (worker-shutdown; since release
# 96.6.0 the queue says it for a worker that is gone), one that was not is missed when its claim
# runs out (claim-expired).
_ENDINGS = {
    "worker-shutdown": "was preempted",
    "claim-expired": "was preempted, or its worker died",
    "deadline-exceeded": "was not done by its deadline",
    "canceled": "was cancelled",
    "superseded": "gave way to a newer task",
    "malformed-payload": "was refused by its worker",
    "resource-unavailable": "lacked something that it needs",
    "internal-error": "met an error of its worker",
    "intermittent-task": "asked to be run again",
}


def clean_lines(text: str) -> str:
    """Make text safe to show; line breaks and tabs stay."""
    if "@" in text:
        text = _USER_INFORMATION.sub("…@", text)
    if "##" in text or "::" in text:
        text = _LOG_COMMAND.sub(r"\g<0> ", text)
    if text.isprintable() and text.isascii():
        return text
    characters = []
    accents = 0
    for character in text:
        accents = accents + 1 if category(character) in ("Mn", "Me") else 0
        is_shown = character.isprintable() or character in "\n\t"
        characters.append(character if is_shown and accents <= _MAXIMUM_ACCENTS else "\ufffd")
    return "".join(characters)


def clean(text: str, length: int = LINE_LENGTH) -> str:
    """Make text one safe line of at most `length` characters; white space becomes single blanks."""
    line = clean_lines(" ".join(text[: length + _MARGIN].split()))
    return line if len(line) <= length else line[: length - 1] + "…"


def clean_name(text: str) -> str:
    """Make a label, a path, an address or a state one short safe line."""
    return clean(text, NAME_LENGTH)


def name(text: str, cells: int = NAME_CELLS) -> str:
    """Make a name fit into `cells` columns; omit its middle, because pools differ at the end."""
    line = clean(text, 4 * LINE_LENGTH)
    if line.isascii() and len(line) <= cells:
        return line or "(no name)"
    from rich.cells import cell_len  # noqa: PLC0415 - most names do not need it

    if len(line) <= cells and cell_len(line) <= cells:
        return line
    head_cells = cells // 2
    tail_cells = cells - head_cells - 1
    # Never more characters than cells, as some take no cell.
    head, tail = line[:head_cells], line[max(0, len(line) - tail_cells) :]
    while cell_len(head) > head_cells:
        head = head[:-1]
    while cell_len(tail) > tail_cells:
        tail = tail[1:]
    return f"{head}…{tail}"


def problem_in_words(message: str) -> str:
    """Return what msgspec says of a wrong value; of a key that is missing, which one it is."""
    match = _MISSING.fullmatch(message)
    return f"{match[2] or '$'}.{match[1]}: is missing" if match else message


def capitalized(words: str) -> str:
    """Begin a sentence with a capital letter, unless it begins with a name such as `ext4`."""
    first = words.partition(" ")[0]
    return words[:1].upper() + words[1:] if _PLAIN_WORD.fullmatch(first) else words


def ending_in_words(state: str, reason: str | None) -> str:
    """Return how a run ended, `was preempted (worker-shutdown)`, to write after the run's name."""
    if reason is not None and reason in _ENDINGS and state == "exception":
        return f"{_ENDINGS[reason]} ({reason})"
    if state in ("completed", "failed") and reason in (None, state):
        return state
    return f"is {state}" if reason in (None, state) else f"is {state} ({reason})"

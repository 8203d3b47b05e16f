# SPDX-License-Identifier: MPL-2.0
"""Text in the Markdown that GitHub and Bugzilla share, shown exactly.

No text of a result file is trusted to be prose. A word with more than letters, digits and ordinary
punctuation becomes code, in which nothing is markup, a link, a mention or a reference.
"""

import re

_SYMBOLS = frozenset(("%", "\N{EN DASH}", "±", "÷", "×", "·", "→", "∞"))
# What a sentence may have alone before or behind words of another kind.
_BETWEEN_PIECES = ("", ",", ".", ":", ";", "(", ")")
# A word: brackets and quotes, the core, then brackets, quotes and punctuation.
_PARTS = re.compile(r"""([("'±]*)(.*?)([)"',;:.!?%×…]*)""", re.DOTALL)
# A sign is part of its number.
_PLAIN = re.compile(r"(?:[+\u2212](?=[0-9]))?[^\W_]+(?:[-'\u2019.,/×][^\W_]+)*")
# GitHub or Bugzilla would make links of these words, which have no special punctuation.
_REFERENCE = re.compile(
    r"www\.|\bgh-[0-9]|\b[0-9a-f]{7,}\b|\b(?:bug|comment|attachment)s?\b", re.IGNORECASE
)
_LIST_MARK = re.compile(r"[0-9]+[.)]+")


def prose(text: str) -> str:
    """Return Markdown that shows exactly this text; neighbors that need code share a span."""
    shown: list[str] = []
    code: list[str] = []
    for at, word in enumerate(text.split(" ")):
        start, core, end = _split_word(word)
        plain = _is_plain(word, core) and not (at == 0 and _LIST_MARK.fullmatch(word))
        if plain:
            if code:
                shown.append(_code_with_ends(" ".join(code)))
                code = []
            shown.append(word)
        else:
            code.append(start + core + end)
    if code:
        shown.append(_code_with_ends(" ".join(code)))
    return " ".join(shown)


def _split_word(word: str) -> tuple[str, str, str]:
    match = _PARTS.fullmatch(word)
    return (match[1], match[2], match[3]) if match else ("", word, "")


def _is_plain(word: str, core: str) -> bool:
    if word in _BETWEEN_PIECES or word.rstrip(".,;:)") in _SYMBOLS:
        return True
    return bool(_PLAIN.fullmatch(core)) and not _REFERENCE.search(core)


def _code_with_ends(text: str) -> str:
    """Make a code span; the brackets and punctuation around it stay prose."""
    start, core, end = _split_word(text)
    # A bracket that is opened inside the span is closed inside it.
    while end.startswith(")") and core.count("(") > core.count(")"):
        core, end = core + ")", end[1:]
    return f"{start}{_code(core)}{end}" if core else _code(text)


def _code(text: str) -> str:
    # No escape of these two inside code works in all renderers.
    return "`" + text.replace("`", "'").replace("|", "¦") + "`"

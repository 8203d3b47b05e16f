# SPDX-License-Identifier: MPL-2.0
"""Refusals because another program has a file are overcome, counted, and limited."""

import pytest
from system.windows.support import sharing

SHARING_VIOLATION, FILE_NOT_FOUND = 32, 2


class _RefusedError(OSError):
    """As Windows raises it."""

    def __init__(self, code):
        super().__init__(13, "refused")
        self.winerror = code


class Refusing:
    """A call that is refused so many times; and a clock that only pauses move."""

    def __init__(self, times, code=SHARING_VIOLATION):
        self.left, self._code, self.now_s = times, code, 0.0

    def __call__(self, answer):
        if self.left > 0:
            self.left -= 1
            raise _RefusedError(self._code)
        return answer

    def sleep(self, seconds):
        self.now_s += seconds


def repeated(monkeypatch, call):
    """The answer of the call, and how many refusals were counted."""
    monkeypatch.setattr(sharing, "time", call)
    call.perf_counter = lambda: call.now_s
    before = sharing.violations()
    answer = sharing.repeated(call, "done")
    return answer, sharing.violations() - before


@pytest.mark.parametrize("code", [5, 32, 33, 145, 303])
def test_refusals_are_overcome_and_counted(monkeypatch, code):
    """Each refusal before the success counts."""
    assert repeated(monkeypatch, Refusing(3, code)) == ("done", 3)


def test_success_at_once(monkeypatch):
    """What succeeds at once neither waits nor counts."""
    call = Refusing(0)
    assert repeated(monkeypatch, call) == ("done", 0)
    assert call.now_s == 0


def test_refused_to_the_end(monkeypatch):
    """After two seconds the refusal is an error, and counts nothing: it has another reason."""
    call, before = Refusing(10**6), sharing.violations()
    with pytest.raises(OSError, match="refused"):
        repeated(monkeypatch, call)
    assert 1.9 < call.now_s <= 2
    assert sharing.violations() == before


def test_other_errors_are_not_repeated(monkeypatch):
    """A missing file is missing at once."""
    call = Refusing(1, FILE_NOT_FOUND)
    with pytest.raises(OSError, match="refused"):
        repeated(monkeypatch, call)
    assert call.now_s == 0

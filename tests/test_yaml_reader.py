# SPDX-License-Identifier: MPL-2.0
"""YAML from anybody: what is too large or wrong is one line with its place, and soon."""

import random
import signal
import string
import time
from collections.abc import Iterator

import pytest
import yaml

from io_benchmark import yaml_reader
from io_benchmark.yaml_reader import YamlError, parse_yaml, plain_or_quoted


def mistake(text: str) -> str:
    with pytest.raises(YamlError) as caught:
        parse_yaml(text)
    line = str(caught.value)
    assert line.isprintable()
    return line


def bomb(levels: int, each: int) -> str:
    """Return a text whose last value has so many values of the level before it, and so on."""
    lines = [f"a0: &a0 [{', '.join('x' * each)}]"]
    lines += [
        f"a{level}: &a{level} [{', '.join([f'*a{level - 1}'] * each)}]"
        for level in range(1, levels)
    ]
    return "\n".join(lines)


MERGES = "m0: &m0 {a: 1, b: 2}\n" + "\n".join(
    f"m{level}: &m{level} {{<<: [{', '.join([f'*m{level - 1}'] * 9)}]}}" for level in range(1, 12)
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", None),
        ("a: [1, 2.5, x, null, true, 2026-11-28]", None),
        ("a: &a [1]\nb: *a\nc: {<<: {d: 1}, d: 2}", None),
        ("a: {<<: {b: 1}, <<: {c: 2}}", None),
        ("\ufeffa: 1", None),
    ],
)
def test_same_as_pyyaml(text: str, expected: None) -> None:
    """What has no mistake has the same meaning."""
    assert expected is None
    assert parse_yaml(text) == yaml.safe_load(text)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("a: \0", "line 1: the character U+0000 is not allowed"),
        ("\na: \f", "line 2: the character U+000C is not allowed"),
        ("a: [", "line 1: expected the node content, but found '<stream end>'"),
        ("a: [\u2028\n\n}", "line 3: expected the node content, but found '}'"),
        ("a: &a [*a]", "line 1: *a contains itself"),
        ("a: &a {b: {c: *a}}", "line 1: *a contains itself"),
        ("a: *b", "line 1: found undefined alias 'b'"),
        ("a: 1\na:", "line 2: 'a' is given twice"),
        ("a: {b: 1, 'b': 2}", "line 1: 'b' is given twice"),
        ("\n\na: 2026-99-99", "line 3: '2026-99-99' is not a timestamp"),
        ("a: 2026-01-01T00:00:00+99:00", "line 1: '2026-01-01T00:00:00+99:00' is not a timestamp"),
        ("a: !!int ''", "line 1: '' is not a int"),
        ("a: !!bool x", "line 1: 'x' is not a bool"),
        ("a: !!float {=: 1}", "line 1: expected a scalar node, but found mapping"),
        ("a: !x y", "line 1: could not determine a constructor for the tag '!x'"),
        ("a: =", "line 1: could not determine a constructor for the tag 'tag:yaml.org,2002:value'"),
        ("? [a]\n: b", "line 1: found unhashable key"),
        ("--- a\n--- b", "line 2: but found another document"),
        (
            "a: {<<: 1}",
            "line 1: expected a mapping or list of mappings for merging, but found scalar",
        ),
    ],
)  # fmt: skip
def test_mistakes(text: str, line: str) -> None:
    """The line of the text, as an editor counts it, and the problem."""
    assert mistake(text) == line


def nested(levels: int) -> str:
    return f"{'[' * levels}{']' * levels}"


def chained(levels: int) -> str:
    """Return a text whose last value has so many levels with its aliases, one or two without."""
    lines = ["- &a1 []", *(f"- &a{level} [*a{level - 1}]" for level in range(2, levels))]
    return "\n".join(lines)


def base_60(size: int) -> str:
    """Return a number of this many characters."""
    return f"a: {'1' * (2 - size % 2)}{':1' * ((size - 1) // 2)}"


LIMITS = {
    "numbers": (lambda size: f"a: {'9' * size}", 100, "a number has more than 100 characters"),
    "base 60": (base_60, 100, "a number has more than 100 characters"),
    "levels": (nested, 50, "is nested more than 50 levels deep"),
    "levels of aliases": (chained, 50, "is nested more than 50 levels deep"),
    "values": (lambda size: f"[{'a,' * (size - 1)}]", 100_000, "has more than 100,000 values"),
    "aliases": (
        lambda size: f"- &a b\n- [{'*a ,' * size}]",
        10_000,
        "has more than 10,000 aliases",
    ),
}


@pytest.mark.parametrize("name", LIMITS)
def test_limits(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is at a limit is read, and one more is refused."""
    make, most, problem = LIMITS[name]
    if name in ("values", "aliases"):
        # The same with fewer, which is faster.
        monkeypatch.setattr(yaml_reader, f"MOST_{name.upper()}", most // 100)
        most, problem = most // 100, problem.replace(f"{most:,}", f"{most // 100:,}")
    parse_yaml(make(most))
    assert problem in mistake(make(most + 1))


ATTACKS = {
    "lists": bomb(12, 9),
    "one level more each time": bomb(49, 2),
    "merges": MERGES,
    "5,000 lists": nested(5_000),
    "open lists": "[" * 500_000,
    "mappings": "{a: " * 100_000,
    "6,000 digits": f"a: {'9' * 6_000}",
    "base 60": f"a: 1{':1' * 500_000}",
    "base 60 with a fraction": f"a: 1{':1' * 500_000}.5",
    "hexadecimal": f"a: 0x{'f' * 1_000_000}",
    "aliases of themselves": "a: &a [*a, *a]",
    "block": "".join(f"{' ' * level}a:\n" for level in range(1_000)),
    "keys of a million characters": f"? {'x' * 1_000_000}\n: 1\n? [\n",
}


@pytest.mark.parametrize("name", ATTACKS)
def test_attacks(name: str) -> None:
    """Each ends in one line, after seconds at most and not after hours."""
    begin_s = time.process_time()
    assert mistake(ATTACKS[name]).startswith("line ")
    assert time.process_time() - begin_s < 30


def names() -> Iterator[str]:
    yield from (
        "-",
        "1",
        "true",
        "null",
        "1e3",
        "~",
        "no",
        "0x1",
        "1_0",
        "1:30",
        "2026-01-01",
        ".5",
        "=",
    )
    yield from (
        "<<",
        "",
        " ",
        "a ",
        " a",
        "a: b",
        "a #b",
        "#",
        "a:",
        "- a",
        "? a",
        "[",
        "{",
        "*a",
        "&a",
        "!a",
    )
    yield from (
        "a, b",
        "'",
        '"',
        "a'b",
        'a"b',
        "\\",
        "%a",
        "@a",
        "`a",
        "|",
        ">",
        "\t",
        "a\nb",
        "\u2028",
        "\x7f",
    )
    yield from (
        "ä",
        "😀",
        "x" * 2_000,
        "b-(x|y)z",
        "b-[a]",
        "---",
        "...",
        "\x85",
        "\ufeff",
        "a\r",
        "\x00",
    )
    generator = random.Random(44)
    for _ in range(300):
        yield "".join(generator.choices(string.printable, k=generator.randint(1, 6)))


def test_plain_or_quoted() -> None:
    """A name is read back as this text, as a value in a block, in a flow, and as a key."""
    for name in names():
        word = plain_or_quoted(name)
        assert yaml.safe_load(f"a: {word}\nb: {{c: {word}}}") == {"a": name, "b": {"c": name}}
        if len(word) < 1_000:
            assert yaml.safe_load(f"{word}: 1\n") == {name: 1}
    words = ["b-linux", "b-(x|y)z", "2-cpus", '"1"', '"true"', '"1e3"', '"0o7"', '"-.5"']
    assert [plain_or_quoted(word.strip('"')) for word in words] == words


SLOW = {
    "comment": "#" * 1_900_000,
    "text": f"a: '{'x ' * 900_000}'",
    "list": f"[{'a,' * 90_000}]",
    "tag": f"a: !{'x' * 1_900_000} b",
}


@pytest.mark.parametrize("name", SLOW)
def test_interrupted(name: str) -> None:
    """Ctrl-C ends the reading of the largest files within a second."""
    interrupted_s = 0.0

    def interrupt(_number: int, _frame: object) -> None:
        nonlocal interrupted_s
        interrupted_s = time.process_time()
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGPROF, interrupt)
    signal.setitimer(signal.ITIMER_PROF, 0.05)
    try:
        with pytest.raises(KeyboardInterrupt):
            parse_yaml(SLOW[name])
        assert time.process_time() - interrupted_s < 1
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)

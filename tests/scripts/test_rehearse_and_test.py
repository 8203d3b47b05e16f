# SPDX-License-Identifier: MPL-2.0
"""What scripts/rehearse and scripts/test start."""

import pytest


@pytest.mark.parametrize(
    ("script", "arguments", "started"),
    [
        pytest.param("rehearse", [], ["rehearse", "--root", "{path}"], id="rehearse"),
        pytest.param(
            "rehearse",
            ["-j", "amd-16,intel", "two words", ""],
            ["rehearse", "--root", "{path}", "-j", "amd-16,intel", "two words", ""],
            id="rehearse with arguments",
        ),
        pytest.param(
            "test",
            [],
            ["run", "--root", "{path}", "--conf", "{path}/tox.ini", "-e", "py"],
            id="test",
        ),
        pytest.param(
            "test",
            ["-k", "one or two"],
            [
                *("run", "--root", "{path}", "--conf", "{path}/tox.ini", "-e", "py"),
                *("--", "-k", "one or two"),
            ],
            id="test with arguments",
        ),
    ],
)
def test_command(checkout, script, arguments, started):
    """The program gets the checkout and every argument as it was given."""
    checkout.interpreter("python3")
    assert checkout.run(script, *arguments)[1] == [
        f"<{argument.format(path=checkout.path)}>" for argument in started
    ]


@pytest.mark.parametrize("script", ["rehearse", "test"])
@pytest.mark.parametrize("code", [0, 1, 2, 130])
def test_exit_code(checkout, script, code):
    """The program's exit code is the script's."""
    checkout.interpreter("python3")
    assert checkout.run(script, PROGRAM_CODE=str(code))[0] == code


@pytest.mark.parametrize(
    ("script", "installed"),
    [
        pytest.param("rehearse", ["started", "finished", "project"], id="rehearse"),
        pytest.param("test", ["started", "finished"], id="test"),
    ],
)
def test_what_is_installed(checkout, script, installed):
    """The project itself is installed for rehearse; for tests tox does it."""
    checkout.interpreter("python3")
    checkout.run(script)
    assert checkout.logged()[1:] == installed

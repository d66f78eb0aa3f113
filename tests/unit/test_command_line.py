"""The verbs: what goes to which stream, and with which exit code."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from core_helpers import MakeExecutable, answer, fake_ccc, make_project, row
from helpers import POSIX, ROOT
from vera_ccc_tools import __version__, tools

Done = subprocess.CompletedProcess[bytes]


def vera(*arguments: str, cwd: Path = ROOT, environ: Mapping[str, str] = os.environ) -> Done:
    return subprocess.run(
        [sys.executable, "-m", "vera_ccc_tools", *arguments],
        cwd=cwd,
        env={**os.environ, **environ},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=60,
        check=False,
    )


def test_the_version_is_printed() -> None:
    assert vera("--version").stdout.decode().strip() == __version__


@pytest.mark.parametrize("arguments", [(), ("nothing",), ("call",), ("sync", "--what"), ("--x",)])
def test_a_wrong_usage_ends_with_2(arguments: tuple[str, ...]) -> None:
    done = vera(*arguments)
    assert done.returncode == 2
    assert done.stdout == b""
    assert b"usage: vera-ccc" in done.stderr


def test_the_table_is_printed_as_the_adapter_has_it() -> None:
    done = vera("tools")
    assert done.returncode == 0
    assert json.loads(done.stdout) == tools.listing()
    assert done.stdout.decode() == (ROOT / "extension" / "tools.json").read_text("utf-8")


def test_the_status_of_a_directory_is_printed(tmp_path: Path) -> None:
    for arguments, cwd in (((), tmp_path), (("--cwd", str(tmp_path)), ROOT)):
        done = vera("status", *arguments, cwd=cwd, environ={"PATH": ""})
        assert done.returncode == 0
        assert done.stdout.startswith(b"Semantic code search is not available now.\n")


@pytest.mark.parametrize("verb", [("status",), ("sync",), ("call", "ccc_index")])
def test_a_directory_that_is_missing_ends_with_1(tmp_path: Path, verb: tuple[str, ...]) -> None:
    done = vera(*verb, "--cwd", str(tmp_path / "missing"))
    assert done.returncode == 1
    assert done.stdout == b""
    assert b"missing' cannot be used: No such file or directory." in done.stderr
    assert b"Traceback" not in done.stderr


def test_a_sync_without_a_project_is_a_failure_with_a_hint(tmp_path: Path) -> None:
    done = vera("sync", cwd=tmp_path)
    assert done.returncode == 1
    assert done.stdout == b""
    message, hint = done.stderr.decode().splitlines()
    assert message == f"{tmp_path} belongs to no ccc project."
    assert "ccc init" in hint


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("ccc_search", "{"), "The arguments '{' are no JSON: "),
        (("ccc_search", "[" * 100_000), "The arguments '[[["),
        (("ccc_search", "[]"), "The arguments are []; they have to be an object."),
        (("ccc_search",), "`query` is missing."),
        (("ccc_search", '{"query": 5}'), "`query` is 5; it has to be a text."),
        (("ccc_nothing",), "There is no tool 'ccc_nothing'."),
    ],
)
def test_a_wrong_call_ends_with_1(arguments: tuple[str, ...], says: str) -> None:
    done = vera("call", *arguments)
    assert done.returncode == 1
    assert done.stdout == b""
    assert done.stderr.decode().startswith(says)
    assert b"Traceback" not in done.stderr


def test_a_call_prints_its_text_in_utf_8_whatever_the_terminal_says(
    tmp_path: Path, fake_executable: MakeExecutable
) -> None:
    body = f"print({answer(row('日本.py', 'ü = 1'))!r})"
    fake = fake_ccc(fake_executable, tmp_path, body)
    root = make_project(tmp_path / "p")
    environ = {"VERA_CCC_EXECUTABLE": str(fake.path), "VERA_CCC_GITIGNORE_SYNC": "0"}
    odd = {"PYTHONIOENCODING": "ascii", "LC_ALL": "C"}
    given = json.dumps({"query": "日本", "refresh_index": False})
    done = vera("call", "ccc_search", given, "--cwd", str(root), environ={**environ, **odd})
    assert done.returncode == 0, done.stderr
    assert "日本.py:1-1 [python] 0.500\nü = 1\n" in done.stdout.decode()


def test_a_call_waits_for_what_it_starts_in_the_background(
    tmp_path: Path, fake_executable: MakeExecutable
) -> None:
    fake = fake_ccc(fake_executable, tmp_path, "print('  Chunks: 1\\n  Files:  1')")
    root = make_project(tmp_path / "p")
    environ = {"VERA_CCC_EXECUTABLE": str(fake.path), "VERA_CCC_GITIGNORE_SYNC": "0"}
    done = vera("call", "ccc_index", '{"background": true}', "--cwd", str(root), environ=environ)
    assert done.returncode == 0
    assert done.stdout.decode().splitlines()[-1] == "ccc_index in the background is done."


@pytest.mark.skipif(not POSIX, reason="a closed pipe is another error on Windows")
def test_an_output_that_nobody_reads_is_no_error() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    child = subprocess.Popen(
        [sys.executable, "-m", "vera_ccc_tools", "tools"], stdout=writing, stderr=subprocess.PIPE
    )
    os.close(writing)
    _, error = child.communicate(timeout=60)
    assert (child.returncode, error) == (0, b"")

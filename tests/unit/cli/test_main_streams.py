"""Streams that are closed or full, directories that are gone, a Ctrl-C: all of them are told."""

from __future__ import annotations

import os
import re
import shlex
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from core_helpers import (
    MakeExecutable,
    alive,
    environment,
    make_project,
    pid_in,
    until,
    vera,
)
from helpers import POSIX, ROOT
from vera_ccc_tools.setup import launch


@pytest.mark.skipif(not POSIX, reason="a closed pipe is another error on Windows")
@pytest.mark.parametrize("verb", [["tools"], ["--version"], ["--help"], ["sync", "--help"]])
def test_an_output_that_nobody_reads_is_no_error(verb: list[str]) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    child = subprocess.Popen(
        [sys.executable, "-m", "vera_ccc_tools", *verb], stdout=writing, stderr=subprocess.PIPE
    )
    os.close(writing)
    _, error = child.communicate(timeout=60)
    assert (child.returncode, error) == (0, b"")


@pytest.mark.skipif(not POSIX, reason="/dev/full is there on POSIX only")
@pytest.mark.parametrize("verb", [["tools"], ["--version"], ["status", "--json"]])
def test_an_output_that_cannot_be_written_ends_with_1(verb: list[str], tmp_path: Path) -> None:
    with Path("/dev/full").open("w", encoding="utf-8") as full:
        child = subprocess.run(
            [sys.executable, "-m", "vera_ccc_tools", *verb],
            stdout=full,
            stderr=subprocess.PIPE,
            cwd=tmp_path,
            timeout=60,
            check=False,
        )
    assert child.returncode == 1
    assert child.stderr == b"The output cannot be written: No space left on device.\n"


@pytest.mark.skipif(not POSIX, reason="elsewhere such a name cannot be made")
@pytest.mark.parametrize("verb", ["status", "sync"])
def test_no_name_of_a_directory_reaches_a_terminal_as_an_escape(tmp_path: Path, verb: str) -> None:
    root = tmp_path / "a\x1b[31mb\x07\u202e"
    root.mkdir()
    done = vera(*verb.split(), cwd=root, environ={"FORCE_COLOR": "1"})
    said = (done.stdout + done.stderr).decode()
    plain = re.sub(r"\x1b\[(0|1|31|33|1;31)m", "", said.replace("\x1b[31mb", "!"))
    assert not {"\x1b", "\x07", "\u202e", "!"} & set(plain), said
    assert "status" in verb or "belongs to no ccc project" in plain


@pytest.mark.skipif(not POSIX, reason="only a shell closes streams")
@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
@pytest.mark.parametrize(("verb", "code"), [("worker", 0), ("tools", 0), ("search", 2)])
def test_a_closed_stream_is_an_empty_one(closed: str, verb: str, code: int) -> None:
    program = shlex.join([sys.executable, str(ROOT / "vera_ccc_tools/bootstrap.py"), verb])
    done = subprocess.run(
        ["/bin/sh", "-c", f"{program} {closed}"],
        env=os.environ | {"VERA_CCC_PYTHON": sys.executable},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == code
    assert b"Traceback" not in done.stderr


@pytest.mark.skipif(not POSIX, reason="Windows keeps a directory that somebody is in")
@pytest.mark.parametrize("verb", ["search x", "index", "status", "sync", "init", "mcp"])
def test_a_current_directory_that_is_gone_is_told(tmp_path: Path, verb: str) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    program = shlex.join([sys.executable, str(ROOT / "vera_ccc_tools/bootstrap.py")])
    done = subprocess.run(
        ["/bin/sh", "-c", f'cd "$1" && rmdir "$1" && exec {program} {verb}', "sh", str(gone)],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 1
    assert done.stderr == (
        b"The current directory cannot be used: No such file or directory.\n"
        b"Change to one that exists.\n"
    )


def test_an_mcp_without_its_extra_names_the_line_that_starts_one_with_it(tmp_path: Path) -> None:
    code = """
        import sys
        from vera_ccc_tools.__main__ import main

        sys.modules["anyio"] = None
        sys.exit(main(["mcp"]))
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 1
    assert f"Install vera-ccc-tools[mcp] in {sys.executable}, or run" in done.stderr
    assert done.stderr.splitlines()[-1].endswith(f": {launch.find().line('mcp')}")


@pytest.mark.parametrize("module", ["cli.main", "cli.commands"])
def test_ctrl_c_before_a_verb_runs_is_no_error_either(module: str) -> None:
    code = f"""
        import sys
        from vera_ccc_tools import bootstrap

        class Interrupted:
            def find_spec(self, name, path, target=None):
                if name == "vera_ccc_tools.{module}":
                    raise KeyboardInterrupt

        sys.meta_path.insert(0, Interrupted())
        sys.exit(bootstrap.main(["--here", "status"]))
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (130, b"", b"")


@pytest.mark.skipif(not POSIX, reason="a console's Ctrl-C cannot be sent to one process alone")
@pytest.mark.parametrize(
    "verb",
    [
        ["index"],
        ["search", "x"],
        ["doctor", "--json"],
        ["call", "ccc_index", '{"background": true}'],
    ],
)
def test_ctrl_c_ends_with_130_and_leaves_no_child(
    tmp_path: Path, fake_executable: MakeExecutable, verb: list[str]
) -> None:
    body = """
        import os, threading
        with open(os.path.join(os.path.dirname(__file__), "pid"), "w") as file:
            file.write(f"{os.getpid()}\\n")
        threading.Event().wait(600)
    """
    ccc = fake_executable("ccc", body, directory=tmp_path / "bin")
    environ = environment(VERA_CCC_EXECUTABLE=str(ccc), VERA_CCC_GITIGNORE_SYNC="0")
    child = subprocess.Popen(
        [sys.executable, "-m", "vera_ccc_tools", *verb, "--cwd", str(make_project(tmp_path / "p"))],
        env=environ | {"VERA_CCC_TIMEOUT_STATUS": "60"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    waiting = pid_in(tmp_path / "bin" / "pid", 30)
    child.send_signal(signal.SIGINT)
    out, error = child.communicate(timeout=30)
    assert (child.returncode, out) == (130, b"")
    *progress, last = [*error.splitlines(), *([] if verb == ["index"] else [b"Indexing: "])]
    assert all(line.startswith(b"Indexing: ") for line in progress)
    assert last.startswith(b"ccc's daemon goes on" if verb == ["index"] else b"Indexing: ")
    until(lambda: not alive(waiting))

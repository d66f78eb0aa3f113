"""The command line with the real ccc: piped, and in a terminal of a given width."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pyte
import pytest

from helpers import POSIX, SECONDS, run_git, write_file

pytestmark = pytest.mark.skipif(not POSIX, reason="pseudo-terminals are POSIX's")

FILES = {
    ".gitignore": "secret/\n",
    "src/upload.py": "def retry_upload(file):\n    '''retry a failed upload'''\n    return file\n",
    "src/colour.py": "def mix_colours(red, blue):\n    '''mix paint colours'''\n",
    "日本.md": "# 日本語 の 検索\n",
    "secret/key.py": "retry_upload = 'secret'\n",
}


@dataclass(frozen=True, slots=True)
class Shown:
    """What a terminal showed when the command had ended.

    Attributes:
        lines: The screen, without blanks at the ends of lines and of the screen.
        raw: Every byte that came.
        screen: The cells with their colours.
    """

    returncode: int
    lines: list[str]
    raw: str
    screen: pyte.Screen

    def colour(self, word: str) -> str:
        """The colour of the first cell of *word*."""
        for y, line in enumerate(self.screen.display):
            if word in line:
                return str(self.screen.buffer[y][line.index(word)].fg)
        raise AssertionError(f"{word!r} is not shown: {self.lines}")


class CommandLine:
    """The command line in one project."""

    def __init__(self, root: Path, environ: Mapping[str, str]) -> None:
        self.root = root
        self._environ = dict(environ)

    def pipe(self, *arguments: str, **environ: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            self._argv(arguments),
            cwd=self.root,
            env=self._environ | environ,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            timeout=SECONDS,
            check=False,
        )

    def show(
        self, *arguments: str, columns: int = 100, environ: Mapping[str, str] | None = None
    ) -> Shown:
        """Run it in a pseudo-terminal, to its end."""
        import fcntl
        import pty
        import struct
        import termios

        master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("4H", 60, columns, 0, 0))
        child = subprocess.Popen(
            self._argv(arguments),
            cwd=self.root,
            env=self._environ | {"TERM": "xterm-256color", **(environ or {})},
            stdin=slave,
            stdout=slave,
            stderr=slave,
            start_new_session=True,
        )
        os.close(slave)
        raw = _read_all(master)
        screen = pyte.Screen(columns, 60)
        pyte.Stream(screen).feed(raw)
        lines = [line.rstrip() for line in screen.display]
        while lines and not lines[-1]:
            lines.pop()
        return Shown(child.wait(SECONDS), lines, raw, screen)

    def _argv(self, arguments: tuple[str, ...]) -> list[str]:
        return [sys.executable, "-m", "vera_ccc_tools", *arguments]


def _read_all(terminal: int) -> str:
    """What comes until the last process that has it open has ended."""
    read = bytearray()
    try:
        while block := os.read(terminal, 65536):
            read += block
    except OSError:  # how Linux tells the end
        pass
    finally:
        os.close(terminal)
    return read.decode()


@pytest.fixture(scope="module")
def command_line(ccc_home: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> CommandLine:
    """A repository that the command line has indexed."""
    root = tmp_path_factory.mktemp("command_line").resolve() / "repo"
    for name, text in FILES.items():
        write_file(root / name, text)
    run_git(root, "init", "-q")
    made = CommandLine(root, ccc_home)
    done = made.pipe("index")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(f"Initialized {root} for ccc.\nIndexed {root}: 3 files, ")
    return made


def test_piped_output_is_what_a_model_reads(command_line: CommandLine) -> None:
    done = command_line.pipe("search", "retry", "a", "failed", "upload", "--limit", "1")
    assert (done.returncode, done.stderr) == (0, "")
    head, *code = done.stdout.split("\n")
    assert head.startswith("src/upload.py:1-3 [python] ")
    assert code[0] == "def retry_upload(file):"
    assert done.stdout.endswith("[Result 1; there are more: go on with --offset 1.]\n")
    status = command_line.pipe("status").stdout
    assert status.startswith("Semantic code search is ready (ccc_search): 3 files, ")
    assert "\x1b" not in done.stdout + status


def test_json_of_a_script(command_line: CommandLine) -> None:
    found = json.loads(command_line.pipe("search", "検索", "--json", "--limit", "1").stdout)
    assert found["results"][0]["path"] == "日本.md"
    assert found["results"][0]["content"] == "# 日本語 の 検索"
    index = json.loads(command_line.pipe("index", "--json").stdout)
    assert (index["root"], index["files"]) == (str(command_line.root), 3)
    status = json.loads(command_line.pipe("status", "--json").stdout)
    assert (status["state"], status["files"], status["fresh"]) == ("ready", 3, None)
    sync = json.loads(command_line.pipe("sync", "--dry-run", "--json").stdout)
    reasons = {"entry": "**/secret/**", "path": "secret/", "source": ".gitignore", "line": 1}
    assert sync["entries"]["reasons"] == [{**reasons, "pattern": "secret/"}]
    doctor = json.loads(command_line.pipe("doctor", "--json").stdout)
    assert all(check["ok"] for check in doctor["checks"]), doctor["text"]


def test_a_language_that_the_index_does_not_hold_is_named_with_those_it_does(
    command_line: CommandLine,
) -> None:
    done = command_line.pipe("search", "x", "--lang", "cobol")
    assert (done.returncode, done.stdout) == (1, "")
    assert "'cobol'" in done.stderr
    assert "python" in done.stderr
    error = json.loads(command_line.pipe("search", "x", "--lang", "cobol", "--json").stdout)
    assert error["error"]["code"] == "invalid_argument"


@pytest.mark.parametrize("columns", [60, 160])
def test_a_search_in_a_terminal_is_laid_out_and_coloured(
    command_line: CommandLine, columns: int
) -> None:
    shown = command_line.show("search", "retry failed upload", "--limit", "2", columns=columns)
    assert shown.returncode == 0
    assert shown.lines[0].startswith("src/upload.py:1-3  python  0.")
    assert shown.lines[1:5] == [
        "1  def retry_upload(file):",
        "2      '''retry a failed upload'''",
        "3      return file",
        "",
    ]
    assert "go on with --offset 2. (" in "".join(shown.lines[-2:])
    assert shown.colour("src/upload.py") == "cyan"
    assert shown.colour("python") == "green"
    assert "Searching" in shown.raw
    assert not any("Searching" in line for line in shown.lines)


def test_without_colours_the_layout_is_the_same(command_line: CommandLine) -> None:
    given = ("search", "retry failed upload", "--limit", "1", "--no-refresh")
    coloured = command_line.show(*given)
    for environ in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
        plain = command_line.show(*given, environ=environ)
        assert "\x1b[3" not in plain.raw
        assert plain.lines[:-1] == coloured.lines[:-1]
    assert "\x1b" not in plain.raw
    forced = command_line.pipe(*given, FORCE_COLOR="1")
    assert "\x1b[1;36msrc/upload.py\x1b[0m" in forced.stdout
    assert forced.stderr == ""


def test_an_index_run_in_a_terminal_takes_its_progress_back(command_line: CommandLine) -> None:
    write_file(command_line.root / "src" / "new.py", "def fresh(): pass\n")
    shown = command_line.show("index", columns=60)
    (command_line.root / "src" / "new.py").unlink()
    assert shown.returncode == 0
    assert "Indexing …" in shown.raw
    assert shown.lines[0].startswith("✓ Indexed ")
    assert shown.colour("✓") == "green"
    assert not any("Indexing" in line for line in shown.lines)


def test_the_status_in_a_terminal_is_for_people_and_the_models_on_demand(
    command_line: CommandLine,
) -> None:
    shown = command_line.show("status")
    assert shown.lines[0] == f"✓ {command_line.root}"
    assert shown.lines[1].startswith("  The index holds ")
    model = command_line.show("status", "--model")
    assert model.lines[0].startswith("Semantic code search is ready (ccc_search)")


def test_a_sync_and_a_failure_in_a_terminal_say_why(command_line: CommandLine) -> None:
    shown = command_line.show("sync", "--dry-run")
    assert "  **/secret/**  .gitignore:1: secret/" in shown.lines
    failed = command_line.show(
        "search", "x", "--rank", "ccc", "--cwd", str(command_line.root.parent)
    )
    assert failed.returncode == 1
    assert "belongs to no ccc project" in "".join(failed.lines)
    assert failed.colour("belongs") == "red"
    assert "`vera-ccc call ccc_init`" in " ".join(failed.lines)

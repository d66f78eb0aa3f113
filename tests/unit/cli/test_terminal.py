"""The streams: who reads them, what is coloured, how wide text is, how progress is shown."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TextIO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers import POSIX
from vera_ccc_tools.cli import terminal
from vera_ccc_tools.cli.terminal import Live, Terminal
from vera_ccc_tools.errors import Failure

needs_devices = pytest.mark.skipif(not POSIX, reason="a pseudo-terminal and /dev/full are POSIX's")


class Stream(io.TextIOWrapper):
    """A stream that says of itself that it is a terminal, or not."""

    def __init__(self, *, is_terminal: bool) -> None:
        self.bytes = io.BytesIO()
        super().__init__(self.bytes, encoding="ascii")
        self._is_terminal = is_terminal

    def isatty(self) -> bool:
        return self._is_terminal

    def written(self) -> str:
        return self.bytes.getvalue().decode()


def seen(*, is_terminal: bool = True, **environ: str) -> tuple[Terminal, Stream]:
    stream = Stream(is_terminal=is_terminal)
    return Terminal(stream, environ), stream


@pytest.mark.parametrize(
    ("is_terminal", "environ", "coloured", "for_people"),
    [
        (True, {}, True, True),
        (True, {"TERM": "xterm"}, True, True),
        (True, {"TERM": "dumb"}, False, True),
        (True, {"NO_COLOR": "1"}, False, True),
        (True, {"NO_COLOR": ""}, True, True),
        (True, {"NO_COLOR": "1", "FORCE_COLOR": "1"}, False, True),
        (True, {"FORCE_COLOR": "0"}, False, True),
        (True, {"TERM": "dumb", "FORCE_COLOR": "1"}, True, True),
        (False, {}, False, False),
        (False, {"FORCE_COLOR": ""}, False, False),
        (False, {"FORCE_COLOR": "1"}, True, True),
        (False, {"FORCE_COLOR": "1", "NO_COLOR": "1"}, False, False),
    ],
)
def test_colours_are_for_terminals_and_for_whoever_asks(
    environ: dict[str, str], *, is_terminal: bool, coloured: bool, for_people: bool
) -> None:
    made, _ = seen(is_terminal=is_terminal, **environ)
    assert (made.coloured, made.for_people) == (coloured, for_people)
    assert made.style("x", "bold", "red") == ("\x1b[1;31mx\x1b[0m" if coloured else "x")
    assert made.style("", "bold") == ""


def test_text_goes_out_as_utf_8_with_its_line_ends_whatever_the_encoding_says() -> None:
    made, stream = seen(is_terminal=False)
    made.write("日本 ✓\n")
    made.write("half \ud800\n")
    assert stream.bytes.getvalue() == "日本 ✓\nhalf ?\n".encode()


def test_a_stream_that_is_not_there_or_closed_takes_nothing() -> None:
    Terminal(None, {}).write("x")
    stream = io.TextIOWrapper(io.BytesIO())
    stream.close()
    assert not Terminal(stream, {}).is_terminal


@pytest.fixture
def full() -> Iterator[TextIO]:
    with Path("/dev/full").open("w", encoding="utf-8") as stream:
        yield stream


@needs_devices
def test_a_full_disk_is_a_failure_once_and_silence_afterwards(full: TextIO) -> None:
    made = Terminal(full, {})
    with pytest.raises(Failure, match="No space left on device"):
        made.write("x\n")
    made.write("y\n")


@needs_devices
def test_a_pipe_that_nobody_reads_is_no_failure() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "w", encoding="utf-8") as stream:
        made = Terminal(stream, {})
        made.write("x\n")
        made.write("y\n")


@pytest.mark.parametrize(
    ("text", "columns"),
    [("", 0), ("abc", 3), ("日本", 4), ("é", 1), ("e\u0301", 1), ("👍", 2), ("a\u200bb", 2)],
)
def test_a_width_counts_columns(text: str, columns: int) -> None:
    assert terminal.width(text) == columns


@given(st.text(st.characters(exclude_categories=["Cc", "Cs"])), st.integers(0, 30))
def test_what_is_cut_fits_and_is_a_beginning(text: str, columns: int) -> None:
    short = terminal.cut(text, columns)
    assert terminal.width(short) <= columns
    assert short == text or text.startswith(short.removesuffix("…"))


def test_progress_is_rewritten_on_a_terminal_and_taken_back_at_the_end() -> None:
    made, stream = seen()
    live = Live(made)
    live.hint("Waiting …")
    live.show("x" * 200)
    live.end()
    live.end()
    live.show("too late")
    blank = "\r\x1b[K"
    shown = "x" * (made.columns - 2) + "…"
    assert stream.written() == (
        f"{blank}\x1b[2mWaiting …\x1b[0m{blank}\x1b[2m{shown}\x1b[0m{blank}"
    )


@pytest.mark.parametrize("environ", [{"TERM": "dumb"}, {}])
def test_progress_is_lines_now_and_then_where_nothing_can_be_rewritten(
    environ: dict[str, str],
) -> None:
    now = [100.0]
    made, stream = seen(is_terminal=bool(environ), **environ)
    live = Live(made, lambda: now[0])
    live.hint("Waiting …")
    for _ in range(12):
        now[0] += 1.0
        live.show(f"at {now[0]:.0f}")
    live.end()
    assert stream.written() == "at 105\nat 110\n"


def test_the_real_streams_are_looked_at_each_by_itself() -> None:
    for stream in (sys.stdout, sys.stderr):
        assert Terminal(stream, {}).is_terminal == stream.isatty()

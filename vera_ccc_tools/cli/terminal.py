"""Standard output and error as a person or a program reads them: colours, widths, live progress.

Text goes out as UTF-8 in any locale. Each stream is looked at by itself: one may be a
terminal and the other a file.
"""

from __future__ import annotations

import errno
import os
import sys
import threading
import time
import unicodedata
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import TextIO

from vera_ccc_tools.errors import Failure

PLAIN_PERIOD = 5.0
"""Seconds before each line of progress where lines cannot be rewritten."""
_CODES = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "blue": "34"}
_CODES |= {"magenta": "35", "cyan": "36"}
_CLEAR = "\r\x1b[K"
_NOBODY_READS = {errno.EPIPE, errno.EINVAL} if os.name == "nt" else {errno.EPIPE}


class Terminal:
    """One of the two streams.

    Attributes:
        is_terminal: Whether a person may be looking at it.
        coloured: Whether to colour what is written to it.
        for_people: Whether to show what a person wants to see, rather than what a program reads.
    """

    def __init__(self, stream: TextIO | None, environ: Mapping[str, str] | None = None) -> None:
        environ = os.environ if environ is None else environ
        self._stream = stream
        self._environ = environ
        self.is_terminal = _is_terminal(stream)
        self.coloured = _is_coloured(self.is_terminal, environ) and _takes_escapes(stream)
        self.for_people = self.is_terminal or self.coloured
        self.rewrites = (
            self.is_terminal and environ.get("TERM") != "dumb" and _takes_escapes(stream)
        )

    @property
    def columns(self) -> int:
        """How many columns a line has, 80 where that is not known."""
        try:
            assert self._stream is not None
            return os.get_terminal_size(self._stream.fileno()).columns or 80
        except (AssertionError, OSError, ValueError):
            return 80

    def write(self, text: str) -> None:
        """Write *text* at once; when nobody reads any more, quietly do nothing from then on.

        Raises:
            Failure: ``cannot_write``, such as on a full disk.
        """
        if self._stream is None:  # closed by the parent
            return
        try:
            self._stream.buffer.write(text.encode("utf-8", "replace"))
            self._stream.buffer.flush()
        except OSError as error:
            _forget(self._stream)
            if error.errno not in _NOBODY_READS:
                reason = error.strerror or str(error)
                raise Failure("cannot_write", f"The output cannot be written: {reason}.") from error

    def style(self, text: str, *names: str) -> str:
        """*text* in colours and weights, where this stream has them."""
        if not self.coloured or not text:
            return text
        codes = ";".join(_CODES[name] for name in names)
        return f"\x1b[{codes}m{text}\x1b[0m"


def reopen_closed() -> None:
    """Let each standard stream that the parent has closed lead nowhere.

    Its number would else go to the next file that is opened, and with it what others print.
    """
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            with suppress(OSError):
                null = os.open(os.devnull, os.O_RDWR)
                if null != number:
                    os.dup2(null, number)
                    os.close(null)
                mode = "w" if number else "r"
                setattr(sys, name, os.fdopen(number, mode, encoding="utf-8"))


def _forget(stream: TextIO) -> None:
    """Let what is left in the stream's buffer go nowhere, at the end of the process too."""
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, stream.fileno())
    os.close(null)


def _is_terminal(stream: TextIO | None) -> bool:
    try:
        return stream is not None and stream.isatty()
    except ValueError:  # closed
        return False


def _is_coloured(is_terminal: bool, environ: Mapping[str, str]) -> bool:  # noqa: FBT001
    """As Python itself decides it, and https://no-color.org and https://force-color.org ask for."""
    if environ.get("NO_COLOR"):
        return False
    if environ.get("FORCE_COLOR"):
        return environ["FORCE_COLOR"] != "0"
    return is_terminal and environ.get("TERM") != "dumb"


def _takes_escapes(stream: TextIO | None) -> bool:
    """Whether escapes are understood: a console of Windows has to be set to."""
    if sys.platform != "win32" or not _is_terminal(stream):
        return True
    import ctypes
    import msvcrt

    assert stream is not None
    kernel, mode = ctypes.windll.kernel32, ctypes.c_ulong()
    handle = ctypes.c_void_p(msvcrt.get_osfhandle(stream.fileno()))
    if not kernel.GetConsoleMode(handle, ctypes.byref(mode)):
        return True  # no console of Windows' own: a terminal of Cygwin or the like
    virtual_terminal_processing = 4
    return bool(kernel.SetConsoleMode(handle, mode.value | virtual_terminal_processing))


class Live:
    """Tells how something goes: on a line that is rewritten, or now and then on a new one."""

    def __init__(self, terminal: Terminal, clock: Callable[[], float] = time.monotonic) -> None:
        self._terminal = terminal
        self._clock = clock
        self._lock = threading.Lock()
        self._last = clock()
        self._ended = False

    def show(self, text: str) -> None:
        """Show *text*, one line, in the place of what was shown before."""
        with self._lock:
            if self._ended:
                return
            if self._terminal.rewrites:
                shown = cut(text, self._terminal.columns - 1)
                self._terminal.write(f"{_CLEAR}{self._terminal.style(shown, 'dim')}")
            elif self._clock() - self._last >= PLAIN_PERIOD:
                self._last = self._clock()
                self._terminal.write(f"{text}\n")

    def hint(self, text: str) -> None:
        """Show *text* where it can be taken back only."""
        if self._terminal.rewrites:
            self.show(text)

    def end(self) -> None:
        """Take back the rewritten line; nothing is shown from now on."""
        with self._lock:
            if self._terminal.rewrites and not self._ended:
                self._terminal.write(_CLEAR)
            self._ended = True


def width(text: str) -> int:
    """How many columns *text*, without control characters, takes in a terminal."""
    if text.isascii():
        return len(text)
    return sum(map(_columns, text))


def _columns(char: str) -> int:
    if unicodedata.combining(char) or unicodedata.category(char) in {"Mn", "Me", "Cf"}:
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


def cut(text: str, columns: int) -> str:
    """The start of *text* that fits, an ellipsis at its end where something is left out."""
    if width(text) <= columns:
        return text
    kept, left = [], max(0, columns - 1)
    for char in text:
        left -= _columns(char)
        if left < 0:
            break
        kept.append(char)
    return f"{''.join(kept)}…" if columns > 0 else ""

"""What a program shows in a terminal of a certain width, and the keys that a person presses."""

from __future__ import annotations

import fcntl  # POSIX only, as this is
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import pyte

from e2e.pi import Pi

SECONDS = 60
"""The bound of anything that is waited for here."""
EXPAND, ENTER, ESCAPE = "\x0f", "\r", "\x1b"
# What a newer terminal is asked for, and pyte would show as text.
_UNKNOWN = re.compile(rb"\x1b\[[<>=][0-9;]*[a-zA-Z]|\x1b_[^\x07\x1b]*(?:\x07|\x1b\\)")
_UNFINISHED = re.compile(rb"\x1b(?:\[[0-9;?<>=]*|[\]_P][^\x07\x1b]*\x1b?)?$")


class Terminal:
    """A pseudo-terminal with a program in it.

    Attributes:
        screen: What it shows now, cell by cell.
    """

    def __init__(
        self, argv: Sequence[str], cwd: Path, env: Mapping[str, str], size: tuple[int, int]
    ) -> None:
        """Start *argv*; *size* is columns and rows."""
        self.screen = pyte.Screen(*size)
        self._stream = pyte.ByteStream(self.screen)
        self._rest = b""
        self._master, slave = pty.openpty()
        self._set_size(slave)
        self.process = subprocess.Popen(
            list(argv),
            cwd=cwd,
            env={**env, "TERM": "xterm-256color", "COLORTERM": "truecolor"},
            stdin=slave,
            stdout=slave,
            stderr=slave,
            start_new_session=True,
        )
        os.close(slave)

    @property
    def lines(self) -> list[str]:
        """What it shows now, without trailing spaces."""
        return [line.rstrip() for line in self.screen.display]

    @property
    def text(self) -> str:
        return "\n".join(line for line in self.lines if line)

    def resize(self, columns: int) -> None:
        """Make it wider or narrower; what it showed goes, as in a terminal that clears."""
        self.screen.resize(columns=columns)
        self.screen.reset()
        self._set_size(self._master)
        self.process.send_signal(signal.SIGWINCH)  # the terminal is not the one that controls it

    def press(self, keys: str) -> None:
        os.write(self._master, keys.encode())

    def type(self, line: str, offered: str = "") -> None:
        """Type a line, and enter it once what completes it is *offered*.

        Key by key: what comes at once is a paste, for which nothing is offered.
        """
        for end in range(1, len(line) + 1):
            self.press(line[end - 1])
            self.wait(line[:end].rstrip())
        self.wait(offered)
        self.press(ENTER)

    def wait(self, wanted: str | Callable[[], object]) -> str:
        """The text as soon as it has what is *wanted*; fails when that does not come."""
        is_there = wanted if callable(wanted) else lambda: wanted in self.text
        end = time.monotonic() + SECONDS
        while not is_there():
            ready, _, _ = select.select([self._master], [], [], max(0.0, end - time.monotonic()))
            assert ready, f"no {wanted!r} within {SECONDS} s:\n{self.text}"
            self._read()
        return self.text

    def shows(self, check: Callable[[], None]) -> None:
        """Wait until a *check* of assertions holds; fails as it does when it never holds."""

        def holds() -> bool:
            try:
                check()
            except (AssertionError, LookupError):
                return False
            return True

        try:
            self.wait(holds)
        except AssertionError:
            check()
            raise

    def close(self) -> None:
        """End the program."""
        self.process.terminate()
        try:
            self._drain(time.monotonic() + 10)
            self.process.wait(10)
        finally:
            self.process.kill()
            self.process.wait()
            os.close(self._master)

    def _read(self) -> None:
        try:
            data = os.read(self._master, 65536)
        except OSError:  # Linux says so when the program has ended
            data = b""
        assert data, f"it ended:\n{self.text}"
        self._feed(data)

    def _feed(self, data: bytes) -> None:
        data = self._rest + data
        unfinished = _UNFINISHED.search(data)
        end = unfinished.start() if unfinished else len(data)
        self._rest = data[end:]
        self._stream.feed(_UNKNOWN.sub(b"", data[:end]))

    def _drain(self, end: float) -> None:
        """Read what the program writes as it ends, or it could not end."""
        while self.process.poll() is None and time.monotonic() < end:
            ready, _, _ = select.select([self._master], [], [], 0.05)
            try:
                if ready:
                    os.read(self._master, 65536)
            except OSError:
                return

    def _set_size(self, descriptor: int) -> None:
        size = struct.pack("4H", self.screen.lines, self.screen.columns, 0, 0)
        fcntl.ioctl(descriptor, termios.TIOCSWINSZ, size)


@contextmanager
def opened(
    pi: Pi, cwd: Path, *arguments: str, size: tuple[int, int] = (100, 50)
) -> Iterator[Terminal]:
    """Pi in a terminal; it is ended at the end."""
    terminal = Terminal(pi.argv(*arguments), cwd, pi.environ(), size)
    try:
        yield terminal
    finally:
        terminal.close()

"""How a script tells what it does: one line a step, ✓ or ✗ and the time, and signs of life."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import FrameType

_GREEN, _RED, _DIM, _PLAIN = "\x1b[32m", "\x1b[31m", "\x1b[2m", "\x1b[0m"
QUIET_SECONDS = 10.0
"""How often a long step says that it goes on where there is no terminal."""


class StepFailed(Exception):
    """A step did not do what it should; the text says what was expected and what came."""


@dataclass
class Step:
    """A step under way: what it does, how far it is, and a word on how it ended."""

    title: str
    detail: str = ""
    progress: str = ""
    started: float = field(default_factory=time.monotonic)

    @property
    def seconds(self) -> float:
        return time.monotonic() - self.started


class Report:
    """Prints steps as they end; on a terminal in colour, with a line that shows the running one."""

    def __init__(self) -> None:
        reconfigure = getattr(sys.stdout, "reconfigure", None)
        if reconfigure is not None:  # a Windows console's own encoding may have no ✓
            reconfigure(encoding="utf-8", errors="replace")
        self._terminal = sys.stdout.isatty()
        self._colour = self._terminal and "NO_COLOR" not in os.environ
        self._lock = threading.Lock()
        self._running: list[Step] = []
        self.failed: list[str] = []
        self.times: list[tuple[str, float]] = []
        self._started = time.monotonic()
        self._told = self._started
        threading.Thread(target=self._show_life, daemon=True).start()

    @contextmanager
    def step(self, title: str) -> Iterator[Step]:
        """Run the block as a step: what it raises is printed as the step's failure, and goes on."""
        step = Step(title)
        with self._lock:
            self._running.append(step)
        try:
            yield step
        except (KeyboardInterrupt, SystemExit):
            self._end(step, why="interrupted")
            raise
        except Exception as error:
            self._end(step, why=str(error) or type(error).__name__)
            raise
        self._end(step)

    def note(self, text: str) -> None:
        """Print a line that is no step."""
        with self._lock:
            self._clear()
            print(self._paint(_DIM, text), flush=True)

    def verdict(self, what: str = "") -> int:
        """Print the last line; return the exit code."""
        seconds = time.monotonic() - self._started
        failed = ", ".join(self.failed)
        text = f"failed: {failed}" if failed else "passed"
        colour = _RED if failed else _GREEN
        with self._lock:
            self._clear()
            print(self._paint(colour, f"{what}{text}") + f" ({seconds:.1f} s)", flush=True)
        return 1 if failed else 0

    def _end(self, step: Step, why: str | None = None) -> None:
        seconds = step.seconds
        sign = self._paint(_GREEN, "✓") if why is None else self._paint(_RED, "✗")
        detail = step.detail if why is None else why.strip().replace("\n", "\n    ")
        line = f"{sign} {step.title}  {self._paint(_DIM, f'{seconds:.1f} s')}"
        with self._lock:
            self._running.remove(step)
            self.times.append((step.title, seconds))
            if why is not None:
                self.failed.append(step.title)
            self._clear()
            print(f"{line}  {detail}" if detail else line, flush=True)

    def _show_life(self) -> None:
        while True:
            time.sleep(0.5 if self._terminal else 1)
            with self._lock:
                text = ", ".join(self._life(step) for step in self._running)
                if text and self._terminal:
                    self._clear()
                    print(self._paint(_DIM, f"… {text}"[:100]), end="", flush=True)
                elif text and self._is_quiet():
                    print(f"… {text}", flush=True)

    def _life(self, step: Step) -> str:
        progress = f" ({step.progress})" if step.progress else ""
        return f"{step.title}{progress} {step.seconds:.0f} s"

    def _is_quiet(self) -> bool:
        now = time.monotonic()
        since = max([self._told, *(step.started for step in self._running)])
        if now - since < QUIET_SECONDS:
            return False
        self._told = now
        return True

    def _clear(self) -> None:
        if self._terminal:
            print("\r\x1b[2K", end="")

    def _paint(self, colour: str, text: str) -> str:
        return f"{colour}{text}{_PLAIN}" if self._colour else text


def end_in_order() -> None:
    """Let a polite signal unwind the script, so that what it started ends with it."""

    def stop(number: int, _frame: FrameType | None) -> None:
        sys.exit(128 + number)

    for name in ("SIGTERM", "SIGHUP"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), stop)
    # A shell's background job ignores Ctrl-C, and its children would, tests of Ctrl-C too.
    signal.signal(signal.SIGINT, signal.default_int_handler)

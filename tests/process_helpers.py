"""Programs for the tests of processes to run."""

from __future__ import annotations

import os
import sys
import textwrap
from pathlib import Path

import pytest

from helpers import POSIX, ROOT
from vera_ccc_tools.system.process import Command

needs_sessions = pytest.mark.skipif(not POSIX, reason="process groups and signals are POSIX's")

SLEEPER = "import threading; threading.Event().wait(600)"
"""A program that would run for ten minutes."""


def python(code: str, *arguments: str, **changes: object) -> Command:
    argv = (sys.executable, "-c", textwrap.dedent(code), *arguments)
    return Command(argv, ROOT, dict(os.environ), **changes)  # type: ignore[arg-type]


def starting(path: Path, *, own_session: bool, name: str = "sleeper", then: str = "") -> str:
    """A program that starts another one, which keeps the pipe; its id goes to the file *path*."""
    return f"""\
        import pathlib, subprocess, sys, threading
        child = subprocess.Popen([sys.executable, "-c", {SLEEPER!r}, {name!r}],
                                 start_new_session={own_session})
        pathlib.Path({str(path)!r}).write_text(f"{{child.pid}}\\n")
        {then}
    """

"""What a person types to run this program: usage and hints name it.

For `bootstrap.py`, whose rules hold here too.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

SCRIPT = "vera-ccc"
"""The command that an installation of this package brings."""
_scripts: list[str] = []


def started_by(script: str) -> None:
    """Remember that not the command but the file *script* was run."""
    _scripts[:] = [script]


def command() -> str:
    """What comes before the verb."""
    python = "python3" if os.name == "posix" else "python"
    return line([python, *_scripts]) if _scripts else SCRIPT


def in_place(text: str) -> str:
    """*text* with what was run in place of each ``vera-ccc`` that begins a command line."""
    return text.replace(f"`{SCRIPT} ", f"`{command()} ")


def line(words: Sequence[str]) -> str:
    """The *words* of a command line as a person types them."""
    if os.name == "nt":
        from subprocess import list2cmdline

        return list2cmdline(words)
    from shlex import join

    return join(words)

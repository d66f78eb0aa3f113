"""One call of a tool, as everything below it sees it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from vera_ccc_tools.errors import Front
from vera_ccc_tools.system.tasks import Cancel


@dataclass(frozen=True, slots=True)
class Call:
    """One call of a tool: where, how to stop it, and where its progress goes.

    Attributes:
        cwd: The caller's directory, absolute, resolved, existing.
        cancel: The call's stop button.
        progress: Takes a line of text now and then while the call runs, and how far it is:
            ``done``, ``listed`` and ``total`` files, ``seconds``.
        front: Who reads the answer.
    """

    cwd: Path
    cancel: Cancel = field(default_factory=Cancel)
    progress: Callable[[str, Mapping[str, float]], None] = lambda _text, _numbers: None
    front: Front = Front.MODEL

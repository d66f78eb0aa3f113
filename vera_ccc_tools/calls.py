"""What goes into a tool and what comes out of it, in the foreground and in the background."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vera_ccc_tools.errors import Failure
from vera_ccc_tools.process import Cancel

if TYPE_CHECKING:
    from vera_ccc_tools.git import Repository
    from vera_ccc_tools.git import Status as GitStatus


@dataclass(frozen=True, slots=True)
class Call:
    """One call of a tool: where, how to stop it, and whom to tell how it goes.

    Attributes:
        cwd: The caller's directory, absolute, resolved, existing.
        cancel: The call's stop button.
        progress: Takes a line of text now and then while the call runs.
    """

    cwd: Path
    cancel: Cancel = field(default_factory=Cancel)
    progress: Callable[[str], None] = lambda _text: None


@dataclass(frozen=True, slots=True)
class Answer:
    """What a tool gives back.

    Attributes:
        text: For the model.
        details: For programs; never shown to the model.
        failed: Whether the call is to be reported as failed.
    """

    text: str
    details: Mapping[str, Any] = field(default_factory=dict)
    failed: bool = False


@dataclass(slots=True)
class Job:
    """A command in the background, and in the end its outcome.

    Attributes:
        tool: The tool that started it.
        cancel: Its stop button.
        started: When, in monotonic time.
        outcome: Its answer or failure; None while it runs.
    """

    tool: str
    cancel: Cancel = field(default_factory=Cancel)
    started: float = field(default_factory=time.monotonic)
    outcome: Answer | Failure | None = None

    @property
    def running(self) -> bool:
        return self.outcome is None

    def line(self) -> str:
        """How it goes or ended, in one line."""
        if self.outcome is None:
            return f"{self.tool} is running in the background."
        if isinstance(self.outcome, Failure):
            return f"{self.tool} in the background failed: {' '.join(str(self.outcome).split())}"
        if self.outcome.failed:
            return f"{self.tool} in the background failed: {self.outcome.text.splitlines()[0]}"
        return f"{self.tool} in the background is done."


@dataclass(frozen=True, slots=True)
class Synced:
    """What a sync did, as far as a call needs it.

    Attributes:
        notes: Lines that the caller should read.
        views: git's answers, the ones the sync was decided on; None where there are none.
        unknown: Why git's answers do not tell what ccc would see; empty where they do.
        due: Whether the settings differ from what they should be, where they were left so.
    """

    notes: tuple[str, ...] = ()
    views: tuple[tuple[Repository, GitStatus], ...] | None = None
    unknown: str = ""
    due: bool = False

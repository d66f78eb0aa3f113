"""The one error that a user can meet, and what to do next as a value."""

from __future__ import annotations

import enum


class Front(enum.Enum):
    """Who reads what we say: each can do other things."""

    MODEL = "model"
    PERSON = "person"
    MCP = "mcp"
    TERMINAL = "terminal"


class Do(enum.Enum):
    """What can be done next. `phrases.py` has the words for it, one phrase for each reader."""

    INDEX = enum.auto()
    INDEX_REPOSITORY = enum.auto()
    INIT = enum.auto()
    INIT_FORCED = enum.auto()
    INDEX_OR_INIT_FORCED = enum.auto()
    INIT_ELSEWHERE = enum.auto()
    CHOOSE_MODEL = enum.auto()
    KEEP_MODEL = enum.auto()
    CORRECT_MODEL = enum.auto()
    CORRECT_KEY = enum.auto()
    START_SERVICE = enum.auto()
    DOCTOR = enum.auto()
    DOCTOR_VERBOSE = enum.auto()
    RETRY_OR_DOCTOR = enum.auto()
    RESTART_DAEMON = enum.auto()
    WAIT_OR_RESTART = enum.auto()
    LATER = enum.auto()
    LATER_OR_RESTART = enum.auto()
    SOON = enum.auto()
    FOLLOW = enum.auto()
    SEARCH = enum.auto()
    REPHRASE = enum.auto()
    GO_ON = enum.auto()
    INSTALL_CCC = enum.auto()
    MAKE_ROOM = enum.auto()
    MAKE_WRITABLE = enum.auto()
    RENAME = enum.auto()
    EXCLUDE_MORE = enum.auto()
    REMOVE_HOME_PROJECT = enum.auto()
    REMOVE_HOME_PROJECT_AND_LEAVE = enum.auto()
    TURN_SYNC_OFF = enum.auto()
    FORCE = enum.auto()
    NO_PROXY = enum.auto()
    REBUILD = enum.auto()


class Step:
    """The next step: what to do, and the path, name or setting that it needs."""

    __slots__ = ("do", "needs")

    def __init__(self, do: Do, needs: object = "") -> None:
        self.do = do
        self.needs = str(needs)


class Failure(Exception):
    """Something went wrong that the caller can read and act on.

    Everything else that is raised is a bug, and is caught only at the fronts.

    Attributes:
        code: A short, stable word for programs (``ccc_missing``, ``timeout``, …).
        message: What failed, with the value it failed on; one or two sentences.
        step: The one next step. A plain text is right for every reader, and names neither a tool
            nor a command of ours; it is empty where there is nothing to do.
    """

    def __init__(self, code: str, message: str, step: Step | str = "") -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.step = step

    def __str__(self) -> str:
        return (
            f"{self.message}\n{self.step}"
            if isinstance(self.step, str) and self.step
            else self.message
        )


class InvalidArgument(Failure, ValueError):
    """An argument that cannot be used: missing, of the wrong type, or out of its range."""

    def __init__(self, message: str, step: Step | str = "") -> None:
        super().__init__("invalid_argument", message, step)


def shorten(value: object, limit: int = 80) -> str:
    """Quote a value for a message: its ``repr``, cut in the middle at *limit* characters."""
    text = repr(value)
    if len(text) <= limit:
        return text
    half = (limit - 1) // 2
    return f"{text[:half]}…{text[-half:]}"

"""The one error that a user can meet."""

from __future__ import annotations


class Failure(Exception):
    """Something went wrong that the caller can read and act on.

    Everything else that is raised is a bug, and is caught only at the two fronts.

    Attributes:
        code: A short, stable word for programs (``ccc_missing``, ``timeout``, …).
        message: What failed, with the value it failed on; one or two sentences.
        hint: The one next step, or an empty string where there is none.
    """

    def __init__(self, code: str, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message}\n{self.hint}" if self.hint else self.message


class InvalidArgument(Failure, ValueError):
    """An argument that cannot be used: missing, of the wrong type, or out of its range."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__("invalid_argument", message, hint)


def shorten(value: object, limit: int = 80) -> str:
    """Quote a value for a message: its ``repr``, cut in the middle at *limit* characters."""
    text = repr(value)
    if len(text) <= limit:
        return text
    half = (limit - 1) // 2
    return f"{text[:half]}…{text[-half:]}"

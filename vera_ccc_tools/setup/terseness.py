"""How terse an agent's own answers are to be."""

from __future__ import annotations

from vera_ccc_tools.errors import InvalidArgument, shorten

_STANDARD = (
    "Answer in the fewest words that are correct; when editing code show ONLY the changed lines"
    " (a minimal diff), never reprint whole files; no preamble or postamble."
)
_RULES = {
    "off": "",
    "lite": "Be brief: leave out filler, preamble and postamble.",
    "standard": _STANDARD,
    "max": f"{_STANDARD} Write in telegraphic style, and code as minimal diffs alone.",
}
LEVELS = tuple(_RULES)
DEFAULT = "standard"
"""The level that is written into an agent's instructions."""


def answer(level: str) -> str:
    """What ``set_output_compression`` says when the level has changed.

    Raises:
        InvalidArgument: When there is no such level.
    """
    _check(level)
    return f"Output compression is now `{level}` for this session (in-memory; CLAUDE.md unchanged)."


def rules(level: str) -> str:
    """The section ``Output compression`` of an agent's instructions; nothing for ``off``.

    Raises:
        InvalidArgument: As `answer`.
    """
    _check(level)
    return f"### Output compression\n\n{_RULES[level]}\n" if _RULES[level] else ""


def _check(level: str) -> None:
    if level not in LEVELS:
        allowed = ", ".join(f"`{each}`" for each in LEVELS)
        raise InvalidArgument(f"`level` is {shorten(level)}; it has to be one of {allowed}.")

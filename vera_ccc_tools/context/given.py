"""What the nine tools ask of their arguments beyond the core's reader."""

from __future__ import annotations

from vera_ccc_tools.arguments import Reader
from vera_ccc_tools.errors import InvalidArgument

MOST = 2**31


def required(arguments: Reader, name: str, limit: int, hint: str) -> str:
    """A text that has to be there, without the white space around it; *hint* says whence."""
    if not arguments.has(name):
        raise InvalidArgument(f"`{name}` is missing.", hint)
    return arguments.text(name, limit).strip()


def optional(arguments: Reader, name: str, limit: int) -> str | None:
    """A text that may be left out; an empty one is none."""
    return None if arguments.is_blank(name) else arguments.optional_text(name, limit)


def required_flag(arguments: Reader, name: str) -> bool:
    """True or false, which has to be said."""
    if not arguments.has(name):
        raise InvalidArgument(f"`{name}` is missing.", f"Give `{name}` as true or false.")
    return arguments.flag(name, default=False)


def required_choice(arguments: Reader, name: str, allowed: tuple[str, ...]) -> str:
    """One of *allowed*, which has to be said."""
    if not arguments.has(name):
        every = ", ".join(f"`{each}`" for each in allowed)
        raise InvalidArgument(f"`{name}` is missing.", f"Give one of {every}.")
    return arguments.choice(name, allowed)


def count(arguments: Reader, name: str, default: int, most: int) -> int:
    """A number of results: *default* for 0 and less, *most* for more than that."""
    wanted = arguments.integer(name, default, -MOST, MOST)
    return min(wanted, most) if wanted > 0 else default

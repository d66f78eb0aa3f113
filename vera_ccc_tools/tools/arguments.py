"""The arguments of the tools: each described once, with its schema, its default and its reader.

Each error is one sentence that names the argument, the value (shortened) and what is allowed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import MISSING, Field, dataclass, field, fields
from typing import Any, TypeVar

from vera_ccc_tools.errors import InvalidArgument, shorten

MAX_QUERY = 10_000
RANKS = ("best", "ccc")
_MOST_COUNT = 2**31

T = TypeVar("T")

# --- how values are read -------------------------------------------------------------------------


class Reader:
    """Takes values out of a JSON object; an absent or null one means its default.

    Where the arguments that there are are *known*, any other one is an error.
    """

    def __init__(self, given: Mapping[str, Any], known: Collection[str] | None = None) -> None:
        known = given if known is None else known
        unknown = [name for name in given if name not in known]
        if unknown:
            raise InvalidArgument(
                f"There is no argument {shorten(unknown[0])}.",
                f"The arguments are: {', '.join(known)}.",
            )
        self._given = given

    def has(self, name: str) -> bool:
        return self._given.get(name) is not None

    def check_given(self, name: str, hint: str) -> None:
        """Raise where it is missing; *hint* says what to give."""
        if name not in self._given:
            raise InvalidArgument(f"`{name}` is missing.", hint)

    def is_blank(self, name: str) -> bool:
        """Whether it is a text without a word in it."""
        value = self._given.get(name)
        return isinstance(value, str) and not value.strip()

    def text(self, name: str, limit: int) -> str:
        value = self._given.get(name)
        if isinstance(value, int | float) and not isinstance(value, bool):
            value = str(value)  # a model's slip, as the next two are
        if not isinstance(value, str):
            raise _wrong(name, value, "a text")
        if not value.strip():
            raise InvalidArgument(f"`{name}` is empty.", f"Give `{name}` a text.")
        if len(value) > limit:
            raise InvalidArgument(
                f"`{name}` has {len(value):,} characters ({shorten(value)}); "
                f"at most {limit:,} are allowed."
            )
        if not _speakable(value):
            raise _wrong(name, value, "a text without NUL and without half characters")
        return value

    def optional_text(self, name: str, limit: int) -> str | None:
        return None if self._given.get(name) is None else self.text(name, limit)

    def integer(self, name: str, default: int, low: int, high: int) -> int:
        value = self._given.get(name)
        if value is None:
            return default
        if isinstance(value, str) and re.fullmatch(r"[+-]?[0-9]{1,9}", value.strip()):
            value = int(value)
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            raise _wrong(name, value, f"a whole number from {low} to {high:,}")
        return value

    def flag(self, name: str, *, default: bool) -> bool:
        value = self._given.get(name)
        if value is None:
            return default
        if isinstance(value, str) and value.strip().lower() in {"true", "false"}:
            value = value.strip().lower() == "true"
        if not isinstance(value, bool):
            raise _wrong(name, value, "true or false")
        return value

    def choice(self, name: str, allowed: tuple[str, ...]) -> str:
        """One of *allowed*, the first of which is the default."""
        value = self._given.get(name)
        if value is None:
            return allowed[0]
        if value not in allowed:
            raise _wrong(name, value, " or ".join(f"`{each}`" for each in allowed))
        return str(value)

    def words(self, name: str) -> tuple[str, ...]:
        value = self._given.get(name)
        if value is None:
            return ()
        if isinstance(value, str):
            value = [value]  # what a model often means by it
        if not isinstance(value, list) or len(value) > 50:
            raise _wrong(name, value, "a list of at most 50 names")
        for word in value:
            if not isinstance(word, str) or not 0 < len(word.strip()) <= 50 or not _speakable(word):
                raise _wrong(name, word, "a list of short names")
        return tuple(value)


def _speakable(text: str) -> bool:
    """Whether a program can be given *text* as an argument."""
    return "\0" not in text and not any("\ud800" <= each <= "\udfff" for each in text)


def _wrong(name: str, value: object, allowed: str) -> InvalidArgument:
    return InvalidArgument(f"`{name}` is {shorten(value)}; it has to be {allowed}.")


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
    try:
        wanted = arguments.integer(name, default, -_MOST_COUNT, _MOST_COUNT)
    except InvalidArgument:
        return arguments.integer(name, default, 1, most)  # fails too, and names what makes sense
    return min(wanted, most) if wanted > 0 else default


# --- what describes an argument: a field of a dataclass, one for each tool -----------------------


def _text(description: str, limit: int, hint: str = "") -> Any:
    """A text, which has to be there where a *hint* says what to give."""

    def read(reader: Reader, name: str) -> str | None:
        if not hint:
            return reader.optional_text(name, limit)
        reader.check_given(name, hint)
        return reader.text(name, limit)

    return _argument(read, {"type": "string"}, MISSING if hint else None, description)


def _number(description: str, default: int, low: int, high: int) -> Any:
    def read(reader: Reader, name: str) -> int:
        return reader.integer(name, default, low, high)

    schema = {"type": "integer", "minimum": low, "maximum": high, "default": default}
    return _argument(read, schema, default, description)


def _flag(description: str, *, default: bool = False) -> Any:
    def read(reader: Reader, name: str) -> bool:
        return reader.flag(name, default=default)

    return _argument(read, {"type": "boolean", "default": default}, default, description)


def _words(description: str) -> Any:
    schema = {"type": "array", "items": {"type": "string"}, "default": []}
    return _argument(Reader.words, schema, (), description)


def _choice(description: str, allowed: tuple[str, ...]) -> Any:
    """One of *allowed*, the first of which is the default."""

    def read(reader: Reader, name: str) -> str:
        return reader.choice(name, allowed)

    schema = {"type": "string", "enum": list(allowed), "default": allowed[0]}
    return _argument(read, schema, allowed[0], description)


def _argument(
    read: Callable[[Reader, str], Any], schema: dict[str, Any], default: Any, description: str
) -> Any:
    return field(
        default=default,
        metadata={"read": read, "schema": {**schema, "description": description}},
    )


@dataclass(frozen=True, slots=True)
class SearchArguments:
    """Those of ``ccc_search``."""

    query: str = _text(
        "What the code does, in plain words; any natural language.",
        MAX_QUERY,
        "Say in `query` what to look for.",
    )
    limit: int = _number("How many results to give.", 5, 1, 100)
    offset: int = _number("How many of the best results to pass over, for paging.", 0, 0, 100_000)
    languages: tuple[str, ...] = _words(
        "Only these languages, such as python or ts; none means all."
    )
    path: str | None = _text(
        "Only below this directory, or files that match this gitignore-style glob, such as src, "
        "src/**/*.py or {lib,test}/*.rb; relative to the working directory.",
        2 * MAX_QUERY,
    )
    refresh_index: bool = _flag(
        "Bring the index up to date first; false searches it as it is.", default=True
    )
    rank: str = _choice(
        "best weighs words, names and kinds of files beside the meaning; ccc leaves the order by "
        "meaning alone.",
        RANKS,
    )


@dataclass(frozen=True, slots=True)
class IndexArguments:
    """Those of ``ccc_index``."""

    background: bool = _flag("Answer at once and index in the background.")


@dataclass(frozen=True, slots=True)
class InitArguments:
    """Those of ``ccc_init``."""

    force: bool = _flag("Make a project of this directory although one lies above it.")
    litellm_model: str | None = _text(
        "The embedding model by its LiteLLM name, such as ollama/nomic-embed-text; only where "
        "none has been chosen yet.",
        200,
    )
    background: bool = _flag("Answer at once.")


@dataclass(frozen=True, slots=True)
class DoctorArguments:
    """Those of ``ccc_doctor``."""

    verbose: bool = _flag("Give full tracebacks of failed checks.")


def schema(shape: type[Any]) -> dict[str, Any]:
    """The JSON Schema of the arguments that *shape* describes."""
    every: tuple[Field[Any], ...] = fields(shape)
    return {
        "type": "object",
        "properties": {each.name: each.metadata["schema"] for each in every},
        "required": [each.name for each in every if each.default is MISSING],
        "additionalProperties": False,
    }


def read(shape: type[T], given: Mapping[str, Any]) -> T:
    """The arguments that *shape* describes, out of a JSON object.

    Raises:
        InvalidArgument: One is missing, wrong, or unknown.
    """
    every: tuple[Field[Any], ...] = fields(shape)  # type: ignore[arg-type]
    reader = Reader(given, [each.name for each in every])
    return shape(**{each.name: each.metadata["read"](reader, each.name) for each in every})

"""The arguments of a tool call, from JSON to typed values.

Each error is one sentence that names the argument, the value (shortened) and what is allowed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from vera_ccc_tools.errors import InvalidArgument, shorten

MAX_QUERY = 10_000
MAX_LIMIT = 100
RANKS = ("best", "ccc")
MAX_OFFSET = 100_000

_MOST_COUNT = 2**31


@dataclass(frozen=True, slots=True)
class SearchArguments:
    """See the schema of ``ccc_search`` in `tools.py`."""

    query: str
    limit: int = 5
    offset: int = 0
    languages: tuple[str, ...] = ()
    path: str | None = None
    refresh_index: bool = True
    rank: str = "best"


@dataclass(frozen=True, slots=True)
class IndexArguments:
    """See the schema of ``ccc_index`` in `tools.py`."""

    background: bool = False


@dataclass(frozen=True, slots=True)
class InitArguments:
    """See the schema of ``ccc_init`` in `tools.py`."""

    force: bool = False
    litellm_model: str | None = None
    background: bool = False


@dataclass(frozen=True, slots=True)
class DoctorArguments:
    """See the schema of ``ccc_doctor`` in `tools.py`."""

    verbose: bool = False


def search_arguments(given: Mapping[str, Any]) -> SearchArguments:
    """Read the arguments of ``ccc_search``."""
    reader = Reader(given, SearchArguments)
    if "query" not in given:
        raise InvalidArgument("`query` is missing.", "Say in `query` what to look for.")
    return SearchArguments(
        query=reader.text("query", MAX_QUERY),
        limit=reader.integer("limit", 5, 1, MAX_LIMIT),
        offset=reader.integer("offset", 0, 0, MAX_OFFSET),
        languages=reader.words("languages"),
        path=reader.optional_text("path", 2 * MAX_QUERY),
        refresh_index=reader.flag("refresh_index", default=True),
        rank=reader.choice("rank", RANKS),
    )


def index_arguments(given: Mapping[str, Any]) -> IndexArguments:
    """Read the arguments of ``ccc_index``."""
    return IndexArguments(Reader(given, IndexArguments).flag("background", default=False))


def init_arguments(given: Mapping[str, Any]) -> InitArguments:
    """Read the arguments of ``ccc_init``."""
    reader = Reader(given, InitArguments)
    return InitArguments(
        force=reader.flag("force", default=False),
        litellm_model=reader.optional_text("litellm_model", 200),
        background=reader.flag("background", default=False),
    )


def doctor_arguments(given: Mapping[str, Any]) -> DoctorArguments:
    """Read the arguments of ``ccc_doctor``."""
    return DoctorArguments(Reader(given, DoctorArguments).flag("verbose", default=False))


class Reader:
    """Takes values out of a JSON object; an absent or null one means its default.

    With a *shape*, whose fields are all the arguments there are, any other one is an error.
    """

    def __init__(self, given: Mapping[str, Any], shape: type[Any] | None = None) -> None:
        known = [field.name for field in fields(shape)] if shape else list(given)
        unknown = [name for name in given if name not in known]
        if unknown:
            raise InvalidArgument(
                f"There is no argument {shorten(unknown[0])}.",
                f"The arguments are: {', '.join(known)}.",
            )
        self._given = given

    def has(self, name: str) -> bool:
        return self._given.get(name) is not None

    def is_blank(self, name: str) -> bool:
        """Whether it is a text without a word in it."""
        value = self._given.get(name)
        return isinstance(value, str) and not value.strip()

    def text(self, name: str, limit: int) -> str:
        value = self._given.get(name)
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
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            raise _wrong(name, value, f"a whole number from {low} to {high:,}")
        return value

    def flag(self, name: str, *, default: bool) -> bool:
        value = self._given.get(name)
        if value is None:
            return default
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
    wanted = arguments.integer(name, default, -_MOST_COUNT, _MOST_COUNT)
    return min(wanted, most) if wanted > 0 else default

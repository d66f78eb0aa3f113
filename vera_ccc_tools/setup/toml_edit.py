"""Put a server into a TOML configuration and take it out again, by splicing the text.

The text is cut into statements: a statement is the fewest lines that `tomllib` can read alone. So
the places are known without a parser of our own, and everything else stays byte for byte.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from vera_ccc_tools.errors import Failure
from vera_ccc_tools.setup import blocks
from vera_ccc_tools.setup.blocks import Span
from vera_ccc_tools.setup.json_edit import Entry, Place


@dataclass(frozen=True, slots=True)
class _Statement:
    """A table's header or an assignment, and where it is, without its line end.

    Attributes:
        table: The path of the table that it opens or is in.
        key: The assignment's first name, or None for a header.
    """

    span: Span
    table: tuple[str, ...]
    key: str | None


def put(text: str | None, place: Place, entry: Entry) -> str:
    """*text*, or None for no file, with *entry*; of one that is there, only what differs changes.

    In an entry that is there, all that *entry* does not name is the user's.

    Raises:
        Failure: ``config_refused`` when *text* is no TOML, or not laid out as a configuration.
    """
    said = _read(text or "", place)
    there = _entry(said, place)
    if there is None:
        lines = [f"[{place.servers}.{place.name}]", *(_line(*pair) for pair in entry.items())]
        edited = blocks.append(text, "\n".join(lines), gap=True)
    elif place.is_ours(there):
        edited = _updated(text or "", place, entry)
    else:
        raise _refused(place, f"has a server {place.name} that init did not put there")
    servers = {**said.get(place.servers, {}), place.name: {**(there or {}), **entry}}
    return _verified(edited, place, {**said, place.servers: servers})


def remove(text: str, place: Place) -> str | None:
    """*text* without our entry; None where nothing else is in a file that was made here.

    Raises:
        Failure: as `put` does.
    """
    if not holds(text, place):
        return text
    said = _read(text, place)
    rest: str | None = text
    for span in reversed(list(_tables(text, place))):
        rest = blocks.cut(rest or "", span, gap=True)
    del said[place.servers][place.name]
    return None if rest is None else _verified(rest, place, said)


def holds(text: str, place: Place) -> bool:
    """Whether our entry is in *text*.

    Raises:
        Failure: as `put` does.
    """
    there = _entry(_read(text, place), place)
    return there is not None and place.is_ours(there)


# --- what is there ----------------------------------------------------------------------------


def _read(text: str, place: Place) -> dict[str, Any]:
    try:
        return _loads(text.removeprefix("\ufeff"))
    except (ValueError, RecursionError) as error:
        raise _refused(place, f"is no TOML: {error}") from error


def _loads(text: str) -> dict[str, Any]:
    return tomllib.loads(text, parse_float=str)  # a nan would differ from itself


def _entry(said: dict[str, Any], place: Place) -> dict[str, Any] | None:
    servers = said.get(place.servers, {})
    if not isinstance(servers, dict):
        raise _refused(place, f"cannot be edited: {place.servers} is no table there")
    entry = servers.get(place.name)
    if entry is not None and not isinstance(entry, dict):
        raise _refused(place, f"cannot be edited: {place.servers}.{place.name} is no table there")
    return entry


def _statements(text: str) -> Iterator[_Statement]:
    lines = blocks.lines(text)
    table: tuple[str, ...] = ()
    at = 0
    while at < len(lines):
        start, said = lines[at].start, None
        while said is None:  # the whole text was read before, so there is an end
            span = Span(start, lines[at].end)
            with suppress(tomllib.TOMLDecodeError):
                said = _loads(text[span.start : span.end])
            at += 1
        if text[start:].lstrip(" \t").startswith("["):
            table = tuple(_path(said))
            yield _Statement(span, table, None)
        elif said:
            yield _Statement(span, table, next(iter(said)))


def _path(said: Any) -> Iterator[str]:
    """The names of a header, from what it says alone."""
    while isinstance(said, dict) and said:
        name, said = next(iter(said.items()))
        yield name


def _tables(text: str, place: Place) -> Iterator[Span]:
    """The server's table and those below it, each up to its last assignment."""
    span = None
    for statement in _statements(text):
        if statement.key is None:
            if span:
                yield span
            ours = statement.table[:2] == (place.servers, place.name)
            span = statement.span if ours else None
        elif span:
            span = Span(span.start, statement.span.end)
    if span:
        yield span


def _refused(place: Place, problem: str) -> Failure:
    return Failure(
        "config_refused",
        f"{place.file} {problem}. It was left as it is.",
        "Correct it by hand, then run init again.",
    )


def _verified(text: str, place: Place, wanted: dict[str, Any]) -> str:
    """*text*, once it is sure that it says *wanted*; an empty table of servers is no difference."""
    said = _read(text, place)
    for each in (said, wanted):
        if not each.get(place.servers, True):
            del each[place.servers]
    try:
        same = said == wanted
    except RecursionError:
        same = False
    if not same:
        raise _refused(place, "is laid out in a way that cannot be edited")
    return text


# --- splices ----------------------------------------------------------------------------------


def _updated(text: str, place: Place, entry: Entry) -> str:
    """*text* with the assignments of the table that is there as *entry* has them."""
    for each in reversed(list(_statements(text))):
        name = each.key
        if name is None or name not in entry or each.table != (place.servers, place.name):
            continue
        old = text[each.span.start : each.span.end]
        if _loads(old) != {name: entry[name]}:
            text = blocks.replace(text, each.span, _line(name, entry[name]) + _comment(old))
    return text


def _line(name: str, value: Any) -> str:
    # JSON's strings and arrays are TOML's too, but for one control character.
    return f"{name} = {json.dumps(value, ensure_ascii=False)}".replace("\x7f", "\\u007F")


def _comment(statement: str) -> str:
    """The comment after an assignment, with the white space before it."""
    for at, char in enumerate(statement):
        if char == "#":
            with suppress(tomllib.TOMLDecodeError):
                if _loads(statement[:at]):
                    return statement[len(statement[:at].rstrip(" \t")) :]
    return ""

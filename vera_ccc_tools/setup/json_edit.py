"""Put a server into a JSON configuration and take it out again, by splicing the text.

All else stays: comments, order, layout. Each edit is read again, and refused unless it says just
what it should. Comments and a comma after the last member, which VS Code and Cursor allow, are
blanked before `json` reads the text, so that its positions are those of the file.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

from vera_ccc_tools.errors import Failure
from vera_ccc_tools.setup.blocks import line_end, line_number

Entry = Mapping[str, Any]

_STRING = r'"(?:[^"\\]|\\.)*"'
_COMMENT = re.compile(rf"{_STRING}|//[^\r\n]*|/\*.*?\*/", re.DOTALL)
_LAST_COMMA = re.compile(rf"{_STRING}|,(?=\s*[}}\]])", re.DOTALL)
_SPACE = re.compile(r"[ \t\r\n]*")


@dataclass(frozen=True, slots=True)
class Place:
    """Where the entry of a server is in a configuration.

    Attributes:
        file: The file's name, for messages.
        servers: The top-level member that holds the servers.
        name: The server's name in it.
        comments: Whether the agent reads comments in this file.
        is_ours: Whether an entry of that name is one that was put in here.
    """

    file: str
    servers: str
    name: str
    comments: bool
    is_ours: Callable[[Entry], bool]


def put(text: str | None, place: Place, entry: Entry) -> str:
    """*text*, or None for no file, with *entry*.

    In an entry that is there, `command` and `args` are set, and all else is the user's.

    Raises:
        Failure: ``config_refused`` when *text* is no JSON, or not laid out as a configuration.
    """
    if text is None:
        return json.dumps({place.servers: {place.name: entry}}, indent=2, ensure_ascii=False) + "\n"
    found = _Found(text, place)
    if found.servers is None:
        edited = found.inserted(found.top, place.servers, {place.name: entry})
    elif found.entry is None:
        edited = found.inserted(found.servers.value, place.name, entry)
    elif found.has_ours:
        edited = _updated(found, entry)
    else:
        problem = f"has a server {place.name} that init did not put there"
        raise found.refused(found.entry.start, problem)
    said = {**found.said.get(place.servers, {})}
    ours = {name: entry[name] for name in ("command", "args")} if found.has_ours else entry
    said[place.name] = {**said.get(place.name, {}), **_plain_value(ours)}
    return _verified(found, edited, {**found.said, place.servers: said})


def remove(text: str, place: Place) -> str | None:
    """*text* without our entry; None where nothing else is in the file.

    Raises:
        Failure: as `put` does.
    """
    found = _Found(text, place)
    if found.servers is None or found.entry is None or not found.has_ours:
        return text
    said = {**found.said, place.servers: {**found.said[place.servers]}}
    del said[place.servers][place.name]
    edited = found.without(found.members(found.servers.value), found.entry)
    rest = _Found(edited, place)
    assert rest.servers is not None
    written = edited[rest.servers.start : rest.servers.end]
    if re.sub(r"\s", "", written).endswith('":{}'):
        del said[place.servers]
        edited = rest.without(rest.members(rest.top), rest.servers)
        if re.sub(r"\s", "", edited) in {"{}", "\ufeff{}"}:
            return None
    return _verified(found, edited, said)


def holds(text: str, place: Place) -> bool:
    """Whether our entry is in *text*.

    Raises:
        Failure: as `put` does.
    """
    return _Found(text, place).has_ours


@dataclass(frozen=True, slots=True)
class _Member:
    """A member of an object: its name, and where the name, the value and the end of that are."""

    name: str
    start: int
    value: int
    end: int


class _Found:
    """A configuration: what it says, and the members with the servers and with the entry."""

    def __init__(self, text: str, place: Place) -> None:
        self.text = text
        self.place = place
        self.plain = _blanked(text) if place.comments else text
        if text.startswith("\ufeff"):
            self.plain = f" {self.plain[1:]}"
        try:
            said = _DECODER.decode(self.plain)
        except json.JSONDecodeError as error:
            raise self.refused(error.pos, f"is no JSON: {error.msg}") from error
        except (ValueError, RecursionError) as error:
            raise self.refused(0, f"is no JSON: {error}") from error
        self.top = _skip(self.plain, 0)
        self.servers = self._member(self.top, place.servers, "the file")
        self.entry = None
        if self.servers is not None:
            self.entry = self._member(self.servers.value, place.name, place.servers)
        self.said: dict[str, Any] = said
        ours = said.get(place.servers, {}).get(place.name)
        self.has_ours = isinstance(ours, dict) and place.is_ours(ours)

    def members(self, at: int) -> list[_Member]:
        """The members of the object that begins at *at*."""
        found, at = list[_Member](), _skip(self.plain, at + 1)
        while self.plain[at] != "}":
            name, end = _DECODER.raw_decode(self.plain, at)
            value = _skip(self.plain, _skip(self.plain, end) + 1)
            _, end = _DECODER.raw_decode(self.plain, value)
            found.append(_Member(name, at, value, end))
            at = _skip(self.plain, end)
            if self.plain[at] == ",":
                at = _skip(self.plain, at + 1)
        return found

    def inserted(self, at: int, name: str, value: Any) -> str:
        """The text with a member more, the first one, in the object that begins at *at*."""
        text, end, members = self.text, line_end(self.text), self.members(at)
        key = json.dumps(name, ensure_ascii=False)
        if not members:
            outer = self._indentation(at)
            pad = outer + self._unit()
            close = _skip(self.plain, at + 1)
            inner = text[at + 1 : close]
            rest = inner if inner.strip() else end + outer
            return f"{text[: at + 1]}{end}{pad}{key}: {self._laid(value, pad)}{rest}{text[close:]}"
        first = members[0].start
        pad = self._indentation(first)
        if self._line_before(first).strip():
            written, gap = json.dumps(value, ensure_ascii=False), " "
        else:
            written, gap = self._laid(value, pad), end + pad
        return f"{text[:first]}{key}: {written},{gap}{text[first:]}"

    def exchanged(self, member: _Member, value: Any) -> str:
        """The text with another value of *member*, over several lines if the old one was."""
        old = self.text[member.value : member.end]
        written = json.dumps(value, ensure_ascii=False)
        if "\n" in old or "\r" in old:
            written = self._laid(value, self._indentation(member.start))
        return self.text[: member.value] + written + self.text[member.end :]

    def without(self, members: Sequence[_Member], member: _Member) -> str:
        """The text without *member*, one of *members*, and without the comma that it needed."""
        text, index = self.text, members.index(member)
        end = member.end
        with_commas = _blanked(text, commas=False) if self.place.comments else self.plain
        comma = _skip(with_commas, end)
        has_comma = with_commas[comma] == ","
        comment = text[end:comma] if has_comma else ""
        if has_comma:
            end = comma + 1
        start = member.start
        before = self._line_before(start)
        if not before.strip() and text[end : end + 1] in "\r\n":
            start -= len(before)
            start -= 2 if text[:start].endswith("\r\n") else min(start, 1)
        else:
            end += len(text[end:]) - len(text[end:].lstrip(" \t"))
        if index and index == len(members) - 1 and not has_comma:
            needed = _skip(self.plain, members[index - 1].end)
            return text[:needed] + text[needed + 1 : start] + text[end:]
        return text[:start] + (comment if comment.strip() else "") + text[end:]

    def refused(self, at: int, problem: str) -> Failure:
        line = line_number(self.text, at)
        return Failure(
            "config_refused",
            f"{self.place.file}, line {line}: it {problem}. It was left as it is.",
            "Correct it by hand, then run init again.",
        )

    def _member(self, at: int, name: str, where: str) -> _Member | None:
        if self.plain[at] != "{":
            raise self.refused(at, f"cannot be edited: {where} is no object there")
        found = [member for member in self.members(at) if member.name == name]
        if len(found) > 1:
            raise self.refused(found[-1].start, f"cannot be edited: {name} is there twice")
        return found[0] if found else None

    def _laid(self, value: Any, pad: str) -> str:
        written = json.dumps(value, indent=self._unit(), ensure_ascii=False)
        return written.replace("\n", line_end(self.text) + pad)

    def _unit(self) -> str:
        """One step of the indentation: that of the first member, where it has a line of its own."""
        members = self.members(self.top)
        before = self._line_before(members[0].start) if members else ""
        return before if before and not before.strip() else "  "

    def _indentation(self, at: int) -> str:
        before = self._line_before(at)
        return before[: len(before) - len(before.lstrip(" \t"))]

    def _line_before(self, at: int) -> str:
        """What stands before *at* on its line, a byte order mark not counted."""
        start = max(self.text.rfind("\n", 0, at), self.text.rfind("\r", 0, at)) + 1
        return self.text[start:at].removeprefix("\ufeff")


def _updated(found: _Found, entry: Entry) -> str:
    """The text with our entry's `command` and `args`, which `Place.is_ours` knows it by, anew."""
    for name in ("command", "args"):
        assert found.entry is not None
        if found.said[found.place.servers][found.place.name][name] != entry[name]:
            members = found.members(found.entry.value)
            member = next(member for member in members if member.name == name)
            found = _Found(found.exchanged(member, entry[name]), found.place)
    return found.text


def _verified(found: _Found, edited: str, wanted: Mapping[str, Any]) -> str:
    """*edited*, once it is sure that it says *wanted*; no servers at all are an empty object."""
    said = _Found(edited, found.place).said
    if {found.place.servers: {}, **said} != {found.place.servers: {}, **wanted}:
        raise found.refused(found.top, "is laid out in a way that cannot be edited")
    return edited


def _blanked(text: str, *, commas: bool = True) -> str:
    """*text* with blanks in place of comments and, with *commas*, of last commas."""

    def blank(found: re.Match[str]) -> str:
        return found[0] if found[0].startswith('"') else re.sub(r"[^\r\n]", " ", found[0])

    text = _COMMENT.sub(blank, text)
    return _LAST_COMMA.sub(blank, text) if commas else text


def _skip(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    assert found is not None
    return found.end()


def _plain_value(value: Any) -> Any:
    return _DECODER.decode(json.dumps(value))


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no value")


# Numbers stay as they are written: long ones are no error, and 1.0 is not 1.
_DECODER = json.JSONDecoder(parse_float=str, parse_int=str, parse_constant=_no_constant)

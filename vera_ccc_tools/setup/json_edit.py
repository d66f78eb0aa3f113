"""Put a server into a JSON configuration and take it out again, by splicing the text.

Everything else stays byte for byte. How an entry is laid out tells what was there before it, so
that taking it out brings the exact text back, without a record that could get lost:

- an object of the user's that was empty holds the new member right after its brace;
- an object that was made here has white space there, and goes with its last member;
- a comma stands after the new member exactly when one stood after the last one before it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from vera_ccc_tools.errors import Failure
from vera_ccc_tools.setup import json_splice
from vera_ccc_tools.setup.blocks import line_number
from vera_ccc_tools.setup.json_splice import Addition
from vera_ccc_tools.setup.json_text import BadJson, Member, Value, parse, plain

Entry = Mapping[str, Any]


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
    """*text*, or None for no file, with *entry*; of one that is there, only what differs changes.

    In an entry that is there, `command` and `args` are set, and all else is the user's.

    Raises:
        Failure: ``config_refused`` when *text* is no JSON, or not laid out as a configuration.
    """
    if text is None:
        return json_splice.document({place.servers: {place.name: entry}})
    found = _Found(text, place)
    if found.entry is not None:
        if not found.has_ours:
            problem = f"has a server {place.name} that init did not put there"
            raise found.refused(found.entry.start, problem)
        return _verified(found, found.updated(found.entry, entry), entry)
    if found.servers is not None:
        addition = Addition(place.name, entry)
        return _verified(found, json_splice.add(text, found.servers.value, addition), entry)
    addition = Addition(place.servers, {place.name: entry}, spaced=True)
    return _verified(found, json_splice.add(text, found.top, addition), entry)


def remove(text: str, place: Place) -> str | None:
    """*text* without our entry; None where nothing else is in a file that was made here.

    Raises:
        Failure: as `put` does.
    """
    found = _Found(text, place)
    if found.servers is None or found.entry is None or not found.has_ours:
        return text
    if not _made_here(text, found.servers.value):
        return _verified(found, json_splice.cut(text, found.servers.value, found.entry), None)
    if not _made_here(text, found.top) or text[found.top.end :].strip():
        return _verified(found, json_splice.cut(text, found.top, found.servers), None)
    return None


def holds(text: str, place: Place) -> bool:
    """Whether our entry is in *text*.

    Raises:
        Failure: as `put` does.
    """
    return _Found(text, place).has_ours


# --- what is there ----------------------------------------------------------------------------


class _Found:
    """A configuration: its top level, the member with the servers, and the one with the entry."""

    def __init__(self, text: str, place: Place) -> None:
        self.text = text
        self.place = place
        try:
            self.top = parse(text, comments=place.comments)
        except BadJson as error:
            raise _refused(place, error.line, f"is no JSON: {error.problem}") from error
        self.servers = self._member(self.top, place.servers, "the file")
        servers = self.servers.value if self.servers else None
        self.entry = self._member(servers, place.name, place.servers) if servers else None
        self.has_ours = self.entry is not None and self._is_ours(self.entry.value)

    def updated(self, entry: Member, wanted: Entry) -> str:
        """The text with what is ours in the *entry* that is there as *wanted* has it."""
        for name in ("command", "args"):
            member = self._member(entry.value, name, self.place.name)
            if member is None:
                text = json_splice.add(self.text, entry.value, Addition(name, wanted[name]))
            elif plain(self.text, member.value) != wanted[name]:
                text = json_splice.exchange(self.text, member.value, wanted[name])
            else:
                continue
            changed = _Found(text, self.place)
            assert changed.entry is not None
            return changed.updated(changed.entry, wanted)
        return self.text

    def refused(self, at: int, problem: str) -> Failure:
        return _refused(self.place, line_number(self.text, at), problem)

    def _member(self, value: Value, name: str, where: str) -> Member | None:
        if value.members is None:
            raise self.refused(value.start, f"cannot be edited: {where} is no object there")
        found = [member for member in value.members if member.name == name]
        if len(found) > 1:
            raise self.refused(found[-1].start, f"cannot be edited: {name} is there twice")
        return found[0] if found else None

    def _is_ours(self, value: Value) -> bool:
        return value.members is not None and self.place.is_ours(dict(plain(self.text, value)))


def _made_here(text: str, value: Value) -> bool:
    """Whether the object was made for its only member: it stands after white space, alone."""
    members = value.members or ()
    if len(members) != 1 or value.last_comma is not None:
        return False
    before = text[value.start + 1 : members[0].start]
    after = text[members[0].value.end : value.end - 1]
    return bool(before) and not before.strip() and not after.strip()


def _refused(place: Place, line: int, problem: str) -> Failure:
    return Failure(
        "config_refused",
        f"{place.file}, line {line}: it {problem}. It was left as it is.",
        "Correct it by hand, then run init again.",
    )


def _verified(found: _Found, text: str, entry: Entry | None) -> str:
    """*text*, an edited *found*, once it is sure that it says what it should, and no more."""
    edited = _Found(text, found.place)
    said = dict(plain(text, edited.entry.value)) if edited.entry else {}
    wanted = {"command": entry["command"], "args": entry["args"]} if entry else {}
    if {name: said.get(name) for name in wanted} != wanted or _outside(edited) != _outside(found):
        problem = "is laid out in a way that cannot be edited"
        raise found.refused(found.top.start, problem)
    return text


def _outside(found: _Found) -> list[Any]:
    """All that a configuration says but for our entry, and for an object without any other."""
    said = []
    for member in found.top.members or ():
        value = plain(found.text, member.value)
        if member is found.servers:
            value = tuple(pair for pair in value if pair[0] != found.place.name)
            if not value:
                continue
        said.append((member.name, value))
    return said

"""JSON whose values know where they stand in the text.

The grammar is RFC 8259's, as agents read it (no ``NaN``); with *comments* also that of VS Code's
own files: ``//`` and ``/* */``, and a comma after the last member.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from vera_ccc_tools.setup.blocks import line_number

_SPACE = re.compile(r"[ \t\r\n]*")
_SPACE_AND_COMMENTS = re.compile(r"(?:[ \t\r\n]|//[^\r\n]*|/\*.*?\*/)*", re.DOTALL)
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"')
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_WORD = re.compile(r"true|false|null")
_BOM = "\ufeff"


class BadJson(ValueError):
    """The text is no JSON.

    Attributes:
        line: Where, from 1.
        problem: What is wrong there.
    """

    def __init__(self, text: str, at: int, problem: str) -> None:
        super().__init__(problem)
        self.line = line_number(text, at)
        self.problem = problem


@dataclass(frozen=True, slots=True)
class Value:
    """A value, from *start* to before *end*.

    Attributes:
        members: Those of an object in their order; None for anything else.
        items: Those of an array; None for anything else.
        last_comma: Where the comma after the last member is, if there is one.
    """

    start: int
    end: int
    members: tuple[Member, ...] | None = None
    items: tuple[Value, ...] | None = None
    last_comma: int | None = None


@dataclass(frozen=True, slots=True)
class Member:
    """A member of an object: its *name*, the place of the name, and its value."""

    name: str
    start: int
    value: Value


def parse(text: str, *, comments: bool) -> Value:
    """Read *text*; a byte order mark at its start is passed over.

    Raises:
        BadJson: It is no JSON, or nested too deeply.
    """
    try:
        return _Scanner(text, _SPACE_AND_COMMENTS if comments else _SPACE).document()
    except RecursionError as error:
        raise BadJson(text, 0, "it is nested too deeply") from error


def plain(text: str, value: Value) -> Any:
    """The value, with an object as a tuple of its pairs, so that none of them is lost."""
    if value.members is not None:
        return tuple((member.name, plain(text, member.value)) for member in value.members)
    if value.items is not None:
        return [plain(text, item) for item in value.items]
    # Of integers Python reads but so many digits.
    return json.loads(text[value.start : value.end], parse_int=Decimal)


def skip(text: str, at: int) -> int:
    """The first place from *at* on that is neither white space nor in a comment."""
    found = _SPACE_AND_COMMENTS.match(text, at)
    assert found is not None
    return found.end()


class _Scanner:
    def __init__(self, text: str, space: re.Pattern[str]) -> None:
        self.text = text
        self.space = space
        self.lenient = space is _SPACE_AND_COMMENTS

    def document(self) -> Value:
        value = self.value(self.skip(1 if self.text.startswith(_BOM) else 0))
        end = self.skip(value.end)
        if end < len(self.text):
            raise self.bad(end, "there is something after the end")
        return value

    def value(self, at: int) -> Value:
        opening = self.text[at : at + 1]
        if opening == "{":
            return self.object(at)
        if opening == "[":
            return self.array(at)
        pattern = _STRING if opening == '"' else _WORD if opening.isalpha() else _NUMBER
        return Value(at, self.match(pattern, at, "a value is missing or wrong"))

    def object(self, start: int) -> Value:
        members: list[Member] = []

        def member(at: int) -> int:
            end = self.match(_STRING, at, "a name in double quotes is missing")
            colon = self.skip(end)
            if self.text[colon : colon + 1] != ":":
                raise self.bad(colon, "a colon is missing")
            value = self.value(self.skip(colon + 1))
            members.append(Member(json.loads(self.text[at:end]), at, value))
            return value.end

        comma, end = self.each(start, "}", member)
        return Value(start, end, members=tuple(members), last_comma=comma)

    def array(self, start: int) -> Value:
        items: list[Value] = []

        def item(at: int) -> int:
            items.append(self.value(at))
            return items[-1].end

        _, end = self.each(start, "]", item)
        return Value(start, end, items=tuple(items))

    def each(self, start: int, closing: str, read: Callable[[int], int]) -> tuple[int | None, int]:
        """Let *read* take each element; the place of a comma after the last, and the end."""
        at, comma = self.skip(start + 1), start
        while self.text[at : at + 1] != closing:
            if comma < 0:
                raise self.bad(at, f"a comma or {closing} is missing")
            at = self.skip(read(at))
            comma = -1
            if self.text[at : at + 1] == ",":
                comma, at = at, self.skip(at + 1)
        if comma <= start:
            return None, at + 1
        if not self.lenient:
            raise self.bad(comma, "there is a comma after the last element")
        return comma, at + 1

    def skip(self, at: int) -> int:
        found = self.space.match(self.text, at)
        assert found is not None
        return found.end()

    def match(self, pattern: re.Pattern[str], at: int, problem: str) -> int:
        found = pattern.match(self.text, at)
        if found is None:
            raise self.bad(at, problem)
        return found.end()

    def bad(self, at: int, problem: str) -> BadJson:
        if self.text.startswith(("//", "/*"), at) and not self.lenient:
            problem = "comments are no JSON"
        return BadJson(self.text, at, problem)

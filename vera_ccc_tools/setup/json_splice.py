"""Members of JSON objects that come and go: text in, text out, all else byte for byte."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from vera_ccc_tools.setup.blocks import line_end
from vera_ccc_tools.setup.json_text import Member, Value, parse, skip

_INDENT = "  "
_REST_OF_LINE = re.compile(r"(?:[ \t]|//[^\r\n]*|/\*.*?\*/)*", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Addition:
    """A member to add.

    Attributes:
        name: Its name.
        value: Its value, as `json` takes it.
        spaced: Whether white space stands inside the braces even of a value on one line.
    """

    name: str
    value: Any
    spaced: bool = False


def document(value: Mapping[str, Any]) -> str:
    """A new file that says *value*."""
    return json.dumps(value, indent=_INDENT, ensure_ascii=False) + "\n"


def add(text: str, value: Value, addition: Addition) -> str:
    """*text* with *addition* as the last member of the object *value*.

    It is laid out as the member before it; in an empty object it stands right after the brace.
    """
    if not value.members:
        at = value.start + 1
        written = _written(text, addition, _indentation(text, value.start))
        return text[:at] + written + text[at:]
    last = value.members[-1]
    end = last.value.end if value.last_comma is None else value.last_comma + 1
    pad = _own_line(text, last.start)
    if pad is None:
        at, written = end, " " + _written(text, addition, None)
    else:
        at = _rest_of_line(text, end)
        written = line_end(text) + pad + _written(text, addition, pad)
    if value.last_comma is not None:
        return text[:at] + written + "," + text[at:]
    return text[:end] + "," + text[end:at] + written + text[at:]


def cut(text: str, value: Value, member: Member) -> str:
    """*text* without the *member* of the object *value*, and without the comma that it needed."""
    members = value.members or ()
    index = members.index(member)
    after = index < len(members) - 1 or value.last_comma is not None
    end = skip(text, member.value.end) + 1 if after else member.value.end
    before = skip(text, members[index - 1].value.end) if index else value.start
    start = _lead(text, member.start)
    if "//" in text[before:start] and text[end] not in "\r\n":
        start = member.start  # the line end is the comment's
    if index < len(members) - 1 and not _breaks(text[start : member.start]):
        end += len(text[end:]) - len(text[end:].lstrip(" \t"))
    if index and not after:
        return text[:before] + text[before + 1 : start] + text[end:]
    return text[:start] + text[end:]


def exchange(text: str, value: Value, wanted: Any) -> str:
    """*text* with *wanted* in place of *value*, over several lines if *value* was."""
    pad = _indentation(text, value.start) if _breaks(text[value.start : value.end]) else None
    return text[: value.start] + _value(text, wanted, pad) + text[value.end :]


def _written(text: str, addition: Addition, pad: str | None) -> str:
    """The member as text: on lines indented by *pad*, or on one line for None."""
    value = _value(text, addition.value, pad)
    if addition.spaced and pad is None:
        value = f"{{ {value[1:-1]} }}"
    return f"{json.dumps(addition.name, ensure_ascii=False)}: {value}"


def _value(text: str, value: Any, pad: str | None) -> str:
    if pad is None:
        return json.dumps(value, ensure_ascii=False)
    rendered = json.dumps(value, indent=_unit(text), ensure_ascii=False)
    return rendered.replace("\n", line_end(text) + pad)


def _unit(text: str) -> str:
    """One step of the indentation: that of the first member, where it has a line of its own."""
    top = parse(text, comments=True)
    return (_own_line(text, top.members[0].start) if top.members else None) or _INDENT


def _own_line(text: str, at: int) -> str | None:
    """The white space before *at* on its line, or None when something else is there."""
    before = _before(text, at)
    return None if before.strip(" \t") else before


def _indentation(text: str, at: int) -> str:
    """The white space at the start of the line that *at* is on."""
    before = _before(text, at).removeprefix("\ufeff")
    return before[: len(before) - len(before.lstrip(" \t"))]


def _before(text: str, at: int) -> str:
    return text[max(text.rfind("\n", 0, at), text.rfind("\r", 0, at)) + 1 : at]


def _rest_of_line(text: str, at: int) -> int:
    """The end of the line from *at* on, when only comments and white space follow; else *at*."""
    found = _REST_OF_LINE.match(text, at)
    assert found is not None
    return found.end() if text[found.end()] in "\r\n" else at


def _lead(text: str, at: int) -> int:
    """Where the white space before *at* begins, with the line end before it if that is near."""
    start = at - (len(text[:at]) - len(text[:at].rstrip(" \t")))
    if text[:start].endswith("\r\n"):
        return start - 2
    return start - 1 if text[start - 1] in "\r\n" else start


def _breaks(text: str) -> bool:
    return "\n" in text or "\r" in text

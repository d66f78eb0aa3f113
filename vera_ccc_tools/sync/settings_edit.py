"""Edit the list of ``exclude_patterns`` in a settings text by splicing, and check the result.

Text in, text out. Entries stand in a block, one a line; where there was another list, or none,
the text that stood there is remembered and comes back with the last entry's removal. Everything
else stays byte for byte, and what the edited text says is compared with what the original says.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from vera_ccc_tools.errors import Failure
from vera_ccc_tools.sync.settings import DEFAULT_EXCLUDES, KEY, NULL, Node, Settings, read, refuse

_UNKNOWN = f"the layout of {KEY} is not understood"


@dataclass(frozen=True, slots=True)
class Origin:
    """What stood in the place of the list before the first entry of ours.

    Attributes:
        written: The text that stands for it now, our entries left out.
        original: The text that stood there before; the same where nothing had to be rewritten.
    """

    written: str = ""
    original: str = ""


@dataclass(frozen=True, slots=True)
class Edited:
    """A settings text after an edit, and what it did."""

    text: str
    origin: Origin
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()


def quote(pattern: str) -> str:
    """Write a pattern as a YAML scalar: double-quoted, in ASCII."""
    # JSON's escapes are YAML's too, but for its surrogate pairs.
    return "".join(_ascii(char) for char in json.dumps(pattern, ensure_ascii=False))


def edit(
    settings: Settings, ours: Mapping[int, str], wanted: Sequence[str], origin: Origin
) -> Edited:
    """Make *wanted* the entries of ours, which now are the items *ours* (by index).

    New ones stand at the end. *origin* counts only where something of ours is there; when the
    last of it goes, and the rest is as it was written for *origin*, the original comes back.

    Raises:
        Failure: ``settings_refused`` where the list is laid out in a way that this does not fit.
    """
    wanted_set, present = set(wanted), set(ours.values())
    drop = {index: one for index, one in ours.items() if one not in wanted_set}
    added = tuple(one for one in wanted if one not in present)
    if not drop and not added:
        return Edited(settings.text, origin)
    try:
        block, opened = _as_block(settings)
        origin = origin if ours else opened
        if drop:
            block = read(_cut(block, drop))
        text = _append(block, added) if added else block.text
        if not wanted:
            text = _put_back(block, origin)
        _verify(settings, read(text), drop, added)
    except Failure as failure:
        if failure.code == "settings_refused":
            raise
        raise refuse(settings.key, _UNKNOWN) from failure
    return Edited(text, origin, added, tuple(drop.values()))


def _ascii(char: str) -> str:
    if char.isascii():
        return "\\x7F" if char == "\x7f" else char
    return f"\\U{ord(char):08X}" if ord(char) > 0xFFFF else f"\\u{ord(char):04X}"


# --- the list where there is none, or none in a block -----------------------------------------


def _as_block(settings: Settings) -> tuple[Settings, Origin]:
    """Write the list as a block where it is none."""
    text, key, value = settings.text, settings.key, settings.value
    if settings.top is not None and settings.top.flow_style:
        raise refuse(settings.top, "the file is written in braces, like JSON")
    if key is None or value is None:
        origin = Origin(_default_block(settings))
        return read(text + origin.written), origin
    if value.tag != NULL and not value.flow_style:
        return settings, Origin()
    start, colon = key.start_mark.index, _colon(settings)
    # An empty value is reported where the next token begins.
    end = value.end_mark.index if settings.source(value) else colon
    pad = settings.newline + " " * (key.start_mark.column + 2)
    listed = "".join(f"{pad}- {source}" for source in _flow_items(settings))
    origin = Origin(text[start:colon] + listed, text[start:end])
    return read(text[:start] + origin.written + text[end:]), origin


def _default_block(settings: Settings) -> str:
    """The key with ccc's defaults, which stop counting once it is there."""
    pad = " " * (settings.top.start_mark.column if settings.top is not None else 0)
    lines = [f"{pad}{KEY}:", *(f"{pad}  - {quote(item)}" for item in DEFAULT_EXCLUDES)]
    block, text = settings.newline.join(lines), settings.text
    at_line_start = text.endswith(("\n", "\r")) or text in {"", "\ufeff"}
    return block + settings.newline if at_line_start else settings.newline + block


def _flow_items(settings: Settings) -> list[str]:
    items = [settings.source(item) for item in settings.items]
    between = settings.source(settings.value)
    for item in items:
        between = between.replace(item, "", 1)
    if "#" in between or any(len(item.splitlines()) > 1 for item in items):
        raise refuse(settings.value, f"{KEY} is a list in brackets with comments or broken lines")
    return items


def _put_back(settings: Settings, origin: Origin) -> str:
    """The original text, when what stands there is what we wrote."""
    text, key, items = settings.text, settings.key, settings.items
    if key is None:
        return text
    start = key.start_mark.index - (len(origin.written) - len(origin.written.lstrip()))
    end = start + len(origin.written)
    is_ours = bool(origin.written) and text[max(start, 0) : end] == origin.written
    if is_ours and all(item.end_mark.index <= end for item in items):
        return text[:start] + origin.original + text[end:]
    colon = _colon(settings)
    return text if items else f"{text[:colon]} []{text[colon:]}"


# --- entries that come and go -----------------------------------------------------------------


def _append(settings: Settings, patterns: Sequence[str]) -> str:
    text, items, newline = settings.text, settings.items, settings.newline
    if items:
        start = _dash(settings, 0)
        pad = text[_line_start(text, start) : start]
        at = _line_end(text, items[-1].end_mark.index)
    else:
        pad = " " * (settings.key.start_mark.column + 2 if settings.key is not None else 2)
        at = _line_end(text, _colon(settings))
    added = "".join(f"{newline}{pad}- {quote(pattern)}" for pattern in patterns)
    return text[:at] + added + text[at:]


def _cut(settings: Settings, drop: Iterable[int]) -> str:
    """Take out items, each with its line and the line end before it; a comment beside it stays."""
    text = settings.text
    pieces, at = [], 0
    for index in sorted(drop):
        dash, end = _dash(settings, index), settings.items[index].end_mark.index
        start = dash
        if not text[end : (line_end := _line_end(text, end))].strip():
            start, end = _line_start(text, dash), line_end
            start -= 2 if text[start - 2 : start] == "\r\n" else 1
        pieces.append(text[at:start])
        at = end
    return "".join(pieces) + text[at:]


def _colon(settings: Settings) -> int:
    """Where the key ends, its colon included."""
    key = settings.key
    rest = settings.text[key.end_mark.index :] if key is not None else ""
    if not rest.lstrip(" \t").startswith(":"):
        raise refuse(key, _UNKNOWN)
    return len(settings.text) - len(rest.lstrip(" \t")) + 1


def _dash(settings: Settings, index: int) -> int:
    """Where the dash of an item is: alone before it on its line, or on one above."""
    text, item = settings.text, settings.items[index]
    end = item.start_mark.index
    dash = text.rfind("-", 0, end)
    before = text[_line_start(text, dash) : dash]
    if before.strip() or text[dash + 1 : end].strip():
        raise refuse(item, _UNKNOWN)
    return dash


def _line_start(text: str, at: int) -> int:
    return max(text.rfind("\n", 0, at), text.rfind("\r", 0, at)) + 1


def _line_end(text: str, at: int) -> int:
    while at < len(text) and text[at] not in "\r\n":
        at += 1
    return at


# --- the check --------------------------------------------------------------------------------


def _verify(
    before: Settings, after: Settings, drop: Mapping[int, str], added: tuple[str, ...]
) -> None:
    """Raise unless the two texts say the same, but for the change."""
    kept = tuple(one for index, one in enumerate(before.excludes) if index not in drop)
    if after.key is not None and after.excludes != kept + added:
        raise refuse(before.key, _UNKNOWN)
    if _others(before) != _others(after):
        raise refuse(before.key, _UNKNOWN)


def _others(settings: Settings) -> list[object]:
    """What the text says apart from the list; a node that aliases name is gone into once."""
    found: list[object] = []
    seen: dict[int, int] = {}

    def walk(node: Node) -> None:
        if isinstance(node, tuple):
            for one in node:
                walk(one)
        elif id(node) in seen:
            found.append(seen[id(node)])
        else:
            seen[id(node)] = len(seen)
            found.append(node.tag)
            if isinstance(node.value, str):
                found.append(node.value)
            else:
                for one in node.value:
                    walk(one)
                found.append(None)

    for key, value in settings.top.value if settings.top is not None else ():
        if key is not settings.key:
            walk((key, value))
    return found

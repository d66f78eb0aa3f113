"""Edit the list of ``exclude_patterns`` in a settings text by splicing, and check the result.

Text in, text out. Everything but the entries that come and go stays byte for byte; what the
edited text says is compared with what the original says before anybody may write it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from vera_ccc_tools.errors import Failure
from vera_ccc_tools.sync.settings import DEFAULT_EXCLUDES, KEY, Settings, Was, read
from vera_ccc_tools.sync.yaml_nodes import STRING, Node

_INDENT = "  "


@dataclass(frozen=True, slots=True)
class Origin:
    """How the list was before the first entry of ours, to bring it back after the last.

    Attributes:
        was: What the text said of the key.
        written: The text that stands for it now, our entries left out.
        original: The text that stood there before.
    """

    was: Was = "list"
    written: str = ""
    original: str = ""


@dataclass(frozen=True, slots=True)
class Change:
    """What an edit does to the list.

    Attributes:
        drop: Indexes of the items that go.
        add: The patterns that come.
        last: Whether no entry of ours is left afterwards.
    """

    drop: frozenset[int]
    add: tuple[str, ...]
    last: bool = False


@dataclass(frozen=True, slots=True)
class Edited:
    """A settings text after an edit, and the origin to remember with it."""

    text: str
    origin: Origin


class _Defeated(Exception):
    """The text is laid out in a way that this edit does not fit."""


def quote(pattern: str) -> str:
    """Write a pattern as a YAML scalar: double-quoted, in ASCII."""
    # JSON's escapes are YAML's too, but for its surrogate pairs.
    return "".join(_ascii(char) for char in json.dumps(pattern, ensure_ascii=False))


def edit(settings: Settings, change: Change, origin: Origin) -> Edited:
    """Apply *change* to the list; its new items stand at the end wherever that is possible.

    When nothing of ours is left and the rest is as *origin* says we wrote it, the original text
    is put back.

    Raises:
        Failure: ``settings_refused`` when the text is laid out in a way that defeats this.
    """
    for attempt in (_edit_at_end, _edit_at_start):
        try:
            return attempt(settings, change, origin)
        except (_Defeated, Failure):
            continue
    line = settings.value.line if settings.value else 1
    raise Failure(
        "settings_refused",
        f"settings.yml cannot be edited, line {line}: the layout of {KEY} is not understood.",
        f"Write {KEY} in settings.yml as a plain list, one pattern a line.",
    )


def _edit_at_end(settings: Settings, change: Change, origin: Origin) -> Edited:
    return _edit(settings, change, origin, at_end=True)


def _edit_at_start(settings: Settings, change: Change, origin: Origin) -> Edited:
    return _edit(settings, change, origin, at_end=False)


def _edit(settings: Settings, change: Change, origin: Origin, *, at_end: bool) -> Edited:
    start = settings
    if change.add and settings.was in {"absent", "null"}:
        text, origin = (_create if settings.was == "absent" else _open_null)(settings, at_end)
        start = read(text)
    text = _append(start, change.add, at_end=at_end) if change.add else start.text
    if change.drop:
        shift = 0 if at_end else len(change.add)
        text = _cut(read(text), frozenset(at + shift for at in change.drop))
    if change.last:
        restored = _restore(read(text), origin)
        if restored is not None and _outside(read(restored)) == _outside(settings):
            return Edited(restored, origin)
    _verify(settings, read(text), change, at_end=at_end)
    return Edited(text, origin)


def _ascii(char: str) -> str:
    if char.isascii():
        return "\\x7F" if char == "\x7f" else char
    return f"\\U{ord(char):08X}" if ord(char) > 0xFFFF else f"\\u{ord(char):04X}"


# --- the list where there is none -------------------------------------------------------------


def _create(settings: Settings, at_end: bool) -> tuple[str, Origin]:  # noqa: FBT001
    """Write the key with ccc's defaults, which stop counting once it is there."""
    top = settings.document.top
    if top is not None and top.flow:
        at, written = _flow_pair(settings, top, at_end=at_end)
    else:
        at, written = _block_pair(settings, top, at_end=at_end)
    text = settings.text[:at] + written + settings.text[at:]
    return text, Origin("absent", written, "")


def _block_pair(settings: Settings, top: Node | None, *, at_end: bool) -> tuple[int, str]:
    text, newline = settings.text, settings.newline
    pad = " " * (top.column if top is not None and top.kind == "mapping" else 0)
    lines = [f"{pad}{KEY}:", *(f"{pad}{_INDENT}- {quote(item)}" for item in DEFAULT_EXCLUDES)]
    written = newline.join(lines)
    if at_end:
        at = settings.document.end
        fresh = text[:at].removeprefix("\ufeff") == "" or text[at - 1] in "\r\n"
        return at, written + newline if fresh else newline + written
    if top is None:
        raise _Defeated
    return _line_start(text, top.start), written + newline


def _flow_pair(settings: Settings, top: Node, *, at_end: bool) -> tuple[int, str]:
    patterns = ", ".join(quote(item) for item in DEFAULT_EXCLUDES)
    written = f'"{KEY}": [{patterns}]'
    if at_end and top.children:
        return top.children[-1].end, f", {written}"
    at = settings.text.index("{", top.start) + 1
    return at, f"{written}, " if top.children else written


def _open_null(settings: Settings, _at_end: bool) -> tuple[str, Origin]:  # noqa: FBT001
    key, value = _pair(settings)
    text = settings.text
    if value.end > value.start:
        start, end, written = value.start, value.end, "[]"
    else:  # an empty value is reported where the next token begins
        start = end = _colon(text, key) + 1
        written = " []"
    original = text[start:end]
    return text[:start] + written + text[end:], Origin("null", written, original)


def _restore(settings: Settings, origin: Origin) -> str | None:
    """The original text, when what stands there is what we wrote."""
    if origin.was not in {"absent", "null"} or settings.key is None or settings.value is None:
        return None
    if origin.was == "absent":
        start = settings.key.start - max(origin.written.find(f'"{KEY}"'), 0)
        start -= 0 if f'"{KEY}"' in origin.written else origin.written.find(KEY)
    else:
        start = settings.value.start - origin.written.find("[")
    end = start + len(origin.written)
    if start < 0 or settings.text[start:end] != origin.written or settings.value.end > end:
        return None
    return settings.text[:start] + origin.original + settings.text[end:]


# --- entries that come and go -----------------------------------------------------------------


def _append(settings: Settings, patterns: Sequence[str], *, at_end: bool) -> str:
    key, value = _pair(settings)
    text, newline = settings.text, settings.newline
    if value.flow:
        glue = f"{newline}{_INDENT}{' ' * key.column}"
        listed = f",{glue}".join(quote(pattern) for pattern in patterns)
        at = value.children[-1].end if value.children else text.index("[", value.start) + 1
        if not at_end:
            raise _Defeated
        written = f",{glue}{listed}" if value.children else glue + listed
    else:
        pad = _pad(text, _dash(text, settings, 0))
        lines = [f"{pad}- {quote(pattern)}" for pattern in patterns]
        if at_end:
            at = _content_end(text, value.children[-1])
            written = "".join(newline + line for line in lines)
        else:
            at = _line_start(text, _dash(text, settings, 0))
            written = "".join(line + newline for line in lines)
    return text[:at] + written + text[at:]


def _cut(settings: Settings, drop: frozenset[int]) -> str:
    key, value = _pair(settings)
    text = settings.text
    if value.flow:
        spans = _flow_spans(settings, drop)
    else:
        spans = [span for index in drop for span in _block_spans(settings, index)]
        if len(drop) == len(value.children):
            colon = _colon(text, key) + 1
            text = text[:colon] + " []" + text[colon:]
            spans = [(start + 3, end + 3) for start, end in spans]
    pieces, at = [], 0
    for start, end in sorted(spans):
        pieces.append(text[at:start])
        at = end
    return "".join(pieces) + text[at:]


def _block_spans(settings: Settings, index: int) -> list[tuple[int, int]]:
    """The line of an item with the line end before it; a comment beside it stays."""
    text = settings.text
    end = settings.items[index].end
    dash = _dash(text, settings, index)
    begin, finish = _line_start(text, dash), _line_end(text, end)
    if text[begin:dash].strip() or begin == 0:
        raise _Defeated
    if text[end:finish].strip():
        return [(dash, end)]
    begin -= 2 if text[begin - 2 : begin] == "\r\n" else 1
    return [(begin, finish)]


def _flow_spans(settings: Settings, drop: frozenset[int]) -> list[tuple[int, int]]:
    """The items with the comma before them, or after them at the head of the list."""
    text, items = settings.text, settings.items
    _, value = _pair(settings)
    spans = []
    head = 0  # how many items from the first on go
    while head in drop:
        head += 1
    for index in sorted(drop):
        item = items[index]
        before = items[index - 1].end if index else text.index("[", value.start) + 1
        comma = _skip(text, before) if index else before
        gap = text[comma + (index > 0) : item.start]
        if gap.strip():  # a comment of the user's: it stays
            spans += [(comma, comma + (index > 0)), (item.start, item.end)]
        else:
            spans.append((comma, item.end))
    if head and (after := _skip(text, items[head - 1].end)) < len(text) and text[after] == ",":
        spans.append((after, after + 1))
    return spans


# --- positions --------------------------------------------------------------------------------


def _pair(settings: Settings) -> tuple[Node, Node]:
    if settings.key is None or settings.value is None:
        raise _Defeated
    return settings.key, settings.value


def _colon(text: str, key: Node) -> int:
    at = _skip(text, key.end)
    if text[at : at + 1] != ":":
        raise _Defeated
    return at


def _dash(text: str, settings: Settings, index: int) -> int:
    """Where the ``-`` of an item is: the first thing after the item before it."""
    key, value = _pair(settings)
    if index:
        at = _skip(text, value.children[index - 1].end)
    else:
        at = _skip(text, _colon(text, key) + 1)
        while text[at : at + 1] in {"&", "!"}:  # an anchor or a tag of the list
            at = _skip(text, at + len(text[at:].split(maxsplit=1)[0]))
    if text[at : at + 1] != "-":
        raise _Defeated
    return at


def _skip(text: str, at: int) -> int:
    """The first place from *at* on that is neither white space nor a comment."""
    while at < len(text):
        if text[at] == "#":
            at = _line_end(text, at)
        elif text[at] not in " \t\r\n\ufeff":
            break
        else:
            at += 1
    return at


def _content_end(text: str, item: Node) -> int:
    """The end of the line that *item* ends on; a block scalar's end is past its line end."""
    end = item.end
    if text[end - 1] in "\r\n" and item.kind == "scalar":
        return end - (2 if text[end - 2 : end] == "\r\n" else 1)
    return _line_end(text, end)


def _line_start(text: str, at: int) -> int:
    feed = text.rfind("\n", 0, at)
    start = max(feed, text.rfind("\r", max(feed, 0), at)) + 1
    return start + (text[start : start + 1] == "\ufeff")


def _line_end(text: str, at: int) -> int:
    while at < len(text) and text[at] not in "\r\n":
        at += 1
    return at


def _pad(text: str, dash: int) -> str:
    start = _line_start(text, dash)
    before = text[start:dash]
    return before if not before.strip() else " " * (dash - start)


# --- the check --------------------------------------------------------------------------------


def _outside(settings: Settings) -> tuple[tuple[object, ...], ...]:
    """What the text says apart from the key and its value."""
    shape = settings.document.shape
    if settings.key is None or settings.value is None:
        top = settings.document.top
        empty = top is None or top.kind == "scalar"
        return (("mapping", "", "", None), ("end",)) if empty else shape
    return shape[: settings.key.first] + shape[settings.value.last + 1 :]


def _verify(before: Settings, after: Settings, change: Change, *, at_end: bool) -> None:
    """Raise unless the two texts say the same, but for the change."""
    if _outside(before) != _outside(after):
        raise _Defeated
    kept: list[tuple[object, ...]]
    kept = [word for index, word in enumerate(_words(before)) if index not in change.drop]
    if before.was == "absent":
        kept = [("scalar", item, STRING, None) for item in DEFAULT_EXCLUDES] if change.add else []
    added: list[tuple[object, ...]]
    added = [("scalar", pattern, STRING, None) for pattern in change.add]
    if _words(after) != (kept + added if at_end else added + kept):
        raise _Defeated


def _words(settings: Settings) -> list[tuple[object, ...]]:
    return [settings.document.shape[item.first] for item in settings.items]

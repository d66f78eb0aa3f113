"""A YAML text as nodes that know where they stand in it, without building any value.

ccc reads its settings by PyYAML, which is YAML 1.1. `ruamel.yaml` parses the same language to
events with positions; nothing here expands an alias, so a text made to explode stays small.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Literal

from vera_ccc_tools.errors import Failure

WEIGHT_LIMIT = 1_000_000
"""Nodes that a text may stand for once its aliases are expanded."""
STRING = "tag:yaml.org,2002:str"
NULL = "tag:yaml.org,2002:null"
MERGE = "tag:yaml.org,2002:merge"


@dataclass(slots=True)
class Node:
    """One node of the text, from *start* to *end* (indexes of characters).

    Attributes:
        kind: What it is; an alias has the node that it names as *target*.
        value: A scalar's text after YAML's quoting is undone; an alias's name.
        tag: The full tag, resolved as YAML 1.1 does for a scalar without one.
        anchor: The name after ``&``, or None.
        flow: Whether a collection is written in brackets.
        line: Counted from 1.
        column: Counted from 0.
        children: The items of a sequence; keys and values of a mapping, by turns.
        weight: How many nodes it stands for with its aliases expanded.
        first, last: Where its words are in the document's shape.
    """

    kind: Literal["scalar", "sequence", "mapping", "alias"]
    value: str
    tag: str
    anchor: str | None
    flow: bool
    start: int
    end: int
    line: int
    column: int
    children: list[Node] = field(default_factory=list)
    target: Node | None = None
    weight: int = 1
    first: int = 0
    last: int = 0

    @property
    def resolved(self) -> Node:
        """The node itself, or the one that an alias names."""
        return self.target or self

    def pairs(self) -> Iterator[tuple[Node, Node]]:
        """The keys and values of a mapping."""
        return zip(self.children[::2], self.children[1::2], strict=True)


@dataclass(frozen=True, slots=True)
class Document:
    """A text and the one document in it.

    Attributes:
        top: Its node; None for a text without any content.
        end: Where more content of the document would go: before an explicit ``...``, or the
            end of the text.
        shape: What the text says apart from its layout, for comparing two texts.
        aliased: The names that an alias asks for.
    """

    text: str
    top: Node | None
    end: int
    shape: tuple[tuple[object, ...], ...]
    aliased: frozenset[str]


def broken(line: int, problem: str) -> Failure:
    """The refusal of a text that cannot be read; *line* is counted from 1."""
    return Failure(
        "settings_broken",
        f"settings.yml is not valid YAML, line {line}: {problem}.",
        "Correct that line; ccc cannot read the file either.",
    )


def parse(text: str) -> Document:
    """Parse *text*.

    Raises:
        Failure: ``settings_broken`` with the line, when it is no YAML, holds two documents, or
            stands for more than `WEIGHT_LIMIT` nodes.
    """
    builder = _Builder(text)
    for event in _events(text):
        builder.take(event)
    return builder.document()


def _events(text: str) -> Iterator[Any]:
    from ruamel.yaml import YAML
    from ruamel.yaml.error import MarkedYAMLError, YAMLError

    reader = YAML(typ="safe", pure=True)
    reader.version = "1.1"
    try:
        yield from reader.parse(text)
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise broken(mark.line + 1 if mark else 1, error.problem or "a syntax error") from error
    except YAMLError as error:
        position = getattr(error, "position", 0)
        line = text.count("\n", 0, position if isinstance(position, int) else 0) + 1
        raise broken(line, getattr(error, "reason", "") or "a syntax error") from error
    except (RecursionError, ValueError, IndexError) as error:
        raise broken(1, f"it cannot be parsed ({type(error).__name__})") from error


@cache
def _resolver() -> Any:
    from ruamel.yaml.nodes import ScalarNode
    from ruamel.yaml.resolver import VersionedResolver

    resolver = VersionedResolver(version="1.1", loader=None)
    return lambda value: str(resolver.resolve(ScalarNode, value, (True, False)))


class _Builder:
    """Turns events into nodes, without recursion."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._top: Node | None = None
        self._end = len(text)
        self._documents = 0
        self._open: list[Node] = []
        self._anchors: dict[str, Node] = {}
        self._shape: list[tuple[object, ...]] = []
        self._aliased: set[str] = set()

    def document(self) -> Document:
        shape, aliased = tuple(self._shape), frozenset(self._aliased)
        return Document(self._text, self._top, self._end, shape, aliased)

    def take(self, event: Any) -> None:
        name = type(event).__name__
        if name == "DocumentStartEvent":
            self._documents += 1
            if self._documents > 1:
                raise broken(event.start_mark.line + 1, "a second document begins")
        elif name == "DocumentEndEvent" and event.explicit:
            self._end = event.start_mark.index
        elif name in {"SequenceEndEvent", "MappingEndEvent"}:
            self._close(event)
        elif name in {"ScalarEvent", "AliasEvent", "SequenceStartEvent", "MappingStartEvent"}:
            self._add(self._node(name, event))

    def _node(self, name: str, event: Any) -> Node:
        if name == "AliasEvent":
            return self._alias(event)
        kind: Literal["scalar", "sequence", "mapping"]
        kind, flow, value = "scalar", False, ""
        tag = str(event.tag) if event.tag else ""
        if name == "ScalarEvent":
            value = event.value
            tag = tag or (_resolver()(value) if event.implicit[0] else STRING)
        else:
            kind = "sequence" if name == "SequenceStartEvent" else "mapping"
            flow = bool(event.flow_style)
        self._shape.append((kind, value, tag, event.anchor))
        return Node(kind, value, tag, event.anchor, flow, *_place(event))

    def _alias(self, event: Any) -> Node:
        name = event.anchor
        target = self._anchors.get(name)
        line = event.start_mark.line + 1
        if target is None:
            raise broken(line, f"the alias *{name} names nothing before it")
        if target in self._open:
            raise broken(line, f"the alias *{name} names what it stands in")
        self._aliased.add(name)
        self._shape.append(("alias", name))
        node = Node("alias", name, "", None, False, *_place(event))  # noqa: FBT003
        node.target = target
        node.weight = target.weight
        return node

    def _add(self, node: Node) -> None:
        node.first = node.last = len(self._shape) - 1
        if node.anchor is not None:
            if node.anchor in self._anchors:
                raise broken(node.line, f"the anchor &{node.anchor} is there twice")
            self._anchors[node.anchor] = node
        if self._open:
            self._open[-1].children.append(node)
        else:
            self._top = node
        if node.kind in {"sequence", "mapping"}:
            self._open.append(node)

    def _close(self, event: Any) -> None:
        self._shape.append(("end",))
        node = self._open.pop()
        node.last = len(self._shape) - 1
        # The mark of a block collection's end is where the next token begins.
        node.end = event.end_mark.index if node.flow or not node.children else node.children[-1].end
        node.weight = 1 + sum(child.weight for child in node.children)
        if node.weight > WEIGHT_LIMIT:
            raise broken(node.line, "its aliases stand for too many values")


def _place(event: Any) -> tuple[int, int, int, int]:
    mark = event.start_mark
    return mark.index, event.end_mark.index, mark.line + 1, mark.column

"""The units in a source text: where each begins and ends, in bytes and in lines; pure.

Nothing here recurses: generated sources nest as deep as they like. Nor does it run queries, which
take minutes on some texts that are no source at all.
"""

from __future__ import annotations

import codecs
from collections.abc import Container, Iterator
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING

from vera_ccc_tools.chunks import grammars

if TYPE_CHECKING:
    from tree_sitter import Node, Tree

# As ccc's engine decodes a file (cocoindex.resources.file); the longer marks first.
_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_HEADINGS = frozenset({"atx_heading", "setext_heading"})
_COMMENT_STARTS = (b"#", b"/", b"*", b"@")
_COMMENT_ENDS = (b"*/", b"]", b")")


def decode(source: bytes) -> str:
    """The text of a file as ccc reads it: by its byte order mark, else UTF-8; never an error."""
    for mark, encoding in _MARKS:
        if source.startswith(mark):
            return source.decode(encoding, "replace")
    return source.decode("utf-8", "replace")


class Text:
    """A file's text as UTF-8, with its rows: lines counted from 0, which end with LF only."""

    def __init__(self, source: bytes) -> None:
        self.data = decode(source).encode("utf-8", "replace")
        rows = self.data.split(b"\n")
        self._starts = [0, *accumulate(len(row) + 1 for row in rows)]
        self.count = len(rows)

    def start(self, row: int) -> int:
        """The place of the row's first byte; of the row behind the last one, the text's end."""
        return min(self._starts[row], len(self.data))

    def row(self, row: int) -> bytes:
        return self.data[self._starts[row] : self._starts[row + 1] - 1]

    def size(self, first: int, last: int) -> int:
        return self._starts[last + 1] - self._starts[first]

    def between(self, start: int, end: int) -> str:
        """The text between two bytes."""
        return self.data[start:end].decode("utf-8", "replace")

    def lines(self, first: int, last: int) -> str:
        """The rows, both included, without the last one's line end."""
        whole = self.data[self._starts[first] : self._starts[last + 1] - 1].decode()
        return whole.removesuffix("\r")


@dataclass(frozen=True, slots=True)
class Unit:
    """One function, class or section with what belongs to it.

    Attributes:
        node: Its own syntax node.
        outer: The node of its statement: an export, a decorated definition.
        above: Comments and attributes directly above it, from the top.
        within: The unit directly around it.
        start, end: In bytes, all that belongs to it.
        first, last: Its rows, both included.
    """

    node: Node
    outer: Node
    above: tuple[Node, ...]
    within: Unit | None
    start: int
    end: int
    first: int
    last: int


class Syntax:
    """A parsed text."""

    def __init__(self, text: Text, language: str, tree: Tree) -> None:
        self.text = text
        self.language = language
        self.grammar = grammars.GRAMMARS[language]
        self._tree = tree

    def units(self, start: int = 0, end: int | None = None) -> Iterator[Unit]:
        """The units that reach into these bytes, as they begin; of two that begin together, the
        outer one first.
        """  # noqa: D205 - one sentence
        within: Unit | None = None
        for node, parents in self._nodes(start, len(self.text.data) if end is None else end):
            while within is not None and within.node.end_byte <= node.start_byte:
                within = within.within
            within = self._unit(node, parents, within)
            yield within

    def _nodes(self, start: int, end: int) -> Iterator[tuple[Node, list[Node]]]:
        """The nodes of units between two bytes, each with those around it, which is reused."""
        wanted = self.grammar.units
        cursor = self._tree.walk()
        parents: list[Node] = []
        while (node := cursor.node) is not None and node.start_byte < end:
            if node.end_byte > start:
                if node.type in wanted and self._is_unit(node):
                    yield node, parents
                if cursor.goto_first_child_for_byte(start) is not None:
                    parents.append(node)
                    continue
            while not cursor.goto_next_sibling():
                if not cursor.goto_parent():
                    return
                parents.pop()

    def parts(self, start: int, end: int, opened: Container[str]) -> Iterator[Node]:
        """The outermost named nodes that are whole between two bytes, or the parts of those that
        are not; the nodes of the types *opened* by their parts too. No comments, no attributes.
        """  # noqa: D205 - one sentence
        cursor = self._tree.walk()
        while (node := cursor.node) is not None and node.start_byte < end:
            if node.end_byte > start:
                whole = start <= node.start_byte and node.end_byte <= end and cursor.depth > 0
                opens = not whole or node.type in opened
                if opens and cursor.goto_first_child_for_byte(start) is not None:
                    continue
                if node.is_named and node.type not in self.grammar.leading:
                    yield node
            while not cursor.goto_next_sibling():
                if not cursor.goto_parent():
                    return

    def _is_unit(self, node: Node) -> bool:
        """Whether a node of a unit's type is one, and no keyword and no mention of it."""
        if not node.is_named:
            return False
        if node.type in self.grammar.sections:
            heading = node.named_child(0) if node.named_child_count else None
            return heading is not None and heading.type in _HEADINGS
        return node.type not in self.grammar.bodied or bool(node.child_by_field_name("body"))

    def _unit(self, node: Node, parents: list[Node], within: Unit | None) -> Unit:
        outer = node
        for parent in reversed(parents):
            if parent.type not in self.grammar.wrappers:
                break
            outer = parent
        above = tuple(self._above(outer.start_point.row))[::-1]
        first = above[0] if above else outer
        start, end = first.start_byte, outer.end_byte
        rows = first.start_point.row, self.last_row(outer)
        return Unit(node, outer, above, within, start, end, *rows)

    def last_row(self, node: Node) -> int:
        """The last row of *node* that is not blank; a node may end where the next row begins."""
        row, column = node.end_point
        row -= column == 0
        while row > node.start_point.row and not self.text.row(row).strip():
            row -= 1
        return max(row, node.start_point.row)

    def _above(self, row: int) -> Iterator[Node]:
        """The comments and attributes that stand alone on the rows above *row*, upward."""
        while row > 0 and self.grammar.leading:
            line = self.text.row(row - 1)
            stripped = line.strip()
            if not stripped.startswith(_COMMENT_STARTS) and not stripped.endswith(_COMMENT_ENDS):
                return
            node = self._leading(self.text.start(row - 1) + len(line) - len(line.lstrip()))
            if node is None or self.last_row(node) != row - 1:
                return
            yield node
            row = node.start_point.row

    def _leading(self, at: int) -> Node | None:
        """The comment or attribute around the byte *at*, if it is alone on its first row."""
        node = self._tree.root_node.descendant_for_byte_range(at, at)
        for _ in range(4):  # a comment's and an attribute's own parts
            if node is None or node.type in self.grammar.leading:
                break
            node = node.parent
        if node is None or node.type not in self.grammar.leading:
            return None
        return node if self.is_first(node) else None

    def is_first(self, node: Node) -> bool:
        """Whether nothing stands before *node* on its first row."""
        start = self.text.start(node.start_point.row)
        return not self.text.data[start : node.start_byte].strip()


def parse(language: str, text: Text) -> Syntax | None:
    """The syntax of *text*; None without a grammar."""
    parser = grammars.parser(language)
    return None if parser is None else Syntax(text, language, parser.parse(text.data))

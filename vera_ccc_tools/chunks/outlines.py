"""What the syntax says of one unit: its name, its signature, its documentation, its members."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from vera_ccc_tools.chunks.chunk import Member, Outline
from vera_ccc_tools.chunks.syntax import Syntax, Unit

if TYPE_CHECKING:
    from tree_sitter import Node

_WORD = re.compile(r"\w")
_IMPORTS = re.compile("import|preproc_include|use_declaration|using_directive")
# Bodies whose children are statements or members; any other body is an expression, one statement.
_BLOCKS = frozenset(
    """
    accessor_list annotation_type_body block body_statement class_body compound_statement
    constructor_body declaration_list enum_body enum_declaration_list enum_member_declaration_list
    enum_variant_list enumerator_list field_declaration_list interface_body interface_type
    object_type ordered_field_declaration_list section statement_block type_declaration
    """.split()
)
_LISTS = frozenset({"enum_body_declarations", "statement_list"})  # a level that says nothing
_NAMED_BEHIND = frozenset({"declaration", "field_declaration", "type_definition"})
_LEVELS = 10
"""Units whose names make a name; generated sources nest a thousand times as deep."""
_NAME_FIELDS = ("name", "declarator", "left", "key", "property", "type")


def outline(unit: Unit, syntax: Syntax) -> Outline:
    """What *unit* looks like from outside."""
    return _Reader(unit, syntax).outline()


def window(first: int, last: int, syntax: Syntax) -> Outline | None:
    """What stands on these rows, as the members of a container without a header.

    A row of imports is one member. None where nothing was parsed there, such as in a comment.
    """
    text = syntax.text
    members: list[Member] = []
    imports, shown = False, first - 1
    for node in syntax.parts(text.start(first), text.start(last + 1), _BLOCKS | {"ERROR"}):
        begin = max(node.start_point.row, shown + 1)
        end = min(syntax.last_row(node), last)
        if begin > end:
            continue  # on a line that another is shown by
        if imports and _IMPORTS.search(node.type):
            members[-1] = replace(members[-1], lines=members[-1].lines + end - begin + 1)
        else:
            members.append(_rows(node, begin, end, syntax))
        imports, shown = bool(_IMPORTS.search(node.type)), end
    return Outline("", (), members=tuple(members)) if members else None


def _rows(node: Node, begin: int, end: int, syntax: Syntax) -> Member:
    """A member by its first row with a word on it, and by the row of its name."""
    rows = [syntax.text.lines(row, row).strip() for row in range(begin, end + 1)]
    first = next((number for number, row in enumerate(rows) if _WORD.search(row)), 0)
    name = _name_node(node.child_by_field_name("definition") or node)
    named = begin - 1 if name is None else name.start_point.row
    second = [rows[named - begin]] if begin + first < named <= end else []
    return Member((rows[first], *second), end - begin + 1)


def _name_of(unit: Unit, syntax: Syntax) -> str:
    """The name of *unit* behind those of the units closest around it, joined by dots."""
    names: list[str] = []
    each: Unit | None = unit
    while each is not None and len(names) < _LEVELS:
        names.append(_own_name(each, syntax))
        each = each.within
    return ".".join(filter(None, reversed(names)))


def _own_name(unit: Unit, syntax: Syntax) -> str:
    """A unit's own name, with what distinguishes two of one name: a receiver, a trait."""
    node = unit.node
    if node.type in syntax.grammar.sections:
        text = node.named_child(0).child_by_field_name("heading_content")
        return _words(text, syntax) if text is not None else ""
    if node.type == "type_declaration":  # Go's, around one type or several
        node = next((child for child in node.named_children if child.type != "comment"), node)
    of = [node.child_by_field_name(field) for field in ("receiver", "trait")]
    named = _name_node(node) or _name_node(unit.outer)
    if named is None and unit.outer is not unit.node:
        named = _named_inside(unit.outer)
    return " ".join(_words(each, syntax) for each in (*of, named) if each is not None)


def _name_node(node: Node) -> Node | None:
    for field in _NAME_FIELDS:
        found = node.child_by_field_name(field)
        if found is None:
            continue
        while (inner := found.child_by_field_name("declarator")) is not None:
            found = inner  # C's declarators: pointers, parameters
        return found
    return None


def _named_inside(outer: Node) -> Node | None:
    """The name in what a statement holds: ``export const name = …``, ``name = …;``."""
    node = outer
    for _ in range(3):  # an export, a declaration, a declarator
        if not node.named_child_count:
            break
        node = node.named_children[0]
        name = _name_node(node)
        if name is not None:
            return name
    return None


def _words(node: Node, syntax: Syntax) -> str:
    return " ".join(syntax.text.between(node.start_byte, node.end_byte).split())[:200]


class _Reader:
    """Reads one unit."""

    def __init__(self, unit: Unit, syntax: Syntax) -> None:
        self._unit = unit
        self._syntax = syntax
        self._text = syntax.text
        self._rows: set[int] = set()  # those that are shown

    def outline(self) -> Outline:
        body = _body(self._unit.node)
        statements = self._statements(body)
        docs = [node for node in self._unit.above if "comment" in node.type]
        string = _docstring(statements) if self._syntax.grammar.docstrings else None
        if string is not None:
            statements, docs = statements[1:], [string]
        signature = self._signature(body)
        doc = self._first(docs or self._inside(body))
        container = self._is_container(statements)
        first = "" if container else self._first(statements[:1])
        return Outline(
            _name_of(self._unit, self._syntax),
            signature,
            doc,
            first,
            tuple(self._member(each) for each in statements) if container else None,
            self._last(body) if container else "",
            self._syntax.language,
            len(self._rows),
        )

    def _is_container(self, statements: Sequence[Node]) -> bool:
        grammar = self._syntax.grammar
        if self._unit.node.type in grammar.sections:
            return any(each.type in grammar.sections for each in statements)
        return self._unit.node.type in grammar.classes

    # --- the parts -------------------------------------------------------------------------------

    def _statements(self, body: Node | None) -> list[Node]:
        """What stands in *body*, without comments and attributes."""
        if body is None or body.type not in _BLOCKS | _LISTS:
            return [body] if body is not None else []
        behind, leading = _opening(body), self._syntax.grammar.leading
        found: list[Node] = []
        for child in body.named_children:
            if child.start_byte >= behind and child.type not in leading:
                found += self._statements(child) if child.type in _LISTS else [child]
        return found

    def _inside(self, body: Node | None) -> list[Node]:
        if body is None or self._unit.node.type not in self._syntax.grammar.functions:
            return []
        before = [node for node in self._unit.node.children if self._syntax.is_first(node)]
        begins = body.named_children[:1]
        return [node for node in (*before, *begins) if "comment" in node.type]

    def _signature(self, body: Node | None) -> tuple[str, ...]:
        """The attributes' lines, and the statement's up to the body or a comment before it."""
        lines: list[str] = []
        for node in self._unit.above:
            if "comment" not in node.type:
                lines += self._shown(node.start_byte, node.end_byte)
        outer, node = self._unit.outer, self._unit.node
        end = outer.end_byte if body is None else _opening(body, before=True)
        for child in node.children:
            if "comment" in child.type and child.start_byte > node.start_byte:
                end = min(end, child.start_byte)
        start = self._text.start(outer.start_point.row)
        return (*lines, *self._shown(start, max(end, outer.start_byte)))

    def _shown(self, start: int, end: int) -> list[str]:
        """The lines between two bytes, stripped; their rows are marked as shown."""
        text = self._text.between(start, end).rstrip()
        row = self._text.data.count(b"\n", 0, start)
        lines = [line.strip() for line in text.split("\n")]
        self._rows.update(range(row, row + len(lines)))
        return [line for line in lines if line]

    def _first(self, nodes: Sequence[Node]) -> str:
        """The first line of *nodes* with a word in it; its row is marked as shown."""
        for node in nodes:
            line = self._wordy(node)
            if line is not None:
                self._rows.add(line[0])
                return line[1]
        return ""

    def _wordy(self, node: Node) -> tuple[int, str] | None:
        """The first line of *node* with a word in it, and its row."""
        text = self._text.between(node.start_byte, node.end_byte)
        for number, line in enumerate(text.split("\n")):
            if _WORD.search(line):
                return node.start_point.row + number, line.strip()
        return None

    def _member(self, node: Node) -> Member:
        """A member by its first line; one with an attribute first by that and by its name's."""
        row, line = self._wordy(node) or (node.start_point.row, "")
        inner = node.child_by_field_name("definition") or node
        name = _name_node(inner)
        head = [line]
        if name is not None and name.start_point.row > row:
            head.append(self._text.row(name.start_point.row).decode("utf-8", "replace").strip())
        lines = self._syntax.last_row(node) - node.start_point.row + 1
        return Member(tuple(head), max(lines, len(head)))

    def _last(self, body: Node | None) -> str:
        """C's name behind the body: ``} Point;``."""
        outer = self._unit.outer
        if body is None or outer.type not in _NAMED_BEHIND:
            return ""
        tail = self._text.between(body.end_byte, outer.end_byte)
        return f"}} {' '.join(tail.split())}" if _WORD.search(tail) else ""


def _body(node: Node) -> Node | None:
    """The node with what a unit holds; the unit itself where that has no node of its own."""
    for field in ("body", "accessors", "value"):
        found = node.child_by_field_name(field)
        if found is not None:
            return found
    if node.type == "type_declaration":
        return _body_of_types(node)
    return node if node.type == "section" else None


def _body_of_types(node: Node) -> Node | None:
    """What Go's types hold: the fields of one, or all of several."""
    types = [child for child in node.named_children if child.type in ("type_spec", "type_alias")]
    if len(types) != 1:
        return node
    kind = types[0].child_by_field_name("type")
    if kind is None or kind.type == "interface_type":
        return kind
    if kind.type == "struct_type":
        return next((each for each in kind.named_children if each.type in _BLOCKS), None)
    return None


def _opening(body: Node, *, before: bool = False) -> int:
    """Where what a body holds begins, or (*before*) where the signature before it ends.

    They differ where the body has no node of its own: behind a heading, in Go's parentheses.
    """
    if body.type == "section":
        return body.named_child(0).end_byte
    if body.type in ("interface_type", "type_declaration"):
        mark = next((child for child in body.children if child.type in ("{", "(")), None)
        if mark is not None:
            return mark.start_byte if before else mark.end_byte
    return body.start_byte


def _docstring(statements: Sequence[Node]) -> Node | None:
    """Documentation as Python has it: a string that is the first statement."""
    if not statements or statements[0].type != "expression_statement":
        return None
    string = statements[0].named_child(0) if statements[0].named_child_count == 1 else None
    return string if string is not None and string.type == "string" else None

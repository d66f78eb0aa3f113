"""What a file imports, in the languages that nest: Rust's modules, the namespaces of C# and PHP."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from vera_ccc_tools.import_graph.facts import Import

if TYPE_CHECKING:
    from tree_sitter import Node

Captures = Mapping[str, list["Node"]]
"""The nodes that a query found, by the names it gives them, in the order of the source."""

Said = Import | str
"""What a file says: an import, or the whole name of a type that it declares."""

QUERIES = {
    "csharp": "(identifier) @used",
    "php": """
        [(namespace_definition) (namespace_use_declaration) (class_declaration)
         (interface_declaration) (trait_declaration) (enum_declaration) (require_expression)
         (require_once_expression) (include_expression) (include_once_expression)] @item
        """,
    "rust": "[(use_declaration) (mod_item) (extern_crate_declaration)] @item",
}


def text(node: Node | None) -> str:
    """The node's own text; bytes that are no UTF-8 as in names of files (`os.fsdecode`)."""
    return "" if node is None else (node.text or b"").decode("utf-8", "surrogateescape")


def type_names(nodes: Iterable[Node]) -> tuple[str, ...]:
    """The distinct names that can be types by their first letter, sorted."""
    names = {node.text or b"" for node in nodes}
    return tuple(sorted(name.decode("utf-8", "replace") for name in names if name[:1].isupper()))


# --- Rust ----------------------------------------------------------------------------------------


def _rust(_root: Node, captures: Captures) -> Iterator[Import]:
    around: list[tuple[int, str]] = []  # inline modules: where each ends, and its name
    for node in captures.get("item", []):
        while around and around[-1][0] <= node.start_byte:
            around.pop()
        nest = tuple(name for _, name in around)
        name = text(node.child_by_field_name("name")).removeprefix("r#")
        if node.type == "use_declaration":
            for path in _leaves(node.child_by_field_name("argument")):
                yield Import("use", _out_of(path, nest))
        elif node.type == "extern_crate_declaration":
            yield Import("use", f"::{name}")
        elif node.child_by_field_name("body") is not None:
            around.append((node.end_byte, name))
        elif not (path := _path_attribute(node)):
            yield Import("mod", "/".join((*nest, name)))
        elif not nest:  # in an inline module it starts from another directory
            yield Import("path", path)


def _path_attribute(node: Node) -> str:
    above = node.prev_named_sibling
    while above is not None and above.type in {"attribute_item", "line_comment", "block_comment"}:
        found = re.fullmatch(r'#\[path\s*=\s*"([^"\\]+)"\s*\]', text(above).strip())
        if found:
            return found[1]
        above = above.prev_named_sibling
    return ""


def _leaves(node: Node | None) -> Iterator[str]:
    """The paths in a use tree: ``a::{b, c::d}`` holds ``a::b`` and ``a::c::d``."""
    if node is None:
        return
    if node.type == "use_as_clause":
        yield from _leaves(node.child_by_field_name("path"))
    elif node.type == "use_wildcard":
        yield "::".join((*map(_plain, node.named_children[:1]), "*"))
    elif node.type == "use_list":
        for child in node.named_children:
            yield from _leaves(child)
    elif node.type == "scoped_use_list":
        outer = node.child_by_field_name("path")
        prefix = "" if outer is None else _plain(outer)
        for leaf in _leaves(node.child_by_field_name("list")):
            yield prefix if leaf == "self" else f"{prefix}::{leaf}"
    elif not node.is_extra:
        yield _plain(node)


def _plain(node: Node) -> str:
    return re.sub(r"\s+", "", text(node)).replace("r#", "")


def _out_of(path: str, nest: tuple[str, ...]) -> str:
    """The path as the file's own module would write it."""
    words = path.split("::")
    if not nest or words[0] not in {"self", "super"}:
        return path
    around = list(nest)
    if words[0] == "self":
        del words[0]
    while words and words[0] == "super" and around:
        around.pop()
        del words[0]
    if words and words[0] == "super":
        return "::".join(words)
    return "::".join(("self", *around, *words))


# --- C# ------------------------------------------------------------------------------------------

_CSHARP_TYPES = frozenset(
    f"{kind}_declaration" for kind in "class struct interface record enum delegate".split()
)


def _csharp(node: Node, _captures: Captures, namespace: str = "") -> Iterator[Said]:
    """What stands in *node*: a file, a namespace, or a part of one."""
    for child in node.named_children:
        name = _plain_name(child.child_by_field_name("name"))
        if child.type == "using_directive":
            yield from _using(child)
        elif child.type == "file_scoped_namespace_declaration":
            namespace = name
            yield from _csharp(child, {}, namespace)
        elif child.type == "namespace_declaration":
            body = child.child_by_field_name("body")
            if body is not None:
                yield from _csharp(body, {}, f"{namespace}.{name}" if namespace else name)
        elif child.type in _CSHARP_TYPES:
            yield f"{namespace}.{text(child.child_by_field_name('name'))}"
        elif child.type.startswith("preproc_") or child.type in {"ERROR", "declaration"}:
            yield from _csharp(child, {}, namespace)


def _using(node: Node) -> Iterator[Import]:
    names = [
        child
        for index, child in enumerate(node.children)
        if child.is_named and node.field_name_for_child(index) != "name"
    ]
    named = [child for child in names if "name" in child.type or child.type == "identifier"]
    if not named:
        return
    name = re.sub(r"<.*", "", _plain_name(named[-1]), flags=re.DOTALL)
    words = {child.type for child in node.children}
    if "static" in words:
        yield Import("type", name)
        return
    yield Import("namespace", name)
    if node.child_by_field_name("name") is not None:  # an alias may name either
        yield Import("type", name)


def _plain_name(node: Node | None) -> str:
    return re.sub(r"\s+", "", text(node)).removeprefix("global::")


# --- PHP -----------------------------------------------------------------------------------------


def _php(_root: Node, captures: Captures) -> Iterator[Said]:
    namespace = ""
    for node in captures.get("item", []):
        if node.type == "namespace_definition":
            namespace = text(node.child_by_field_name("name"))
        elif node.type == "namespace_use_declaration":
            yield from _php_uses(node)
        elif node.type.endswith("_declaration"):
            yield f"{namespace}\\{text(node.child_by_field_name('name'))}".lstrip("\\")
        else:
            yield from _php_file(node)


def _php_uses(node: Node) -> Iterator[Import]:
    if any(child.type in {"function", "const"} for child in node.children):
        return
    group = node.child_by_field_name("body")
    prefix = next((f"{text(c)}\\" for c in node.named_children if c.type == "namespace_name"), "")
    for clause in (group or node).named_children:
        if clause.type == "namespace_use_clause" and clause.named_children:
            if any(child.type in {"function", "const"} for child in clause.children):
                continue
            name = text(clause.named_children[0])
            yield Import("use", f"{prefix}{name}".lstrip("\\"))


_PHP_HERE = re.compile(
    r"""(?:__DIR__|dirname\(\s*__FILE__\s*\)|dirname\(\s*__DIR__\s*(?:,\s*(\d)\s*)?\))"""
    r"""\s*\.\s*(['"])/([^'"$]+)\2"""
)
_PHP_PLAIN = re.compile(r"""(['"])([^'"$]+)\1""")


def _php_file(node: Node) -> Iterator[Import]:
    expression = text(node.named_children[0] if node.named_children else None).strip("() \t\r\n")
    if found := _PHP_HERE.fullmatch(expression):
        up = 0
        if re.match(r"dirname\(\s*__DIR__", expression):
            up = int(found[1] or 1)
        yield Import("here", "../" * up + found[3])
    elif found := _PHP_PLAIN.fullmatch(expression):
        yield Import("file", found[2])


READERS: dict[str, Callable[[Node, Captures], Iterator[Said]]] = {
    "csharp": _csharp,
    "php": _php,
    "rust": _rust,
}

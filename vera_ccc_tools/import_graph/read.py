"""What a source file imports, from its syntax tree.

The kinds of an `Import`, by language:

| language | kinds |
|---|---|
| Python | ``import`` a module, ``from`` a module with its names (``*`` is one); leading dots are the level |
| JavaScript, TypeScript | ``module``: ``import``, ``export … from``, ``require()``, ``import()`` |
| Go | ``package`` |
| Rust | ``mod`` (``outer/inner``), ``path`` (of ``#[path]``), ``use`` (one leaf of the tree) |
| Java | ``type``, ``static`` (a member of a type), ``star`` (a package or a type) |
| Ruby | ``relative``, ``require``, ``load`` |
| C, C++ | ``quote``, ``angle`` |
| C# | ``namespace``, ``type`` (``using static``, an alias) |
| PHP | ``use``, ``file``, ``here`` (relative to ``__DIR__``) |
| Markdown | ``link`` |
"""  # noqa: E501 - a table's row is one line

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING
from urllib.parse import unquote

from vera_ccc_tools.chunks import grammars
from vera_ccc_tools.import_graph import read_nested
from vera_ccc_tools.import_graph.facts import Facts, Import
from vera_ccc_tools.import_graph.read_nested import Captures, Said, text, type_names

if TYPE_CHECKING:
    from tree_sitter import Node, Parser, Query

_ECMASCRIPT = """
(import_statement source: (string) @module)
(export_statement source: (string) @module)
(call_expression function: (import) arguments: (arguments . (_) @module))
(call_expression function: (identifier) @f arguments: (arguments . (_) @module)
    (#eq? @f "require"))
"""
_QUERIES = read_nested.QUERIES | {
    "c": """
        (preproc_include path: (string_literal) @quote)
        (preproc_include path: (system_lib_string) @angle)
        """,
    "go": "(import_spec path: (_) @package)",
    "java": "(import_declaration) @item (type_identifier) @used (identifier) @used",
    "javascript": _ECMASCRIPT,
    "markdown": "(inline) @inline (link_reference_definition (link_destination) @link)",
    "markdown_inline": "(inline_link (link_destination) @link)",
    "python": """
        (import_statement name: (dotted_name) @import)
        (import_statement name: (aliased_import name: (dotted_name) @import))
        (import_from_statement) @from
        """,
    "ruby": """
        (call method: (identifier) @method (#any-of? @method
            "require" "require_relative" "load" "autoload")) @call
        """,
    "typescript": f"{_ECMASCRIPT} (import_require_clause source: (string) @module)",
}
_QUERIES["cpp"] = _QUERIES["c"]
_QUERIES["tsx"] = _QUERIES["typescript"]


class SourceReader:
    """Reads source files; for one thread, as its parsers are."""

    def __init__(self) -> None:
        self._parsers: dict[str, Parser | None] = {}
        self._queries: dict[str, Query] = {}

    def facts(self, language: str, source: bytes) -> Facts | None:
        """What *source* says of itself; None where the language has no grammar here.

        A tree with syntax errors gives what can be read of it.
        """
        parsed = self._parsed(language, source)
        if parsed is None:
            return None
        root, captures = parsed
        said: list[Said] = []
        for paragraph in captures.get("inline", []):  # Markdown's have a grammar of their own
            source = paragraph.text or b""
            inline = self._parsed("markdown_inline", source) if b"](" in source else None
            said += _plain(inline[1]) if inline else ()
        said += _plain(captures)
        said += _READERS[language](root, captures) if language in _READERS else ()
        imports = dict.fromkeys(each for each in said if isinstance(each, Import))
        provides = dict.fromkeys(each for each in said if isinstance(each, str))
        opens = any(each.kind in {"star", "namespace"} for each in imports)
        uses = type_names(captures.get("used", [])) if opens else ()
        return Facts(tuple(imports), tuple(provides), uses)

    def _parsed(self, language: str, source: bytes) -> tuple[Node, Captures] | None:
        """The tree's root, and what the language's query finds in it, in the source's order."""
        from tree_sitter import Query, QueryCursor

        if language not in self._parsers:
            made = _inline_parser() if language == "markdown_inline" else grammars.parser(language)
            self._parsers[language] = made
        parser = self._parsers[language]
        if parser is None or parser.language is None:
            return None
        if language not in self._queries:
            self._queries[language] = Query(parser.language, _QUERIES[language])
        root = parser.parse(source).root_node
        captures = QueryCursor(self._queries[language]).captures(root)
        for nodes in captures.values():
            nodes.sort(key=lambda node: node.start_byte)
        return root, captures


def _inline_parser() -> Parser | None:
    try:
        import tree_sitter_markdown
        from tree_sitter import Language, Parser

        return Parser(Language(tree_sitter_markdown.inline_language()))
    except (ImportError, AttributeError, ValueError):
        return None


def _plain(captures: Captures) -> Iterator[Import]:
    """The imports that are a name and nothing else, whose captures are called as their kind."""
    for kind, name_of in _NAMES.items():
        for node in captures.get(kind, []):
            if name := name_of(node):
                yield Import(kind, name)


def _python(_root: Node, captures: Captures) -> Iterator[Import]:
    for node in captures.get("from", []):
        module = node.child_by_field_name("module_name")
        names = [
            _dotted(name.child_by_field_name("name") or name)
            for name in node.children_by_field_name("name")
        ]
        if any(child.type == "wildcard_import" for child in node.named_children):
            names.append("*")
        if module is not None:
            yield Import("from", _dotted(module), tuple(names))


def _dotted(node: Node) -> str:
    """A dotted name, which may be written with blanks and line continuations."""
    return re.sub(r"[\s\\]+", "", text(node))


def _literal(node: Node) -> str:
    """What a string holds; nothing of one that is computed, or of anything else."""
    if node.type not in {"string", "template_string", "encapsed_string"}:
        return ""
    inner = node.named_children
    if len(inner) != 1 or inner[0].type not in {"string_fragment", "string_content"}:
        return ""
    return text(inner[0])


def _java(_root: Node, captures: Captures) -> Iterator[Import]:
    for node in captures.get("item", []):
        types = {child.type: child for child in node.children}
        name = types.get("scoped_identifier") or types.get("identifier")
        if name is not None:
            kind = "star" if "asterisk" in types else "static" if "static" in types else "type"
            yield Import(kind, _dotted(name))


def _ruby(_root: Node, captures: Captures) -> Iterator[Import]:
    for call in captures.get("call", []):
        receiver = call.child_by_field_name("receiver")
        method, given = (call.child_by_field_name(name) for name in ("method", "arguments"))
        if given is None or method is None or (receiver and receiver.text != b"Kernel"):
            continue
        kind = text(method)
        arguments = given.named_children
        if kind == "autoload":
            kind, arguments = "require", arguments[1:]
        if not arguments:
            continue
        if name := _literal(arguments[0]):
            yield Import(kind.removeprefix("require_"), name)
        elif name := _beside(arguments[0]):
            yield Import("relative", name)


_FROM_FILE = re.compile(r"""File\.expand_path\(\s*['"]\.\./([^'"#]+)['"],\s*__FILE__\s*\)""")
_FROM_DIRECTORY = re.compile(
    r"""File\.(?:expand_path\(\s*['"]([^'"#]+)['"],\s*__dir__"""
    r"""|join\(\s*(?:__dir__|File\.dirname\(__FILE__\)),\s*['"]([^'"#]+)['"])\s*\)"""
)


def _beside(node: Node) -> str:
    """The path in ``File.expand_path("../x", __FILE__)`` and its like, from the directory on."""
    found = _FROM_FILE.fullmatch(text(node)) or _FROM_DIRECTORY.fullmatch(text(node))
    return "" if found is None else next(filter(None, found.groups())).lstrip("/")


_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:|//")


def _link(node: Node) -> str:
    """The path of a link's destination; nothing of one to another place or within the file."""
    written = text(node).strip()
    if written.startswith("<") and written.endswith(">"):
        written = written[1:-1]
    path = unquote(re.split(r"[#?]", written, maxsplit=1)[0], errors="surrogateescape")
    return "" if _SCHEME.match(written) or not path.strip("/") else path


def _header(node: Node) -> str:
    return text(node)[1:-1].replace("\\", "/")


_NAMES: dict[str, Callable[[Node], str]] = {
    "import": _dotted,
    "link": _link,
    "module": _literal,
    "package": lambda node: text(node).strip('"`'),
    "quote": _header,
    "angle": _header,
}
_READERS: dict[str, Callable[[Node, Captures], Iterator[Said]]] = {
    "java": _java,
    "python": _python,
    "ruby": _ruby,
    **read_nested.READERS,
}

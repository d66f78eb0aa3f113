"""The languages that are parsed, and which of their syntax nodes are functions, classes, sections.

The node types are those of ``CCE``'s table and, for what that leaves out, the grammar's own names
of the same things. A grammar is a wheel of its own (``tree-sitter-python``, …), imported when it
is first needed.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Language, Parser


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


@dataclass(frozen=True, slots=True)
class Grammar:
    """The parser of one language, and the types of its nodes that matter.

    Attributes:
        package, entry: The module and its function that give the grammar.
        functions, classes, sections: The nodes that are units.
        bodied: Those of them that are units only with a body: else they are mentions of one.
        wrappers: Nodes around a unit that a reader takes for a part of it.
        leading: Nodes directly above a unit that belong to it: comments and attributes.
        docstrings: Whether a string that is the first statement documents a unit.
    """

    package: str
    entry: str = "language"
    functions: frozenset[str] = field(default=frozenset())
    classes: frozenset[str] = field(default=frozenset())
    sections: frozenset[str] = field(default=frozenset())
    bodied: frozenset[str] = field(default=frozenset())
    wrappers: frozenset[str] = field(default=frozenset())
    leading: frozenset[str] = _words("comment")
    docstrings: bool = False

    @property
    def units(self) -> frozenset[str]:
        return self.functions | self.classes | self.sections


_ECMASCRIPT_FUNCTIONS = """
    function_declaration method_definition arrow_function function_expression
    generator_function_declaration generator_function
"""
_ECMASCRIPT_WRAPPERS = """
    export_statement lexical_declaration variable_declaration variable_declarator
    assignment_expression expression_statement field_definition public_field_definition pair
"""


def _typescript(entry: str) -> Grammar:
    return Grammar(
        "tree_sitter_typescript",
        entry,
        functions=_words(_ECMASCRIPT_FUNCTIONS),
        classes=_words(
            "class_declaration abstract_class_declaration class interface_declaration"
            " enum_declaration"
        ),
        wrappers=_words(f"{_ECMASCRIPT_WRAPPERS} ambient_declaration"),
        leading=_words("comment decorator"),
    )


GRAMMARS = {
    "c": Grammar(
        "tree_sitter_c",
        functions=_words("function_definition"),
        classes=_words("struct_specifier union_specifier enum_specifier"),
        bodied=_words("struct_specifier union_specifier enum_specifier"),
        wrappers=_words("type_definition declaration"),
    ),
    "cpp": Grammar(
        "tree_sitter_cpp",
        functions=_words("function_definition"),
        classes=_words("class_specifier struct_specifier union_specifier enum_specifier"),
        bodied=_words("class_specifier struct_specifier union_specifier enum_specifier"),
        wrappers=_words("template_declaration type_definition declaration field_declaration"),
    ),
    "csharp": Grammar(
        "tree_sitter_c_sharp",
        functions=_words(
            "method_declaration constructor_declaration destructor_declaration"
            " operator_declaration conversion_operator_declaration indexer_declaration"
            " property_declaration local_function_statement"
        ),
        classes=_words(
            "class_declaration interface_declaration struct_declaration record_declaration"
            " enum_declaration"
        ),
    ),
    "go": Grammar(
        "tree_sitter_go",
        functions=_words("function_declaration method_declaration"),
        classes=_words("type_declaration"),
    ),
    "java": Grammar(
        "tree_sitter_java",
        functions=_words(
            "method_declaration constructor_declaration compact_constructor_declaration"
        ),
        classes=_words(
            "class_declaration interface_declaration enum_declaration record_declaration"
            " annotation_type_declaration"
        ),
        leading=_words("line_comment block_comment"),
    ),
    "javascript": Grammar(
        "tree_sitter_javascript",
        functions=_words(_ECMASCRIPT_FUNCTIONS),
        classes=_words("class_declaration class"),
        wrappers=_words(_ECMASCRIPT_WRAPPERS),
        leading=_words("comment decorator"),
    ),
    "markdown": Grammar("tree_sitter_markdown", sections=_words("section"), leading=frozenset()),
    "php": Grammar(
        "tree_sitter_php",
        "language_php",
        functions=_words("function_definition method_declaration"),
        classes=_words(
            "class_declaration interface_declaration trait_declaration enum_declaration"
        ),
    ),
    "python": Grammar(
        "tree_sitter_python",
        functions=_words("function_definition"),
        classes=_words("class_definition"),
        wrappers=_words("decorated_definition"),
        docstrings=True,
    ),
    "ruby": Grammar(
        "tree_sitter_ruby",
        functions=_words("method singleton_method"),
        classes=_words("class module"),
    ),
    "rust": Grammar(
        "tree_sitter_rust",
        functions=_words("function_item"),
        classes=_words("struct_item enum_item trait_item impl_item union_item"),
        leading=_words("line_comment block_comment attribute_item"),
    ),
    "tsx": _typescript("language_tsx"),
    "typescript": _typescript("language_typescript"),
}
"""By ccc's names of the languages."""

_EXTENSIONS = {
    "c": "c",
    "cpp": "c++ cc cpp cxx h h++ hh hpp hxx inl ipp tpp",
    "csharp": "cs csx",
    "go": "go",
    "java": "java",
    "javascript": "cjs js jsx mjs",
    "markdown": "markdown md mdx mkd",
    "php": "php",
    "python": "py pyi pyw pyx",
    "ruby": "rb",
    "rust": "rs",
    "tsx": "tsx",
    "typescript": "cts mts ts",
}
_LANGUAGES = {
    extension: name for name, all_of in _EXTENSIONS.items() for extension in all_of.split()
}


def language_of(path: str) -> str | None:
    """The language of the file at *path* by its name, as ccc calls it; None without a grammar.

    As ccc decides it (``detect_code_language``), but for ``.mts`` and ``.cts``, which it takes
    for no language.
    """
    stem, _, extension = path.rpartition("/")[2].rpartition(".")
    return _LANGUAGES.get(extension.lower()) if stem else None


def parser(language: str) -> Parser | None:
    """A parser of its own for each caller, as none may serve two threads; None without a grammar.

    An installation in which the grammar's wheel is missing or of another age has no grammar.
    """
    grammar = _load(language)
    if grammar is None:
        return None
    from tree_sitter import Parser

    return Parser(grammar)


@cache
def _load(language: str) -> Language | None:
    grammar = GRAMMARS.get(language)
    if grammar is None:
        return None
    try:
        from tree_sitter import Language

        return Language(getattr(import_module(grammar.package), grammar.entry)())
    except (ImportError, AttributeError, ValueError):
        return None

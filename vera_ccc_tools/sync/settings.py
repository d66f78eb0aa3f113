"""What ``settings.yml`` says of the project's files, as ccc reads it.

The facts and the lists here are ccc's (``cocoindex_code/settings.py``, 0.2.42): a missing key
means the default list, ``null`` excludes nothing or includes everything, the file is YAML 1.1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from vera_ccc_tools.errors import Failure, shorten
from vera_ccc_tools.sync import yaml_nodes
from vera_ccc_tools.sync.yaml_nodes import Document, Node

KEY = "exclude_patterns"
Was = Literal["absent", "null", "empty", "list"]

DEFAULT_EXCLUDES = (
    "**/.*",
    "**/__pycache__",
    "**/node_modules",
    "**/target",
    "**/build/assets",
    "**/dist",
    "**/vendor/*.*/*",
    "**/vendor/*",
    "**/.cocoindex_code",
)
_EXTENSIONS = (
    "py pyi js jsx ts tsx mjs cjs rs go java c h cpp hpp cc cxx hxx hh cs dart ex exs sql sh bash"
    " zsh md mdx txt rst php lua rb swift kt kts scala r html htm svelte vue css scss json xml"
    " yaml yml toml sol pas dpr dtd f f90 f95 f03"
)
DEFAULT_INCLUDES = tuple(f"**/*.{extension}" for extension in _EXTENSIONS.split())


@dataclass(frozen=True, slots=True)
class Settings:
    """The parts of a settings text that matter here, and where they stand.

    Attributes:
        document: The parsed text.
        was: What the text says of ``exclude_patterns``.
        excludes: The patterns in force, ccc's defaults where the key is absent.
        includes: The include patterns in force; None where every file may be included.
        key, value: The nodes of ``exclude_patterns``, None where it is absent.
    """

    document: Document
    was: Was
    excludes: tuple[str, ...]
    includes: tuple[str, ...] | None
    key: Node | None = None
    value: Node | None = None

    @property
    def text(self) -> str:
        return self.document.text

    @property
    def items(self) -> list[Node]:
        """The nodes of the listed patterns."""
        return self.value.children if self.value and self.was == "list" else []

    @property
    def newline(self) -> str:
        """The line end that the text uses first, or a line feed where it has none."""
        for at, char in enumerate(self.text):
            if char == "\n":
                return "\n"
            if char == "\r":
                return "\r\n" if self.text[at + 1 : at + 2] == "\n" else "\r"
        return "\n"


def decode(data: bytes) -> str:
    """Decode the bytes of the file; a byte order mark stays as the first character.

    Raises:
        Failure: ``settings_broken`` with the line, when they are not UTF-8.
    """
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise yaml_nodes.broken(line, "a byte is not UTF-8") from error


def read(text: str) -> Settings:
    """Read a settings text.

    Raises:
        Failure: ``settings_broken``, or ``settings_refused`` where the list cannot be edited:
            it is no list of strings, is there twice, or is an alias or comes from a merge key.
    """
    document = yaml_nodes.parse(text)
    top = document.top
    if top is None or (top.kind == "scalar" and not top.value and top.tag == yaml_nodes.NULL):
        return Settings(document, "absent", DEFAULT_EXCLUDES, DEFAULT_INCLUDES)
    if top.kind != "mapping":
        raise _refuse(top.line, "the file is no mapping of keys to values")
    includes = _includes(top)
    found = [(key, value) for key, value in top.pairs() if _names(key, KEY)]
    if len(found) > 1:
        raise _refuse(found[1][0].line, f"{KEY} is there a second time")
    if not found:
        _refuse_merged(top)
        return Settings(document, "absent", DEFAULT_EXCLUDES, includes)
    key, value = found[0]
    return _listed(document, includes, key, value)


def _listed(
    document: Document, includes: tuple[str, ...] | None, key: Node, value: Node
) -> Settings:
    if value.kind == "alias":
        raise _refuse(value.line, f"{KEY} is an alias")
    if value.anchor in document.aliased:
        raise _refuse(value.line, f"{KEY} is used elsewhere as *{value.anchor}")
    if value.kind == "scalar" and value.tag == yaml_nodes.NULL:
        return Settings(document, "null", (), includes, key, value)
    if value.kind != "sequence" or value.tag not in {"", "tag:yaml.org,2002:seq"}:
        raise _refuse(value.line, f"{KEY} is no list")
    for item in value.children:
        if not _is_string(item):
            line = (
                document.text.count("\n", 0, item.start) + 1 if item.end > item.start else item.line
            )
            raise _refuse(line, f"{KEY} lists {shorten(item.value)}, which is no string")
    patterns = tuple(item.resolved.value for item in value.children)
    return Settings(document, "list" if patterns else "empty", patterns, includes, key, value)


def _includes(top: Node) -> tuple[str, ...] | None:
    found = [value.resolved for key, value in top.pairs() if _names(key, "include_patterns")]
    if not found:
        merged = any(key.tag == yaml_nodes.MERGE for key, _ in top.pairs())
        return None if merged else DEFAULT_INCLUDES
    value = found[-1]  # of a doubled key the last one counts
    if value.kind != "sequence" or not all(_is_string(item) for item in value.children):
        return None
    return tuple(item.resolved.value for item in value.children)


def _names(key: Node, name: str) -> bool:
    return _is_string(key) and key.resolved.value == name


def _is_string(node: Node) -> bool:
    return node.resolved.kind == "scalar" and node.resolved.tag == yaml_nodes.STRING


def _refuse_merged(top: Node) -> None:
    """Refuse a list that a merge key (``<<``) may bring in from another mapping."""
    for key, value in top.pairs():
        if key.tag != yaml_nodes.MERGE:
            continue
        todo = [value.resolved]
        while todo:
            node = todo.pop()
            names = [key for key, _ in node.pairs()] if node.kind == "mapping" else []
            if any(_names(name, KEY) for name in names):
                raise _refuse(key.line, f"{KEY} comes from a merge key")
            todo.extend(child.resolved for child in node.children)


def _refuse(line: int, problem: str) -> Failure:
    return Failure(
        "settings_refused",
        f"settings.yml cannot be edited, line {line}: {problem}.",
        f"Write {KEY} in settings.yml once, as a plain list of strings.",
    )

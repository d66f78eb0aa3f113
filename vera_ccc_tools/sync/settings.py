"""What ``settings.yml`` says of the project's files, as ccc reads it.

The facts and the lists here are ccc's (``cocoindex_code/settings.py``, 0.2.42): a missing key
means the default list, ``null`` excludes nothing or includes everything, the file is YAML 1.1.
`ruamel.yaml` composes the same language to nodes that know where they stand; no alias is expanded.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from vera_ccc_tools.errors import Failure, shorten

KEY = "exclude_patterns"

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

_TAG = "tag:yaml.org,2002:"
STRING, NULL = _TAG + "str", _TAG + "null"

Node = Any
"""A node of ruamel.yaml: ``tag``, ``value``, ``anchor``, ``start_mark`` and ``end_mark``."""


@dataclass(frozen=True, slots=True)
class Settings:
    """The parts of a settings text that matter here, and where they stand.

    Attributes:
        top: The mapping; None in a text without content.
        excludes: The patterns in force, ccc's defaults where the key is absent.
        includes: The include patterns in force; None where every file may be included.
        key, value: The nodes of ``exclude_patterns``, None where it is absent.
    """

    text: str
    top: Node | None
    excludes: tuple[str, ...]
    includes: tuple[str, ...] | None
    key: Node | None = None
    value: Node | None = None

    @property
    def items(self) -> list[Node]:
        """The nodes of the listed patterns."""
        return self.value.value if self.value is not None and self.value.tag != NULL else []

    @property
    def newline(self) -> str:
        """The line end that the text uses first, or a line feed where it has none."""
        found = re.search(r"\r\n|\n|\r", self.text)
        return found[0] if found else "\n"

    def source(self, node: Node) -> str:
        return self.text[node.start_mark.index : node.end_mark.index]


def decode(data: bytes) -> str:
    """Decode the bytes of the file; a byte order mark stays as the first character.

    Raises:
        Failure: ``settings_broken`` with the line, when they are not UTF-8.
    """
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise _broken(data.count(b"\n", 0, error.start), "a byte is not UTF-8") from error


def read(text: str) -> Settings:
    """Read a settings text.

    Raises:
        Failure: ``settings_broken`` where it is no YAML; ``settings_refused`` where the list
            cannot be edited: it is no list of strings, is there twice, or takes part in
            anchors, aliases or merge keys.
    """
    top = _compose(text)
    if top is None or (top.tag == NULL and not top.value):
        return Settings(text, None, DEFAULT_EXCLUDES, DEFAULT_INCLUDES)
    if top.id != "mapping":
        raise refuse(top, "the file is no mapping of keys to values")
    merge = next((key for key, _ in top.value if key.tag == _TAG + "merge"), None)
    includes = _includes(top, merged=merge is not None)
    found = _pairs(top, KEY)
    if not found:
        if merge is not None:
            raise refuse(merge, f"{KEY} may come from a merge key")
        return Settings(text, top, DEFAULT_EXCLUDES, includes)
    if len(found) > 1:
        raise refuse(found[1][0], f"{KEY} is there a second time")
    key, value = found[0]
    return Settings(text, top, _listed(key, value), includes, key, value)


def _listed(key: Node, value: Node) -> tuple[str, ...]:
    if value.anchor is not None or key.anchor is not None:
        raise refuse(key, f"{KEY} is an alias or has an anchor")
    if value.tag == NULL:
        return ()
    if value.tag != _TAG + "seq":
        raise refuse(value, f"{KEY} is no list")
    for item in value.value:
        if item.anchor is not None:
            raise refuse(value, f"{KEY} lists an alias or an anchor")
        if item.tag != STRING:  # an item without text is reported where the next one begins
            place = item if item.value else value
            raise refuse(place, f"{KEY} lists {shorten(item.value)}, which is no string")
    return tuple(item.value for item in value.value)


def _compose(text: str) -> Node | None:
    from ruamel.yaml import YAML
    from ruamel.yaml.error import MarkedYAMLError, YAMLError

    reader = YAML(typ="safe", pure=True)
    reader.version = "1.1"
    reader.composer.warn_double_anchors = False
    try:
        return reader.compose(text)
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise _broken(mark.line if mark else 0, error.problem or "a syntax error") from error
    except YAMLError as error:
        line = text.count("\n", 0, getattr(error, "position", None) or 0)
        raise _broken(line, getattr(error, "reason", "") or "a syntax error") from error
    except (RecursionError, ValueError, IndexError) as error:
        raise _broken(0, f"it cannot be parsed ({type(error).__name__})") from error


def _pairs(top: Node, name: str) -> list[tuple[Node, Node]]:
    return [(key, value) for key, value in top.value if (key.tag, key.value) == (STRING, name)]


def _includes(top: Node, *, merged: bool) -> tuple[str, ...] | None:
    found = _pairs(top, "include_patterns")
    if not found:
        return None if merged else DEFAULT_INCLUDES
    value = found[-1][1]  # of a doubled key the last one counts
    if value.id != "sequence" or any(item.tag != STRING for item in value.value):
        return None
    return tuple(item.value for item in value.value)


def _broken(line: int, problem: str) -> Failure:
    return Failure(
        "settings_broken",
        f"settings.yml is not valid YAML, line {line + 1}: {problem}.",
        "Correct that line; ccc cannot read the file either.",
    )


def refuse(node: Node | None, problem: str) -> Failure:
    """The failure of a text that ccc can read and the sync cannot edit."""
    line = node.start_mark.line + 1 if node is not None else 1
    return Failure(
        "settings_refused",
        f"settings.yml cannot be edited, line {line}: {problem}.",
        f"Write {KEY} in settings.yml once, as a block: one `- 'pattern'` a line below the key.",
    )

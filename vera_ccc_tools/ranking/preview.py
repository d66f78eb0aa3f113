"""One line of a result that says most to a person: what a list of results shows of each."""

from __future__ import annotations

import re
from collections.abc import Iterator

from vera_ccc_tools.system import text

MOST = 200
"""Characters of a preview; no terminal shows more of it in one line."""
_LOOKED_AT = 300
"""Characters of a line that decide how much it says; it may be a whole minified file."""
_PROSE = frozenset({"markdown", "mdx", "text", "rst", "asciidoc", "latex", "typst"})
"""Languages in which `#` and `*` begin a heading or an item."""
_WORD = re.compile(r"\w{2}")
_DEFINITION, _CODE, _LITTLE, _COMMENT, _NEEDED, _EMPTY = range(6)
"""How little a line says; what is needed are imports and decorators."""

_MODIFIERS = (
    r"(?:(?:abstract|async|const|declare|default|export|final|internal|local|override|private"
    r"|protected|pub(?:\([^)]*\))?|public|sealed|static|unsafe)\s+)*"
)
_TYPE = r"(?:class|enum|interface|object|protocol|record|struct|trait|type)\s+[\w$.]+"
_ASSIGNED = rf"{_MODIFIERS}(?:(?:let|var|val)\s+)?[\w$.]+\s*[:=]\s*"
_FORMS = (
    (_EMPTY, r"(?:\W|\b(?:begin|do|done|else|end|endif|esac|fi|finally|pass|then|try)\b)*$"),
    (_EMPTY, r"(?:<[/!]?[\w:-]+\s*/?>\s*)+$|(?:(?:extern|int|static|void)\s*)+$"),
    (_NEEDED, r"(?:import|package|using|include|require(?:_relative)?|from\s.*import)\b(?!\s*=)"),
    (_NEEDED, r"(?:pub\s+)?(?:use|mod)\s+[\w:{]|['\"]use \w+['\"]|export\s+[*{].*\bfrom\b"),
    (_NEEDED, r"#\s*(?:if|endif|include|pragma)|#\s*define\s+\w+$|<(?:!|\?|link|meta|script)"),
    (_NEEDED, r"@[\w.]+\s*(?:\(.*)?$|#!|#\[|\[\w+(?:\(.*\))?\]$"),
    (_COMMENT, r"//|/\*|\*(?:[ /]|$)|--|;|%|#(?!\s*define\b)|\"\"\"|'''"),
    (_LITTLE, r"(?:\w+\s+)?[\w.@$]+\s*:?=\s*(?:''|\[\]|\{\}|0|false|nil|none|null|true);?$"),
    (_LITTLE, r"(?:module|namespace)\s+[\w.:\\]+\W*$"),
    (_LITTLE, r"(?:break|continue|loop|next|return|while)\b\W*(?:\w+\W*)?$"),
    (_DEFINITION, rf"{_MODIFIERS}(?:def|defmodule|fn|fun|func|function|impl)\b[^=]*\w|#\s*define"),
    (
        _DEFINITION,
        rf"{_MODIFIERS}{_TYPE}(?:\s*[({{<:;=]|$|\s+(?:extends|for|implements|interface|struct)\b)",
    ),
    (_DEFINITION, rf"{_ASSIGNED}(?:async\s+)?(?:function\b|(?:\([^()]*\)|\w+)\s*=>)"),
    (_DEFINITION, r"(?:describe|context|it|test)\b\s*\(?['\"`]|create\s+(?:table|view|index)\b"),
    (_CODE, r"\W*(?:await|case|catch|do|elif|else|for|foreach|if|match|new|return|switch)\b"),
    (_CODE, r"\W*(?:throw|until|using|while|with|yield)\b"),
    (_DEFINITION, r"[^=;'\"]*\w\s*\([^;]*\)[^;=]*\{$|[\w.#:@\[>-][^(){};=?\"]*\{$"),
    (_DEFINITION, r"(?:public|private|protected|internal|static|void|int|bool)\s[^=;]*\([^=;]*\)$"),
)
"""What a line of code is by its form; the first that fits counts."""
_CODE_FORMS = [(rank, re.compile(form, re.IGNORECASE)) for rank, form in _FORMS]
_PROSE_FORMS = [
    (_EMPTY, re.compile(r"\W*$|```|~~~")),
    (_DEFINITION, re.compile(r"#{1,6}\s+\S|=+ \S|\\(?:sub)*section\b|\\chapter\b")),
    (_NEEDED, re.compile(r"\[?!\[|</?\w|\[[^\]]+\]:\s")),
]


def preview(content: str, language: str) -> str:
    """The most telling line of a chunk, without its indentation and its control characters.

    What defines something comes first, then other code, a comment with words, an import or a
    decorator, and last a bare brace or ``end``. Empty where no line holds anything.
    """
    lines = [text.clean_line(line).strip()[:_LOOKED_AT] for line in content.split("\n")]
    ranked = _ranked([line for line in lines if line], language)
    return min(ranked, key=lambda each: each[0], default=(0, ""))[1][:MOST]


def _ranked(lines: list[str], language: str) -> Iterator[tuple[int, str]]:
    """The lines with how little each says; an import or a comment may be several lines."""
    forms = _PROSE_FORMS if language in _PROSE else _CODE_FORMS
    inside = _DEFINITION
    for line in lines:
        own = next((rank for rank, form in forms if form.match(line)), _CODE)
        rank = max(own if _WORD.search(line) else _EMPTY, inside)
        yield rank, line
        if line.startswith((")", "}")) or "*/" in line:
            inside = _DEFINITION
        elif rank == _NEEDED and line.endswith(("(", "{")):
            inside = _NEEDED
        elif line.startswith("/*"):
            inside = _COMMENT

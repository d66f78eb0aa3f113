"""One line of a result that tells a person the most: what a list of results shows of each."""

from __future__ import annotations

import re
from collections.abc import Iterator

from vera_ccc_tools import output

MOST = 200
"""Characters of a preview; no terminal shows more of it in one line."""
_PROSE = frozenset({"markdown", "mdx", "text", "rst", "asciidoc", "latex"})
"""Languages in which `#` and `*` begin a heading or an item."""

_WORD = re.compile(r"\w{2}", re.UNICODE)
_IMPORT = re.compile(
    r"(?:import|package|using|include|require(?:_relative)?|load|from\s+\S+\s+import)\b(?!\s*=)"
    r"|(?:pub\s+)?(?:use|mod)\s+[\w:{]+|#\s*(?:include|import|pragma)\b|export\s+[*{].*\bfrom\b"
    r"|['\"]use \w+['\"]"
)
_OPENS = re.compile(r"[({]$")
_DECORATOR = re.compile(r"@[\w.]+\s*(?:\(.*)?$|#!?\[|\[\w+(?:\(.*\))?\]$|<\?php$|#!")
_COMMENT = re.compile(
    r"//|/\*|\*(?:[ /]|$)|--|;|%|<!--|\"\"\"|'''"
    r"|#(?!\s*(?:define|if|ifdef|ifndef|elif)\b)"
)


def preview(content: str, language: str) -> str:
    """The first telling line of a chunk, without its indentation and its control characters.

    Code comes before a comment with words, that before an import or a decorator, and that before a
    bare brace. Empty where no line holds anything.
    """
    lines = [output.clean_line(line).strip() for line in content.split("\n")]
    ranked = _ranked([line for line in lines if line], language)
    return min(ranked, key=lambda each: each[0], default=(0, ""))[1][:MOST]


def _ranked(lines: list[str], language: str) -> Iterator[tuple[int, str]]:
    """The lines with how little each tells; an import in brackets reaches to the closing one."""
    in_import = False
    for line in lines:
        rank = 2 if in_import else _rank(line, language)
        begins = rank == 2 and _OPENS.search(line) is not None
        in_import = begins or (in_import and not line.startswith((")", "}")))
        yield rank, line


def _rank(line: str, language: str) -> int:
    """How little *line* tells; 0 is code."""
    if not _WORD.search(line):
        return 3
    if language in _PROSE:
        return 0
    if _IMPORT.match(line) or _DECORATOR.match(line):
        return 2
    return 1 if _COMMENT.match(line) else 0

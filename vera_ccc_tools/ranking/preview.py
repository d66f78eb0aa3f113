"""One line of a result that tells a person the most: what a list of results shows of each."""

from __future__ import annotations

import re
from collections.abc import Iterator

from vera_ccc_tools.system import text

MOST = 200
"""Characters of a preview; no terminal shows more of it in one line."""
_LOOKED_AT = 300
"""Characters of a line that decide how much it tells; it may be a whole minified file."""
_PROSE = frozenset({"markdown", "mdx", "text", "rst", "asciidoc", "latex", "typst"})
"""Languages in which `#` and `*` begin a heading or an item."""
_MARKUP = frozenset({"html", "xml", "vue", "svelte", "astro", "embeddedtemplate"})
_DATA = frozenset({"json", "yaml", "toml", "ini"})
_BRACED = frozenset(
    "bash c cpp csharp cuda d dart groovy java javascript php sh tsx typescript".split()
)
"""Languages in which a function is known by its parentheses and its brace."""
_STARRED = (_BRACED - {"bash", "sh"}) | {"css", "go", "kotlin", "rust", "scala", "swift"}
"""Languages with comments of many lines, from `/*` to `*/`."""
_DEFINITION, _SCOPE, _CODE, _PLAIN, _COMMENTED, _IMPORTED, _EMPTY = range(7)
"""How little a line tells: what it defines, the module around that, code, code that says
nothing of its place, words, what it needs, a bare end."""

_WORD = re.compile(r"\w{2}", re.UNICODE)
_BARE = re.compile(
    r"[\W_]*(?:(?:begin|do|done|else|end|endif|ensure|esac|fi|finally|pass|rescue|then|try)\b\W*)*$"
    r"|(?:<[/!]?[\w:-]+\s*/?>\s*)+$|(?:```|~~~)"
    r"|(?:(?:char|const|double|extern|float|inline|int|long|static|unsigned|void)\b[\s*]*)+$",
    re.IGNORECASE,
)
_IMPORT = re.compile(
    r"(?:import|package|using|include|require(?:_relative)?|load|from\s+\S+\s+import)\b(?!\s*=)"
    r"|(?:pub\s+)?(?:use|mod)\s+[\w:{]+|#\s*(?:if|endif|include|import|pragma)|#\s*define\s+\w+$|export\s+[*{].*\bfrom\b"
    r"|['\"]use \w+['\"];?|<(?:!DOCTYPE|\?xml|link|meta|script)\b",
    re.IGNORECASE,
)
_OPENS = re.compile(r"[({]$")
_DECORATOR = re.compile(r"@[\w.]+\s*(?:\(.*)?$|#!?\[|\[\w+(?:\(.*\))?\]$|<\?php$|#!")
_COMMENT = re.compile(
    r"//|/\*|\*(?:[ /]|$)|--|;|%|<!--|\"\"\"|'''"
    r"|#(?!\s*define\b)"
)
_OPENING = re.compile(r"(?:.*\s)?/\*")
"""A comment's beginning; in a glob it follows something."""
_MODIFIERS = (
    r"(?:(?:abstract|async|data|declare|default|export|extern|final|inline|internal|local|open"
    r"|override|partial|private|protected|pub(?:\([^)]*\))?|public|sealed|static|suspend|unsafe"
    r"|virtual)\s+)*"
)
_MODULE = re.compile(rf"{_MODIFIERS}(?:module|namespace)\s+[\w.:\\]+\s*[;{{]?$")
_DEFINES = re.compile(
    # Words that are hardly anything else,
    rf"{_MODIFIERS}(?:def|defp|defmacro|defmodule|fn|fun|func|sub)\s*[ (][^=]*\w"
    # those of prose and of arguments, which need a definition's form,
    rf"|{_MODIFIERS}(?:const\s+)?(?:class|enum|extension|function\*?|interface|object|protocol"
    r"|record|struct|trait|type|union)\s+[\w$.:]+(?:$|\s*[^\w\s.,:]|:$|:\s"
    r"|\s+(?:extends|final|for|func|implements|interface|is|map|struct|where)\b)"
    r"|(?:unsafe\s+)?impl\b.*\{$|class\s*<<"
    # a function by another name, and what is none but is looked for as one.
    rf"|{_MODIFIERS}(?:(?:const|let|var|val)\s+)?[\w$.]+\s*[:=]\s*(?:async\s+)?"
    r"(?:function\b|(?:\([^()]*\)|\w+)\s*=>)"
    r"|#\s*define\s+\w+|(?i:create\s+(?:or\s+replace\s+)?(?:table|view|function|index)\b)"
    r"|(?:describe|context|it|test|specify|scenario)\b\s*\(?['\"`]"
)
_FUNCTION = re.compile(r"[^=;'\"]*\w\s*\([^;]*\)[^;=]*\{$")
_SAYS_LITTLE = re.compile(
    r"(?:[\w*]+\s+)?[\w.@$]+\s*:?=\s*(?:\"\"|''|\[\]|\{\}|0|false|nil|none|null|true);?$"
    r"|(?:break|continue|loop|next|return|while)\b\W*(?:\w+\W*)?$",
    re.IGNORECASE,
)
_PROTOTYPE = re.compile(r"(?:[\w:<>]+[\s*&]+)+[\w:~]+\s*\([^=;]*[),];?$")
_TYPED = frozenset({"c", "cpp", "csharp", "cuda", "d", "java"})
"""Languages in which a function begins with its type."""
_CONTROL = re.compile(
    r"\W*(?:assert|await|case|catch|do|elif|else|for|foreach|if|new|return|switch|synchronized"
    r"|throw|try|until|using|while|with|yield)\b"
)
_SELECTOR = re.compile(r"[^{};]*[\w\])*]\s*(?:\{|,$)")
_HEADING = re.compile(r"#{1,6}\s+\S|=+ \S|\\(?:sub)*section\b|\\chapter\b")
_TITLE = re.compile(r"(?i:.*<(?:h[1-6]|title)\b[^>]*>.*\w.*</)|<[\w-]+\b[^>]*\bid=")
_KEY = re.compile(r"(?:- )?[\"']?[\w./@-]+[\"']?\s*[:=](?:\s|$)|\[+[\w.\"-]+\]+$")
_OWN = {"css": _SELECTOR} | dict.fromkeys(_MARKUP, _TITLE) | dict.fromkeys(_DATA, _KEY)
"""What a definition is in languages of another kind."""
_ORNAMENT = re.compile(r"\[?!\[|</?\w|\[[^\]]+\]:\s")


def preview(content: str, language: str) -> str:
    """The most telling line of a chunk, without its indentation and its control characters.

    What defines something comes first, then other code, a comment with words, an import or a
    decorator, and last a bare brace or ``end``. Empty where no line holds anything.
    """
    lines = [text.clean_line(line).strip()[:_LOOKED_AT] for line in content.split("\n")]
    ranked = _ranked([line for line in lines if line], language)
    return min(ranked, key=lambda each: each[0], default=(0, ""))[1][:MOST]


def _ranked(lines: list[str], language: str) -> Iterator[tuple[int, str]]:
    """The lines with how little each tells; an import in brackets reaches to the closing one."""
    in_import = False
    comments = _comments(lines) if language in _STARRED else frozenset()
    for at, line in enumerate(lines):
        rank = _IMPORTED if in_import else _rank(line, language)
        if at in comments:
            rank = max(rank, _COMMENTED)
        begins = rank == _IMPORTED and _OPENS.search(line) is not None
        in_import = begins or (in_import and not line.startswith((")", "}")))
        yield rank, line


def _comments(lines: list[str]) -> frozenset[int]:
    """Which lines lie in a comment; a chunk may begin inside one."""
    first = next((line for line in lines if "/*" in line or "*/" in line), "")
    inside = "*/" in first.partition("/*")[0]
    found = set[int]()
    for at, line in enumerate(lines):
        if inside or line.startswith("/*"):
            found.add(at)
        opening = _OPENING.match(line)
        begins = opening is not None and opening.end() > line.rfind("*/") + 1
        inside = begins or (inside and "*/" not in line)
    return frozenset(found)


def _rank(line: str, language: str) -> int:
    """How little *line* tells."""
    if not _WORD.search(line) or _BARE.match(line):
        return _EMPTY
    if language in _PROSE:
        return _rank_of_prose(line)
    if _IMPORT.match(line) or _DECORATOR.match(line):
        return _IMPORTED
    if _is_definition(line, language):
        return _DEFINITION
    if line.startswith("<!--") if language in _MARKUP else _COMMENT.match(line):
        return _COMMENTED
    return _rank_of_code(line)


def _rank_of_code(line: str) -> int:
    if _MODULE.match(line):
        return _SCOPE
    return _PLAIN if _SAYS_LITTLE.match(line) else _CODE


def _rank_of_prose(line: str) -> int:
    if _HEADING.match(line):
        return _DEFINITION
    return _IMPORTED if _ORNAMENT.match(line) else _CODE


def _is_definition(line: str, language: str) -> bool:
    """Whether *line* names what it begins: a function, a class, a rule, a section, a key."""
    own = _OWN.get(language)
    if own is not None:
        return own.match(line) is not None
    if _DEFINES.match(line):
        return True
    if _CONTROL.match(line):
        return False
    if language in _TYPED and _PROTOTYPE.match(line):
        return True
    return language in _BRACED and _FUNCTION.match(line) is not None

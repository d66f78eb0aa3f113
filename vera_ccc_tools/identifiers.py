"""Words and names out of code and questions: identifiers split, word endings taken off."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable

_RUN = re.compile(r"\w+")
# HTTPServer2Go is HTTP, Server, 2, Go; letters without case, as Chinese ones, stay together.
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+|[^\W\d_A-Za-z]+")
_RUN = re.compile(r"\w+")
# Rack::Builder, app.use, App\Web\Store, axum/routing; the parts between.
_BETWEEN = re.compile(r"::|->|[.\\/#]")
# A query that is nothing but a name, perhaps a qualified or a called one.
_NAME = re.compile(r"\s*((?:[\w$@]+(?:::|->|[.\\/#]))*[\w$@]+)(?:\(\))?\s*")
# Within a sentence: camelCase, snake_case, a::b, called().
_NAME_IN_TEXT = re.compile(
    r"\b(?:\w+(?:::|->))*(?:(?:\w+_\w+|[a-z0-9]+[A-Z]\w*|[A-Z]+[a-z0-9]+[A-Z]\w*)\b|\w+(?=\(\)))"
    r"|\b(?:\w+::)+\w+"
)
STOP_WORDS = frozenset(
    "a an and are as at be been by can do does for from had has have how if in into is it its of"
    " on or over such than that the their them then there these they this those through to under"
    " used uses using via was were what when where which while who why will with within".split()
)
"""Words of questions that tell nothing about the code."""
_ENDINGS = (
    "ization ations ation ities ments ment ings ing ions ion ers ies er ed es ity s e y".split()
)
_STEM = 3
"""Letters that are left of a word at least when its ending goes."""


@functools.lru_cache(maxsize=50_000)
def stem(word: str) -> str:
    """Take the ending off a lower-case English word: ``parsing``, ``parser`` and ``parse`` agree.

    Cruder than a real stemmer on purpose: `recovery` in a question has to meet `recoverer` in a
    name. What is left is always a beginning of the word.
    """
    if not word.isascii() or word.isdigit():
        return word
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _STEM:
            word = word[: -len(ending)]
            break
    if len(word) > _STEM and word[-1] == word[-2] and word[-1] not in "sl":
        return word[:-1]  # stripp(ing)
    return word


def runs(text: str) -> list[str]:
    """The letters, digits and underscores of *text* that stand together."""
    return _RUN.findall(text)


def split(identifier: str) -> tuple[str, ...]:
    """The lower-case parts of a camelCase or snake_case name: ``HttpRouter`` is http, router."""
    return tuple(part.lower() for part in _PART.findall(identifier))


@functools.lru_cache(maxsize=50_000)
def terms(identifier: str) -> tuple[str, ...]:
    """What a name is found by: the stems of its parts, and the whole where it has several."""
    parts = split(identifier)
    stems = tuple(stem(part) for part in parts if len(part) > 1)
    return (*stems, "".join(parts)) if len(parts) > 1 else stems


def flat(name: str) -> str:
    """A name without case and separators: ``HttpRouter`` and ``http_router`` are one."""
    return "".join(split(name))


def names(query: str) -> tuple[tuple[str, ...], ...]:
    """The names that *query* asks for: itself, or those that stand in its text.

    Each with what qualifies it: ``Rack::Builder`` is Rack, Builder.
    """
    alone = _NAME.fullmatch(query)
    found = [alone[1]] if alone else _NAME_IN_TEXT.findall(query)
    return tuple(tuple(_BETWEEN.split(name)) for name in dict.fromkeys(found))


# --- definitions ---------------------------------------------------------------------------------

_MODIFIERS = (
    r"(?:(?:export|default|declare|pub(?:\([\w: ]+\))?|public|private|protected|internal|static"
    r"|final|abstract|sealed|async|unsafe|inline|virtual|override|readonly|partial|data|open|case"
    r"|local|extern|typedef)[ \t]+)*"
)
_KEYWORDS = (
    "class|struct|interface|trait|enum|union|record|protocol|object|module|namespace|type|typealias"
    "|def|defn?|defp|defmodule|defmacro|func|function|fn|fun|sub|proc|macro_rules!"
)
_VARIABLES = "const|let|var|val|static|final"
# What may stand before the name: Go's receiver, generics, a pointer, what the name belongs to.
_INTRO = r"(?:\([^()\n]*\)\s*|<[^>\n]*>\s*|\*\s*|mut\s+|[\w$]+(?:\.|::|\\))*"
_FUNCTION = r"(?:async\b|function\b|class\b|lambda\b|\([^()\n]*\)\s*=>|[\w$]+\s*=>)"
_NO_CALL = r"(?!(?:return|await|new|else|throw|yield|case|in|go|defer|if|while|for|switch|catch)\b)"


def definition_of(wanted: Iterable[str]) -> re.Pattern[str]:
    """A pattern for where one of the names *wanted* is defined, in most languages.

    What counts is a word such as ``def`` before it; a variable or a constant that is no local one;
    a function that is assigned to a member, as in JavaScript; a method's head with its block, as in
    Java. A name that is only used or spoken of does not match.
    """
    end = r"(?![\w$])"
    wanted = list(wanted)
    name = f"(?:{'|'.join(map(re.escape, wanted))}){end}"
    constants = [each for each in wanted if each[:1].isupper()]
    constant = f"(?:{'|'.join(map(re.escape, constants))}){end}" if constants else r"(?!)"
    return re.compile(
        rf"^[ \t(]*(?:[\w$.]+\s*=\s*)?{_MODIFIERS}(?:{_KEYWORDS})\s+{_INTRO}{name}"
        rf"|^{_MODIFIERS}(?:{_VARIABLES})\s+(?:mut\s+)?{name}"
        rf"|^(?:{name}|[ \t]*{_MODIFIERS}{constant})\s*(?::[^=\n]+)?=(?![=>~])"
        rf"|^[ \t]*(?:[\w$]+\.)+{name}\s*=\s*{_FUNCTION}"
        rf"|^[ \t]*{_NO_CALL}(?:[\w$<>\[\],?*&:]+[ \t]+)*[*&]?{name}"
        rf"[ \t]*\([^;{{}}=]{{0,300}}\)[^;{{}}()=\n]*\s*\{{",
        re.MULTILINE,
    )


# --- pasted code ---------------------------------------------------------------------------------

_CODE = re.compile(r"[;{}=]|\w\(.*\)|=>|->|^\s*(?:#|//|/\*|\*|@)|\bdef \w|\bend\b", re.MULTILINE)
_SHORT = 8
"""Characters below which a line, such as ``} else {``, is everywhere and says nothing."""


def code_lines(query: str) -> tuple[str, ...]:
    """The lines of a pasted piece of code, spaces evened out; none when *query* is no code."""
    lines = [even(line) for line in query.strip().split("\n")]
    if len(lines) < 2 and (_NAME.fullmatch(query) or not _CODE.search(query)):
        return ()
    return tuple(dict.fromkeys(line for line in lines if len(line) >= _SHORT))


def even(text: str) -> str:
    """*text* with every run of white space as one space."""
    return " ".join(text.split())

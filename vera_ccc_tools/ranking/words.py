"""Words and names out of code and questions: identifiers split, word endings taken off."""

from __future__ import annotations

import functools
import posixpath
import re
from collections.abc import Iterable, Iterator

_RUN = re.compile(r"\w+")
# HTTPServer2Go is HTTP, Server, 2, Go.
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_FOREIGN_PART = re.compile(r"[^\W\d_]+|\d+")
# A query that is nothing but a name, perhaps a qualified or a called one.
_NAME = re.compile(r"\s*(?:[\w$@]+(?:::|->|[.\\/#]))*([\w$@]+)(?:\(\))?\s*")
# Within a sentence: camelCase, snake_case, called(), a::b.
_NAME_IN_TEXT = re.compile(
    r"\b(\w+_\w+\b|[a-z0-9]+[A-Z]\w*|[A-Z]+[a-z0-9]+[A-Z]\w*|\w+(?=\(\)))|(?<=::)(\w+)"
)
STOP_WORDS = frozenset(
    "a about across after all also an and any are as at be been before being between both but by"
    " can could do does done during each every for from given had has have how i if in into is"
    " it its like may me my of on only or other our over per same should so some such than that the"
    " their them then there these they this those through to under up used uses using via was we"
    " were what when where whether which while who whole whose why will with within without would"
    " you your".split()
)
"""Words of questions that say nothing about the code."""
_ENDINGS = (
    "ization ators ations ating ities ation ator ates ated ment ings ions ate ing ion ity"
    " ers ors ies er or ed es iz s e y".split()
)
_STEM = 3
"""Letters that are left of a word at least when its ending goes."""


@functools.lru_cache(maxsize=50_000)
def stem(word: str) -> str:
    """Take the endings off a lower-case English word: ``parsing``, ``parsers``, ``parse`` agree.

    Cruder than a real stemmer on purpose: `recovery` in a question has to meet `recoverer` in a
    name. What is left is always a beginning of the word.
    """
    if not word.isascii() or word.isdigit():
        return word
    before = ""
    while word != before:
        before, word = word, _shorter(word)
    return word


def _shorter(word: str) -> str:
    """Take one ending off, and what it doubled: ``stripping`` is ``strip``."""
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _STEM:
            if ending == "s" and word[-2] in "su":
                continue  # class, status
            word = word[: -len(ending)]
            return word[:-1] if word[-1] == word[-2] and word[-1] not in "sl" else word
    return word


def runs(text: str) -> list[str]:
    """The letters, digits and underscores of *text* that stand together."""
    return _RUN.findall(text)


def split(identifier: str) -> tuple[str, ...]:
    """The lower-case parts of a camelCase or snake_case name: ``HttpRouter`` is http, router."""
    pattern = _PART if identifier.isascii() else _FOREIGN_PART
    return tuple(part.lower() for part in pattern.findall(identifier))


def typed(identifier: str) -> tuple[tuple[str, str], ...]:
    """What a name is found by, each with what stands there of it in lower case.

    The stems of its parts, and the whole where it has several.
    """
    parts = split(identifier)
    stems = tuple((stem(part), part) for part in parts if len(part) > 1)
    whole = "".join(parts)
    return (*stems, (whole, whole)) if len(parts) > 1 else stems


@functools.lru_cache(maxsize=50_000)
def terms(identifier: str) -> tuple[str, ...]:
    """What a name is found by, as in `typed`."""
    return tuple(term for term, _ in typed(identifier))


def names(query: str) -> tuple[str, ...]:
    """The names that *query* asks for: itself, or those that stand in its text.

    Of a qualified one, such as ``Rack::Builder``, the last part.
    """
    alone = _NAME.fullmatch(query)
    if alone:
        return (alone[1],)
    found = (match[1] or match[2] for match in _NAME_IN_TEXT.finditer(query))
    return tuple(dict.fromkeys(found))


# --- typing errors -------------------------------------------------------------------------------

_SPELT = 5
"""Letters that a word has at least when it is taken for another one, mistyped."""


def spelt(word: str, runs: Iterable[str]) -> str | None:
    """The term of the part of *runs* that is one typing error away from *word*; None for none.

    An error is a letter too many, too few, another one, or two that changed places.
    """
    if len(word) < _SPELT:
        return None
    head, tail = word[:2], word[-3:]  # few of the names in a hundred chunks have either
    near = (run for run in runs if head in run.lower() or tail in run.lower())
    parts = {part for run in near for part in split(run)}
    return min((stem(part) for part in parts if _one_error(word, part)), default=None)


def _one_error(one: str, other: str) -> bool:
    if one[0] != other[0] or abs(len(one) - len(other)) > 1:
        return False  # hardly anybody errs in a first letter, and `across` is no `cross`
    head = len(posixpath.commonprefix((one, other)))
    one, other = one[head:], other[head:]
    tail = len(posixpath.commonprefix((one[::-1], other[::-1])))
    one, other = one[: len(one) - tail], other[: len(other) - tail]
    return max(len(one), len(other)) <= 1 or one == other[::-1]


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
_INTRO = r"(?:\([^()\n]*\)[ \t]*|<[^>\n]*>[ \t]*|\*[ \t]*|[\w$]+(?:\.|::|\\))*"
_FUNCTION = r"(?:async\b|function\b|class\b|lambda\b|\([^()\n]*\)\s*=>|[\w$]+\s*=>)"
_NO_CALL = r"(?!(?:return|await|new|else|throw|yield|case|in|go|defer|if|while|for|switch|catch)\b)"


class Definition:
    """Finds where one of some names is defined, in most languages.

    What counts is a word such as ``def`` before it; a variable or a constant that is no local one;
    a function that is assigned to a member, as in JavaScript; a method's head with its block, as in
    Java. A name that is only used or spoken of does not count.
    """

    def __init__(self, names: Iterable[str]) -> None:
        self._names = list(names)
        end = r"(?![\w$])"
        name = f"(?:{'|'.join(map(re.escape, self._names))}){end}"
        constants = [each for each in self._names if each[:1].isupper()]
        constant = f"(?:{'|'.join(map(re.escape, constants))}){end}" if constants else r"(?!)"
        self._head = re.compile(
            rf"[ \t(]*(?:[\w$.]+[ \t]*=[ \t]*)?{_MODIFIERS}(?:{_KEYWORDS})[ \t]+{_INTRO}{name}"
            rf"|{_MODIFIERS}(?:{_VARIABLES})[ \t]+(?:mut[ \t]+)?{name}"
            rf"|(?:{name}|[ \t]*{_MODIFIERS}(?:[\w<>\[\]]+[ \t]+)?{constant})"
            r"\s*(?::[^=\n]+)?=(?![=>~])"
            rf"|[ \t]*(?:[\w$]+\.)+{name}\s*=\s*{_FUNCTION}"
            rf"|[ \t]*{_NO_CALL}(?:[\w$<>\[\],?*&:]+[ \t]+)*[*&]?{name}"
            rf"[ \t]*\([^;{{}}=]{{0,300}}\)[^;{{}}()=\n]*\s*\{{"
        )

    def within(self, text: str) -> bool:
        """Whether *text* has such a definition: it begins with the line that has the name."""
        return any(self._head.match(text, start) for start in self._lines(text))

    def _lines(self, text: str) -> Iterator[int]:
        """Where the lines with a name begin."""
        for name in self._names:
            at = text.find(name)
            while at >= 0:
                yield text.rfind("\n", 0, at) + 1
                end = text.find("\n", at)
                at = text.find(name, end) if end >= 0 else -1


# --- pasted code ---------------------------------------------------------------------------------

_CODE = re.compile(r"[;{}=]|\w\(.*\)|=>|->|^\s*(?:#|//|/\*|\*|@)|\bdef \w|\bend\b", re.MULTILINE)
_SHORT = 9
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

"""What kind of file a path names - test, document, example … - and which kinds a question is about.

A question about code is seldom answered by its tests, and a question about tests always is.
"""

from __future__ import annotations

import re

_PATHS = {
    "generated": r"""
        (^|/) (vendor|third_party|node_modules|dist|generated|__generated__) /
        | \.min\.\w+$ | \.pb\.\w+$ | _pb2(_grpc)?\.pyi?$ | [._]generated\.\w+$ | [._]g\.\w+$
        | \.d\.[cm]?ts$
        | [^/] [.-] lock (\.(json|ya?ml|toml))? $
        """,
    "test": r"""
        (^|/) (tests?|specs?|__tests__|__mocks__|testdata|fixtures|e2e) /
        | (^|/) (test_[^/]*|tests?|conftest) \.\w+$
        | [._-] (test|tests|spec|specs|test-d) (\.\w+)? \.\w+$
        | [a-z0-9] (Test|Tests|TestCase|Spec|IT) \.\w+$
        """,
    "example": r"(^|/) _?(examples?|samples?|demos?|playground) /",
    "document": r"(^|/) docs? / | \.(md|mdx|markdown|rst|adoc|txt)$",
    "index": r"(^|/) (__init__\.pyi? | index\.[cm]?[jt]sx?) $",
}
"""The kinds in the order in which they are tried: an example's test is a test."""
_QUESTIONS = {
    "test": r"\b (tests? | tested | testing | specs? | mocks? | fixtures? | benchmarks?) \b",
    "example": r"\b (examples? | samples? | demos?) \b",
    "document": r"""\b (docs? | documentation | documents? | documented | readme | guides?
        | tutorials? | quickstart | changelog | release\ notes | faqs? ) \b""",
}


def _compiled(table: dict[str, str], flags: int) -> dict[str, re.Pattern[str]]:
    return {kind: re.compile(pattern, re.VERBOSE | flags) for kind, pattern in table.items()}


_OF_PATH = _compiled(_PATHS, re.NOFLAG)
_OF_QUESTION = _compiled(_QUESTIONS, re.IGNORECASE)


def of_path(path: str) -> str | None:
    """The kind of the file at *path*, with forward slashes; None for ordinary code."""
    return next((kind for kind, pattern in _OF_PATH.items() if pattern.search(path)), None)


def asked(question: str) -> frozenset[str]:
    """The kinds that *question* names."""
    return frozenset(kind for kind, pattern in _OF_QUESTION.items() if pattern.search(question))

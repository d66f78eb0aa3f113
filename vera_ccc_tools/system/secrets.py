"""Take secrets out of a text, by two rules: `redact` knows them by their form, `mask` by value.

The forms are those of the MCP contract and four that it misses (``sk-proj-``, ``github_pat_``,
``glpat-``, ``sk_test_``). The values are the keys that this user has: ccc's global settings hold
some, and what ccc prints may quote them (a YAML error shows the line that it cannot read, an
embedding service the key that it refuses).

No pattern goes twice over the same text: what could begin at every character begins only where a
run does, and a quantifier is possessive or has nothing behind it that could fail. Only those of
one character are possessive: the first versions of Python 3.11, Debian 12's among them, match
possessive groups wrongly (CPython gh-100061, gh-106052).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

_WORD = "[A-Za-z0-9_-]"

_KINDS = tuple(
    (re.compile(pattern), f"[REDACTED:{label}]")
    for label, pattern in (
        ("ANTHROPIC_KEY", rf"sk-ant-{_WORD}{{20,}}+"),
        ("OPENAI_KEY", rf"sk-(?:(?:proj|svcacct|admin)-{_WORD}{{20,}}+|[A-Za-z0-9]{{32,}}+)"),
        ("STRIPE_KEY", r"sk_(?:live|test)_[A-Za-z0-9]{16,}+"),
        ("GITHUB_TOKEN", r"gh[pousr]_[A-Za-z0-9]{36,}+|github_pat_[A-Za-z0-9_]{22,}+"),
        ("GITLAB_TOKEN", rf"glpat-{_WORD}{{20,}}+"),
        ("SLACK_TOKEN", r"xox[a-z]-[A-Za-z0-9-]{10,}+"),
        ("AWS_ACCESS_KEY", r"AKIA[0-9A-Z]{16}"),
        ("GOOGLE_API_KEY", rf"AIza{_WORD}{{35}}"),
    )
)
# The first eyJ of a run has most behind it: where that one does not do, no other does.
_JWT = re.compile(
    rf"(?<!{_WORD})(?=({_WORD}*?)eyJ)\1"
    rf"eyJ{_WORD}{{10,}}+\.eyJ{_WORD}{{10,}}+\.{_WORD}{{10,}}+"
)

_PEM = re.compile(r"-----(BEGIN|END) [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----")
# In a string of a program or of JSON a line's end is an escape.
_PEM_LINES = re.compile(r"(?:(?:\s|\\[nr])+[A-Za-z0-9+/=]{16,}+)*")

_ASSIGNED = re.compile(
    r"""
    # The name stands alone or ends a longer one: DB_PASSWORD, clientSecret; and PGPASSWORD.
    ((?:(?<![A-Za-z0-9])|(?<=[a-z0-9])(?=[A-Z])|(?=(?i:passw)))
    (?i:password|passwd|secret(?:[ _-]?key)?|api[ _-]?key|access[ _-]?key|auth[ _-]?token
        |private[ _-]?key|token)
    (?:\\?["'`])?\s*+(?:=>|:=|={1,3}+|:(?!:))\s*+)
    # A quoted value ends at its quote, if that is neither escaped nor doubled and no word goes
    # on behind it, and never on another line. Any other ends at a space.
    (?:(?P<quote>["'`])
        (?P<quoted>(?:\\[^\n]?|(?P=quote)(?:(?P=quote)|(?=[A-Za-z0-9_-]))
            |(?!(?P=quote))["'`]|[^"'`\\\n]++)*)
        (?P<end>(?P=quote)?)
    |(?P<plain>\S++))
    """,
    re.VERBOSE,
)
_SHORTEST = 8
"""Characters below which a value is no secret: ``none`` must stay readable."""
_PLACEHOLDER = re.compile(
    r"(?:your|my-|the-|example|changeme|placeholder|dummy|test|sample|xxx).*"
    r"|<.*>|\$\{.*\}|\{\{.*\}\}|\[REDACTED:[A-Z_]+\]|(.)\1*",
    re.IGNORECASE | re.DOTALL,
)


def redact(text: str) -> str:
    """Put ``[REDACTED:KIND]`` in place of each secret in *text*.

    Private-key blocks and tokens of known forms go first; then the value of what is called a
    password, secret, token or key, from eight characters on, unless it is a placeholder.
    """
    text = _without_private_keys(text)
    for pattern, replacement in _KINDS:
        text = pattern.sub(replacement, text)
    text = _JWT.sub(r"\1[REDACTED:JWT]", text)
    return _ASSIGNED.sub(_masked, text)


def _masked(match: re.Match[str]) -> str:
    quote = match["quote"]
    value = match["plain"] if quote is None else match["quoted"]
    if len(value) < _SHORTEST or _PLACEHOLDER.fullmatch(value):
        return match[0]
    if quote is None:
        return f"{match[1]}[REDACTED:SECRET]"
    return f"{match[1]}{quote}[REDACTED:SECRET]{match['end']}"


def _without_private_keys(text: str) -> str:
    kept, at = [], 0
    for start, end in _private_keys(text):
        kept += [text[at:start], "[REDACTED:PRIVATE_KEY]"]
        at = end
    return "".join([*kept, text[at:]])


def _private_keys(text: str) -> Iterator[tuple[int, int]]:
    """From each BEGIN to the next END; where none follows, to the last line of key material."""
    open_: list[re.Match[str]] = []
    for marker in _PEM.finditer(text):
        if marker[1] == "BEGIN":
            open_.append(marker)
        elif open_:
            yield open_[0].start(), marker.end()
            open_.clear()
    for marker in open_:
        lines = _PEM_LINES.match(text, marker.end())
        if lines and lines[0]:
            yield marker.start(), lines.end()


# --- by value ------------------------------------------------------------------------------------

MASK = "***"
_KEY_NAME = r"[\w.-]*(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIAL)[\w.-]*"
_IS_KEY_NAME = re.compile(_KEY_NAME, re.IGNORECASE)
# Not read as YAML: it is just the broken file that is quoted.
_KEY_IN_SETTINGS = re.compile(
    rf"""{_KEY_NAME}["']?\s*[:=]\s*(?:"([^"\n]+)|'([^'\n]+)|([^\s"',}}]+))""", re.IGNORECASE
)
_IN_ADDRESS = re.compile(r"://[^/\s:@]*:([^/\s@]+)@")


def own_keys(settings: str, environ: Mapping[str, str]) -> set[str]:
    """The values in the text of *settings* and in *environ* that are keys or passwords."""
    found = [each for groups in _KEY_IN_SETTINGS.findall(settings) for each in groups]
    found += _IN_ADDRESS.findall(settings)
    found += [value for name, value in environ.items() if _IS_KEY_NAME.fullmatch(name)]
    # A path or an address says where to look, and is none itself.
    return {each for each in found if len(each) >= _SHORTEST and not re.match(r"/|\w+://", each)}


def mask(text: str, keys: Iterable[str]) -> str:
    """Mask every run of *text* that is made of pieces of *keys*: quotes are often cut short."""
    pieces = {key[at : at + _SHORTEST] for key in keys for at in range(len(key) - _SHORTEST + 1)}
    if not pieces:
        return text
    kept: list[str] = []
    end = 0
    for match in re.finditer(f"(?={'|'.join(map(re.escape, pieces))})", text):
        if not kept or match.start() > end:
            kept += [text[end : match.start()], MASK]
        end = match.start() + _SHORTEST
    return "".join([*kept, text[end:]])

"""Keep the user's keys out of everything that is told.

ccc's global settings hold API keys, and what ccc prints may quote them: a YAML error shows the
line that it cannot read, an embedding service the key that it refuses.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from vera_ccc_tools.ccc import project

SHORTEST = 8
"""Characters below which a value is no key: ``none`` must stay readable."""
MASK = "***"

_SETTINGS_LIMIT = 256 * 1024
_SECRET = r"[\w.-]*(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIAL)[\w.-]*"  # noqa: S105
# Not read as YAML: it is just the broken file that is quoted.
_ASSIGNED = re.compile(
    rf"""{_SECRET}["']?\s*[:=]\s*(?:"([^"\n]+)|'([^'\n]+)|([^\s"',}}]+))""", re.IGNORECASE
)
_IN_ADDRESS = re.compile(r"://[^/\s:@]*:([^/\s@]+)@")
_SECRET_NAME = re.compile(_SECRET, re.IGNORECASE)


def redact(text: str, environ: Mapping[str, str]) -> str:
    """Mask in *text* each piece, eight characters or longer, of a key of the user's."""
    for secret in sorted(set(_secrets(environ)), key=len, reverse=True):
        text = _masked(text, secret)
    return text


def _secrets(environ: Mapping[str, str]) -> Iterator[str]:
    settings = _settings(environ)
    found = [each for groups in _ASSIGNED.findall(settings) for each in groups]
    found += _IN_ADDRESS.findall(settings)
    found += [value for name, value in environ.items() if _SECRET_NAME.fullmatch(name)]
    # A path or an address tells where to look, and is none itself.
    return (each for each in found if len(each) >= SHORTEST and not re.match(r"/|\w+://", each))


def _settings(environ: Mapping[str, str]) -> str:
    try:
        with project.global_settings_path(environ).open("rb") as file:
            return file.read(_SETTINGS_LIMIT).decode("utf-8", "replace")
    except OSError:
        return ""


def _masked(text: str, secret: str) -> str:
    """Mask every run of *text* that is made of pieces of *secret*: quotes are often cut short."""
    pieces = {secret[at : at + SHORTEST] for at in range(len(secret) - SHORTEST + 1)}
    found = re.compile("(?=(" + "|".join(map(re.escape, pieces)) + "))")
    spans: list[list[int]] = []
    for match in found.finditer(text):
        start, end = match.start(), match.start() + SHORTEST
        if spans and start <= spans[-1][1]:
            spans[-1][1] = end
        else:
            spans.append([start, end])
    for start, end in reversed(spans):
        text = text[:start] + MASK + text[end:]
    return text

"""By which ignore rule each entry of the sync came about."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from vera_ccc_tools.errors import Failure
from vera_ccc_tools.git.git import Git, Rule
from vera_ccc_tools.git.repositories import Part
from vera_ccc_tools.sync.globs import at_root, escape
from vera_ccc_tools.sync.report import Reason, Report
from vera_ccc_tools.system.tasks import Cancel

MOST_EXPLAINED = 5000
"""Entries whose rules are looked for; a project with more is told their number."""


def reasons(
    root: Path, report: Report, environ: Mapping[str, str], cancel: Cancel
) -> tuple[Reason, ...]:
    """Which rule each entry of *report* came from: one more question to each repository."""
    entries = report.entries[:MOST_EXPLAINED]
    if report.survey is None or not entries:
        return tuple(Reason(entry) for entry in entries)
    behind = _paths_behind(set(entries), report.survey.parts)
    git = Git.find(environ)
    rules = {
        part.at: _rules(
            git, part, [one.asked for one in behind.values() if one.part is part], cancel
        )
        for part in report.survey.parts
    }
    return tuple(_reason(root, entry, behind.get(entry), rules) for entry in entries)


@dataclass(frozen=True, slots=True)
class _Ignored:
    """An ignored path: as the project sees it, and as its repository is asked about it."""

    part: Part
    path: str
    asked: bytes


def _paths_behind(entries: set[str], parts: Collection[Part]) -> dict[str, _Ignored]:
    """For each entry an ignored path that it stands for: its own, else one of many it covers."""
    found: dict[str, _Ignored] = {}
    for forms in (_own_forms, _shared_forms):
        for ignored in _ignored(parts):
            for form in forms(ignored.path):
                if form in entries:
                    found.setdefault(form, ignored)
        if len(found) == len(entries):
            break
    return found


def _ignored(parts: Collection[Part]) -> Iterator[_Ignored]:
    for part in parts:
        prefix = part.repository.prefix
        for path in part.status.ignored:
            # A directory above the asked one: all of that is ignored.
            inside = b"" if path.endswith(b"/") and prefix.startswith(path) else path[len(prefix) :]
            yield _Ignored(part, os.fsdecode(part.at + inside), path.rstrip(b"/"))


def _own_forms(path: str) -> Iterator[str]:
    """The entries that `plan` makes of one ignored path alone."""
    if not path:
        yield "**"
        return
    for written in _escaped(path.rstrip("/")):
        rest = "/**" if path.endswith("/") else ""
        yield f"**/{written}{rest}"
        yield at_root(f"{written}{rest}")


def _shared_forms(path: str) -> Iterator[str]:
    """The entries that `plan` makes of many ignored paths, of which this may be one."""
    names = path.rstrip("/").split("/")
    for written in _escaped(names[-1]):
        yield f"**/{written}/**" if path.endswith("/") else f"**/{written}"
    for at, char in enumerate(names[-1]):
        if char in "._-":
            yield from (f"**/*{written}" for written in _escaped(names[-1][at:]))
    for high in range(1, len(names)):
        yield from (at_root(f"{written}/**") for written in _escaped("/".join(names[:high])))


def _escaped(name: str) -> tuple[str, str]:
    return escape(name), escape(name, backslash=True)


def _rules(git: Git, part: Part, paths: list[bytes], cancel: Cancel) -> dict[bytes, Rule]:
    try:
        return git.rules(part.repository.top, paths, cancel)
    except Failure:  # a repository that changed meanwhile is no reason to tell nothing
        return {}


def _reason(
    root: Path, entry: str, ignored: _Ignored | None, rules: dict[bytes, dict[bytes, Rule]]
) -> Reason:
    if ignored is None:
        return Reason(entry)
    rule = rules[ignored.part.at].get(ignored.asked)
    if rule is None:
        return Reason(entry, ignored.path)
    top = ignored.part.repository.top
    source = top / rule.source
    if source.is_relative_to(top):
        source = Path(os.path.relpath(source, root))
    return Reason(entry, ignored.path, source.as_posix(), rule.line, rule.pattern)

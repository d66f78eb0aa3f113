"""By which ignore rule each entry of the sync came about."""

from __future__ import annotations

import os
from collections import defaultdict
from dataclasses import replace
from pathlib import Path

from vera_ccc_tools.errors import Failure
from vera_ccc_tools.git.git import Git, Rule
from vera_ccc_tools.git.repositories import Part
from vera_ccc_tools.sync.report import Reason, Report
from vera_ccc_tools.system.environment import Environment
from vera_ccc_tools.system.tasks import Cancel

MOST_EXPLAINED = 5000
"""Entries whose rules are looked for; of a project with more, their number is given."""


def reasons(
    root: Path, report: Report, environment: Environment, cancel: Cancel
) -> tuple[Reason, ...]:
    """Which rule each entry of *report* came from: one more question to each repository."""
    entries = report.entries[:MOST_EXPLAINED]
    parts = {os.fsdecode(part.at): part for part in report.survey.parts} if report.survey else {}
    asked: dict[str, dict[str, bytes]] = defaultdict(dict)  # by the place of the repository
    for entry in entries:
        path = report.sources.get(entry)
        at = None if path is None else next((one for one in _places(path) if one in parts), None)
        if path is not None and at is not None:
            inside = parts[at].repository.prefix + os.fsencode(path[len(at) :])
            asked[at][entry] = inside.rstrip(b"/")
    found = {}
    for at, paths in asked.items():
        rules = _rules(Git.find(environment), parts[at], list(paths.values()), cancel)
        for entry, one in paths.items():
            if one in rules:
                found[entry] = _reason(root, entry, parts[at], rules[one])
    return tuple(
        replace(found.get(entry) or Reason(entry), path=report.sources.get(entry) or "")
        for entry in entries
    )


def _places(path: str) -> list[str]:
    """Where the repository of *path* may begin, the innermost place first."""
    names = path.rstrip("/").split("/")
    return [
        "".join(f"{name}/" for name in names[:count]) for count in range(len(names) - 1, -1, -1)
    ]


def _rules(git: Git, part: Part, paths: list[bytes], cancel: Cancel) -> dict[bytes, Rule]:
    try:
        return git.rules(part.repository.top, paths, cancel)
    except Failure:  # one repository that changed meanwhile leaves the others' reasons
        return {}


def _reason(root: Path, entry: str, part: Part, rule: Rule) -> Reason:
    top = part.repository.top
    source = top / rule.source
    if source.is_relative_to(top):
        source = Path(os.path.relpath(source, root))
    return Reason(entry, "", source.as_posix(), rule.line, rule.pattern)

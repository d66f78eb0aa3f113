"""What one sync found and did, for programs and for people."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from vera_ccc_tools.git.git import Repository
from vera_ccc_tools.git.git import Status as GitStatus
from vera_ccc_tools.git.repositories import Survey
from vera_ccc_tools.system.text import clean_line, is_utf8

_NAMES_SHOWN = 20
ENTRIES_SHOWN = 100
"""Entries whose rules the text for a person names; the JSON has them all, as far as known."""


@dataclass(frozen=True, slots=True)
class Reason:
    """Why one of our entries is there.

    Attributes:
        entry: The pattern in ``exclude_patterns``.
        path: An ignored path that it stands for, relative to the project's root; a directory ends
            in ``/``. Empty where none is known now.
        source: The file that holds the ignore rule, relative to the project's root, or absolute
            outside of the repository; empty where git does not say.
        line: Its line, counted from 1.
        pattern: The rule.
    """

    entry: str
    path: str = ""
    source: str = ""
    line: int = 0
    pattern: str = ""

    def to_json(self) -> dict[str, Any]:
        """The reason as plain values, None for what is not known."""
        return {
            "entry": self.entry,
            "path": _printable(self.path) or None,
            "source": _printable(self.source) or None,
            "line": self.line or None,
            "pattern": _printable(self.pattern) or None,
        }

    def __str__(self) -> str:
        if not self.source:
            return f"{self.entry}  (git does not say by which rule)"
        return f"{self.entry}  {self.source}:{self.line}: {self.pattern}"


@dataclass(frozen=True, slots=True)
class Report:
    """What one sync found and did.

    Attributes:
        added, removed: Entries that came and went.
        kept: How many of our entries stayed.
        left_out: Ignored paths without an entry of their own, each with the reason.
        warnings: What the caller should know, a line each.
        tracked_ignored: Tracked files that ccc hides all the same, since a ``.gitignore`` file
            ignores them; None unless they were asked for.
        changed: Whether the settings differ from what they should be, before this sync.
        written: Whether they were written.
        difference: A unified diff of the settings, on a dry run.
        elapsed_ms: How long the parts took, in milliseconds.
        survey: git's answers that this rests on; None where git has no say, or failed.
        negated: Whether a ``!`` pattern of the user's may let ignored paths in.
        entries: All of our entries, as they are after this sync or would be.
        sources: For each entry an ignored path that it stands for, as far as git was asked.
        reasons: Of the entries, why each is there; None unless that was asked for.
    """

    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    kept: int = 0
    left_out: tuple[tuple[str, str], ...] = ()
    warnings: tuple[str, ...] = ()
    tracked_ignored: tuple[str, ...] | None = None
    changed: bool = False
    written: bool = False
    difference: str = ""
    elapsed_ms: dict[str, float] = field(default_factory=dict)
    survey: Survey | None = field(default=None, repr=False, compare=False)
    negated: bool = False
    entries: tuple[str, ...] = field(default=(), repr=False)
    sources: Mapping[str, str | None] = field(default_factory=dict, repr=False)
    reasons: tuple[Reason, ...] | None = None

    def to_json(self) -> dict[str, Any]:
        """The report as plain values; of the paths left out, some for each reason."""
        reasons: dict[str, list[str]] = {}
        for path, reason in self.left_out:
            reasons.setdefault(reason, []).append(_printable(path))
        hidden = self.tracked_ignored
        return {
            "changed": self.changed,
            "written": self.written,
            "added": list(self.added),
            "removed": list(self.removed),
            "kept": self.kept,
            "left_out": [
                {"reason": reason, "count": len(paths), "paths": paths[:_NAMES_SHOWN]}
                for reason, paths in reasons.items()
            ],
            "warnings": list(self.warnings),
            "tracked_ignored": None
            if hidden is None
            else {"count": len(hidden), "paths": [_printable(path) for path in hidden]},
            "entries": None
            if self.reasons is None
            else {
                "count": len(self.entries),
                "reasons": [reason.to_json() for reason in self.reasons],
            },
            "difference": self.difference,
            "elapsed_ms": self.elapsed_ms,
        }

    def render(self) -> str:
        """The report for a person."""
        counts = f"{len(self.added)} added, {len(self.removed)} removed, {self.kept} kept"
        state = "written" if self.written else "would change" if self.changed else "unchanged"
        lines = [f"exclude_patterns {state}: {counts}."]
        reasons: dict[str, int] = {}
        for _path, reason in self.left_out:
            reasons[reason] = reasons.get(reason, 0) + 1
        lines += [
            f"{count} ignored {'path needs' if count == 1 else 'paths need'} no entry: {why}."
            for why, count in reasons.items()
        ]
        lines += [f"Warning: {warning}" for warning in self.warnings]
        if self.tracked_ignored:
            some = ", ".join(_printable(path) for path in self.tracked_ignored[:_NAMES_SHOWN])
            count = len(self.tracked_ignored)
            noun = "tracked file" if count == 1 else "tracked files"
            lines.append(f"{count} {noun} that ccc ignores all the same: {some}")
        return "\n".join([*lines, *self._reasons(), self.difference]).rstrip() + "\n"

    def _reasons(self) -> list[str]:
        if not self.reasons:
            return []
        shown = [f"  {clean_line(_printable(str(one)))}" for one in self.reasons[:ENTRIES_SHOWN]]
        left = len(self.entries) - len(shown)
        more = [f"  and {left:,} more; --json names them"] if left else []
        return ["Each entry, and the ignore rule behind it:", *shown, *more]


def _printable(path: str) -> str:
    """A path for JSON and terminals, with the bytes that are no UTF-8 written as escapes."""
    return path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


@dataclass(frozen=True, slots=True)
class Synced:
    """What a sync did, as far as a call needs it.

    Attributes:
        notes: Lines that the caller should read.
        views: git's answers, the ones the sync was decided on; None where there are none.
        unknown: Why git's answers do not show what ccc would see; empty where they do.
        due: Whether the settings differ from what they should be, where they were left so.
    """

    notes: tuple[str, ...] = ()
    views: tuple[tuple[Repository, GitStatus], ...] | None = None
    unknown: str = ""
    due: bool = False


def summary(report: Report) -> Synced:
    """What a call needs of *report*."""
    unknown = _unknown(report)
    views = None
    if not unknown and report.survey is not None:
        views = tuple((part.repository, part.status) for part in report.survey.parts)
    return Synced(report.warnings, views, unknown, report.changed and not report.written)


def _unknown(report: Report) -> str:
    """Why git's answers do not show all that ccc would see; empty where they do."""
    if report.survey is None:
        return "git has no say here"
    if report.warnings:
        return report.warnings[0]
    if report.negated:
        return "a `!` pattern in the settings lets ignored paths in"
    if any(not is_utf8(path) for path, _reason in report.left_out):
        return "an ignored path has a name that no pattern can express"
    return ""

"""One project's sync: what git and the settings say now, what follows, and writing it."""

from __future__ import annotations

import difflib
import os
import threading
import time
from dataclasses import dataclass, replace
from pathlib import Path

from vera_ccc_tools.ccc.project import DIRECTORY, settings_path
from vera_ccc_tools.errors import Do, Failure, Step, shorten
from vera_ccc_tools.git.git import Git, GitMissing, NotAWorkTree
from vera_ccc_tools.git.repositories import Survey, Surveyor, collect
from vera_ccc_tools.sync import settings as settings_text
from vera_ccc_tools.sync import sidecar
from vera_ccc_tools.sync.globs import Excludes, Includes, escape
from vera_ccc_tools.sync.plan import Plan, Rules, plan
from vera_ccc_tools.sync.report import Report
from vera_ccc_tools.sync.settings import DEFAULT_EXCLUDES, Settings
from vera_ccc_tools.sync.settings_edit import edit, quote
from vera_ccc_tools.sync.sidecar import Claim
from vera_ccc_tools.system.environment import Environment
from vera_ccc_tools.system.files import Identity, identity
from vera_ccc_tools.system.locks import held
from vera_ccc_tools.system.tasks import Cancel

LOCK_DEADLINE = 30.0
"""Seconds to wait for another process that syncs the same project."""
_EVERYTHING = "git ignores this whole directory, so nothing in it is indexed."


@dataclass(frozen=True, slots=True)
class _Seen:
    """What the last sync rested on, and what it reported."""

    survey: Survey | None
    settings: bytes
    sidecar: Identity | None
    report: Report


@dataclass(frozen=True, slots=True)
class _Asked:
    """git's answer: a survey, or None where git has no say; and what to say of it."""

    survey: Survey | None
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Decision:
    """What should stand where *before* stands, in the settings and in the state file."""

    change: tuple[bytes, bytes]
    claims: tuple[Claim, Claim]
    report: Report

    @property
    def settled(self) -> bool:
        return self.change[0] == self.change[1] and self.claims[0] == self.claims[1]


class ProjectSync:
    """One project: its lock, its repositories, and its last sync."""

    def __init__(self, root: Path, environment: Environment) -> None:
        self.lock = threading.Lock()
        self._root = root
        self._environment = environment
        self._settings = settings_path(root)
        self._sidecar = root / DIRECTORY / sidecar.NAME
        self._surveyor: Surveyor | None = None
        self._seen: _Seen | None = None

    def sync(self, cancel: Cancel, *, dry_run: bool) -> Report:
        clock = _Clock()
        asked = self._ask(cancel)
        clock.lap("git")
        if isinstance(asked, Failure):
            return self._untouched(asked, clock)
        seen = self._seen
        if seen is not None and self._is_unchanged(seen, asked.survey):
            self._seen = replace(seen, survey=asked.survey)
            clock.lap("compare")
            warnings = asked.warnings + seen.report.warnings
            return replace(
                seen.report, warnings=warnings, elapsed_ms=clock.laps, survey=asked.survey
            )
        decision = self._decide(asked, cancel)
        clock.lap("plan")
        if not dry_run and not decision.settled:
            asked, decision = self._write(asked, decision, cancel)
            clock.lap("write")
        if decision.settled:
            self._remember(asked.survey, decision)
        return replace(
            decision.report,
            difference=_difference(decision.change) if dry_run else "",
            elapsed_ms=clock.laps,
            survey=asked.survey,
        )

    def _ask(self, cancel: Cancel) -> _Asked | Failure:
        try:
            if self._surveyor is None:
                self._surveyor = Surveyor(Git.find(self._environment), self._root)
            survey = self._surveyor.survey(cancel, self._seen.survey if self._seen else None)
        except (GitMissing, NotAWorkTree):
            return _Asked(None)
        except Failure as failure:
            return failure
        told = [f"{one.message} Its entries stay as they are." for one in survey.failures.values()]
        return _Asked(survey, tuple(told))

    def _untouched(self, failure: Failure, clock: _Clock) -> Report:
        claimed = sidecar.load(self._sidecar).entries
        warning = f"{failure.message} The entries in settings.yml stay as they are."
        return Report(
            kept=len(claimed), warnings=(warning,), elapsed_ms=clock.laps, entries=claimed
        )

    def _is_unchanged(self, seen: _Seen, survey: Survey | None) -> bool:
        if identity(self._sidecar) != seen.sidecar or self._read() != seen.settings:
            return False
        if survey is None or seen.survey is None:
            return survey is seen.survey
        return survey.says_the_same_as(seen.survey)

    def _decide(self, asked: _Asked, cancel: Cancel) -> _Decision:
        data = self._read()
        claim = sidecar.load(self._sidecar)
        settings = settings_text.read(settings_text.decode(data))
        ours = _our_items(settings, claim)
        chosen = self._plan(asked.survey, settings, ours, cancel)
        edited = edit(settings, ours, tuple(chosen.entries), claim.origin)
        gone = set(edited.removed)
        kept = tuple(entry for entry in ours.values() if entry not in gone)
        entries = kept + edited.added
        after = edited.text.encode()
        everything = (_EVERYTHING,) if "**" in chosen.entries else ()
        report = Report(
            added=edited.added,
            removed=edited.removed,
            kept=len(kept),
            left_out=chosen.left_out,
            warnings=asked.warnings + everything,
            changed=after != data,
            negated=any(one.startswith("!") for one in _without(settings, ours)),
            entries=entries,
            sources=chosen.entries,
        )
        claimed = Claim(entries, edited.origin) if entries else Claim()
        return _Decision((data, after), (claim, claimed), report)

    def _plan(
        self, survey: Survey | None, settings: Settings, ours: dict[int, str], cancel: Cancel
    ) -> Plan:
        if survey is None or self._surveyor is None:
            return Plan({}, ())
        ignored = collect(survey, self._surveyor, cancel)
        user = _without(settings, ours)
        made = plan(ignored, Rules(user, settings.includes, self._is_link))
        unasked = tuple(escape(place) + "/" for place in ignored.opaque)
        for entry in ours.values() if unasked else ():
            if entry.removeprefix("**/").startswith(unasked):
                made.entries.setdefault(entry, None)
        return made

    def _write(
        self, asked: _Asked, decision: _Decision, cancel: Cancel
    ) -> tuple[_Asked, _Decision]:
        """Apply a decision under the lock; what changed meanwhile is decided on anew."""
        lock = self._root / DIRECTORY / sidecar.LOCK
        with held(lock, LOCK_DEADLINE, cancel) as mine:
            if not mine:
                raise Failure(
                    "sync_locked",
                    f"Another process has held {shorten(str(lock))} for {LOCK_DEADLINE:g} s.",
                    "Try again when it is done.",
                )
            claim = sidecar.load(self._sidecar)
            if (self._read(), claim) != (decision.change[0], decision.claims[0]):
                asked = self._ask_again(asked, cancel)
                decision = self._decide(asked, cancel)
            self._commit(decision)
            report = replace(decision.report, written=decision.report.changed)
            if not claim.entries and decision.claims[1].entries:
                # The state file and the lock are new, and may be ignored files themselves.
                asked = self._ask_again(asked, cancel)
                decision = self._decide(asked, cancel)
                self._commit(decision)
                more = decision.report
                report = replace(
                    report, added=report.added + more.added, entries=more.entries,
                    sources=more.sources, left_out=more.left_out,
                )  # fmt: skip
        done = (decision.change[1], decision.change[1]), (decision.claims[1], decision.claims[1])
        return asked, _Decision(*done, report)

    def _ask_again(self, asked: _Asked, cancel: Cancel) -> _Asked:
        again = self._ask(cancel)
        return asked if isinstance(again, Failure) else again

    def _commit(self, decision: _Decision) -> None:
        sidecar.commit(self._sidecar, self._settings, decision.change, decision.claims)

    def _remember(self, survey: Survey | None, decision: _Decision) -> None:
        report = decision.report
        again = replace(
            report,
            added=(),
            removed=(),
            kept=len(report.entries),
            changed=False,
            written=False,
            warnings=tuple(one for one in report.warnings if one == _EVERYTHING),
        )
        self._seen = _Seen(survey, decision.change[1], identity(self._sidecar), again)

    def _read(self) -> bytes:
        try:
            return self._settings.read_bytes()
        except OSError as error:
            raise Failure(
                "no_settings",
                f"{shorten(str(self._settings))} cannot be read: {error.strerror or error}.",
                Step(Do.INIT),
            ) from error

    def _is_link(self, path: str) -> bool:
        place = f"{self._root}{os.sep}{path}"
        # Whatever it leads to now: a directory may be there later, without git's answer changing.
        return os.path.islink(place)  # noqa: PTH114 - asked 20,000 times

    def tracked_ignored(self, cancel: Cancel) -> tuple[str, ...]:
        """Name the tracked files that ccc would index if it did not read ``.gitignore``.

        ccc asks these files before the patterns of its settings, so none can bring such a file
        back. What they say is git's answer: ccc reads a few lines differently.
        """
        asked = self._ask(cancel)
        if isinstance(asked, Failure) or asked.survey is None or self._surveyor is None:
            return ()
        settings = settings_text.read(settings_text.decode(self._read()))
        ours = _our_items(settings, sidecar.load(self._sidecar))
        includes, excludes = Includes(settings.includes), Excludes(_without(settings, ours))
        return tuple(
            path
            for path in self._surveyor.tracked_ignored(asked.survey, cancel)
            if includes.may_include(path) and not excludes.cover(path)
        )


def _our_items(settings: Settings, claim: Claim) -> dict[int, str]:
    """The items of the list that are ours, by index.

    ccc's defaults are nobody's to take out. Of an entry that is there twice one is the user's:
    ours is the one that looks as we write it, the last of them.
    """
    claimed = set(claim.entries).difference(DEFAULT_EXCLUDES)
    found: dict[str, int] = {}
    for index, item in enumerate(settings.items):
        if item.value not in claimed:
            continue
        if settings.source(item) == quote(item.value) or item.value not in found:
            found[item.value] = index
    return {index: value for value, index in sorted(found.items(), key=lambda pair: pair[1])}


def _without(settings: Settings, ours: dict[int, str]) -> tuple[str, ...]:
    """The user's own patterns, ccc's defaults where there is no list."""
    return tuple(one for index, one in enumerate(settings.excludes) if index not in ours)


def _difference(change: tuple[bytes, bytes]) -> str:
    before, after = (text.decode() for text in change)
    if before == after:
        return ""
    name = f"{DIRECTORY}/settings.yml"
    lines = difflib.unified_diff(
        before.splitlines(keepends=True), after.splitlines(keepends=True), name, name
    )
    return "".join(line if line.endswith("\n") else line + "\n" for line in lines)


class _Clock:
    """Milliseconds between laps."""

    def __init__(self) -> None:
        self.laps: dict[str, float] = {}
        self._last = time.perf_counter()

    def lap(self, name: str) -> None:
        now = time.perf_counter()
        self.laps[name] = round((now - self._last) * 1000, 3)
        self._last = now

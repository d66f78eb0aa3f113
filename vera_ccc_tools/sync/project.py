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
from vera_ccc_tools.git.repositories import Survey, Surveyor, collect, tracked_files
from vera_ccc_tools.sync import settings as settings_text
from vera_ccc_tools.sync import sidecar
from vera_ccc_tools.sync.globs import Exclusions, GlobSet, escape
from vera_ccc_tools.sync.lock import file_lock
from vera_ccc_tools.sync.plan import Plan, Rules, plan
from vera_ccc_tools.sync.report import Report
from vera_ccc_tools.sync.settings import DEFAULT_EXCLUDES, Settings
from vera_ccc_tools.sync.settings_edit import Change, Origin, edit, quote
from vera_ccc_tools.sync.sidecar import Claim, Pending, State
from vera_ccc_tools.system.files import Identity, identity
from vera_ccc_tools.system.tasks import Cancel

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
    """git's answer: a survey, or None where git has no say; and what to tell of it."""

    survey: Survey | None
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Decision:
    """What should stand where *before* stands, and whether the state file agrees already."""

    before: bytes
    after: bytes
    state: State
    claim: Claim
    report: Report

    @property
    def settled(self) -> bool:
        return self.before == self.after and self.state == State(self.claim)


class ProjectSync:
    """One project: its lock, its repositories, and its last sync."""

    def __init__(self, root: Path, git: Git | None) -> None:
        self.lock = threading.Lock()
        self._root = root
        self._git = git
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
        if not dry_run and (not decision.settled or sidecar.strays(self._settings)):
            decision = self._write(asked, decision, cancel)
            clock.lap("write")
        if decision.settled or not dry_run:
            self._remember(asked.survey, decision)
        difference = _difference(decision) if dry_run else ""
        return replace(
            decision.report,
            difference=difference,
            elapsed_ms=clock.laps,
            survey=asked.survey,
        )

    def _ask(self, cancel: Cancel) -> _Asked | Failure:
        try:
            if self._surveyor is None:
                self._surveyor = Surveyor(self._git or Git.find(), self._root)
            survey = self._surveyor.survey(cancel, self._seen.survey if self._seen else None)
        except (GitMissing, NotAWorkTree):
            return _Asked(None)
        except Failure as failure:
            return failure
        told = [f"{one.message} Its entries stay as they are." for one in survey.failures.values()]
        return _Asked(survey, tuple(told))

    def _untouched(self, failure: Failure, clock: _Clock) -> Report:
        claimed = sidecar.load(self._sidecar).claim.entries
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
        state = sidecar.load(self._sidecar)
        claim = state.settled(self._settings, data).claim
        settings = settings_text.read(settings_text.decode(data))
        ours = _our_items(settings, claim)
        chosen = self._plan(asked.survey, settings, ours, cancel)
        everything = (_EVERYTHING,) if chosen.entries == ("**",) else ()
        change = _change(ours, chosen.entries)
        origin = claim.origin if ours else Origin(settings.was)
        text, added = settings.text, change.add
        if change.add or change.drop:
            edited = edit(settings, change, origin)
            text, origin = edited.text, edited.origin
        kept = tuple(entry for index, entry in ours.items() if index not in change.drop)
        after = text.encode()
        report = Report(
            added=added,
            removed=tuple(ours[index] for index in sorted(change.drop)),
            kept=len(kept),
            left_out=chosen.left_out,
            warnings=asked.warnings + everything,
            changed=after != data,
            negated=_negated(settings, ours),
            entries=kept + added,
        )
        claimed = Claim(kept + added, origin) if kept or added else Claim()
        return _Decision(data, after, state, claimed, report)

    def _plan(
        self, survey: Survey | None, settings: Settings, ours: dict[int, str], cancel: Cancel
    ) -> Plan:
        if survey is None or self._surveyor is None:
            return Plan((), ())
        ignored = collect(survey, self._surveyor, cancel)
        user = _without(settings, ours)
        made = plan(ignored, Rules(user, settings.includes, self._is_link))
        unasked = tuple(escape(place) + "/" for place in ignored.opaque)
        waiting = [
            entry
            for entry in ours.values()
            if unasked and entry.removeprefix("**/").startswith(unasked)
        ]
        return Plan(tuple(dict.fromkeys([*made.entries, *waiting])), made.left_out)

    def _write(self, asked: _Asked, decision: _Decision, cancel: Cancel) -> _Decision:
        """Apply a decision; a state file that is new may be an ignored file itself."""
        known = self._sidecar.exists()
        done = self._apply(asked, decision, cancel)
        if known or not self._sidecar.exists():
            return done
        again = self._ask(cancel)
        if isinstance(again, Failure):
            return done
        decision = self._decide(again, cancel)
        if decision.settled:
            return done
        last = self._apply(again, decision, cancel)
        added = done.report.added + last.report.added
        return replace(last, report=replace(last.report, added=added, kept=done.report.kept))

    def _apply(self, asked: _Asked, decision: _Decision, cancel: Cancel) -> _Decision:
        """Write under the lock, and decide anew there where the decision may be stale."""
        with file_lock(self._root / DIRECTORY / sidecar.LOCK, cancel) as waited:
            if waited:
                again = self._ask(cancel)
                asked = asked if isinstance(again, Failure) else again
            try:
                sidecar.recover(self._sidecar, self._settings, self._read())
                state = sidecar.load(self._sidecar)
                if waited or (state, self._read()) != (decision.state, decision.before):
                    decision = self._decide(asked, cancel)
                if decision.before == decision.after:
                    if not decision.settled:
                        sidecar.tell(self._sidecar, decision.claim)
                    return decision
            except OSError as error:
                raise sidecar.cannot_write(self._settings, error) from error
            state = State(decision.state.claim, Pending(decision.claim))
            sidecar.commit(self._sidecar, self._settings, (decision.before, decision.after), state)
        report = replace(decision.report, written=True)
        return replace(decision, before=decision.after, report=report)

    def _remember(self, survey: Survey | None, decision: _Decision) -> None:
        report = decision.report
        count = report.kept + len(report.added)
        self._seen = _Seen(
            survey,
            decision.after,
            identity(self._sidecar),
            Report(
                kept=count,
                left_out=report.left_out,
                negated=report.negated,
                entries=report.entries,
                warnings=tuple(one for one in report.warnings if one == _EVERYTHING),
            ),
        )

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
        """Name the tracked files that ccc would index if it did not read ``.gitignore``."""
        from vera_ccc_tools.sync.hidden_by_ccc import hidden

        asked = self._ask(cancel)
        if isinstance(asked, Failure) or asked.survey is None or self._surveyor is None:
            return ()
        settings = settings_text.read(settings_text.decode(self._read()))
        ours = _our_items(settings, sidecar.load(self._sidecar).claim)
        includes = GlobSet.of(settings.includes or ())
        excluded = Exclusions(_without(settings, ours))
        every = settings.includes is None or includes.unsure
        wanted = (
            path
            for path in tracked_files(asked.survey, self._surveyor, cancel)
            if (every or includes.matches(path)) and not excluded.covers_file(path)
        )
        return hidden(self._root, wanted, cancel)


def _our_items(settings: Settings, claim: Claim) -> dict[int, str]:
    """The items of the list that are ours, by index.

    ccc's defaults are nobody's to take out. Of an entry that is there twice one is the user's:
    ours is the one that looks as we write it, the last of them.
    """
    claimed = set(claim.entries).difference(DEFAULT_EXCLUDES)
    found: dict[str, int] = {}
    for index, item in enumerate(settings.items):
        if item.kind != "scalar" or item.anchor is not None or item.value not in claimed:
            continue
        written = settings.text[item.start : item.end] == quote(item.value)
        if written or item.value not in found:
            found[item.value] = index
    return {index: value for value, index in sorted(found.items(), key=lambda pair: pair[1])}


def _change(ours: dict[int, str], wanted: tuple[str, ...]) -> Change:
    wanted_set = set(wanted)
    drop = frozenset(index for index, entry in ours.items() if entry not in wanted_set)
    present = set(ours.values())
    add = tuple(entry for entry in wanted if entry not in present)
    return Change(drop, add, last=not add and len(drop) == len(ours))


def _negated(settings: Settings, ours: dict[int, str]) -> bool:
    return any(one.startswith("!") for one in _without(settings, ours))


def _without(settings: Settings, ours: dict[int, str]) -> tuple[str, ...]:
    """The user's own patterns, ccc's defaults where there is no list."""
    return tuple(one for index, one in enumerate(settings.excludes) if index not in ours)


def _difference(decision: _Decision) -> str:
    before, after = decision.before.decode(), decision.after.decode()
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

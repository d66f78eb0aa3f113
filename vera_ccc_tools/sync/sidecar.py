"""The state beside ``settings.yml``: which entries are ours, through any crash.

A change of the settings takes four steps, each durable before the next:

1. the new text is written to a temporary file beside the settings;
2. the state file tells the change: our entries before and after, the hash of the text before,
   and the temporary file's name;
3. the temporary file replaces the settings;
4. the state file tells the entries after alone.

Whoever finds a told change asks the disk whether step 3 happened: the temporary file is still
there, or the settings still hash as before, exactly when it did not.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from vera_ccc_tools.errors import Failure, shorten
from vera_ccc_tools.sync.settings_edit import Origin
from vera_ccc_tools.system import files

NAME = ".vera-gitignore-sync.json"
LOCK = ".vera-gitignore-sync.lock"
VERSION = 1
_TEMPORARY = ".vera-gitignore-sync-"


@dataclass(frozen=True, slots=True)
class Claim:
    """Entries of ours and how the list was before the first of them."""

    entries: tuple[str, ...] = ()
    origin: Origin = field(default_factory=Origin)


@dataclass(frozen=True, slots=True)
class Pending:
    """A change that was told and may or may not have happened."""

    claim: Claim
    before: str = ""
    temporary: str = ""


@dataclass(frozen=True, slots=True)
class State:
    """What the state file says; without a file, that nothing is ours."""

    claim: Claim = field(default_factory=Claim)
    pending: Pending | None = None

    def settled(self, settings: Path, data: bytes) -> State:
        """The state with a told change decided by what is on the disk."""
        if self.pending is None:
            return self
        waiting = (Path(os.path.realpath(settings)).parent / self.pending.temporary).exists()
        if waiting or digest(data) == self.pending.before:
            return State(self.claim)
        return State(self.pending.claim)


def digest(data: bytes) -> str:
    """The hash by which a settings text is recognized."""
    return hashlib.sha256(data).hexdigest()


def load(path: Path) -> State:
    """Read the state file.

    Raises:
        Failure: ``sidecar_newer`` for a version that this program does not know,
            ``sidecar_broken`` for anything that it did not write.
    """
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return State()
    except OSError as error:
        raise _broken(path, error.strerror or str(error)) from error
    try:
        raw = json.loads(data)
        version = raw["version"]
        if not isinstance(version, int) or isinstance(version, bool) or version < 1:
            raise ValueError("its version is no positive number")  # noqa: TRY301
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise _broken(path, f"{type(error).__name__}: {error}") from error
    if version > VERSION:
        raise Failure(
            "sidecar_newer",
            f"{path.name} has version {version}, perhaps written by a later version of this tool.",
            "Update this tool, or delete that file to keep the entries it names as your own.",
        )
    try:
        return _state(raw)
    except (ValueError, TypeError, KeyError) as error:
        raise _broken(path, f"{type(error).__name__}: {error}") from error


def commit(path: Path, settings: Path, change: tuple[bytes, bytes], state: State) -> None:
    """Replace the settings' bytes (*change*: before and after), and let the state file follow.

    *state* holds the claim in force and, as its pending change, the claim to come.

    Raises:
        Failure: ``cannot_write`` with the reason, or ``settings_changed`` when another program
            wrote the settings meanwhile; the settings are then as they were.
    """
    assert state.pending is not None
    before, after = change
    target = Path(os.path.realpath(settings))
    temporary: Path | None = None
    try:
        if not os.access(target, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        temporary = files.beside(target, after, _TEMPORARY)
        told = replace(state.pending, before=digest(before), temporary=temporary.name)
        _replace_file(path, _encode(State(state.claim, told)))
        if target.read_bytes() != before:
            raise _changed_meanwhile(settings)
        temporary.replace(target)
        temporary = None
        files.sync_directory(target.parent)
        tell(path, state.pending.claim)
    except OSError as error:
        raise cannot_write(settings, error) from error
    finally:
        if temporary is not None:
            with suppress(OSError):
                temporary.unlink()


def tell(path: Path, claim: Claim) -> None:
    """Let the state file tell *claim*, or be gone where nothing is claimed.

    Raises:
        OSError: When it cannot be written.
    """
    if claim.entries:
        _replace_file(path, _encode(State(claim)))
    else:
        path.unlink(missing_ok=True)
        files.sync_directory(path.parent)


def strays(settings: Path) -> list[Path]:
    """Temporary files that a run left, or that another is writing just now."""
    places = {settings.parent, Path(os.path.realpath(settings)).parent}
    return [path for place in places for path in place.glob(f"{_TEMPORARY}*.tmp")]


def recover(path: Path, settings: Path, data: bytes) -> None:
    """Decide a change that a crashed run told, before its evidence goes; then clean up.

    Nobody else writes while the lock is held.

    Raises:
        OSError: When something cannot be written.
    """
    state = load(path)
    if state.pending is not None:
        tell(path, state.settled(settings, data).claim)
    for stray in strays(settings):
        stray.unlink(missing_ok=True)


def _replace_file(path: Path, data: bytes) -> None:
    files.replace(path, data, _TEMPORARY)


def _encode(state: State) -> bytes:
    raw: dict[str, Any] = {"version": VERSION, **_raw_claim(state.claim)}
    if state.pending is not None:
        raw["pending"] = {
            **_raw_claim(state.pending.claim),
            "before": state.pending.before,
            "temporary": state.pending.temporary,
        }
    return (json.dumps(raw, indent=1) + "\n").encode("ascii")


def _raw_claim(claim: Claim) -> dict[str, Any]:
    origin = {
        "was": claim.origin.was,
        "written": claim.origin.written,
        "original": claim.origin.original,
    }
    return {"entries": list(claim.entries), "origin": origin}


def _state(raw: dict[str, Any]) -> State:
    pending = raw.get("pending")
    if pending is None:
        return State(_claim(raw))
    name = _string(pending["temporary"])
    if not name.startswith(_TEMPORARY) or "/" in name or "\\" in name:
        raise ValueError(f"the temporary file's name is {shorten(name)}")
    return State(_claim(raw), Pending(_claim(pending), _string(pending["before"]), name))


def _claim(raw: dict[str, Any]) -> Claim:
    entries, origin = raw["entries"], raw["origin"]
    if not isinstance(entries, list):
        raise TypeError("entries is no list")
    was = origin["was"]
    if was not in ("absent", "null", "empty", "list"):
        raise ValueError(f"the origin is {shorten(was)}")
    return Claim(
        tuple(_string(entry) for entry in entries),
        Origin(was, _string(origin["written"]), _string(origin["original"])),
    )


def _string(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{shorten(value)} is no string")
    return value


def _broken(path: Path, problem: str) -> Failure:
    return Failure(
        "sidecar_broken",
        f"{path.name} cannot be understood ({problem}).",
        "Delete that file to keep the entries in settings.yml as your own.",
    )


def _changed_meanwhile(settings: Path) -> Failure:
    return Failure(
        "settings_changed",
        f"{settings.name} was changed by another program during the sync.",
        "Try again.",
    )


def cannot_write(settings: Path, error: OSError) -> Failure:
    """The failure of a file that cannot be written, with the system's reason."""
    reason = error.strerror or str(error)
    return Failure(
        "cannot_write",
        f"{settings.name} cannot be written: {reason}.",
        f"Make {shorten(str(settings.parent))} writable and free some disk space.",
    )

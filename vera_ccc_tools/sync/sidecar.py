"""The state file beside ``settings.yml``: which entries of the list are ours.

Before the settings change, the file names the entries of before and after; once they have, those
of after alone. A named entry that the list does not have means nothing, so a crash between the
steps loses no entry of ours and takes none of the user's.
"""

from __future__ import annotations

import errno
import json
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from vera_ccc_tools.errors import Failure, shorten
from vera_ccc_tools.sync.settings import KEY
from vera_ccc_tools.sync.settings_edit import Origin
from vera_ccc_tools.system import files

NAME = ".vera-gitignore-sync.json"
LOCK = ".vera-gitignore-sync.lock"
VERSION = 2
_TEMPORARY = ".vera-gitignore-sync-"


@dataclass(frozen=True, slots=True)
class Claim:
    """Entries of ours, and what stood in the place of the list before the first of them."""

    entries: tuple[str, ...] = ()
    origin: Origin = field(default_factory=Origin)


def load(path: Path) -> Claim:
    """Read the state file; without one nothing is ours.

    Raises:
        Failure: ``sidecar_newer`` for a version that this program does not know,
            ``sidecar_broken`` for anything that it did not write.
    """
    try:
        raw = json.loads(path.read_bytes())
        version = raw["version"]
        if not isinstance(version, int) or isinstance(version, bool) or version < 1:
            raise ValueError("its version is no positive number")  # noqa: TRY301
        if version <= VERSION:
            return (_first_version if version == 1 else _claim)(raw)
    except FileNotFoundError:
        return Claim()
    except (OSError, ValueError, TypeError, KeyError, RecursionError) as error:
        raise Failure(
            "sidecar_broken",
            f"{path.name} cannot be understood ({type(error).__name__}: {error}).",
            "Delete that file to keep the entries in settings.yml as your own.",
        ) from error
    raise Failure(
        "sidecar_newer",
        f"{path.name} has version {version}, perhaps written by a later version of this tool.",
        "Update this tool, or delete that file to keep the entries it names as your own.",
    )


def commit(
    path: Path, settings: Path, change: tuple[bytes, bytes], claims: tuple[Claim, Claim]
) -> None:
    """Replace the settings' bytes, and let the state file follow; for who holds the lock.

    *change* and *claims* are what was there before, and what is to be.

    Raises:
        Failure: ``cannot_write`` with the reason, or ``settings_changed`` when another program
            wrote the settings meanwhile; the settings are then as they were.
    """
    target = Path(os.path.realpath(settings))
    try:
        for directory in {path.parent, target.parent}:
            for stray in directory.glob(f"{_TEMPORARY}*.tmp"):  # of a run that was killed
                stray.unlink(missing_ok=True)
        if change[0] != change[1]:
            if not os.access(target, os.W_OK):
                raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
            _write(path, _both(*claims))
            if target.read_bytes() != change[0]:
                raise Failure(
                    "settings_changed",
                    f"{settings.name} was changed by another program during the sync.",
                    "Try again.",
                )
            files.replace(target, change[1], _TEMPORARY)
        _write(path, claims[1])
    except OSError as error:
        raise Failure(
            "cannot_write",
            f"{settings.name} cannot be written: {error.strerror or error}.",
            f"Make {shorten(str(settings.parent))} writable and free some disk space.",
        ) from error


def _both(one: Claim, two: Claim) -> Claim:
    entries = tuple(dict.fromkeys((*one.entries, *two.entries)))
    return Claim(entries, one.origin if one.entries else two.origin)


def _write(path: Path, claim: Claim) -> None:
    if not claim.entries:
        path.unlink(missing_ok=True)
        return
    raw = {
        "version": VERSION,
        "entries": claim.entries,
        "origin": {"written": claim.origin.written, "original": claim.origin.original},
    }
    data = (json.dumps(raw, indent=1) + "\n").encode("ascii")
    if not path.exists() or path.read_bytes() != data:
        files.replace(path, data, _TEMPORARY)


def _claim(raw: dict[str, Any]) -> Claim:
    entries, origin = raw["entries"], raw["origin"]
    if not isinstance(entries, list):
        raise TypeError("entries is no list")
    written, original = _string(origin["written"]), _string(origin["original"])
    return Claim(tuple(_string(entry) for entry in entries), Origin(written, original))


def _first_version(raw: dict[str, Any]) -> Claim:
    """Version 1 named the value alone of a list that was null, and a change under way."""
    claim = _claim(raw)
    if raw.get("pending") is not None:
        return _both(claim, _first_version(raw["pending"]))
    was, original = raw["origin"]["was"], claim.origin.original
    if was not in {"absent", "null", "empty", "list"}:
        raise ValueError(f"the origin is {shorten(was)}")
    if was != "null":
        return claim
    return Claim(claim.entries, Origin(f"{KEY}:", f"{KEY}: {original}".rstrip()))


def _string(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{shorten(value)} is no string")
    return value

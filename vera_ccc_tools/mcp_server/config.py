"""What ``.cce/config`` says: how much of a chunk is shown, and whether decisions are kept.

YAML 1.2, where ``off`` and ``no`` are words. Keys that are not known here belong to other
versions of the engine.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from vera_ccc_tools.chunks.detail import LEVELS, Level
from vera_ccc_tools.errors import Failure, shorten
from vera_ccc_tools.memory.journal import DIRECTORY
from vera_ccc_tools.system import files

NAME = "config"

_LIMIT = 64 * 1024


@dataclass(frozen=True, slots=True)
class Config:
    """The settings of the project.

    Attributes:
        detail: For a search that does not say.
        memory_enabled: Whether decisions are recorded and recalled.
    """

    detail: Level = "compact"
    memory_enabled: bool = True


def load(root: Path) -> Config:
    """Read the settings of the project at *root*; a missing file or key means its default.

    Raises:
        Failure: ``config_broken`` with the key and the value, or the line.
    """
    path = root / DIRECTORY / NAME
    try:
        with files.opened(path) as file:
            data = file.read(_LIMIT + 1)
    except (FileNotFoundError, NotADirectoryError):
        return Config()
    except OSError as error:
        raise _broken(path, f"cannot be read: {error.strerror or error}") from error
    if len(data) > _LIMIT:
        raise _broken(path, f"has more than {_LIMIT:,} bytes")
    raw = _mapping(path, "", _parsed(path, data))
    detail = _value(path, raw, "retrieval", "detail")
    enabled = _value(path, raw, "memory", "enabled")
    if detail is not None and detail not in LEVELS:
        raise _wrong(path, "retrieval.detail", detail, "`signature`, `compact` or `full`")
    if enabled is not None and not isinstance(enabled, bool):
        raise _wrong(path, "memory.enabled", enabled, "`true` or `false`")
    return Config(
        detail=Config().detail if detail is None else detail,
        memory_enabled=Config().memory_enabled if enabled is None else enabled,
    )


def _parsed(path: Path, data: bytes) -> Any:
    from ruamel.yaml import YAML
    from ruamel.yaml.error import YAMLError

    try:
        return YAML(typ="safe", pure=True).load(data.decode("utf-8-sig"))
    except (YAMLError, ValueError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        problem = getattr(error, "problem", None) or str(error) or type(error).__name__
        line = f" in line {mark.line + 1}" if mark else ""
        raise _broken(path, f"is no YAML{line}: {problem}") from error


def _value(path: Path, raw: Mapping[str, Any], section: str, key: str) -> Any:
    return _mapping(path, section, raw.get(section)).get(key)


def _mapping(path: Path, name: str, value: Any) -> Mapping[str, Any]:
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise _wrong(path, name or "the file", value, "keys with values")
    return value


def _wrong(path: Path, key: str, value: object, allowed: str) -> Failure:
    return _broken(path, f"has a wrong value: {key} is {shorten(value)}; it has to be {allowed}")


def _broken(path: Path, problem: str) -> Failure:
    return Failure(
        "config_broken",
        f"{shorten(str(path), 200)} {problem}.",
        "Correct it, or delete that file to have the defaults.",
    )

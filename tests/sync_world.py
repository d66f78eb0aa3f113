"""A repository on disk, ccc's matcher beside it, and the law that holds between the two."""

from __future__ import annotations

import json
import os
import subprocess
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

SETTINGS = Path(".cocoindex_code", "settings.yml")


class Oracle:
    """The process of `oracle_matcher.py`."""

    def __init__(self, python: Path) -> None:
        self._lock = threading.Lock()
        self._popen = subprocess.Popen(
            [str(python), str(Path(__file__).with_name("oracle_matcher.py"))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "COCOINDEX_DISABLE_USAGE_TRACKING": "1", "PYTHONUTF8": "1"},
        )

    def ask(self, **request: Any) -> dict[str, Any]:
        assert self._popen.stdin is not None
        assert self._popen.stdout is not None
        with self._lock:
            self._popen.stdin.write(json.dumps(request).encode() + b"\n")
            self._popen.stdin.flush()
            answer: dict[str, Any] = json.loads(self._popen.stdout.readline())
        assert "error" not in answer, answer["error"]
        return answer

    def settings(self, root: Path) -> tuple[list[str] | None, list[str] | None]:
        """The patterns that ccc reads for the project at *root*."""
        answer = self.ask(settings=str(root))
        return answer["include"], answer["exclude"]

    def walk(
        self, files: Sequence[str], include: Sequence[str] | None, exclude: Sequence[str] | None
    ) -> dict[str, bool]:
        """Whether ccc's walk reaches and includes each file."""
        answer = self.ask(include=include, exclude=exclude, walk=list(files))
        return dict(zip(files, answer["walked"], strict=True))

    def close(self) -> None:
        with self._popen:
            assert self._popen.stdin is not None
            self._popen.stdin.close()


def git(root: Path, *arguments: str, data: bytes | None = None) -> bytes:
    """Run git in *root*; its own words when it fails."""
    done = subprocess.run(
        ["git", *arguments], cwd=root, input=data or b"", capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr.decode(errors="replace")
    return done.stdout


def write(root: Path, files: Mapping[str, str]) -> None:
    """Write files below *root*, with the directories that they need."""
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode())


def settings_of(root: Path, text: str = "") -> Path:
    """Write the project's settings and return where they are."""
    path = root / SETTINGS
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(text.encode())
    return path


def files_below(root: Path) -> list[str]:
    """Every file that a walk finds, but for git's own."""
    found = []
    for directory, names, files in os.walk(root):
        names[:] = [name for name in names if name != ".git"]
        place = Path(directory).relative_to(root)
        found += [(place / name).as_posix() for name in files if name != ".git"]
    return sorted(found)


def ignored_files(root: Path) -> set[str]:
    """What git ignores below *root*, asked in every repository file by file.

    Another question than the sync asks: `ls-files` without ``--directory``, and every nested
    repository found by a walk.
    """
    found: set[str] = set()
    inside = git(root, "rev-parse", "--is-inside-work-tree") if _has_git(root) else b""
    if inside:
        found |= _ignored_in(root, "")
    for place in _nested(root):
        if any(place.startswith(above + "/") for above in _opaque(root, found)):
            continue
        owner = _owner(root, place)
        if owner is not None and _is_ignored(root, owner, place):
            found |= {path for path in files_below(root) if path.startswith(place + "/")}
        else:
            found |= _ignored_in(root / place, place + "/")
    return found


def _opaque(root: Path, found: set[str]) -> list[str]:
    """Nested repositories that are ignored as a whole."""
    return [
        place
        for place in _nested(root)
        if (files := [path for path in files_below(root) if path.startswith(place + "/")])
        and all(path in found for path in files)
        and (owner := _owner(root, place)) is not None
        and _is_ignored(root, owner, place)
    ]


def _has_git(root: Path) -> bool:
    return any((directory / ".git").exists() for directory in (root, *root.parents))


def _nested(root: Path) -> list[str]:
    places = []
    for directory, names, files in os.walk(root):
        if ".git" in (*names, *files) and Path(directory) != root:
            places.append(Path(directory).relative_to(root).as_posix())
        names[:] = [name for name in names if name != ".git"]
    return sorted(places)


def _owner(root: Path, place: str) -> Path | None:
    """The repository that *place* stands in."""
    for directory in (root / place).parents:
        if (directory / ".git").exists():
            return directory
    return None


def _is_ignored(root: Path, owner: Path, place: str) -> bool:
    done = subprocess.run(
        ["git", "check-ignore", "-q", "--", str(root / place)],
        cwd=owner,
        capture_output=True,
        check=False,
    )
    return done.returncode == 0


def _ignored_in(directory: Path, prefix: str) -> set[str]:
    listed = git(directory, "ls-files", "-o", "-i", "--exclude-standard", "-z").split(b"\0")
    return {prefix + os.fsdecode(path) for path in listed if path and not path.endswith(b"/")}


def law_breakers(
    root: Path, oracle: Oracle, user: tuple[Sequence[str] | None, Sequence[str] | None]
) -> list[str]:
    """The files for which the law does not hold, each with what is wrong.

    *user* is the include and exclude patterns before any sync.
    """
    include, exclude = user
    files = files_below(root)
    ignored = ignored_files(root)
    before = oracle.walk(files, include, exclude)
    after = oracle.walk(files, *oracle.settings(root))
    negations = [pattern for pattern in exclude or () if pattern.startswith("!")]
    # The one exception: what a `!` pattern of the user's own matches.
    asked = oracle.ask(include=None, exclude=["**", *negations], files=files)["files"]
    asked_for = dict(zip(files, asked, strict=True))
    found = []
    for path in files:
        wanted = before[path] and path not in ignored
        if after[path] and not wanted and not (before[path] and asked_for[path]):
            found.append(f"leaked: {path!r}")
        elif wanted and not after[path]:
            found.append(f"hidden: {path!r}")
    return found

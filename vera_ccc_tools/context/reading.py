"""The files of a project as one call reads them: each once, and none from outside of it."""

from __future__ import annotations

import os
from pathlib import Path, PurePosixPath

from vera_ccc_tools import output
from vera_ccc_tools.context import grammars, units
from vera_ccc_tools.context.chunks import Chunk, tokens

MAX_FILE = 4 * 1024 * 1024
"""Bytes of the largest file that is read; ccc's own window is served of a larger one."""


class Reading:
    """Reads files by their paths from *root*; *directory* is where paths are shown from."""

    def __init__(self, root: Path, directory: Path) -> None:
        self.root = root
        self._directory = directory
        self._files: dict[str, bytes | None] = {}

    def __call__(self, path: str) -> bytes | None:
        """The bytes of a file; None where it cannot be read, or is too large to be code."""
        if path not in self._files:
            self._files[path] = self._read(path)
        return self._files[path]

    def _read(self, path: str) -> bytes | None:
        pure = PurePosixPath(path)
        if pure.is_absolute() or ".." in pure.parts:
            return None
        try:
            with (self.root / path).open("rb") as file:
                data = file.read(MAX_FILE + 1)
        except (OSError, ValueError):
            return None
        return data if len(data) <= MAX_FILE else None

    def shown(self, path: str) -> str:
        """A file's path as an agent can use it in the served directory."""
        relative = os.path.relpath(self.root / path, self._directory)
        return output.clean_line(Path(relative).as_posix())

    def units(self, path: str) -> tuple[Chunk, ...]:
        """All of a file as chunks; none of one that cannot be read."""
        source = self(path)
        if source is None:
            return ()
        return units.units_of(path, grammars.language_of(path), source)

    def tokens(self, path: str) -> int:
        """About how many tokens the whole file is; 0 for one that cannot be read."""
        source = self(path)
        return 0 if source is None else tokens(source.decode("utf-8", "replace"))

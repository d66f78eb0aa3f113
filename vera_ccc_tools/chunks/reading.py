"""The files of a project as one call reads them: each once, and none from outside of it."""

from __future__ import annotations

import os
from pathlib import Path, PurePath

from vera_ccc_tools.chunks import grammars, units
from vera_ccc_tools.chunks.chunk import BYTES_A_TOKEN, Chunk
from vera_ccc_tools.system import files, text

MAX_FILE = 32 * 1024 * 1024
"""Bytes of the largest file that is read. ccc cuts files of any size into windows, so that a chunk
of a data file may be asked for again."""


class Reading:
    """Reads files by their paths from *root*; *directory* is where paths are shown from."""

    def __init__(self, root: Path, directory: Path) -> None:
        self.root = root
        self._directory = directory
        self._files: dict[str, bytes | None] = {}

    def __call__(self, path: str) -> bytes | None:
        """The bytes of a file; None where it cannot be read, or is larger than `MAX_FILE`."""
        if path not in self._files:
            self._files[path] = self._read(path)
        return self._files[path]

    def _read(self, path: str) -> bytes | None:
        try:
            with files.opened(self._inside(path)) as file:
                data = file.read(MAX_FILE + 1)
        except (OSError, ValueError):
            return None
        return data if len(data) <= MAX_FILE else None

    def _inside(self, path: str) -> Path:
        """Where a file is.

        Raises:
            ValueError: Not below the root.
        """
        pure = PurePath(path)
        if pure.drive or pure.root or ".." in pure.parts:
            raise ValueError(path)
        return self.root / path

    def shown(self, path: str) -> str:
        """A file's path as an agent can use it in the served directory."""
        relative = os.path.relpath(self.root / path, self._directory)
        return text.clean_line(Path(relative).as_posix())

    def units(self, path: str) -> tuple[Chunk, ...]:
        source = self(path)
        if source is None:
            return ()
        return units.units_of(path, grammars.language_of(path), source)

    def tokens(self, path: str) -> int:
        """About how many tokens the whole file is, however large; 0 for one that is not there."""
        try:
            with files.opened(self._inside(path)) as file:
                size = os.fstat(file.fileno()).st_size
        except (OSError, ValueError):
            return 0
        return max(1, size // BYTES_A_TOKEN)

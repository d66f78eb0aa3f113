"""What a front was started in: its variables, and what is found by them."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

# Only programs that Windows starts without a shell: .cmd and .bat would need one.
_SUFFIXES = ("",) if os.name == "posix" else (".exe", ".com")


class Environment:
    """The environment variables of a front, taken once and handed down."""

    def __init__(self, variables: Mapping[str, str] | None = None) -> None:
        """Those of this process, where no *variables* are given."""
        self.variables = dict(os.environ if variables is None else variables)

    def get(self, name: str) -> str:
        """A variable, empty where it is not set."""
        return self.variables.get(name, "")

    def executable(self, name: str, also: Sequence[Path] = ()) -> Path | None:
        """Find *name* in the absolute directories of ``PATH``, then in *also*.

        Unlike `shutil.which`, empty and relative entries of ``PATH`` are passed over, and so is
        the current directory on Windows: a project must not plant the executables that we run.
        """
        listed = [Path(entry) for entry in self.get("PATH").split(os.pathsep) if entry]
        for directory in (*listed, *also):
            if not directory.is_absolute():
                continue
            for suffix in _SUFFIXES:
                candidate = directory / f"{name}{suffix}"
                if is_executable(candidate):
                    return candidate
        return None


def is_executable(path: Path) -> bool:
    """Whether *path* is a file that this user may run; what cannot even be looked at is none."""
    return os.path.isfile(path) and os.access(path, os.X_OK)  # noqa: PTH113 - Path's one raises

"""What the tests of the verb init share: the verb itself, and the files of a directory."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path


def snapshot(root: Path) -> dict[str, bytes]:
    """All files but git's own."""
    found = (path for path in root.rglob("*") if path.is_file() and ".git" not in path.parts)
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in found}


def vera(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "vera_ccc_tools", *arguments],
        cwd=cwd,
        env={**os.environ, "VERA_CCC_PYTHON": sys.executable},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        timeout=60,
        check=False,
    )

"""Sync a project and die before the Nth write, as by SIGKILL: ``sync_killed.py ROOT N``.

A write is whatever Python's audit hooks call one, on a path in the project's own directory.
Exit status 9: killed; 0: there were fewer writes than N.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

from vera_ccc_tools.gitignore_sync import sync

_WRITES = {"os.rename", "os.remove", "os.chmod", "os.chown", "tempfile.mkstemp"}


def _is_write(event: str, arguments: tuple[Any, ...]) -> bool:
    if event == "open":
        path, _mode, flags = arguments
        return bool(flags & (os.O_WRONLY | os.O_RDWR)) and ".cocoindex_code" in str(path)
    return event in _WRITES and any(".cocoindex_code" in str(one) for one in arguments)


def main() -> None:
    """Count the writes, and die before the one that was asked for."""
    root, fatal = Path(sys.argv[1]), int(sys.argv[2])
    count = 0

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        nonlocal count
        if _is_write(event, arguments):
            count += 1
            if count == fatal:
                os._exit(9)

    sys.addaudithook(hook)
    sync(root)


if __name__ == "__main__":
    main()

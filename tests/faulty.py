"""Projects that a fault is forced in, and calls of the tools there."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from helpers import POSIX, run_git, write_file
from vera_ccc_tools.ccc import project
from vera_ccc_tools.system.call import Call
from vera_ccc_tools.tools import table
from vera_ccc_tools.tools.session import Session

posix_only = pytest.mark.skipif(not POSIX, reason="the fault is forced by POSIX signals or modes")
FILES = {"almond.py": "def only_almond(): pass\n", "walnut.py": "def only_walnut(): pass\n"}


def make(root: Path, files: Mapping[str, str | bytes] = FILES) -> Path:
    """A git repository of an indexed kind of project, which no daemon knows yet."""
    for name, content in files.items():
        write_file(root / name, content)
    write_file(project.settings_path(root), "include_patterns: ['**/*.py']\n")
    run_git(root, "init", "-q")
    return root.resolve()


def call(session: Session, cwd: Path, tool: str, **given: Any) -> tuple[str, dict[str, Any]]:
    result = table.call_tool(session, tool, given, Call(cwd))
    return str(result["content"][0]["text"]), result

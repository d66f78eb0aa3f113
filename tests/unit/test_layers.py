"""The map in CONTRIBUTING.md is true: every module is in it, and none imports upward.

Modules of the MCP front are called ``context/NAME`` here and there.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from helpers import ROOT

PACKAGE = "vera_ccc_tools"
CONTEXT = "context/"
COMMAND_LINE = {"__main__", "command_line", "verbs", "commands"}
FRONTS = COMMAND_LINE | {"worker"}


def name_of(path: Path) -> str:
    return path.relative_to(ROOT / PACKAGE).with_suffix("").as_posix()


MODULES = sorted(
    name_of(path) for path in (ROOT / PACKAGE).rglob("*.py") if path.stem != "__init__"
)
ORDER = re.findall(
    r"^\|[^|]*\| `([\w/]+)` \|", (ROOT / "CONTRIBUTING.md").read_text("utf-8"), re.MULTILINE
)


def imported(path: Path) -> Iterator[str]:
    """The modules of the package that the module at *path* imports to run, anywhere in it."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    only_types = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and getattr(node.test, "id", "") == "TYPE_CHECKING"
        for inner in ast.walk(node)
    }
    for node in ast.walk(tree):
        if not isinstance(node, ast.ImportFrom) or id(node) in only_types:
            continue
        parts = (node.module or "").split(".")
        if parts[0] != PACKAGE:
            continue
        inside = "/".join(parts[1:])
        if inside in MODULES:
            yield inside
        else:  # a package, of which modules are imported
            names = (f"{inside}/{alias.name}".lstrip("/") for alias in node.names)
            yield from (name for name in names if name in MODULES)


def allowed(module: str) -> set[str]:
    """What a module may import: what stands below it; in the MCP front all of the core as well.

    The core never imports the MCP front, but for the command line, whose verbs do.
    """
    below = set(ORDER[ORDER.index(module) + 1 :])
    of_context = {name for name in below if name.startswith(CONTEXT)}
    if module in COMMAND_LINE:
        return below
    if module.startswith(CONTEXT):
        return of_context | {each for each in MODULES if CONTEXT not in each} - FRONTS
    return below - of_context


def test_the_map_names_every_module_once() -> None:
    assert sorted(ORDER) == MODULES


@pytest.mark.parametrize("module", MODULES)
def test_nothing_imports_upward(module: str) -> None:
    found = set(imported(ROOT / PACKAGE / f"{module}.py"))
    assert not found - allowed(module)


def test_an_import_of_the_mcp_front_by_the_core_is_seen() -> None:
    found = set(imported(ROOT / PACKAGE / "context" / "server.py"))
    assert "context/table" in found
    assert not found <= allowed("ccc")

"""The map in CONTRIBUTING.md is true: every module is in it, and none imports upward."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from helpers import ROOT

PACKAGE = "vera_ccc_tools"
MODULES = sorted(path.stem for path in (ROOT / PACKAGE).glob("*.py") if path.stem != "__init__")
ORDER = re.findall(
    r"^\|[^|]*\| `(\w+)` \|", (ROOT / "CONTRIBUTING.md").read_text("utf-8"), re.MULTILINE
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
        if node.module == PACKAGE:
            yield from (alias.name for alias in node.names if alias.name in MODULES)
        elif (node.module or "").startswith(f"{PACKAGE}."):
            yield str(node.module).split(".")[1]


def test_the_map_names_every_module_once() -> None:
    assert sorted(ORDER) == MODULES


@pytest.mark.parametrize("module", MODULES)
def test_nothing_imports_upward(module: str) -> None:
    below = ORDER[ORDER.index(module) + 1 :]
    found = set(imported(ROOT / PACKAGE / f"{module}.py"))
    assert not found - set(below)

"""The map in CONTRIBUTING.md is true: every folder is in it, and none imports upward.

A module that lies in the package itself, such as ``worker``, is a row of its own.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from helpers import ROOT

PACKAGE = "vera_ccc_tools"
MOST_MODULES = 14
MODULES = {
    ".".join(path.relative_to(ROOT).with_suffix("").parts): path
    for path in sorted((ROOT / PACKAGE).rglob("*.py"))
    if path.stem != "__init__"
}
ORDER = re.findall(r"^\| `(\w+)/?` \|", (ROOT / "CONTRIBUTING.md").read_text("utf-8"), re.MULTILINE)


def folder_of(module: str) -> str:
    """The row of the map that *module* belongs to."""
    return module.split(".")[1]


def imported(path: Path) -> Iterator[str]:
    """The modules of the package that the module at *path* imports, anywhere in it."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == PACKAGE:
            for alias in node.names:
                whole = f"{node.module}.{alias.name}"
                yield whole if whole in MODULES else str(node.module)


def test_the_map_names_every_folder_once() -> None:
    assert sorted(ORDER) == sorted({folder_of(module) for module in MODULES})


@pytest.mark.parametrize("module", MODULES)
def test_nothing_imports_upward(module: str) -> None:
    own = ORDER.index(folder_of(module))
    above = {
        each
        for each in imported(MODULES[module])
        if each != PACKAGE and ORDER.index(folder_of(each)) < own
    }
    assert not above


def test_an_import_of_a_front_by_the_core_is_seen() -> None:
    found = set(imported(MODULES[f"{PACKAGE}.mcp_server.server"]))
    assert f"{PACKAGE}.mcp_server.table" in found
    assert ORDER.index("mcp_server") < ORDER.index("ccc")


def test_no_folder_holds_more_modules_than_can_be_seen_at_once() -> None:
    parents = [path.parent for path in MODULES.values()]
    assert {each.name for each in parents if parents.count(each) > MOST_MODULES} == set()

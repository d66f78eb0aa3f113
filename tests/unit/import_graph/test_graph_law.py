"""The laws of the import graph: its two directions agree, and an update is a build from scratch."""

from __future__ import annotations

import os
import sqlite3
import tempfile
from collections.abc import Mapping
from pathlib import Path

import hypothesis.strategies as st
from hypothesis import given, settings

from vera_ccc_tools.import_graph.store import TABLES, VERSION, related
from vera_ccc_tools.import_graph.update import Updater
from vera_ccc_tools.system.cache_db import CacheDatabase
from vera_ccc_tools.system.environment import Environment
from vera_ccc_tools.system.tasks import Cancel

NO_GIT = Environment({"PATH": ""})
EXAMPLES = int(os.environ.get("VERA_CCC_HYPOTHESIS_EXAMPLES", "40")) // 2
PLACES = ("", "pkg/", "pkg/sub/", "sub/", "lib/", "include/sub/")
PALETTES: dict[str, tuple[tuple[str, ...], tuple[str, ...], dict[str, tuple[str, ...]]]] = {
    # end of the name: stems, lines of a file, texts of the manifests that matter to it
    "py": (
        ("a", "b", "__init__"),
        (
            "import a",
            "import b",
            "import pkg.a",
            "import sub.b",
            "from pkg import a, b",
            "from sub import *",
            "from . import a, b",
            "from .b import *",
            "from ..sub.a import x",
            "from pkg.sub import a",
        ),
        {"pyproject.toml": ("", '[tool.pytest.ini_options]\npythonpath = ["pkg"]\n')},
    ),
    "ts": (
        ("a", "b", "index"),
        (
            "import './a';",
            "import './b.js';",
            "import '.';",
            "import './sub';",
            "import '@/a';",
            "import 'pkg';",
            "import 'pkg/b';",
            "import '../b';",
        ),
        {
            "tsconfig.json": (
                '{"compilerOptions": {"paths": {"@/*": ["./pkg/*"]}}}',
                '{"compilerOptions": {"paths": {"@/*": ["./sub/*"]}}}',
            ),
            "pkg/package.json": ('{"name": "pkg"}', '{"name": "pkg", "main": "b"}', "{}"),
        },
    ),
    "rs": (
        ("a", "b", "lib", "mod", "sub"),
        (
            "mod a;",
            "mod b;",
            "mod sub;",
            "use crate::a::X;",
            "use super::b::Y;",
            "use pkg::b;",
            "use crate::sub::a;",
        ),
        {
            "Cargo.toml": ('[package]\nname = "old"\n[lib]\npath = "lib.rs"\n', ""),
            "pkg/Cargo.toml": ('[package]\nname = "pkg"\n[lib]\npath = "a.rs"\n', ""),
        },
    ),
    "go": (
        ("a", "b", "a_test"),
        ('import "m/sub"', 'import "m/pkg"', 'import "m/pkg/sub"', 'import "m"'),
        {"go.mod": ("module m\n", "module n\n"), "pkg/go.mod": ("module m/pkg\n", "module o\n")},
    ),
    "h": (
        ("a", "b"),
        (
            '#include "a.h"',
            "#include <b.h>",
            "#include <sub/a.h>",
            '#include "sub/b.h"',
            '#include "../b.h"',
        ),
        {},
    ),
    "rb": (
        ("a", "b"),
        ("require 'a'", "require_relative 'b'", "require './a'", "require 'sub/a'", "load 'b.rb'"),
        {},
    ),
    "cs": (
        ("a", "b"),
        ("using N;", "using M;", "namespace N;", "namespace M;", "class A { B b; }", "class B {}"),
        {},
    ),
    "php": (
        ("a", "b"),
        (
            "<?php",
            "<?php namespace N;",
            "class A {}",
            "class B {}",
            "use N\\A; use N\\B;",
            "use P\\a;",
            "require __DIR__ . '/b.php';",
            "require 'sub/a.php';",
        ),
        {"composer.json": ('{"autoload": {"psr-4": {"P\\\\": "pkg"}}}', "{}")},
    ),
    "java": (
        ("a", "b"),
        ("import sub.a;", "import sub.*;", "import pkg.sub.b;", "class C { a x; b y; }"),
        {},
    ),
    "md": (("a", "b"), ("[a](a.md)", "[b](sub/a)", "[c](../b.md)", "[d](/pkg/a.md)"), {}),
}
Tree = dict[str, str | None]


@st.composite
def histories(draw: st.DrawFn) -> list[Tree]:
    """A tree and changes to it, of one language: there files meet. None deletes a file."""
    end = draw(st.sampled_from(sorted(PALETTES)))
    stems, lines, told = PALETTES[end]
    text = st.lists(st.sampled_from(lines), min_size=1, max_size=3).map("\n".join)
    texts: dict[str, st.SearchStrategy[str]] = dict.fromkeys(
        [f"{place}{stem}.{end}" for place in PLACES for stem in stems], text
    )
    texts |= {path: st.sampled_from(each) for path, each in told.items()}
    maybe = {path: st.none() | each for path, each in texts.items()}
    paths = st.lists(st.sampled_from(sorted(maybe)), min_size=1, max_size=3, unique=True)
    steps = paths.flatmap(lambda chosen: st.fixed_dictionaries({p: maybe[p] for p in chosen}))
    return [
        draw(st.fixed_dictionaries(maybe)),
        *draw(st.lists(steps, min_size=1, max_size=9)),
    ]


def apply(root: Path, changes: Mapping[str, str | None]) -> None:
    for path, text in changes.items():
        target = root / path
        if text is None:
            target.unlink(missing_ok=True)
        else:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text, encoding="utf-8", newline="")


def edges(store: CacheDatabase) -> set[tuple[str, str]]:
    """Every importer with what it imports, asked in both directions."""
    with store.reading() as connection:
        paths = [path.decode() for (path,) in connection.execute("SELECT path FROM file")]
        imports, importers = (
            {(path, other) for path in paths for other in related(connection, path, backwards=back)}
            for back in (False, True)
        )
    assert {(source, target) for target, source in importers} == imports
    return imports


class InMemory(CacheDatabase):
    """The graph's tables without a file: hundreds of graphs are made here."""

    def __init__(self) -> None:
        super().__init__(Path(), TABLES, VERSION)
        self._connection = sqlite3.connect(":memory:", isolation_level=None)
        self._prepare(self._connection)

    def _is_there(self) -> bool:
        return True


def from_scratch(root: Path) -> set[tuple[str, str]]:
    store = InMemory()
    try:
        Updater(root, NO_GIT, store).update(Cancel(), whole=True)
        return edges(store)
    finally:
        store.close()


@settings(max_examples=EXAMPLES)
@given(histories())
def test_an_update_leaves_what_a_build_from_scratch_makes(history: list[Tree]) -> None:
    with tempfile.TemporaryDirectory() as directory:
        root = Path(directory)
        store = InMemory()
        updater = Updater(root, NO_GIT, store)
        try:
            for changes in history:
                apply(root, changes)
                updater.update(Cancel())
                assert edges(store) == from_scratch(root)
        finally:
            store.close()

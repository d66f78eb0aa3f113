"""Nothing that a file can hold stops the graph: broken sources, odd names in imports."""

from __future__ import annotations

import hypothesis.strategies as st
import pytest
from hypothesis import given

from graph_trees import READER
from vera_ccc_tools.import_graph.facts import Facts, Import
from vera_ccc_tools.import_graph.files import FileSet
from vera_ccc_tools.import_graph.manifests import Manifest, Manifests, Scope, read
from vera_ccc_tools.import_graph.resolve import resolve

SOURCES = {
    "python": "from ..a import (b as c, *)\nimport d . e\ndef f(x): return [x]\n",
    "javascript": "import x from './a'; export * from \"b\"; require(`c`); import('d' + e)\n",
    "typescript": "import y = require('./b'); type T = import('c').D; export {z} from '@/q';\n",
    "tsx": "import x from './a'; const y = <p a={b}>{import('c')}</p>;\n",
    "go": 'package p\nimport (\n\tx "a/b"\n\t. `c`\n)\nfunc f() {}\n',
    "rust": '#[path = "x.rs"] mod a;\nmod b { use super::{self, c::*, d as e}; mod f; }\n',
    "java": "package a.b;\nimport static c.D.*;\nimport e.F;\nclass G { H i; }\n",
    "ruby": 'require "a"\nrequire File.expand_path("../b", __FILE__)\nautoload :C, "d"\n',
    "c": '#include "a/../b.h"\n#if X\n#include <c.h>\n#endif\nint f(void) { return 1; }\n',
    "cpp": "#include <a>\nnamespace b { template <class C> struct D {}; }\n",
    "csharp": "using A.B;\nusing static C;\nusing E = F<G>;\nnamespace H { class J {} }\n",
    "php": "<?php namespace A; use B\\{C, D as E}; require __DIR__ . '/f.php'; class G {}\n",
    "markdown": "# a\n[b](c.md#d) [e]: <f g>\n\n[h]: i.md\n- [j](k%20l)\n",
}
ENDS = {
    "python": "py",
    "javascript": "js",
    "typescript": "ts",
    "tsx": "tsx",
    "go": "go",
    "rust": "rs",
    "java": "java",
    "ruby": "rb",
    "c": "c",
    "cpp": "cpp",
    "csharp": "cs",
    "php": "php",
    "markdown": "md",
}
KINDS = """
    import from module package mod path use type static star relative require load quote angle
    namespace file here link
""".split()
PARTS = st.sampled_from(
    [
        "a",
        "b",
        "..",
        ".",
        "",
        "/",
        "::",
        "\\",
        "*",
        "crate",
        "self",
        "super",
        "@",
        "#",
        "é",
        "\0",
        " ",
    ]
)
NAMES = st.lists(PARTS, max_size=6).flatmap(
    lambda parts: st.sampled_from(["/", ".", "::", "\\", ""]).map(lambda by: by.join(parts))
)
MANIFESTS = {
    "package.json": '{"name": "a", "main": "..", "exports": {"./*": ["../*", {"x": 3}]}}',
    "tsconfig.json": '{"compilerOptions": {"baseUrl": "..", "paths": {"*": ["a/*", "../*"]}}}',
    "go.mod": "module a\n",
    "Cargo.toml": '[package]\nname = "a"\n[lib]\npath = "../a.rs"\n[[bin]]\npath = ".."\n',
    "composer.json": '{"autoload": {"psr-4": {"": "..", "a\\\\": ["a", "../b"]}}}',
    "pyproject.toml": '[tool.pytest.ini_options]\npythonpath = ["..", "/", "a"]\n',
}


def scope() -> Scope:
    stems = ("a", "b", "index", "__init__", "mod", "lib", "README")
    paths = [f"{at}{stem}.{end}" for at in ("", "a/") for stem in stems for end in ENDS.values()]
    told: dict[str, Manifest] = {
        name: read(name, text.encode()) for name, text in MANIFESTS.items()
    }
    return Scope(FileSet(dict.fromkeys(paths, ("a.b", "a\\b", "b"))), Manifests(told))


SCOPE = scope()


@given(
    st.sampled_from(sorted(ENDS)),
    st.sampled_from(["", "a/", "x/y/"]),
    st.builds(Import, st.sampled_from(KINDS), NAMES, st.lists(PARTS, max_size=2).map(tuple)),
)
def test_any_name_resolves_to_files_of_the_project_or_to_none(
    language: str, at: str, wanted: Import
) -> None:
    path = f"{at}here.{ENDS[language]}"
    found = resolve(SCOPE, path, language, Facts((wanted,), uses=("a", "b")))
    assert all(SCOPE.files.has(target) for target in found.targets)


@given(st.data())
def test_any_part_of_a_source_can_be_read(data: st.DataObject) -> None:
    language = data.draw(st.sampled_from(sorted(SOURCES)))
    text = SOURCES[language].encode()
    cuts = st.tuples(st.integers(0, len(text)), st.integers(0, len(text))).map(sorted)
    pieces = [text[start:end] for start, end in data.draw(st.lists(cuts, max_size=4))]
    said = READER.facts(language, b"".join(pieces) + data.draw(st.binary(max_size=4)))
    assert said is not None
    assert Facts.from_json(said.to_json()) == said


@pytest.mark.parametrize("language", sorted(SOURCES))
def test_deep_nesting_is_read_or_refused_but_never_fatal(language: str) -> None:
    for opening in ("(", "{", "[", "mod a {", "namespace A {", "use a::{", "> ", "- "):
        try:
            assert READER.facts(language, opening.encode() * 3000) is not None
        except RecursionError:
            continue  # the file is then told to be unreadable

"""What a source file imports, in each language's forms."""

from __future__ import annotations

import pytest

from graph_trees import READER, facts, imports


def test_python_imports_modules_and_names_at_any_level() -> None:
    source = """
import os, a.b as c
from . import x
from ..p.q import (r as s, t)
from z import *
def f():
    import late . one
    try:
        from \\
            cont import y
    except ImportError: pass
"""
    assert sorted(imports("m.py", source)) == sorted(
        [
            ("import", "os"),
            ("import", "a.b"),
            ("from", ".", "x"),
            ("from", "..p.q", "r", "t"),
            ("from", "z", "*"),
            ("import", "late.one"),
            ("from", "cont", "y"),
        ]
    )


@pytest.mark.parametrize("path", ["m.js", "m.jsx", "m.mjs", "m.ts", "m.tsx", "m.mts"])
def test_javascript_imports_exports_requires_and_dynamic_imports(path: str) -> None:
    source = """
import x from './a';
import './b';
export * from './c';
export {q} from "./d";
const y = require('./e'), z = load(require(`./f`));
async function g() { await import('./g'); await import(`./${y}`); require(y); }
// import './no';
const text = "require('./no')";
"""
    assert {name for _, name in imports(path, source)} == {f"./{c}" for c in "abcdefg"}


def test_typescript_has_forms_of_its_own() -> None:
    source = """
import type {A} from './a';
import b = require('./b');
export type {C} from './c';
let d: import('./d').D;
"""
    assert {name for _, name in imports("m.ts", source)} == {"./a", "./b", "./c", "./d"}


def test_go_imports_packages_by_any_quote_and_name() -> None:
    source = 'package p\nimport "fmt"\nimport (\n\tx "a/b"\n\t_ `c/d`\n\t. "e"\n)\n'
    assert [name for _, name in imports("m.go", source)] == ["fmt", "a/b", "c/d", "e"]


def test_rust_declares_modules_and_uses_every_leaf_of_a_tree() -> None:
    source = """
mod plain;
#[path = "other/place.rs"]
// with a comment between
mod moved;
use a::b::{self, c::D, e as f, g::*};
pub(crate) use crate::r#type::X;
extern crate serde;
mod inner {
    mod deep;
    use super::k;
    use self::l::M;
    mod more { use super::super::n; use super::super::super::o; }
}
fn f() { use late::Thing; }
"""
    assert set(imports("m.rs", source)) == {
        ("mod", "plain"),
        ("path", "other/place.rs"),
        ("use", "a::b"),
        ("use", "a::b::c::D"),
        ("use", "a::b::e"),
        ("use", "a::b::g::*"),
        ("use", "crate::type::X"),
        ("use", "::serde"),
        ("mod", "inner/deep"),
        ("use", "self::k"),
        ("use", "self::inner::l::M"),
        ("use", "self::n"),
        ("use", "super::o"),
        ("use", "late::Thing"),
    }


def test_java_imports_types_members_and_packages() -> None:
    source = """
package a.b;
import a.b.C;
import static a.b.D.member;
import a.q.*;
class K extends Base { Foo x = new Bar(); }
"""
    found = facts("K.java", source)
    assert imports("K.java", source) == [
        ("type", "a.b.C"),
        ("static", "a.b.D.member"),
        ("star", "a.q"),
    ]
    assert {"Base", "Foo", "Bar"} <= set(found.uses)


def test_java_tells_what_it_uses_only_where_a_package_is_opened() -> None:
    assert facts("K.java", "import a.b.C; class K { Foo x; }").uses == ()


def test_ruby_requires_in_all_ways_and_leaves_computed_names_alone() -> None:
    source = """
require "a/b"
require_relative '../c'
load("d.rb")
Kernel.require "e"
module M
  autoload :X, "m/x"
  autoload(:Y, "m/y")
end
require File.expand_path("../f", __FILE__)
require File.expand_path('../../g', __FILE__)
require File.join(__dir__, "h")
require File.join(File.dirname(__FILE__), 'i')
require "x#{y}"
require name
other.require "no"
"""
    assert imports("m.rb", source) == [
        ("require", "a/b"),
        ("relative", "../c"),
        ("load", "d.rb"),
        ("require", "e"),
        ("require", "m/x"),
        ("require", "m/y"),
        ("relative", "f"),
        ("relative", "../g"),
        ("relative", "h"),
        ("relative", "i"),
    ]


@pytest.mark.parametrize("path", ["m.c", "m.h", "m.cpp", "m.hpp"])
def test_c_includes_quoted_and_angled_under_any_condition(path: str) -> None:
    source = '#include "a.h"\n#ifdef X\n#  include <b/c.h>\n#endif\n#include MACRO_H\n'
    assert sorted(imports(path, source)) == [("angle", "b/c.h"), ("quote", "a.h")]


def test_csharp_opens_namespaces_and_names_types() -> None:
    source = """
using System;
using A.B;
using static A.C.Helper;
using Alias = F.G<int>;
global using global::H.I;
namespace N.M
{
    using Inner.One;
    public class K : Foo<Bar> { class Nested {} }
    namespace In { struct S {} interface IFace {} enum E {} record R; delegate void D(); }
}
"""
    found = facts("K.cs", source)
    assert imports("K.cs", source) == [
        ("namespace", "System"),
        ("namespace", "A.B"),
        ("type", "A.C.Helper"),
        ("namespace", "F.G"),
        ("type", "F.G"),
        ("namespace", "H.I"),
        ("namespace", "Inner.One"),
    ]
    assert set(found.provides) == {
        "N.M.K",
        *(f"N.M.In.{name}" for name in ("S", "IFace", "E", "R", "D")),
    }
    assert {"Foo", "Bar"} <= set(found.uses)


def test_csharp_takes_the_namespace_of_a_whole_file() -> None:
    assert facts("R.cs", "namespace A.B;\npublic record R(int X);\n").provides == ("A.B.R",)


def test_php_uses_classes_and_includes_files() -> None:
    source = r"""<?php
namespace A\B;
use C\D;
use \E\F as G;
use H\{I, J\K as L, function nope};
use function M\n;
use const M\O;
require __DIR__ . '/one.php';
require_once(dirname(__DIR__) . "/two.php");
include dirname(__FILE__) . '/three.php';
include_once dirname(__DIR__, 2) . '/four.php';
include 'five.php';
include $six;
include "seven/$x.php";
class P {}
interface Q {}
trait T {}
enum U {}
"""
    assert imports("m.php", source) == [
        ("use", r"C\D"),
        ("use", r"E\F"),
        ("use", r"H\I"),
        ("use", r"H\J\K"),
        ("here", "one.php"),
        ("here", "../two.php"),
        ("here", "three.php"),
        ("here", "../../four.php"),
        ("file", "five.php"),
    ]
    assert facts("m.php", source).provides == (r"A\B\P", r"A\B\Q", r"A\B\T", r"A\B\U")


def test_markdown_links_to_files() -> None:
    source = """# T

See [a](b.md#part "title"), [c](<d e.md>), [e](f%20g.md) and ![no](x.png).
- [in a list](../h.md) and `[no](code.md)`
- [web](https://example.com/x.md), [mail](mailto:a@b.md), [part](#part), [other](//host/y.md)

[ref]: i.md
"""
    assert [name for _, name in imports("m.md", source)] == [
        "b.md",
        "d e.md",
        "f g.md",
        "../h.md",
        "i.md",
    ]


def test_a_file_with_syntax_errors_gives_what_can_be_read() -> None:
    assert ("import", "a.b") in imports("m.py", "import a.b\ndef f(:\n  )(\nimport c\n")
    assert ("module", "./a") in imports("m.ts", "import x from './a';\nfunction ( {{{\n")
    assert ("quote", "a.h") in imports("m.c", '#include "a.h"\nint f( { ]]\n')


def test_bytes_that_are_no_utf_8_do_not_matter() -> None:
    assert imports("m.py", b"# caf\xe9\nimport a\n") == [("import", "a")]
    assert imports("m.c", b'#include "caf\xe9.h"\n') == [("quote", "caf\udce9.h")]


def test_each_import_is_told_once() -> None:
    assert imports("m.py", "import a\nimport a\n") == [("import", "a")]


def test_a_language_without_a_grammar_says_nothing() -> None:
    assert READER.facts("cobol", b"IDENTIFICATION DIVISION.") is None


def test_an_empty_file_imports_nothing() -> None:
    for name in "m.py m.js m.ts m.tsx m.go m.rs m.java m.rb m.c m.cpp m.cs m.php m.md".split():
        assert imports(name, "") == []


def test_a_file_of_a_megabyte_is_read_whole() -> None:
    filler = "x = [1, 2, 3]\n" * 70_000
    assert imports("m.py", f"import first\n{filler}import last\n") == [
        ("import", "first"),
        ("import", "last"),
    ]

"""From imports to files of the project, in small trees that look like real ones."""

from __future__ import annotations

from graph_trees import edges
from vera_ccc_tools.import_graph.manifests import is_manifest, read


def test_go_imports_every_file_of_a_package_but_its_tests() -> None:
    assert edges(
        {
            "go.mod": "// a comment\nmodule example.com/shop\n\ngo 1.22\n",
            "main.go": 'package main\nimport (\n"fmt"\n"example.com/shop/cart"\n)\n',
            "cart/cart.go": 'package cart\nimport "example.com/shop"\n',
            "cart/item.go": "package cart\n",
            "cart/cart_test.go": "package cart\n",
            "cart/inner/x.go": "package inner\n",
            "cart/notes.md": "",
        }
    ) == {
        "main.go": ["cart/cart.go", "cart/item.go"],
        "cart/cart.go": ["main.go"],
    }


def test_go_knows_several_modules_and_what_is_vendored() -> None:
    assert edges(
        {
            "go.mod": "module example.com/root\n",
            "a.go": 'package a\nimport "example.com/root/tool/x"\nimport "github.com/v/w"\n',
            "tool/go.mod": 'module "example.com/root/tool"\n',
            "tool/x/x.go": 'package x\nimport "example.com/root/odd/y"\n',
            "odd/go.mod": "module example.com/elsewhere\n",
            "odd/y/y.go": "package y\n",
            "vendor/github.com/v/w/w.go": "package w\n",
        }
    ) == {"a.go": ["tool/x/x.go", "vendor/github.com/v/w/w.go"]}


def test_rust_follows_the_module_tree() -> None:
    assert edges(
        {
            "Cargo.toml": '[package]\nname = "my-crate"\nedition = "2021"\n',
            "src/lib.rs": "mod a;\npub mod b;\nuse b::inner::Thing;\n",
            "src/a.rs": "mod child;\nuse crate::b::inner::{Thing, other};\nuse self::child::C;\n",
            "src/a/child.rs": "use super::f;\nuse super::super::b;\nuse crate::Top;\n",
            "src/b/mod.rs": "mod inner;\n",
            "src/b/inner.rs": "use std::fmt;\nuse super::*;\nuse serde::Serialize;\n",
            "src/main.rs": "use my_crate::a::child;\n",
            "src/bin/extra.rs": "mod helper;\nuse my_crate::b;\n",
            "src/bin/helper.rs": "",
            "tests/flow.rs": "mod common;\nuse my_crate::a;\n",
            "tests/common/mod.rs": "use crate::flow;\n",
        }
    ) == {
        "src/lib.rs": ["src/a.rs", "src/b/inner.rs", "src/b/mod.rs"],
        "src/a.rs": ["src/a/child.rs", "src/b/inner.rs"],
        "src/a/child.rs": ["src/a.rs", "src/b/mod.rs", "src/lib.rs"],
        "src/b/mod.rs": ["src/b/inner.rs"],
        "src/b/inner.rs": ["src/b/mod.rs"],
        "src/main.rs": ["src/a/child.rs"],
        "src/bin/extra.rs": ["src/b/mod.rs", "src/bin/helper.rs"],
        "tests/flow.rs": ["src/a.rs", "tests/common/mod.rs"],
    }


def test_rust_follows_a_workspace_and_renamed_dependencies() -> None:
    assert edges(
        {
            "Cargo.toml": '[workspace]\nmembers = ["crates/*"]\n',
            "crates/core/Cargo.toml": '[package]\nname = "shop-core"\n[lib]\npath = "root.rs"\n',
            "crates/core/root.rs": "mod price;\n",
            "crates/core/price.rs": "",
            "crates/app/Cargo.toml": '[package]\nname = "app"\n[dependencies]\n'
            'shop-core = { path = "../core" }\n'
            'base = { path = "../core", package = "shop-core" }\n',
            "crates/app/src/main.rs": "use shop_core::price::Price;\nuse base::price as p;\n",
            "crates/other/Cargo.toml": '[package]\nname = "other"\n[lib]\nname = "renamed"\n',
            "crates/other/src/lib.rs": "extern crate shop_core;\n",
            "crates/app/src/x.rs": "use renamed::Y;\nuse other::Y;\n",
        }
    ) == {
        "crates/core/root.rs": ["crates/core/price.rs"],
        "crates/app/src/main.rs": ["crates/core/price.rs"],
        "crates/other/src/lib.rs": ["crates/core/root.rs"],
        "crates/app/src/x.rs": ["crates/other/src/lib.rs"],
    }


def test_rust_knows_crates_in_directories_of_their_own() -> None:
    assert edges(
        {
            "Cargo.toml": '[package]\nname = "rg"\n[[bin]]\nname = "rg"\npath = "core/start.rs"\n',
            "core/start.rs": "mod flags;\n",
            "core/flags/mod.rs": "mod parse;\n",
            "core/flags/parse.rs": "use crate::flags::defs::FLAGS;\n",
            "examples/big/main.rs": "mod part;\n",
            "examples/big/part.rs": "use crate::Item;\n",
        }
    ) == {
        "core/start.rs": ["core/flags/mod.rs"],
        "core/flags/mod.rs": ["core/flags/parse.rs"],
        "core/flags/parse.rs": ["core/flags/mod.rs"],
        "examples/big/main.rs": ["examples/big/part.rs"],
        "examples/big/part.rs": ["examples/big/main.rs"],
    }


def test_rust_follows_paths_and_inline_modules() -> None:
    assert edges(
        {
            "Cargo.toml": '[package]\nname = "c"\n',
            "src/lib.rs": '#[path = "odd/place.rs"]\nmod moved;\nmod inner { mod deep; }\n',
            "src/odd/place.rs": "",
            "src/inner/deep.rs": "",
        }
    ) == {"src/lib.rs": ["src/inner/deep.rs", "src/odd/place.rs"]}


def test_java_imports_by_package_from_any_source_root() -> None:
    assert edges(
        {
            "app/src/main/java/com/acme/App.java": "import com.acme.util.Strings;\n"
            "import static com.acme.util.Strings.trim;\nimport com.acme.model.Order.Line;\n"
            "import java.util.List;\nclass App { }\n",
            "lib/src/main/java/com/acme/util/Strings.java": "class Strings {}",
            "lib/src/main/java/com/acme/model/Order.java": "class Order { class Line {} }",
            "app/src/test/java/com/acme/AppTest.java": "import com.acme.util.*;\n"
            "class AppTest { Strings s; String t; }\n",
        }
    ) == {
        "app/src/main/java/com/acme/App.java": [
            "lib/src/main/java/com/acme/model/Order.java",
            "lib/src/main/java/com/acme/util/Strings.java",
        ],
        "app/src/test/java/com/acme/AppTest.java": ["lib/src/main/java/com/acme/util/Strings.java"],
    }


def test_java_prefers_its_own_module_and_does_not_choose_between_others() -> None:
    tree = {
        "a/src/main/java/com/acme/Config.java": "class Config {}",
        "b/src/main/java/com/acme/Config.java": "class Config {}",
        "a/src/test/java/com/acme/ATest.java": "import com.acme.Config;\nclass ATest {}",
        "c/src/main/java/com/acme/C.java": "import com.acme.Config;\nclass C {}",
    }
    assert edges(tree) == {
        "a/src/test/java/com/acme/ATest.java": ["a/src/main/java/com/acme/Config.java"]
    }


def test_ruby_requires_from_lib_from_beside_and_from_the_tests() -> None:
    assert edges(
        {
            "lib/shop.rb": 'require "shop/cart"\nrequire "json"\nautoload :X, "shop/x"\n',
            "lib/shop/cart.rb": 'require_relative "item"\nload "lib/shop/x.rb"\n',
            "lib/shop/item.rb": "",
            "lib/shop/x.rb": 'require "./lib/shop"\n',
            "spec/spec_helper.rb": 'require "shop"\n',
            "spec/shop/cart_spec.rb": 'require "spec_helper"\nrequire "other/thing"\n',
            "other/lib/other/thing.rb": "",
        }
    ) == {
        "lib/shop.rb": ["lib/shop/cart.rb", "lib/shop/x.rb"],
        "lib/shop/cart.rb": ["lib/shop/item.rb", "lib/shop/x.rb"],
        "lib/shop/x.rb": ["lib/shop.rb"],
        "spec/spec_helper.rb": ["lib/shop.rb"],
        "spec/shop/cart_spec.rb": ["other/lib/other/thing.rb", "spec/spec_helper.rb"],
    }


def test_c_includes_from_beside_then_from_include_directories() -> None:
    assert edges(
        {
            "include/net/socket.h": '#include "util.h"\n',
            "src/main.c": '#include "util.h"\n#include <net/socket.h>\n#include <stdio.h>\n'
            '#include "../include/net/socket.h"\n',
            "src/util.h": "",
            "src/deep/a.cpp": '#include "util.h"\n#include "net/socket.h"\n',
        }
    ) == {
        "include/net/socket.h": ["src/util.h"],
        "src/main.c": ["include/net/socket.h", "src/util.h"],
        "src/deep/a.cpp": ["include/net/socket.h", "src/util.h"],
    }


def test_c_takes_the_nearest_library_of_several_and_never_guesses() -> None:
    assert edges(
        {
            "libs/a/include/config.h": "",
            "libs/a/src/a.c": '#include "config.h"\n',
            "libs/b/include/config.h": "",
            "libs/b/src/b.c": "#include <config.h>\n",
            "app/x.c": '#include "config.h"\n',
        }
    ) == {
        "libs/a/src/a.c": ["libs/a/include/config.h"],
        "libs/b/src/b.c": ["libs/b/include/config.h"],
    }


def test_c_takes_no_file_for_a_header_of_the_system() -> None:
    assert edges({"compat/string.h": "", "compat/x.c": "#include <string.h>\n"}) == {}


def test_csharp_imports_the_types_that_it_mentions() -> None:
    assert edges(
        {
            "App/Program.cs": "using Shop.Model;\nusing static Shop.Util.Text;\nusing System;\n"
            "class Program { Order order; }\n",
            "Model/Order.cs": "namespace Shop.Model;\npublic partial class Order {}\n",
            "Model/Order.Lines.cs": "namespace Shop.Model;\npublic partial class Order {}\n",
            "Model/Customer.cs": "namespace Shop.Model { class Customer {} }\n",
            "Util/Text.cs": "namespace Shop { namespace Util { static class Text {} } }\n",
        }
    ) == {"App/Program.cs": ["Model/Order.Lines.cs", "Model/Order.cs", "Util/Text.cs"]}


def test_csharp_does_not_choose_between_types_of_one_name() -> None:
    assert (
        edges(
            {
                "A/Order.cs": "namespace M;\nclass Order {}\n",
                "B/Order.cs": "namespace M;\nclass Order {}\n",
                "C/Use.cs": "using M;\nclass Use { Order o; }\n",
            }
        )
        == {}
    )


def test_php_uses_classes_by_psr_4_or_by_their_declaration() -> None:
    assert edges(
        {
            "composer.json": '{"autoload": {"psr-4": {"App\\\\": "src/", "App\\\\X\\\\": ["x"]}},'
            ' "autoload-dev": {"psr-4": {"Tests\\\\": "tests/"}}}',
            "src/Http/Kernel.php": "<?php\nnamespace App\\Http;\nuse App\\Model\\{User, X\\Deep};\n"
            "use App\\X\\Special;\nuse Old\\Thing;\nuse Vendor\\Other;\n"
            "require __DIR__ . '/../bootstrap.php';\ninclude 'legacy/old.php';\n",
            "src/Model/User.php": "<?php\nnamespace App\\Model;\nclass User {}\n",
            "src/Model/X/Deep.php": "<?php\nnamespace App\\Model\\X;\nclass Deep {}\n",
            "x/Special.php": "<?php\nnamespace App\\X;\nclass Special {}\n",
            "legacy/old.php": "<?php\nnamespace Old;\nclass Thing {}\n",
            "src/bootstrap.php": "<?php\n",
            "tests/UserTest.php": "<?php\nnamespace Tests;\nuse App\\Model\\User;\n",
        }
    ) == {
        "src/Http/Kernel.php": [
            "legacy/old.php",
            "src/Model/User.php",
            "src/Model/X/Deep.php",
            "src/bootstrap.php",
            "x/Special.php",
        ],
        "tests/UserTest.php": ["src/Model/User.php"],
    }


def test_markdown_links_to_source_and_documents() -> None:
    assert edges(
        {
            "README.md": "[guide](docs/guide.md#a) [code](./src/a.py) [gone](no.md)\n",
            "docs/guide.md": "[a](../README.md) [root](/src/a.py) [bare](other)\n\n[r]: other.md\n",
            "docs/other.md": "[out](../../x.md) [self](other.md)\n",
            "docs/more.md": "[directory](../docs/) [root](..)\n",
            "docs/README.md": "",
            "src/a.py": "",
        }
    ) == {
        "docs/more.md": ["docs/README.md"],
        "README.md": ["docs/guide.md", "src/a.py"],
        "docs/guide.md": ["README.md", "docs/other.md", "src/a.py"],
    }


def test_a_file_never_imports_itself() -> None:
    assert edges({"a.py": "import a\n", "b.js": "import './b.js'\n"}) == {}


def test_manifests_that_are_broken_or_odd_say_nothing_of_use() -> None:
    odd = ["", "[", "null", "[]", "3", '{"name": 3, "compilerOptions": 4}', "\ufeff{}", "\x00"]
    for name in "Cargo.toml composer.json go.mod package.json pyproject.toml tsconfig.json".split():
        assert is_manifest(name)
        for text in odd:
            said = read(f"deep/{name}", text.encode())
            assert isinstance(said, dict)
            assert edges({name: text, "a.ts": "import 'x/y'", "b.rs": "use c::d;"}) == {}
    assert read("package.json", b"\xff\xfe\x00") == {}

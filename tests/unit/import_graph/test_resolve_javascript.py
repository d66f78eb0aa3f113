"""Modules of JavaScript and TypeScript, resolved in small trees that look like real ones."""

from __future__ import annotations

import json

import pytest

from graph_trees import edges


def test_relative_modules_guess_extensions_and_index_files() -> None:
    assert edges(
        {
            "src/app.js": "import './a'; import './b.js'; require('./dir'); import('./dir/');\n"
            "export * from '../lib/c.mjs'; import './style.css'; import './data.json';\n",
            "src/a.jsx": "import '.'; import '..';\n",
            "src/b.js": "",
            "src/dir/index.js": "import '../../../out';",
            "src/index.js": "",
            "index.js": "",
            "lib/c.mjs": "",
            "src/data.json": "{}",
        }
    ) == {
        "src/app.js": ["lib/c.mjs", "src/a.jsx", "src/b.js", "src/dir/index.js"],
        "src/a.jsx": ["index.js", "src/index.js"],
    }


def test_typescript_names_what_it_will_be_compiled_to() -> None:
    assert edges(
        {
            "a.ts": "import './b.js'; import './c.jsx'; import './d.mjs';\n"
            "import './e'; import './f';",
            "b.ts": "",
            "b.js": "",
            "c.tsx": "",
            "d.mts": "",
            "e.ts": "",
            "e.js": "",
            "f.d.ts": "",
            "g.js": "import './b.js'; import './e';",
        }
    ) == {
        "a.ts": ["b.ts", "c.tsx", "d.mts", "e.ts", "f.d.ts"],
        "g.js": ["b.js", "e.js"],
    }


def test_a_query_after_the_name_is_the_bundlers() -> None:
    assert edges({"a.js": "import x from './b.js?raw'", "b.js": ""}) == {"a.js": ["b.js"]}


def test_paths_of_a_tsconfig_with_comments_and_commas() -> None:
    config = """{
  // aliases: "@/*" is ours
  "compilerOptions": {
    /* from here */ "baseUrl": ".",
    "paths": { "@/*": ["./src/*"], "@ui/*": ["ui/gone/*", "ui/*"], "exact": ["src/one.ts"], },
  },
}"""
    assert edges(
        {
            "tsconfig.json": config,
            "src/one.ts": "import '@/two'; import '@ui/button'; import 'src/two'; import 'react';",
            "src/two.ts": "import 'exact';",
            "ui/button.tsx": "",
        }
    ) == {
        "src/one.ts": ["src/two.ts", "ui/button.tsx"],
        "src/two.ts": ["src/one.ts"],
    }


def test_the_longest_pattern_and_the_nearest_tsconfig_win() -> None:
    paths = {"compilerOptions": {"paths": {"~/*": ["./lib/*"], "~/x/*": ["./special/*"]}}}
    inner = {"compilerOptions": {"paths": {"~/*": ["./inner/*"]}}}
    assert edges(
        {
            "tsconfig.json": json.dumps(paths),
            "lib/x/a.ts": "",
            "special/a.ts": "",
            "m.ts": "import '~/x/a';",
            "app/tsconfig.json": json.dumps(inner),
            "app/inner/b.ts": "",
            "app/m.ts": "import '~/b'; import '~/x/a';",
        }
    ) == {"m.ts": ["special/a.ts"], "app/m.ts": ["app/inner/b.ts"]}


def test_a_tsconfig_extends_others_and_refers_to_others() -> None:
    base = {"compilerOptions": {"baseUrl": ".", "paths": {"@/*": ["src/*"]}}}
    shared = {"compilerOptions": {"paths": {"#lib/*": ["./lib/*"]}}}
    assert edges(
        {
            "configs/tsconfig.base.json": json.dumps(base),
            "configs/src/a.ts": "",
            "one/tsconfig.json": '{"extends": "../configs/tsconfig.base"}',
            "one/m.ts": "import '@/a';",
            "two/tsconfig.json": '{"files": [], "references": [{"path": "./tsconfig.app.json"}]}',
            "two/tsconfig.app.json": json.dumps(base),
            "two/src/b.ts": "import '@/c';",
            "two/src/c.ts": "",
            "pkg/package.json": '{"name": "@acme/config"}',
            "pkg/tsconfig.shared.json": json.dumps(shared),
            "pkg/lib/d.ts": "",
            "three/tsconfig.json": '{"extends": ["@acme/config/tsconfig.shared.json"]}',
            "three/m.ts": "import 'lib/d'; import '#lib/d';",
            "four/tsconfig.json": '{"extends": "./tsconfig.json"}',
            "four/m.ts": "import '@/a';",
        }
    ) == {"one/m.ts": ["configs/src/a.ts"], "two/src/b.ts": ["two/src/c.ts"]}


def workspace(package: dict[str, object]) -> dict[str, str]:
    return {
        "package.json": '{"name": "root", "workspaces": ["packages/*"]}',
        "packages/ui/package.json": json.dumps({"name": "@acme/ui", **package}),
        "packages/ui/src/index.ts": "",
        "packages/ui/src/button.ts": "",
        "packages/ui/extra/index.js": "",
        "packages/app/package.json": '{"name": "app"}',
    }


@pytest.mark.parametrize(
    "package",
    [
        {},
        {"main": "src/index.ts"},
        {"main": "./dist/index.js"},
        {"module": "dist/esm/index.mjs"},
        {"exports": "./dist/index.js"},
        {"exports": {".": {"types": "./dist/index.d.ts", "import": "./dist/index.js"}}},
        {"exports": {"import": "./src/index.ts"}},
        {"exports": {".": [{"node": "./gone.js"}, "./src/index.ts"]}},
    ],
)
def test_a_package_of_the_workspace_is_found_by_its_name(package: dict[str, object]) -> None:
    tree = workspace(package) | {"packages/app/m.ts": "import '@acme/ui';"}
    assert edges(tree) == {"packages/app/m.ts": ["packages/ui/src/index.ts"]}


@pytest.mark.parametrize(
    ("package", "name"),
    [
        ({}, "@acme/ui/src/button"),
        ({}, "@acme/ui/dist/button"),
        ({"exports": {"./*": "./src/*.ts"}}, "@acme/ui/button"),
        ({"exports": {"./button": {"import": "./dist/button.js"}}}, "@acme/ui/button"),
        ({"exports": {"./*": "./gone/*", "./b*": "./src/b*.ts"}}, "@acme/ui/button"),
    ],
)
def test_a_part_of_a_package_is_found(package: dict[str, object], name: str) -> None:
    tree = workspace(package) | {"packages/app/m.ts": f"import '{name}';"}
    assert edges(tree) == {"packages/app/m.ts": ["packages/ui/src/button.ts"]}


def test_what_a_package_does_not_export_is_not_found() -> None:
    tree = workspace({"exports": {".": "./src/index.ts"}})
    assert edges(tree | {"packages/app/m.ts": "import '@acme/ui/extra';"}) == {}


def test_imports_of_a_package_of_its_own() -> None:
    assert edges(
        {
            "package.json": '{"imports": {"#db": "./src/db.js", "#lib/*": "./lib/*.js"}}',
            "src/db.js": "",
            "lib/a.js": "",
            "src/m.js": "import '#db'; import '#lib/a'; import '#none';",
        }
    ) == {"src/m.js": ["lib/a.js", "src/db.js"]}


def test_two_packages_of_one_name_are_not_chosen_between() -> None:
    tree = {
        "a/package.json": '{"name": "same"}',
        "a/index.js": "",
        "b/package.json": '{"name": "same"}',
        "b/index.js": "",
        "m.js": "import 'same'; import 'node:fs'; import 'https://x/y.js'; import '/abs.js';",
    }
    assert edges(tree) == {}

"""Which files a search by words may look at."""

from __future__ import annotations

from pathlib import Path

import pytest

from helpers import write_file
from vera_ccc_tools.ccc import path_filter, project
from vera_ccc_tools.words import scope
from vera_ccc_tools.words.scope import Wanted


def scope_of(root: Path, settings: str | None = None, wanted: Wanted | None = None) -> scope.Scope:
    if settings is not None:
        write_file(project.settings_path(root), settings)
    return scope.of_project(root, wanted or Wanted())


@pytest.mark.parametrize("path", ["a.py", "src/b/c.ts", "README.md"])
def test_what_ccc_indexes_by_default_is_held(tmp_path: Path, path: str) -> None:
    assert scope_of(tmp_path).holds(path)


@pytest.mark.parametrize(
    "path", [".env.py", ".venv/a.py", "a/node_modules/b.js", "vendor/x.go", "a.png", "Makefile"]
)
def test_what_ccc_leaves_out_by_default_is_not(tmp_path: Path, path: str) -> None:
    assert not scope_of(tmp_path).holds(path)


@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        ("secret.py", "secret.py"),
        ("gen", "gen/a/b.py"),
        ("gen/**", "gen/a/b.py"),
        ("**/gen", "a/gen/b.py"),
        ("src/*.gen.py", "src/a/b.gen.py"),
        ("**/*_{a,b}.py", "x/y_b.py"),
        ("a?c.py", "abc.py"),
        ("[[]id[]].py", "[id].py"),
        (r"\[id\].py", "[id].py"),
        ("src/**/x*z", "src/xyz/a.py"),
        ("src/**/x*z", "src/b/c/xz/a.py"),
    ],
)
def test_what_the_settings_exclude_is_left_out(tmp_path: Path, pattern: str, path: str) -> None:
    found = scope_of(tmp_path, f"exclude_patterns: ['{pattern}']\n")
    assert not found.holds(path)
    assert found.holds("other.py")


def test_a_negated_pattern_takes_back(tmp_path: Path) -> None:
    found = scope_of(tmp_path, "exclude_patterns: ['gen/**', '!gen/keep/**']\n")
    assert found.holds("gen/keep/a.py")
    assert not found.holds("gen/a.py")


def test_only_what_the_settings_include_is_held(tmp_path: Path) -> None:
    found = scope_of(tmp_path, "include_patterns: ['src/**/*.{py,xyz}']\n")
    assert found.holds("src/a.xyz")
    assert found.holds("src/b/a.py")
    assert not found.holds("a.py")
    assert found.pathspecs() == ("./*",)


def test_broken_settings_count_as_the_defaults(tmp_path: Path) -> None:
    assert scope_of(tmp_path, "exclude_patterns: [").holds("a.py")


def test_languages_narrow_what_is_looked_through(tmp_path: Path) -> None:
    found = scope_of(tmp_path, wanted=Wanted(languages=("cpp",)))
    assert found.holds("a.h")
    assert not found.holds("a.py")
    assert "./*.hpp" in found.pathspecs()
    assert "./*.py" not in found.pathspecs()
    assert scope_of(tmp_path, wanted=Wanted(languages=("zig",))).pathspecs() == ()


@pytest.mark.parametrize(
    ("path", "held"),
    [
        ("src", {"src/a.py", "src/sub/b.py"}),
        ("src/a.py", {"src/a.py"}),
        ("src/*/b.py", {"src/sub/b.py"}),
        ("[x]", {"[x]/c.py"}),
        (".", {"src/a.py", "src/sub/b.py", "[x]/c.py"}),
    ],
)
def test_the_path_of_a_search_is_kept_to(tmp_path: Path, path: str, held: set[str]) -> None:
    every = {"src/a.py", "src/sub/b.py", "[x]/c.py"}
    for each in every:
        write_file(tmp_path / each, "")
    found = scope_of(tmp_path, wanted=Wanted(path_filter.parse(path, tmp_path, tmp_path)))
    assert {each for each in every if found.holds(each)} == held


@pytest.mark.parametrize(
    ("path", "language"),
    [("a.py", "python"), ("A.H", "cpp"), ("x.tsx", "tsx"), ("a.txt", "text"), ("LICENSE", "text")],
)
def test_languages_are_called_as_ccc_calls_them(path: str, language: str) -> None:
    assert scope.language_of(path) == language

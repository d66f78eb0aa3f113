"""Our reading of ccc's globs, held against ccc's own matcher."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from sync_world import Oracle
from vera_ccc_tools.sync.globs import Excludes, Includes, at_root, escape

EXAMPLES = int(os.environ.get("VERA_CCC_HYPOTHESIS_EXAMPLES", "80"))

_parts = st.sampled_from(
    [
        *"**/ /** * ? ** a b ab . / [ab] [!a] [a-c] {a,b} { } []] [ ] , ! - é".split(),
        *"\\[ [-a] [a-] {a,b/**} .py **/*.py".split(),
    ]
)
_patterns = st.lists(_parts, min_size=1, max_size=6).map("".join)
_name = st.lists(
    st.sampled_from(["a", "b", "c", "ab", ".", "-", "é", "[", "]", ",", "!", "x.py"]),
    min_size=1,
    max_size=3,
).map("".join)
_paths = st.lists(_name.filter(lambda name: name not in {".", ".."}), min_size=1, max_size=4).map(
    "/".join
)
_any_name = st.text(
    st.characters(exclude_characters="/\0", exclude_categories=["Cs"]), min_size=1, max_size=8
).filter(lambda name: name not in {".", ".."})


@pytest.fixture(scope="module")
def oracle(ccc_python: Path) -> Iterator[Oracle]:
    made = Oracle(ccc_python)
    yield made
    made.close()


@settings(max_examples=EXAMPLES)
@given(
    patterns=st.lists(_patterns, max_size=4),
    paths=st.lists(_paths, min_size=1, max_size=8),
)
def test_what_is_certainly_not_included_is_not_included_by_ccc(
    oracle: Oracle, patterns: list[str], paths: list[str]
) -> None:
    valid = [one for one in patterns if _is_accepted(oracle, one)]
    includes = Includes(valid)
    answer = oracle.ask(include=valid, exclude=[], files=paths)["files"]
    for path, included in zip(paths, answer, strict=True):
        assert includes.may_include(path) or not included


@settings(max_examples=EXAMPLES)
@given(
    patterns=st.lists(
        st.builds("{}{}".format, st.sampled_from(["", "", "", "!"]), _patterns), max_size=4
    ),
    paths=st.lists(_paths, min_size=1, max_size=8),
)
@example(patterns=["**//**"], paths=["a"])
@example(patterns=["**/{}"], paths=["a"])
@example(patterns=["**/a", "!a/b/c"], paths=["a"])
@example(patterns=["**/a/**", "b/*"], paths=["a", "x/a", "b"])
@example(patterns=["a/", "/b", "./c"], paths=["a", "b", "c"])
def test_what_is_certainly_excluded_is_excluded_by_ccc(
    oracle: Oracle, patterns: list[str], paths: list[str]
) -> None:
    valid = [one for one in patterns if _is_accepted(oracle, one.removeprefix("!"))]
    excluded = Excludes(valid)
    below = {path: [f"{path}/{name}" for name in ("c", "d.py", "a/b", "x/y/z")] for path in paths}
    asked = [*paths, *(one for some in below.values() for one in some)]
    answer = oracle.ask(include=None, exclude=valid, walk=asked)["walked"]
    reached = {path for path, there in zip(asked, answer, strict=True) if there}
    for path in paths:
        assert not excluded.cover(path) or path not in reached
        assert not excluded.cover(path + "/") or reached.isdisjoint(below[path])


def _is_accepted(oracle: Oracle, pattern: str) -> bool:
    try:
        oracle.ask(include=[pattern], exclude=[], files=["a"])
    except AssertionError:
        return False
    return True


@pytest.mark.parametrize(
    ("patterns", "covered", "free"),
    [
        (["**/build/**"], ["build/a", "x/build/", "x/build/a"], ["build", "builds/a", "x"]),
        (["**/node_modules"], ["node_modules/", "x/node_modules", "node_modules/a"], ["modules"]),
        (["out", "gen/**"], ["out", "out/a", "gen/", "gen/a"], ["x/out", "gen", "x/gen/a"]),
        (["**/.*"], [".venv/", "x/.a/b", ".b"], ["x.y"]),
        (["**/*.js", "*.ts"], ["a.js", "x/b.ts", "c.js/d"], ["a.json"]),
        (["**/*"], ["a", "b/"], []),
    ],
)
def test_the_simple_patterns_are_understood(
    patterns: list[str], covered: list[str], free: list[str]
) -> None:
    excludes = Excludes(patterns)
    assert all(excludes.cover(path) for path in covered)
    assert not any(excludes.cover(path) for path in free)
    assert not any(Excludes([*patterns, "!x"]).cover(path) for path in covered)


@settings(max_examples=EXAMPLES)
@given(names=st.lists(_any_name, min_size=1, max_size=3), other=_any_name)
def test_an_escaped_name_matches_itself_and_nothing_else(
    oracle: Oracle, names: list[str], other: str
) -> None:
    path = "/".join(names)
    neighbours = [other, f"{path}x", f"x{path}", f"x/{path}", path[:-1], path.swapcase()]
    for backslash in (False, True):
        pattern = at_root(escape(path, backslash=backslash))
        files = [path, *(one for one in neighbours if one and one != path and one[-1] != "/")]
        answer = oracle.ask(include=[pattern], exclude=[], files=files)["files"]
        assert answer == [True] + [False] * (len(files) - 1)
        anywhere = f"**/{escape(path, backslash=backslash)}"
        answer = oracle.ask(include=None, exclude=[anywhere], files=[path, f"x/{path}"])["files"]
        assert answer == [False, False]

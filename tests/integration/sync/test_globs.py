"""Our reading of ccc's globs, held against ccc's own matcher."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from sync_world import Oracle
from vera_ccc_tools.sync.globs import Exclusions, GlobSet, at_root, compile_glob, escape

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
@given(pattern=_patterns, paths=st.lists(_paths, min_size=1, max_size=8))
def test_a_pattern_that_is_understood_matches_what_ccc_matches(
    oracle: Oracle, pattern: str, paths: list[str]
) -> None:
    regex = compile_glob(pattern)
    if regex is None:
        return
    answer = oracle.ask(include=[pattern], exclude=[], files=paths)["files"]
    assert [bool(regex.fullmatch(path.encode())) for path in paths] == answer
    assert [GlobSet.of([pattern]).matches(path) for path in paths] == answer


@settings(max_examples=EXAMPLES)
@given(
    patterns=st.lists(
        st.builds("{}{}".format, st.sampled_from(["", "", "!"]), _patterns), max_size=4
    ),
    paths=st.lists(_paths, min_size=1, max_size=8),
)
@example(patterns=["**//**"], paths=["a"])
@example(patterns=["**/{}"], paths=["a"])
@example(patterns=["**/a", "!a/b/c"], paths=["a"])
def test_what_is_certainly_excluded_is_excluded_by_ccc(
    oracle: Oracle, patterns: list[str], paths: list[str]
) -> None:
    understood = [one for one in patterns if compile_glob(one.removeprefix("!"))]
    excluded = Exclusions(understood)
    below = [f"{path}/{name}" for path in paths for name in ("c", "d.py", "a/b", "x/y/z")]
    without = [one for one in understood if not one.startswith("!")]
    reached = dict(
        zip(
            [*paths, *below],
            oracle.ask(include=None, exclude=understood, walk=[*paths, *below])["walked"],
            strict=True,
        )
    )
    alone = dict(
        zip(
            [*paths, *below],
            oracle.ask(include=None, exclude=without, files=[*paths, *below])["files"],
            strict=True,
        )
    )
    for path in paths:
        if excluded.covers_file(path):
            assert not reached[path] or not alone[path]
        for name in ("c", "d.py", "a/b", "x/y/z"):
            if excluded.covers_directory(path):
                assert not reached[f"{path}/{name}"] or not alone[f"{path}/{name}"]


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

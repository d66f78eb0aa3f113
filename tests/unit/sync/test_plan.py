"""Which entries are chosen, from lists of paths alone."""

from __future__ import annotations

import re
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

import vera_ccc_tools.sync.plan as planner
from vera_ccc_tools.git.repositories import Ignored
from vera_ccc_tools.sync.plan import EXCLUDED, INSIDE, NEVER_INCLUDED, Rules, plan
from vera_ccc_tools.sync.settings import DEFAULT_EXCLUDES, DEFAULT_INCLUDES

DEFAULTS = Rules(DEFAULT_EXCLUDES, DEFAULT_INCLUDES)
ANY = Rules((), None)


class Made(NamedTuple):
    entries: tuple[str, ...]
    left_out: tuple[tuple[str, str], ...]
    sources: dict[str, str | None]


def made(
    directories: tuple[str, ...] = (),
    files: tuple[str, ...] = (),
    kept: tuple[str, ...] = (),
    rules: Rules = ANY,
) -> Made:
    found = plan(Ignored(directories, files, kept), rules)
    return Made(tuple(found.entries), found.left_out, found.entries)


def test_nothing_ignored_needs_nothing() -> None:
    assert made(kept=("a.py",)) == ((), (), {})


def test_a_directory_and_a_file_match_anywhere_when_nothing_kept_is_in_the_way() -> None:
    assert made(("a/b",), ("c.py",), ("a/x/b.py",)).entries == ("**/a/b/**", "**/c.py")


@pytest.mark.parametrize("kept", ["x/a/b/k.py", "y/a/b/deep/er/k.py"])
def test_a_directory_is_anchored_when_a_namesake_is_kept(kept: str) -> None:
    assert made(("a/b",), kept=(kept,)).entries == ("a/b/**",)


@pytest.mark.parametrize("kept", ["x/c.py", "x/c.py/k"])
def test_a_file_is_anchored_when_a_namesake_is_kept(kept: str) -> None:
    assert made(files=("c.py",), kept=(kept,)).entries == ("c.py",)


def test_a_part_of_a_name_is_no_namesake() -> None:
    assert made(("a/b",), ("c.py",), ("xa/b/k", "a/bb/k", "xc.py")).entries == (
        "**/a/b/**",
        "**/c.py",
    )


def test_one_entry_does_for_all_that_lies_inside_what_it_matches() -> None:
    found = made(("build", "x/build", "y/build/z"), ("q/build/c.py", "gen.py", "s/gen.py"))
    assert found.entries == ("**/build/**", "**/gen.py")


def test_a_file_s_entry_does_not_prune_an_ignored_directory_of_its_name() -> None:
    assert made(("x/gen",), ("gen",)).entries == ("**/x/gen/**", "gen")


def test_special_characters_are_escaped_and_a_leading_mark_is_no_negation() -> None:
    found = made(("!a",), ("[b]?*{}\\",), ("x/!a/k", "x/[b]?*{}\\"))
    assert found.entries == ("{!}a/**", "[[]b[]][?][*][{][}][\\]")


def test_what_ccc_never_includes_or_the_user_excludes_is_left_out_with_the_reason() -> None:
    found = made((".venv", "x/node_modules", "x/vendor/y"), ("a.bin", ".b/c.py"), rules=DEFAULTS)
    assert found.entries == ()
    assert found.left_out == (
        (".venv/", EXCLUDED),
        ("x/node_modules/", EXCLUDED),
        ("x/vendor/y/", EXCLUDED),
        (".b/c.py", EXCLUDED),
        ("a.bin", NEVER_INCLUDED),
    )


def test_what_is_inside_another_ignored_directory_is_left_out() -> None:
    found = made(("a", "a/b"), ("a/c.py",))
    assert found.entries == ("**/a/**",)
    assert found.left_out == (("a/b/", INSIDE), ("a/c.py", INSIDE))


@pytest.mark.parametrize("pattern", ["{a,**/b}", "[é].py", "a[", "***"])
def test_a_pattern_that_is_not_understood_leaves_nothing_out(pattern: str) -> None:
    rules = Rules((pattern,), (pattern,))
    assert made(files=("b.bin",), rules=rules).entries == ("**/b.bin",)


def test_a_negation_of_a_directory_takes_its_pruning_from_the_reasons() -> None:
    rules = Rules(("**/node_modules", "!node_modules/keep/**"), None)
    assert made(("node_modules",), rules=rules).entries == ("**/node_modules/**",)


def test_an_equal_pattern_of_the_user_s_is_not_doubled() -> None:
    rules = Rules(("**/a/**", "!**/a/**"), None)
    assert made(("a",), rules=rules).entries == ()


def test_a_root_that_is_ignored_altogether_is_one_entry() -> None:
    assert made(("",), ("a.py",)).entries == ("**",)


def test_above_the_limit_names_and_suffixes_stand_for_many(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(planner, "ANYWHERE_LIMIT", 3)
    found = made(
        ("x/cache", "y/cache", "z/out", "own"),
        ("a/m.js", "b/n.js", "a/p_pb2.py", "b/q_pb2.py", "a/LOCK", "b/LOCK", "a/[1].py"),
        ("a/k.py", "b/k.py", "q/out/k", "x/k", "y/k", "z/k"),
    )
    assert found.entries == (
        "**/cache/**",
        "**/*.js",
        "**/*_pb2.py",
        "**/LOCK",
        "own/**",
        "z/out/**",
        "a/[[]1[]].py",
    )


def test_each_entry_knows_an_ignored_path_that_it_stands_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert made(("a/b",), ("c.py",)).sources == {"**/a/b/**": "a/b/", "**/c.py": "c.py"}
    monkeypatch.setattr(planner, "ANYWHERE_LIMIT", 0)
    assert made(("x/c", "y/c"), ("a.js", "b.js"), ("k.py", "x/k", "y/k")).sources == {
        "**/c/**": "x/c/",
        "**/*.js": "a.js",
    }


def test_above_the_limit_a_directory_without_anything_kept_stands_for_its_content(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(planner, "ANYWHERE_LIMIT", 0)
    found = made(files=("g/h/[1].py", "g/h/[2].py", "k/[3].py"), kept=("a.py", "k/b.py"))
    assert found.entries == ("g/**", "k/[[]3[]].py")


def test_many_escaped_names_are_quoted_in_the_form_that_ccc_builds_by_the_thousand(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(planner, "ANYWHERE_LIMIT", 0)
    monkeypatch.setattr(planner, "CLASSES_LIMIT", 1)
    monkeypatch.setattr("os.name", "posix")
    found = made(files=("k/[1].py", "l/!2].py"), kept=("k/b.py", "l/c.py"))
    assert found.entries == ("k/\\[1\\].py", "l/!2\\].py")


# --- the law, on paths alone ------------------------------------------------------------------

_name = st.sampled_from(["a", "b", "c", "a.js", "b.js", "x_pb2.py", "[d]", "!e"])
_path = st.lists(_name, min_size=1, max_size=4).map("/".join)


def regex_of(entry: str) -> re.Pattern[str]:
    """What an entry matches in ccc; of the grammar only what entries are written in."""
    text = entry.removeprefix("**/").removesuffix("/**").removeprefix("*")
    body = re.sub(
        r"\[(.)\]|\{(!)\}|\\(.)|(.)",
        lambda one: re.escape("".join(filter(None, one.groups()))),
        text,
    )
    start = "(?:.*/)?" if entry.startswith("**/") else ""
    start += ".*" if entry.startswith("**/*") else ""
    return re.compile(start + body + ("/.*" if entry.endswith("/**") else ""))


@given(
    kept=st.sets(_path, max_size=12),
    ignored=st.sets(_path, max_size=12),
    directories=st.sets(_path, max_size=4),
    limit=st.sampled_from([0, 2, 500]),
)
def test_every_ignored_path_is_matched_and_no_kept_one(
    kept: set[str], ignored: set[str], directories: set[str], limit: int
) -> None:
    directories = {
        path for path in directories if not any(one.startswith(path + "/") for one in kept)
    } - kept
    below = {f"{path}/{name}" for path in directories for name in ("f", "g/h")}
    parents = {one[:at] for one in kept for at, char in enumerate(one) if char == "/"}
    files = ignored - kept - parents
    before = planner.ANYWHERE_LIMIT
    planner.ANYWHERE_LIMIT = limit
    try:
        entries = made(tuple(directories), tuple(files), tuple(kept)).entries
    finally:
        planner.ANYWHERE_LIMIT = before
    regexes = [regex_of(entry) for entry in entries]
    for path in files | below:
        assert any(regex.fullmatch(path) for regex in regexes), path
    for path in kept | parents:
        assert not any(regex.fullmatch(path) for regex in regexes), path

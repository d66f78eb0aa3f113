"""What is read from settings.yml, and what is refused."""

from __future__ import annotations

import pytest

from vera_ccc_tools.errors import Failure
from vera_ccc_tools.sync.settings import DEFAULT_EXCLUDES, DEFAULT_INCLUDES, decode, read
from vera_ccc_tools.sync.settings_edit import Origin, edit

REFUSED = {
    "a list that is a mapping": ("a: 1\nexclude_patterns: {b: 1}\n", 2),
    "a list that is a string": ("exclude_patterns: 'b'\n", 1),
    "a number in the list": ("exclude_patterns:\n  - a\n  - 12\n", 3),
    "a YAML 1.1 boolean in the list": ("exclude_patterns:\n  - a\n  - on\n", 3),
    "a YAML 1.1 time in the list": ("exclude_patterns: [a,\n  12:30:00]\n", 2),
    "nothing in the list": ("exclude_patterns:\n  -\n", 2),
    "a list in the list": ("exclude_patterns:\n  - [a]\n", 2),
    "the key twice": ("exclude_patterns: []\nb: 1\nexclude_patterns: []\n", 3),
    "an alias as the list": ("b: &x [a]\nexclude_patterns: *x\n", 2),
    "a list that an alias names": ("exclude_patterns: &x [a]\nb: *x\n", 1),
    "an alias in the list": ("b: &x foo\nexclude_patterns: [*x]\n", 2),
    "an anchor in the list": ("exclude_patterns:\n- &x foo\n", 2),
    "a list from a merge key": ("b: &x {exclude_patterns: [a]}\n<<: *x\n", 2),
    "a list at the top": ("- a\n", 1),
    "a word at the top": ("\n\nword\n", 3),
    "another tag": ("exclude_patterns: !!set {a}\n", 1),
}
BROKEN = {
    "an open bracket": ("a: 1\nexclude_patterns: [a\nb: 1\n", 3),
    "a tab": ("a:\n\t- b\n", 2),
    "two documents": ("a: 1\n---\nb: 1\n", 2),
    "an alias that names nothing": ("a: 1\nb: *c\n", 2),
    "a control character": ("a: 1\nb: \x01\n", 2),
}


@pytest.mark.parametrize(("text", "line"), REFUSED.values(), ids=REFUSED)
def test_a_list_that_cannot_be_edited_is_refused_with_its_line(text: str, line: int) -> None:
    with pytest.raises(Failure) as caught:
        read(text)
    assert caught.value.code == "settings_refused"
    assert f"line {line}:" in caught.value.message


@pytest.mark.parametrize(("text", "line"), BROKEN.values(), ids=BROKEN)
def test_broken_yaml_is_refused_with_its_line(text: str, line: int) -> None:
    with pytest.raises(Failure) as caught:
        read(text)
    assert caught.value.code == "settings_broken"
    assert f"line {line}:" in caught.value.message


def test_aliases_that_stand_for_very_much_are_never_expanded() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 30)]
    text = "\n".join(lines) + "\n"
    assert edit(read(text), {}, ("b",), Origin()).text.startswith(text)


def test_bytes_that_are_not_utf_8_are_refused_with_their_line() -> None:
    with pytest.raises(Failure) as caught:
        decode(b"a: 1\nb: \xff\n")
    assert "line 2:" in caught.value.message


@pytest.mark.parametrize("text", ["", "# a comment\n", "---\n", "a: 1\n", "{}", "\ufeff"])
def test_a_missing_key_means_the_defaults(text: str) -> None:
    found = read(text)
    assert found.key is None
    assert found.excludes == DEFAULT_EXCLUDES
    assert found.includes == DEFAULT_INCLUDES


@pytest.mark.parametrize("value", ["null", "~", "", "Null", "!!null ''", "# nothing"])
def test_null_excludes_nothing(value: str) -> None:
    found = read(f"exclude_patterns: {value}\nb: 1\n")
    assert (found.items, found.excludes) == ([], ())


def test_items_may_be_quoted_and_tagged_strings() -> None:
    found = read("exclude_patterns: [foo, !!str 12, 'y', \"\\u00e9\", on\n off]\n")
    assert found.excludes == ("foo", "12", "y", "é", "on off")


@pytest.mark.parametrize(
    ("text", "includes"),
    [
        ("include_patterns: null\n", None),
        ("include_patterns: 12\n", None),
        ("include_patterns: [1]\n", None),
        ("<<: {include_patterns: [a]}\nexclude_patterns: []\n", None),
        ("include_patterns: []\n", ()),
        ("include_patterns: [a]\ninclude_patterns: [b]\n", ("b",)),
        ("x: &x [a]\ninclude_patterns: *x\n", ("a",)),
    ],
)
def test_the_include_patterns_are_read_as_ccc_reads_them(
    text: str, includes: tuple[str, ...] | None
) -> None:
    assert read(text).includes == includes


def test_a_merge_beside_the_list_is_no_obstacle() -> None:
    assert read("b: &x {exclude_patterns: [a]}\n<<: *x\nexclude_patterns: [b]\n").excludes == ("b",)

"""The names of languages."""

from __future__ import annotations

import hypothesis.strategies as st
import pytest
from hypothesis import given

from vera_ccc_tools.ccc import languages
from vera_ccc_tools.errors import InvalidArgument


@pytest.mark.parametrize(
    ("given_names", "expected"),
    [
        (("py",), ("python",)),
        (("Python",), ("python",)),
        ((" PYTHON ",), ("python",)),
        (("ts",), ("typescript",)),
        (("JS",), ("javascript",)),
        (("c++",), ("cpp",)),
        (("C#",), ("csharp",)),
        (("golang", "go"), ("go",)),
        (("shell",), ("bash", "sh")),
        (("sh", "bash"), ("bash", "sh")),
        (("rust", "py", "rs"), ("rust", "python")),
        (("Klingon",), ("klingon",)),
        ((), ()),
    ],
)
def test_case_and_aliases_do_not_matter(
    given_names: tuple[str, ...], expected: tuple[str, ...]
) -> None:
    assert languages.canonical(given_names) == expected


@given(st.lists(st.sampled_from([*languages.ALIASES, *languages.KNOWN])).map(tuple))
def test_canonical_names_are_known_each_once_and_stay_as_they_are(names: tuple[str, ...]) -> None:
    once = languages.canonical(names)
    assert set(once) <= languages.KNOWN
    assert len(set(once)) == len(once)
    assert set(languages.canonical(once)) == set(once)


@pytest.mark.parametrize(
    ("names", "named"), [(("klingon",), "klingon"), (("python", "klingon"), "klingon")]
)
def test_an_unknown_language_is_named_with_the_ones_there_are(
    names: tuple[str, ...], named: str
) -> None:
    with pytest.raises(InvalidArgument) as caught:
        languages.check(names, ("python", "rust"))
    assert f"'{named}' is no language of this index" in caught.value.message
    assert "python, rust" in caught.value.message
    assert "'python'" not in caught.value.message


def test_a_known_language_that_the_index_does_not_hold_is_refused_as_well() -> None:
    with pytest.raises(InvalidArgument, match="'go', 'zig' are no languages"):
        languages.check(("go", "zig"), ("python",))
    with pytest.raises(InvalidArgument, match="nothing yet"):
        languages.check(("go",), ())


def test_languages_of_the_index_and_known_ones_beside_them_pass() -> None:
    languages.check(("python", "go"), ("python", "rust"))
    languages.check(("mylang",), ("mylang",))

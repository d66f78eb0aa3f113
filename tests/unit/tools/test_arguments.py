"""The arguments of a tool call: typed values, or one sentence that says what is allowed."""

from __future__ import annotations

from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import given

from vera_ccc_tools.errors import InvalidArgument, shorten
from vera_ccc_tools.tools.arguments import IndexArguments, InitArguments, SearchArguments, read
from vera_ccc_tools.tools.table import TOOLS

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
SHAPES = {tool.name: tool.arguments for tool in TOOLS}


def test_what_is_left_out_or_null_has_its_default() -> None:
    assert read(SearchArguments, {"query": "x"}) == SearchArguments("x")
    nulls = dict.fromkeys(["limit", "offset", "languages", "path", "refresh_index"])
    assert read(SearchArguments, {"query": "x", **nulls}) == SearchArguments("x")
    assert read(InitArguments, {}) == InitArguments()


def test_what_is_given_is_taken() -> None:
    given_values: dict[str, Any] = {
        "query": " --help\n日本 ",
        "limit": 100,
        "offset": 7.0,
        "languages": ["py", "C++"],
        "path": "src",
        "refresh_index": False,
    }
    assert read(SearchArguments, given_values) == SearchArguments(
        " --help\n日本 ",
        100,
        7,
        ("py", "C++"),
        "src",
        False,  # noqa: FBT003
    )
    assert read(SearchArguments, {"query": "x", "languages": "py"}).languages == ("py",)


def test_numbers_and_booleans_that_come_as_texts_are_taken_and_so_is_a_number_as_a_text() -> None:
    given_values = {"query": 404, "limit": "7", "offset": " 3 ", "refresh_index": "False"}
    assert read(SearchArguments, given_values) == SearchArguments(
        "404", limit=7, offset=3, refresh_index=False
    )


@pytest.mark.parametrize(
    ("given_values", "says"),
    [
        ({}, "`query` is missing."),
        ({"query": None}, "`query` is None; it has to be a text."),
        ({"query": [5]}, "`query` is [5]; it has to be a text."),
        ({"query": ["x"]}, "`query` is ['x']; it has to be a text."),
        ({"query": ""}, "`query` is empty."),
        ({"query": " \n"}, "`query` is empty."),
        ({"query": "a\0b"}, r"`query` is 'a\x00b'; it has to be a text without NUL"),
        ({"query": "\ud800"}, r"`query` is '\ud800'; it has to be a text without"),
        ({"query": "x" * 3_000_000}, "`query` has 3,000,000 characters ('xxx"),
        ({"query": "x", "limit": 0}, "`limit` is 0; it has to be a whole number from 1 to 100."),
        ({"query": "x", "limit": 101}, "`limit` is 101;"),
        ({"query": "x", "limit": -1}, "`limit` is -1;"),
        ({"query": "x", "limit": 10**30}, "`limit` is 1000000000"),
        ({"query": "x", "limit": 1e300}, "`limit` is 1000000000"),
        ({"query": "x", "limit": 2.5}, "`limit` is 2.5;"),
        ({"query": "x", "limit": float("nan")}, "`limit` is nan;"),
        ({"query": "x", "limit": float("inf")}, "`limit` is inf;"),
        ({"query": "x", "limit": "5.5"}, "`limit` is '5.5';"),
        ({"query": "x", "limit": True}, "`limit` is True;"),
        ({"query": "x", "offset": -1}, "`offset` is -1;"),
        ({"query": "x", "languages": {}}, "`languages` is {}; it has to be a list"),
        ({"query": "x", "languages": ["py", 3]}, "`languages` is 3; it has to be a list of short"),
        ({"query": "x", "languages": [""]}, "`languages` is '';"),
        ({"query": "x", "languages": ["\0"]}, r"`languages` is '\x00';"),
        ({"query": "x", "languages": ["\ud800"]}, r"`languages` is '\ud800';"),
        ({"query": "x", "languages": ["x"] * 51}, "`languages` is ['x',"),
        ({"query": "x", "path": ""}, "`path` is empty."),
        ({"query": "x", "path": True}, "`path` is True;"),
        ({"query": "x", "refresh_index": "yes"}, "`refresh_index` is 'yes'; it has to be true"),
        ({"query": "x", "refresh_index": 1}, "`refresh_index` is 1; it has to be true or false."),
        ({"query": "x", "limits": 5}, "There is no argument 'limits'."),
        ({"query": "x", "\x1b[31m": 5}, r"There is no argument '\x1b[31m'."),
    ],
)
def test_a_wrong_argument_is_named_with_its_value_and_what_is_allowed(
    given_values: dict[str, Any], says: str
) -> None:
    with pytest.raises(InvalidArgument) as caught:
        read(SearchArguments, given_values)
    assert caught.value.message.startswith(says)
    assert len(str(caught.value)) < 400
    assert caught.value.code == "invalid_argument"


def test_an_unknown_argument_is_answered_with_the_known_ones() -> None:
    with pytest.raises(InvalidArgument) as caught:
        read(IndexArguments, {"backgruond": True})
    assert caught.value.step == "The arguments are: background."


@given(
    st.sampled_from(list(SHAPES)),
    st.dictionaries(
        st.one_of(
            st.sampled_from(
                "query limit offset languages path refresh_index background force "
                "litellm_model verbose".split()
            ),
            st.text(max_size=5),
        ),
        JSON,
    ),
)
def test_any_object_gives_arguments_or_an_invalid_argument(
    name: str, given_values: dict[str, Any]
) -> None:
    failure = None
    try:
        read(SHAPES[name], given_values)
    except InvalidArgument as error:
        failure = error
    if failure is not None:
        assert len(str(failure)) < 500
        assert "\n" not in failure.message
        failure.message.encode()


@given(JSON, st.integers(10, 200))
def test_a_shortened_value_is_short_and_on_one_line(value: object, limit: int) -> None:
    text = shorten(value, limit)
    assert len(text) <= limit
    assert len(text.splitlines()) == 1
    if len(repr(value)) <= limit:
        assert text == repr(value)

"""Which words a question is searched by, however it looks."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vera_ccc_tools.words import terms
from vera_ccc_tools.words.terms import Terms


def found(query: str, text: str) -> list[str]:
    return re.findall(Terms.of(query).pattern(), text, re.IGNORECASE)


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("how is a request parsed", "Parser"),
        ("createOptions", "create_options"),
        ("create_options", "CreateOptions"),
        ("Rack::Builder", "class Builder"),
        ("压缩响应", "# 压缩响应"),
        ("größe", "die größe"),
    ],
)
def test_a_word_is_found_in_each_of_its_forms(query: str, text: str) -> None:
    assert found(query, text)


def test_words_that_every_question_has_are_left_out() -> None:
    assert Terms.of("where is it used and how").typed == {}


def test_a_short_word_counts_only_where_there_is_no_longer_one() -> None:
    assert set(Terms.of("db session").typed) == {"sess"}
    assert set(Terms.of("db").typed) == {"db"}


def test_the_longest_words_of_a_long_question_are_taken() -> None:
    query = " ".join(f"word{chr(97 + at)}{'x' * at}" for at in range(26))
    taken = Terms.of(f"{query} " * 9).typed
    assert len(taken) == terms.MOST
    assert f"wordz{'x' * 25}" in taken


@given(st.text(max_size=200))
def test_any_question_makes_a_pattern_and_each_match_holds_a_term(query: str) -> None:
    wanted = Terms.of(query)
    for match in re.findall(wanted.pattern(), query, re.IGNORECASE) if wanted.typed else ():
        assert wanted.within(match)


# --- typing errors -------------------------------------------------------------------------------


@given(
    st.text("abcdefgh", min_size=5, max_size=12),
    st.integers(1, 20),
    st.sampled_from(("more", "less", "other", "swapped")),
)
def test_one_error_within_a_word_is_near_it(word: str, at: int, error: str) -> None:
    at = 1 + at % (len(word) - 3)
    typed = {
        "more": word[:at] + "x" + word[at:],
        "less": word[:at] + word[at + 1 :],
        "other": word[:at] + "x" + word[at + 1 :],
        "swapped": word[:at] + word[at + 1] + word[at] + word[at + 2 :],
    }[error]
    assert re.search(terms.near([typed]), word)


def test_only_a_question_of_which_little_is_found_may_be_mistyped() -> None:
    wanted = Terms.of("quantizaton of wieghts")
    assert wanted.mistyped(()) == {"quantizaton": "quantizaton", "wieght": "wieghts"}
    assert wanted.mistyped(set(wanted.typed)) == {}
    assert Terms.of("three words here").mistyped({"three", "word"}) == {}


def test_a_mistyped_word_is_read_as_what_the_files_have() -> None:
    wanted = Terms.of("quantizaton")
    corrected = wanted.corrected(wanted.mistyped(()), ["quantization", "quantities"])
    assert "quantizaton" not in corrected.typed
    assert corrected.within("Quantization")

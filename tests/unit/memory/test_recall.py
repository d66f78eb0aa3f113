"""The hybrid ranking of decisions gives the contract's values."""

from __future__ import annotations

import hypothesis.strategies as st
import pytest
from hypothesis import given

from vera_ccc_tools.memory import recall
from vera_ccc_tools.memory.decisions import Decision, decision_id
from vera_ccc_tools.memory.recall import Recalled

HASHED = "Passwords are hashed only in auth.hash_password (SHA-256 + salt); never hash inline."


def decision(text: str, *tags: str, area: str | None = None) -> Decision:
    return Decision(decision_id(text), text, tags, area)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (b"", 0xCBF29CE484222325),
        (b"a", 0xAF63DC4C8601EC8C),
        (b"foobar", 0x85944171F73967E8),
    ],
)
def test_the_hash_is_fnv_1a_of_64_bits(text: bytes, expected: int) -> None:
    assert recall.fnv1a(text) == expected


def test_the_contracts_example_of_bm25() -> None:
    """The contract worked it out by hand, to 0.0001."""
    documents = {"1": [b"user", b"login", b"user"], "2": [b"payment", b"process"]}
    assert recall.bm25([b"user", b"user"], documents) == {"1": pytest.approx(0.902273, abs=1e-4)}


def test_the_contracts_example_of_a_recall() -> None:
    known = decision(HASHED, "security", "auth", area="auth")
    found = recall.recall("how are passwords hashed", [known], 5)
    assert found == (Recalled(0.851650, known),)


def test_words_are_letters_digits_and_underscores_of_ascii_in_lower_case() -> None:
    assert recall.tokens("Größe of HTTP_2-frames".encode().lower()) == [
        b"gr", b"e", b"of", b"http_2", b"frames",
    ]  # fmt: skip


def test_what_shares_no_word_is_not_recalled_however_it_scores() -> None:
    near = decision("hashing of passwords")
    assert recall.recall("hash", [near], 5) == ()
    assert recall.recall("hashing", [near], 5)


def test_tags_and_area_count_as_words_of_the_decision() -> None:
    known = decision("use the second replica", "database", area="storage")
    for query in ("which database", "storage"):
        assert [each.decision for each in recall.recall(query, [known], 5)] == [known]


def test_the_cut_comes_after_the_filter() -> None:
    """Decisions that a vector puts first, but which share no word, take nobody's place."""
    same_place = recall._place(b"walnut")
    twin = next(
        word for n in range(100_000) if recall._place((word := f"walnut{n}").encode()) == same_place
    )
    twins = [Decision(f"twin {n}", twin) for n in range(100)]
    others = "decided on an evening in the small house beside this long river long before anything"
    wanted = [Decision(f"wanted {n}", f"walnut {n} {others}") for n in range(100)]
    found = recall.recall("walnut", [*twins, *wanted], 100)
    assert {each.decision for each in found} == set(wanted)


def test_a_query_for_code_gives_words_more_weight() -> None:
    for query in (
        "which function", "a Class", "the method", "def", "auth.py", "where is it", "main.rs now",
        "find the right function", "it is defined",
    ):  # fmt: skip
        assert recall._ASKS_FOR_CODE.search(query.lower().encode()), query
    for query in ("functional tests", "classes", "default", "notes.md", "a.pyc", "whereabouts"):
        assert not recall._ASKS_FOR_CODE.search(query.lower().encode()), query
    near, relevant = {"a": 0.9, "b": 0.1}, {"a": 1.0}
    assert recall._fused(near, relevant, 1.5) == {"a": 1 / 60 + 1.5 / 60, "b": 1 / 61}


def test_equal_scores_are_ordered_by_id() -> None:
    same = [Decision(each, "the same words", (), None) for each in ("c", "a", "b")]
    found = recall.recall("same words", same, 5)
    assert [each.decision.id for each in found] == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("amount", "expected"), [(0.1234565, 0.123457), (-0.1234565, -0.123457), (0.5, 0.5), (0.0, 0.0)]
)
def test_halves_are_rounded_away_from_zero(amount: float, expected: float) -> None:
    assert recall._six(amount) == expected


@pytest.mark.parametrize("query", ["", "…", "日本語"])
def test_a_query_without_words_recalls_nothing(query: str) -> None:
    assert recall.recall(query, [decision("日本語 and words")], 5) == ()


@given(
    st.lists(st.text(st.sampled_from("ab cé.\ud800"), max_size=12), max_size=8, unique=True),
    st.text(st.sampled_from("ab cé.\ud800"), max_size=12),
    st.integers(-2, 9),
)
def test_what_is_recalled_is_sure_shares_a_word_and_comes_in_order(
    texts: list[str], query: str, top_k: int
) -> None:
    known = {decision_id(text): decision(text) for text in texts}
    found = recall.recall(query, list(known.values()), top_k)
    assert len(found) <= max(0, top_k)
    assert list(found) == sorted(found, key=lambda each: (-each.score, each.decision.id))
    asked = set(recall.tokens(query.encode("utf-8", "replace")))
    for each in found:
        assert 0.30 <= each.score <= 1.0
        assert asked & set(recall.tokens(each.decision.text.encode("utf-8", "replace")))

"""The levels of terseness, and what is said and written of them."""

from __future__ import annotations

import pytest

from vera_ccc_tools.errors import InvalidArgument
from vera_ccc_tools.setup import terseness

STANDARD = (
    "Answer in the fewest words that are correct; when editing code show ONLY the changed lines "
    "(a minimal diff), never reprint whole files; no preamble or postamble."
)


def test_the_levels_go_from_off_to_max() -> None:
    assert terseness.LEVELS == ("off", "lite", "standard", "max")
    assert terseness.DEFAULT == "standard"


@pytest.mark.parametrize("level", ["off", "lite", "standard", "max"])
def test_the_answer_names_the_level(level: str) -> None:
    assert terseness.answer(level) == (
        f"Output compression is now `{level}` for this session (in-memory; CLAUDE.md unchanged)."
    )


def test_the_standard_rules_are_the_contracts() -> None:
    assert terseness.rules("standard") == f"### Output compression\n\n{STANDARD}\n"


def test_each_level_asks_for_more_than_the_one_before() -> None:
    assert terseness.rules("off") == ""
    lengths = [len(terseness.rules(level)) for level in terseness.LEVELS]
    assert lengths == sorted(set(lengths))
    assert STANDARD in terseness.rules("max")


@pytest.mark.parametrize("call", [terseness.answer, terseness.rules])
def test_an_unknown_level_is_refused_with_those_there_are(call: object) -> None:
    assert callable(call)
    with pytest.raises(InvalidArgument, match=r"`level` is 'loud'.*`off`, `lite`, `standard`"):
        call("loud")

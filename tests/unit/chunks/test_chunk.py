"""Ids and tokens: the values of the reference engine."""

from __future__ import annotations

import pytest

from vera_ccc_tools.chunks.chunk import MODULE, Chunk


@pytest.mark.parametrize(
    ("path", "start", "end", "content", "chunk_id"),
    [
        ("auth.py", 1, 2, "def hash_password(pw):\n    return pw + 'salt'", "039f8bd5b80a698e"),
        (
            "payments.py",
            3,
            4,
            "def process_payment(amount):\n    return amount",
            "61707be0deb092a1",
        ),
        (
            "notes.md",
            1,
            3,
            "# Notes\nFixture for the module-fallback path.\n",
            "43bceef453598295",
        ),
    ],
)
def test_an_id_is_a_hash_of_the_place_and_of_how_the_content_begins(
    path: str, start: int, end: int, content: str, chunk_id: str
) -> None:
    assert Chunk(path, start, end, MODULE, MODULE, content).id == chunk_id


def test_only_the_first_hundred_bytes_of_the_content_count_for_the_id() -> None:
    same, other = ("é" * 50 + tail for tail in ("x", "y"))
    assert Chunk("a", 1, 1, MODULE, "", same).id == Chunk("a", 1, 1, MODULE, "", other).id
    assert Chunk("a", 1, 1, MODULE, "", "é").id != Chunk("a", 1, 1, MODULE, "", "e").id


def test_a_token_is_four_bytes_and_nothing_is_less_than_one() -> None:
    note = "# Notes\nFixture for the module-fallback path.\n"
    tokens = [Chunk("n", 1, 3, MODULE, MODULE, text).tokens for text in (note, "", "é" * 4)]
    assert tokens == [11, 1, 2]

"""The digest of a session is the contract's, and says the same of the same calls."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from vera_ccc_tools.errors import InvalidArgument
from vera_ccc_tools.mcp_server.ledger import Ledger

EMPTY = "CCE session digest\n(nothing recorded this session yet)"
HASHED = "Passwords are hashed only in auth.hash_password (SHA-256 + salt); never hash inline."


def example() -> Ledger:
    ledger = Ledger()
    ledger.query("where is the password hashed")
    ledger.touch(["payments.py", "auth.py"], ["ae61011b82d7a777", "04578fe98cec59bd"])
    ledger.touch(chunks=["873decd4dc46ba36"])
    ledger.decision("46f3ebd005279048", HASHED)
    return ledger


def test_the_contracts_example() -> None:
    assert example().digest() == (
        "CCE session digest\n"
        "files (2):\n- auth.py\n- payments.py\n"
        "chunks (3):\n- 04578fe98cec59bd\n- 873decd4dc46ba36\n- ae61011b82d7a777\n"
        "queries (1):\n- where is the password hashed\n"
        "decisions (1):\n"
        "- #46f3ebd005279048 Passwords are hashed only in auth.hash_password (SHA-256 + s…"
    )


def test_a_scope_shows_its_sections_alone() -> None:
    head = "CCE session digest\n"
    assert example().digest("files").startswith(f"{head}files (2):\n- auth.py\n- payments.py\nchun")
    assert example().digest("files").endswith("- ae61011b82d7a777")
    assert example().digest("queries") == f"{head}queries (1):\n- where is the password hashed"
    assert example().digest("decisions").startswith(f"{head}decisions (1):\n- #46f3ebd005279048 P")


@pytest.mark.parametrize("scope", ["all", "files", "queries", "decisions"])
def test_an_empty_session_says_so_in_every_scope(scope: str) -> None:
    assert Ledger().digest(scope) == EMPTY


def test_an_empty_section_is_counted_where_another_is_not_empty() -> None:
    ledger = Ledger()
    ledger.query("one")
    assert ledger.digest("decisions") == "CCE session digest\ndecisions (0):"


def test_a_secret_in_a_query_is_not_handed_on() -> None:
    ledger = Ledger()
    ledger.query("who reads\n password = hunter2hunter2")
    assert ledger.digest("queries").endswith("\n- who reads password = [REDACTED:SECRET]")


def test_queries_and_decisions_are_told_once_the_first_seen_first() -> None:
    ledger = Ledger()
    for query in ("zebra", "apple", "zebra"):
        ledger.query(query)
    for found, text in (("b", "later words"), ("a", "other words"), ("b", "changed")):
        ledger.decision(found, text)
    assert ledger.digest().endswith(
        "queries (2):\n- zebra\n- apple\ndecisions (2):\n- #b later words\n- #a other words"
    )


def test_twenty_items_of_a_kind_are_shown_and_the_others_counted() -> None:
    ledger = Ledger()
    ledger.touch(f"f{n:02}.py" for n in range(20))
    assert "more" not in ledger.digest()
    ledger.touch(["f99.py", "f98.py", "f97.py"])
    assert "files (23):\n- f00.py\n" in ledger.digest()
    assert "- f19.py\n… (+3 more)\nchunks (0):" in ledger.digest()


@pytest.mark.parametrize(
    ("text", "label"),
    [("é" * 60, "é" * 60), ("é" * 61, "é" * 60 + "…"), (" two \n\t lines ", "two lines")],
)
def test_a_label_is_one_line_of_sixty_characters(text: str, label: str) -> None:
    ledger = Ledger()
    ledger.decision("id", text)
    ledger.query(text)
    assert ledger.digest("decisions").endswith(f"\n- #id {label}")
    assert ledger.digest("queries").endswith(f"\n- {label}")


def test_queries_that_differ_behind_their_labels_are_two() -> None:
    ledger = Ledger()
    ledger.query(f"{'long ' * 20} one")
    ledger.query(f"{'long ' * 20} two")
    assert "queries (2):" in ledger.digest()


def test_an_unknown_scope_is_refused_with_those_there_are() -> None:
    with pytest.raises(InvalidArgument, match=r"`scope` is 'chunks'.*`all`, `files`, `queries`"):
        Ledger().digest("chunks")


def test_calls_at_once_are_all_there() -> None:
    ledger = Ledger()
    with ThreadPoolExecutor(8) as pool:
        for n in range(400):
            pool.submit(ledger.touch, [f"{n}"], [f"{n}"])
            pool.submit(ledger.digest)
            pool.submit(ledger.query, f"{n}")
    assert "files (400):" in ledger.digest()
    assert "queries (400):" in ledger.digest()

"""``ccc_search`` in our order and in ccc's, page by page."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from helpers import run_git, write_file
from vera_ccc_tools.ccc.client import Query
from vera_ccc_tools.system.call import Call
from vera_ccc_tools.tools import table
from vera_ccc_tools.tools.session import Session

FILES = 70
QUERY = "read the settings of a module"


def source(number: int) -> str:
    """A module of several chunks, the same words in another mixture in each."""
    functions = (
        f"def read_{number}_{n}(settings):\n"
        + "".join(f"    value_{line} = settings[{number + n * line}]\n" for line in range(25))
        + "    return settings\n\n\n"
        for n in range(3)
    )
    return f'"""Module {number}."""\n\n\n' + "".join(functions)


@pytest.fixture(scope="module")
def session_in(
    ccc_home: dict[str, str], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Session, Path]]:
    """A session in an indexed project of some two hundred chunks."""
    root = tmp_path_factory.mktemp("search") / "p"
    root.mkdir()
    run_git(root, "init", "-q")
    for number in range(FILES):
        write_file(root / ("even" if number % 2 == 0 else "odd") / f"m{number}.py", source(number))
    write_file(root / "notes.md", "# Notes\n\nHow to read the settings of a module.\n")
    session = Session(ccc_home)
    indexed = table.call_tool(session, "ccc_index", {}, Call(root))
    assert not indexed["isError"], indexed
    yield session, root
    session.close()


def found(place: tuple[Session, Path], **arguments: Any) -> dict[str, Any]:
    session, root = place
    result = table.call_tool(session, "ccc_search", {"query": QUERY, **arguments}, Call(root))
    assert not result["isError"], result
    return dict(result["details"])


def places(details: dict[str, Any]) -> list[tuple[str, int, int]]:
    results = details["results"]
    return [(row["file_path"], row["start_line"], row["end_line"]) for row in results]


def rows(place: tuple[Session, Path], **arguments: Any) -> list[tuple[str, int, int]]:
    return places(found(place, **arguments))


def pages(place: tuple[Session, Path], **arguments: Any) -> list[tuple[str, int, int]]:
    """All results, page by page."""
    everything: list[tuple[str, int, int]] = []
    offset = 0
    while offset is not None:
        page = found(place, limit=37, offset=offset, **arguments)
        everything += places(page)
        offset = page["next_offset"]
    return everything


def own_order(place: tuple[Session, Path], cover: str | None = None) -> list[tuple[str, int, int]]:
    session, root = place
    hits = session.ccc().search(root, Query(QUERY, 1000, path_glob=cover)).hits
    return [(hit.file_path, hit.start_line, hit.end_line) for hit in hits]


def lines(shown: list[tuple[str, int, int]]) -> set[tuple[str, int]]:
    return {(path, line) for path, first, last in shown for line in range(first, last + 1)}


def test_the_pages_of_cccs_order_are_cccs_own(session_in: tuple[Session, Path]) -> None:
    own = own_order(session_in)
    assert len(own) > 150
    assert pages(session_in, rank="ccc") == own


@pytest.mark.parametrize("path", [None, "even", "ev*", "**/m*.py", "{even,odd}/m[0-4]*"])
def test_the_pages_of_our_order_hold_every_line_once(
    path: str | None, session_in: tuple[Session, Path]
) -> None:
    chosen = {} if path is None else {"path": path}
    everything = pages(session_in, **chosen)
    assert len(set(everything)) == len(everything)
    own = pages(session_in, rank="ccc", **chosen)
    # Blank lines between two chunks may be left out.
    missing = lines(own) - lines(everything)
    texts = {name: (session_in[1] / name).read_text("utf-8").split("\n") for name, _ in missing}
    assert not [each for each in missing if texts[each[0]][each[1] - 1].strip()]


def test_at_most_three_results_of_a_file_are_on_the_first_page(
    session_in: tuple[Session, Path],
) -> None:
    files = [path for path, _, _ in rows(session_in, limit=20)]
    assert max(files.count(each) for each in files) <= 3


def test_the_lines_shown_are_those_of_the_file(session_in: tuple[Session, Path]) -> None:
    session, root = session_in
    result = table.call_tool(session, "ccc_search", {"query": QUERY, "limit": 10}, Call(root))
    text = result["content"][0]["text"]
    for row in result["details"]["results"]:
        of_file = (root / row["file_path"]).read_text("utf-8").split("\n")
        wanted = "\n".join(of_file[row["start_line"] - 1 : row["end_line"]]).rstrip()
        assert wanted in text


def test_an_unknown_language_is_told_beside_a_known_one(session_in: tuple[Session, Path]) -> None:
    session, root = session_in
    given = {"query": QUERY, "languages": ["python", "klingon"]}
    result = table.call_tool(session, "ccc_search", given, Call(root))
    assert result["isError"]
    assert "klingon" in result["content"][0]["text"]
    assert "markdown" in result["content"][0]["text"]


def test_a_page_far_behind_the_last_result_is_empty(session_in: tuple[Session, Path]) -> None:
    assert rows(session_in, offset=100_000) == []
    assert rows(session_in, offset=100_000, path="ev*") == []

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from vera_ccc_tools.ccc.client import Hit
from vera_ccc_tools.ranking import results as merging

FILE = [f"{'    ' * (number % 3)}line {number}" if number % 7 else "" for number in range(1, 121)]


def chunk(first: int, last: int, path: str = "a.py", score: float = 0.5) -> Hit:
    return Hit(path, "python", "\n".join(FILE[first - 1 : last]), first, last, score)


def spans(hits: tuple[Hit, ...]) -> list[tuple[str, int, int]]:
    return [(hit.file_path, hit.start_line, hit.end_line) for hit in hits]


@st.composite
def a_chunk(draw: st.DrawFn) -> Hit:
    first = draw(st.integers(1, 100))
    last = first + draw(st.integers(0, 20))
    return chunk(first, last, draw(st.sampled_from("abc")) + ".py", draw(st.floats(0, 1)))


chunks = st.lists(a_chunk(), max_size=20)


def lines_of(hits: tuple[Hit, ...] | list[Hit]) -> Counter[tuple[str, int]]:
    return Counter(
        (hit.file_path, number)
        for hit in hits
        for number in range(hit.start_line, hit.end_line + 1)
        if FILE[number - 1]
    )


# --- neighbours ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("first", "second", "joint"),
    [
        ((1, 10), (8, 20), [(1, 20)]),
        ((8, 20), (1, 10), [(1, 20)]),
        ((1, 10), (11, 20), [(1, 20)]),
        ((1, 20), (5, 9), [(1, 20)]),
        ((5, 9), (1, 20), [(1, 20)]),
        ((1, 10), (1, 10), [(1, 10)]),
        ((1, 10), (12, 20), [(1, 10), (12, 20)]),
    ],
)
def test_chunks_of_a_file_that_overlap_or_touch_become_one(
    first: tuple[int, int], second: tuple[int, int], joint: list[tuple[int, int]]
) -> None:
    merged = merging.arrange([chunk(*first), chunk(*second)]).hits
    assert [(hit.start_line, hit.end_line) for hit in merged] == joint


def test_the_joint_result_has_the_best_place_and_the_best_score() -> None:
    hits = [chunk(1, 5, score=0.8), chunk(1, 9, "b.py", 0.7), chunk(5, 9, score=0.9)]
    merged = merging.arrange(hits).hits
    assert spans(merged) == [("a.py", 1, 9), ("b.py", 1, 9)]
    assert merged[0].score == 0.9


def test_a_chunk_between_two_results_makes_one_of_the_three() -> None:
    merged = merging.arrange([chunk(21, 30), chunk(1, 10), chunk(11, 20)]).hits
    assert spans(merged) == [("a.py", 1, 30)]


def test_chunks_of_two_files_stay_apart() -> None:
    hits = [chunk(1, 10), chunk(5, 12, "b.py")]
    assert list(merging.arrange(hits).hits) == hits


@pytest.mark.parametrize(
    ("one", "other", "whole"),
    [
        ("    def f(a,", "def f(a, b):", "    def f(a, b):"),
        ("    def f(a, b):", "def f(a, b):", "    def f(a, b):"),
        ("def f(", "def f(a, b):", "def f(a, b):"),
        ("}", ";", "};"),
    ],
)
def test_a_line_that_was_cut_keeps_all_that_either_chunk_has(
    one: str, other: str, whole: str
) -> None:
    merged = merging.arrange(
        [Hit("a", "c", f"first\n{one}", 1, 2, 0.5), Hit("a", "c", f"{other}\nlast", 2, 3, 0.5)]
    ).hits
    assert merged[0].content == f"first\n{whole}\nlast"


def test_a_chunk_whose_lines_do_not_match_its_numbers_is_left_alone() -> None:
    hits = [chunk(1, 10), Hit("a.py", "python", "one line", 5, 20, 0.5)]
    assert list(merging.arrange(hits).hits) == hits


def touching(hits: tuple[Hit, ...]) -> list[tuple[Hit, Hit]]:
    return [
        (one, other)
        for at, one in enumerate(hits)
        for other in hits[:at]
        if one.file_path == other.file_path
        and one.start_line <= other.end_line + 1
        and other.start_line <= one.end_line + 1
    ]


# --- arrange -------------------------------------------------------------------------------------


def test_good_neighbours_become_one_result() -> None:
    results = merging.arrange([chunk(1, 20), chunk(1, 20, "b.py"), chunk(18, 40)])
    assert spans(results.hits) == [("a.py", 1, 40), ("b.py", 1, 20)]


def test_a_worse_neighbour_comes_later_with_the_lines_that_were_not_shown() -> None:
    others = [chunk(1, 5, f"{number}.py") for number in range(merging.JOINED_RANKS)]
    results = merging.arrange([chunk(1, 20), *others, chunk(18, 40)])
    assert spans(results.hits)[0] == ("a.py", 1, 20)
    assert spans(results.hits)[-1] == ("a.py", 21, 40)
    assert results.first == len(results.hits) - 1


def test_a_fourth_result_of_a_file_comes_behind_all_other_files() -> None:
    many = [chunk(first, first + 5) for first in (1, 21, 41, 61)]
    results = merging.arrange([*many, chunk(1, 5, "b.py")])
    assert spans(results.hits) == spans((*many[:3], chunk(1, 5, "b.py"), many[3]))
    assert results.first == 4


def test_a_named_path_is_not_limited() -> None:
    many = [chunk(first, first + 5) for first in (1, 21, 41, 61)]
    results = merging.arrange([*many, chunk(1, 5, "b.py")], per_file=None)
    assert spans(results.hits) == spans((*many, chunk(1, 5, "b.py")))


def test_results_do_not_grow_without_end() -> None:
    results = merging.arrange([chunk(first, first + 20) for first in range(1, 100, 20)])
    lengths = [hit.end_line - hit.start_line + 1 for hit in results.hits]
    assert max(lengths) <= merging.JOINED_LINES


@given(chunks, st.sampled_from([None, 1, 3]))
def test_arranging_keeps_every_line_once_and_verbatim(
    hits: list[Hit], per_file: int | None
) -> None:
    results = merging.arrange(hits, per_file=per_file).hits
    assert lines_of(results) == Counter(set(lines_of(hits)))
    for hit in results:
        assert hit.content.split("\n") == FILE[hit.start_line - 1 : hit.end_line]


@given(chunks, st.sampled_from([None, 1, 3]))
def test_the_first_results_neither_touch_nor_crowd(hits: list[Hit], per_file: int | None) -> None:
    results = merging.arrange(hits, per_file=per_file)
    first = results.hits[: results.first]
    assert not touching(first)
    if per_file is not None:
        assert max(Counter(hit.file_path for hit in first).values(), default=0) <= per_file


@given(chunks)
def test_the_best_chunk_is_in_the_first_result(hits: list[Hit]) -> None:
    assume(any(hit.content.strip() for hit in hits[:1]))
    first = merging.arrange(hits).hits[0]
    assert first.file_path == hits[0].file_path
    assert first.start_line <= hits[0].start_line
    assert hits[0].end_line <= first.end_line


@given(chunks)
def test_arranging_twice_gives_the_same(hits: list[Hit]) -> None:
    assert merging.arrange(hits) == merging.arrange(tuple(hits))


# --- restore -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "restored"),
    [
        ("def f(a,\n      b):", "    def f(a,\n          b):\n"),
        ("    def f(a,\n          b)", "    def f(a,\n          b):\n"),
        ("    def f(a,\n          b):", "    def f(a,\n          b):\n"),
    ],
)
def test_a_line_that_ccc_cut_is_given_back_whole(content: str, restored: str) -> None:
    text = "class A:\n    def f(a,\n          b):\n        pass\n"
    hit = merging.restore(Hit("a.py", "python", content, 2, 3, 0.5), text)
    assert f"{hit.content}\n" == restored


@pytest.mark.parametrize("text", ["", "class A:\n", "a\nsomething\nelse\nby now\n"])
def test_lines_that_the_file_no_longer_has_stay_as_they_were_found(text: str) -> None:
    hit = Hit("a.py", "python", "def f(a,\n      b):", 2, 3, 0.5)
    assert merging.restore(hit, text) == hit


def test_a_chunk_of_a_line_that_is_a_whole_file_stays_a_chunk() -> None:
    line = "let a=1;" * 10_000
    hit = Hit("min.js", "javascript", f"{line[800:1800]}\nlast", 1, 2, 0.5)
    assert (
        merging.restore(hit, f"{line}\n  last line\n").content == f"{line[800:1800]}\n  last line"
    )


@given(a_chunk(), st.integers(0, 3), st.integers(0, 3))
def test_restoring_a_cut_chunk_gives_the_files_lines(hit: Hit, head: int, tail: int) -> None:
    content = hit.content[head:]
    content = content[: len(content) - tail] if tail else content
    assume(content.count("\n") == hit.content.count("\n"))
    assert merging.restore(replace(hit, content=content), "\n".join(FILE)) == hit

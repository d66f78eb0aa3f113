"""From hits in our order to the units of an answer."""

from __future__ import annotations

from collections.abc import Mapping

from hypothesis import given
from hypothesis import strategies as st

from vera_ccc_tools.ccc.client import Hit
from vera_ccc_tools.mcp_server.tools import select as selection

SOURCE = "".join(f"def f{n}():\n    one = {n}\n    return one\n\n\n" for n in range(5))


def hit(path: str, function: int, score: float) -> Hit:
    """ccc's window over one function of a file of `SOURCE`."""
    content = "\n".join(SOURCE.split("\n")[5 * function : 5 * function + 3])
    return Hit(path, "python", content, 5 * function + 1, 5 * function + 3, score)


class Files:
    """Files that all hold `SOURCE`, and which of them were read."""

    def __init__(self) -> None:
        self.read: list[str] = []

    def __call__(self, path: str) -> bytes | None:
        self.read.append(path)
        return SOURCE.encode()


def select(
    hits: list[Hit], top_k: int, neighbours: Mapping[str, list[str]] | None = None
) -> list[tuple[str, int, float]]:
    around = None if neighbours is None else lambda path: neighbours.get(path, [])
    found = selection.select(hits, top_k, Files(), around)
    return [(each.chunk.path, each.chunk.start_line, each.score) for each in found]


def test_the_order_of_the_hits_is_the_order_of_the_units() -> None:
    hits = [hit("b.py", 2, 0.3), hit("a.py", 0, 0.9), hit("c.py", 1, 0.5)]
    assert select(hits, 8) == [("b.py", 11, 0.3), ("a.py", 1, 0.9), ("c.py", 6, 0.5)]


def test_a_unit_is_shown_once_with_the_best_score_wherever_that_stands() -> None:
    hits = [hit("a.py", 0, 0.3), hit("b.py", 0, 0.2), hit("c.py", 0, 0.1), hit("a.py", 0, 0.8)]
    assert select(hits, 2) == [("a.py", 1, 0.8), ("b.py", 1, 0.2)]


def test_a_fourth_unit_of_a_file_waits_behind_those_of_others() -> None:
    hits = [hit("a.py", n, 0.9) for n in range(5)] + [hit("b.py", 0, 0.1)]
    assert [path for path, *_ in select(hits, 5)] == ["a.py", "a.py", "a.py", "b.py", "a.py"]
    assert [line for _, line, _ in select(hits, 5)] == [1, 6, 11, 1, 16]


def test_only_the_files_of_the_answer_are_read() -> None:
    files = Files()
    hits = [hit(f"{n}.py", 0, 0.5) for n in range(100)]
    assert len(selection.select(hits, 8, files)) == 8
    assert set(files.read) == {f"{n}.py" for n in range(8)}


def test_a_neighbour_comes_in_for_what_scores_no_better_and_only_from_the_hits() -> None:
    hits = [hit(f"{n}.py", 0, 0.5) for n in range(8)]
    hits += [hit("far.py", 0, 0.5), hit("near.py", 3, 0.6), hit("near.py", 4, 0.7)]
    around = {"0.py": ["near.py", "unknown.py"]}
    found = select(hits, 8, around)
    assert found[:7] == select(hits, 8)[:7]
    assert found[7] == ("near.py", 16, 0.6)


def test_a_weaker_neighbour_stays_out() -> None:
    hits = [hit(f"{n}.py", 0, 0.5) for n in range(8)] + [hit("near.py", 0, 0.4)]
    assert select(hits, 8, {"0.py": ["near.py"]}) == select(hits, 8)


@given(
    st.lists(
        st.tuples(st.sampled_from("abcdef"), st.integers(0, 4), st.floats(-1, 1)), max_size=40
    ),
    st.integers(1, 12),
)
def test_a_smaller_answer_is_the_beginning_of_a_larger_one(
    rows: list[tuple[str, int, float]], top_k: int
) -> None:
    hits = [hit(f"{name}.py", function, score) for name, function, score in rows]
    larger, smaller = select(hits, 100), select(hits, top_k)
    assert smaller == larger[:top_k]
    assert len({each[:2] for each in larger}) == len(larger)
    units = {(f"{name}.py", 5 * function + 1) for name, function, _ in rows}
    assert {each[:2] for each in larger} == units
    best = {
        each[:2]: max(s for n, f, s in rows if (f"{n}.py", 5 * f + 1) == each[:2])
        for each in larger
    }
    assert all(score == best[path, line] for path, line, score in larger)

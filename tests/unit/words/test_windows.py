"""How text is cut into windows."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from vera_ccc_tools.words.windows import MOST, SIZE, cut

LINES = st.lists(st.sampled_from(("", "  ", "x = 1", "def f():", "y" * 90, "z" * 3000)))


@given(LINES)
def test_every_line_with_text_is_in_one_window_under_its_number(lines: list[str]) -> None:
    seen = {}
    for window in cut("\n".join(lines)):
        content = window.content.split("\n")
        assert len(content) == window.last - window.first + 1
        for number, line in enumerate(content, window.first):
            assert number not in seen
            assert lines[number - 1].startswith(line)
            seen[number] = line
    assert {number for number, line in enumerate(lines, 1) if line.strip()} <= set(seen)


@given(LINES)
def test_no_window_is_much_larger_than_a_chunk(lines: list[str]) -> None:
    assert all(len(each.content) <= max(MOST, SIZE + 250) for each in cut("\n".join(lines)))


def test_windows_end_at_blank_lines() -> None:
    paragraphs = [f"def f{at}():\n" + "    work()\n" * 60 for at in range(5)]
    windows = list(cut("\n\n".join(paragraphs)))
    assert [each.content.split("\n")[0] for each in windows] == [f"def f{at}():" for at in range(5)]


def test_nothing_is_cut_out_of_blank_text() -> None:
    assert list(cut("")) == list(cut("\n \n\n")) == []

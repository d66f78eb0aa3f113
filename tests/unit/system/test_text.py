"""Text for a model: cleaned, cut where a cut does no harm, saved where something is lost."""

from __future__ import annotations

import os
import re
import tempfile
import unicodedata
from pathlib import Path

import hypothesis.strategies as st
import pytest
from hypothesis import example, given

from helpers import POSIX, write_file
from vera_ccc_tools.system import text as output

ANY = st.text(st.characters(blacklist_categories=()))
CODED = st.text(alphabet="\x1b\x9b[]0;31m\x07\\Pab\n\r\t\u202e\u2028 ")


def _is_control(character: str) -> bool:
    category = unicodedata.category(character)
    bidirectional = unicodedata.bidirectional(character) in {
        "LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI",
    }  # fmt: skip
    return (category == "Cc" and character not in "\t\n") or bidirectional


@given(st.one_of(ANY, CODED))
@example("\x1b\x1b[31m[32m")
@example("\x1b]\x1b]0;\x07x\x07")
def test_clean_leaves_no_control_character_and_is_idempotent(text: str) -> None:
    once = output.clean(text)
    assert not any(map(_is_control, once))
    assert output.clean(once) == once
    once.encode()


@given(st.text(st.characters(blacklist_categories=("Cc", "Cs", "Cf"), whitelist_characters="\n\t")))
@example("2026-11-30T15:04:35.249731Z  INFO cocoindex_core::telemetry: a log line in a file\n")
@example("zero\u200bwidth \ufeff emoji 👩\u200d💻 \u2028 日本")
def test_clean_leaves_printable_text_as_it_is(text: str) -> None:
    assert output.clean(text) == text


@given(st.lists(st.one_of(ANY, CODED)).map("\n".join))
def test_no_line_is_hidden_whatever_escape_comes_before_it(text: str) -> None:
    assert output.clean(f"{text}\nseen\n").endswith("\nseen\n")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b[2J\x1b[H\x1b[?25lhidden cursor", "hidden cursor"),
        ("\x1b]8;;http://x\x07link\x1b]8;;\x1b\\", "link"),
        ("\x1b]0;a title\x9ctext", "text"),
        ("\x1b]0;never ended", "0;never ended"),
        ("\x1b]0;never ended\nsecond line", "0;never ended\nsecond line"),
        ("\x1bPq#0\x1b\\text", "text"),
        ("\x1b(Btext\x1b7\x1b8", "text"),
        ("one\r\ntwo\rthree\n", "one\ntwothree\n"),
        ("a\0b\x08c\x7fd\x85e", "abcde"),
        ("ab\u202edc\u2066x\u2069", "abdcx"),
        ("half \ud800 one", "half ? one"),
        ("tab\tstays", "tab\tstays"),
    ],
)
def test_what_moves_a_cursor_or_reorders_text_is_removed(text: str, expected: str) -> None:
    assert output.clean(text) == expected


def test_a_long_line_of_openers_is_cleaned_in_time() -> None:
    assert output.clean("\x1b]a" * 200_000) == "a" * 200_000


@given(ANY)
def test_a_clean_line_is_one_line_for_every_reader(text: str) -> None:
    line = output.clean_line(text)
    assert len(line.splitlines()) <= 1
    assert "\t" not in line


BLOCKS = st.lists(st.text(alphabet="aé日\n", max_size=40), max_size=12)


@given(blocks=BLOCKS, max_bytes=st.integers(10, 200), max_lines=st.integers(1, 30))
def test_a_page_stays_within_its_bounds_and_shows_whole_blocks(
    blocks: list[str], max_bytes: int, max_lines: int
) -> None:
    page = output.page(blocks, max_bytes=max_bytes, max_lines=max_lines)
    assert len(page.text.encode()) <= max_bytes
    assert page.text.count("\n") + 1 <= max_lines
    assert bool(page.shown) == bool(blocks)
    whole = "\n\n".join(blocks[: page.shown])
    assert page.text == whole or (page.shown == 1 and whole.startswith(page.text))


def test_a_page_takes_as_many_blocks_as_fit() -> None:
    page = output.page(["a" * 10, "b" * 10, "c" * 10], max_bytes=30)
    assert page == output.Page(f"{'a' * 10}\n\n{'b' * 10}", 2)


@given(text=st.text(alphabet="aé日\n"), max_bytes=st.integers(4, 60), max_lines=st.integers(1, 9))
def test_a_head_is_the_first_whole_lines_that_fit(
    text: str, max_bytes: int, max_lines: int
) -> None:
    head = output.head(text, max_bytes=max_bytes, max_lines=max_lines)
    assert text.startswith(head)
    assert len(head.encode()) <= max_bytes
    assert head.count("\n") + 1 <= max_lines
    first = text.split("\n", maxsplit=1)[0]
    if len(first.encode()) <= max_bytes:
        assert head == text or text[len(head)] == "\n"


def test_what_fits_is_given_as_it_is() -> None:
    text = "x" * output.MAX_BYTES
    assert output.fit(text) is text
    lines = "\n" * (output.MAX_LINES - 1)
    assert output.fit(lines) is lines


@pytest.mark.parametrize("text", ["line é\n" * 50_000, "x" * 300_000, "\n" * 5000])
def test_what_does_not_fit_is_cut_and_saved_in_a_file_that_is_named(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    shown = output.fit(text)
    assert len(shown.encode()) <= output.MAX_BYTES
    assert shown.count("\n") + 1 <= output.MAX_LINES
    named = re.search(r"\[Output truncated: .* Full output saved to: (.+)\]$", shown)
    assert named is not None
    assert Path(named[1]).read_text(encoding="utf-8") == text
    assert f"of {text.count(chr(10)) + 1} lines" in shown


def test_the_same_output_is_saved_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    shown = [output.fit(letter * 300_000) for letter in "aab"]
    assert shown[0] == shown[1] != shown[2]
    assert len(list(tmp_path.iterdir())) == 2
    kept = min(tmp_path.iterdir())
    kept.write_text("cut short", encoding="utf-8")
    assert [output.fit(letter * 300_000) for letter in "aab"] == shown
    assert {path.read_text("utf-8") for path in tmp_path.iterdir()} == {"a" * 300000, "b" * 300000}


@pytest.mark.skipif(not POSIX, reason="links need a right of their own on Windows")
def test_a_name_that_is_taken_is_neither_followed_nor_a_hindrance(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    output.fit("x" * 300_000)
    (kept,) = tmp_path.iterdir()
    kept.unlink()
    aim = write_file(tmp_path / "aim", "mine")
    kept.symlink_to(aim)
    output.fit("x" * 300_000)
    assert (aim.read_text("utf-8"), kept.is_symlink()) == ("mine", False)
    kept.unlink()
    kept.mkdir()
    named = re.search(r"saved to: (.+)\]$", output.fit("x" * 300_000))
    assert named is not None
    assert Path(named[1]).read_text("utf-8") == "x" * 300_000


def test_what_was_saved_long_ago_is_removed_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    gone = ["vera-ccc-ab12_xyz.txt", "vera-ccc-ab12_xyz", f"vera-ccc-{'0' * 16}.txt"]
    left = ["vera-ccc-notes.txt", "vera-ccc-ab12_xyz.txt.bak", "x-vera-ccc-ab12_xyz.txt", "a.txt"]
    for name in [*gone, *left]:
        write_file(tmp_path / name, "old")
        os.utime(tmp_path / name, (0, 0))
    new = write_file(tmp_path / "vera-ccc-new_1234.txt", "new")
    (tmp_path / "vera-ccc-01234567.txt").mkdir()
    os.utime(tmp_path / "vera-ccc-01234567.txt", (0, 0))
    output.fit("x" * 300_000)
    assert not [name for name in gone if (tmp_path / name).exists()]
    assert all((tmp_path / name).exists() for name in left)
    assert new.exists()
    write_file(tmp_path / gone[0], "old")
    os.utime(tmp_path / gone[0], (0, 0))
    output.fit("y" * 300_000)
    assert (tmp_path / gone[0]).exists(), "a process looks once"


def test_a_file_that_cannot_be_written_is_said_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "missing"))
    assert "could not be saved: No such file or directory." in output.fit("x" * 300_000)


@pytest.mark.parametrize(
    ("number", "expected"),
    [
        (0, "0"), (9, "9"), (99, "99"), (100, "100"), (104, "100"), (106, "110"), (994, "990"),
        (995, "1.0k"), (1000, "1.0k"), (1049, "1.0k"), (5712, "5.7k"), (9960, "10k"),
        (57_120, "57k"), (149_000, "150k"), (994_000, "990k"), (995_000, "1.0M"),
        (1_234_567, "1.2M"), (57_123_456, "57M"),
    ],
)  # fmt: skip
def test_counts_are_told_to_two_digits(number: int, expected: str) -> None:
    assert output.rounded(number) == expected


@given(st.integers(0, 900_000_000))
def test_a_rounded_count_is_near_the_number(number: int) -> None:
    told = output.rounded(number)
    unit = {"k": 1000, "M": 1_000_000}.get(told[-1], 1)
    value = float(told.rstrip("kM")) * unit
    assert abs(value - number) <= 0.051 * number
    assert len(re.sub(r"[kM.]", "", told).rstrip("0")) <= 2


@given(st.integers(0, 10**8), st.integers(0, 10**8))
def test_more_is_never_told_as_less(one: int, two: int) -> None:
    def value(number: int) -> float:
        told = output.rounded(number)
        return float(told.rstrip("kM")) * {"k": 1000, "M": 1_000_000}.get(told[-1], 1)

    low, high = sorted((one, two))
    assert value(low) <= value(high)


def test_one_and_many_are_named_rightly() -> None:
    assert output.counted(1, "file") == "1 file"
    assert output.counted(1204, "file") == "1,204 files"
    assert output.counted(2, "entry", "entries") == "2 entries"


@pytest.mark.parametrize(("name", "is_one"), [("a.py", True), ("日本", True), ("a\udcff", False)])
def test_a_name_that_cannot_be_encoded_is_not_utf_8(name: str, *, is_one: bool) -> None:
    assert output.is_utf8(name) is is_one

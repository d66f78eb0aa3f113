"""Entries come and go, and every other byte of settings.yml stays."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from settings_texts import TEXTS, settings_texts
from vera_ccc_tools.sync.settings import DEFAULT_EXCLUDES, Settings, read
from vera_ccc_tools.sync.settings_edit import Change, Edited, Origin, edit, quote

OURS = ("**/é \n\t/**", "{!}x", "😀", "on", 'q"\\', "#", "- a", "\x7f\x85\u2028")


def our_indexes(found: Settings, ours: tuple[str, ...]) -> frozenset[int]:
    return frozenset(index for index, item in enumerate(found.items) if item.value in ours)


def add(text: str, ours: tuple[str, ...]) -> Edited:
    found = read(text)
    return edit(found, Change(frozenset(), ours), Origin(found.was))


def take_out(edited: Edited, ours: tuple[str, ...], *, last: bool) -> Edited:
    found = read(edited.text)
    return edit(found, Change(our_indexes(found, ours), (), last), edited.origin)


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_the_original_is_back_byte_for_byte_when_the_last_of_ours_has_gone(text: str) -> None:
    before = read(text)
    edited = add(text, OURS)
    kept = before.excludes
    assert sorted(read(edited.text).excludes) == sorted((*kept, *OURS))
    fewer = take_out(edited, OURS[2:4], last=False)
    assert sorted(read(fewer.text).excludes) == sorted((*kept, *OURS[:2], *OURS[4:]))
    assert take_out(fewer, OURS, last=True).text == text


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_what_is_added_is_ascii_and_what_was_there_is_there_still(text: str) -> None:
    edited = add(text, OURS).text
    rest = iter(edited)
    assert all(
        char in rest for char in text.replace("!!null", "").replace("null", "").replace("~", "")
    )
    assert len(edited.encode()) - len(text.encode()) >= len(edited) - len(text)
    added = [line for line in edited.splitlines() if line not in text.splitlines()]
    assert all(char.isascii() for line in added for char in line if char not in text)


def test_the_line_ends_of_the_file_are_used() -> None:
    edited = add("a: 1\r\nexclude_patterns:\r\n  - b\r\n", ("c",)).text
    assert edited == 'a: 1\r\nexclude_patterns:\r\n  - b\r\n  - "c"\r\n'


def test_ours_stand_below_the_list_as_it_is_indented() -> None:
    edited = add("exclude_patterns:\n    - a # b\n# c\nd: 1\n", ("e",)).text
    assert edited == 'exclude_patterns:\n    - a # b\n    - "e"\n# c\nd: 1\n'


def test_an_absent_key_gets_the_defaults_with_ours() -> None:
    edited = add("a: 1\n", ("b",)).text
    listed = "".join(f'  - "{pattern}"\n' for pattern in (*DEFAULT_EXCLUDES, "b"))
    assert edited == f"a: 1\nexclude_patterns:\n{listed}"


def test_null_gets_ours_alone() -> None:
    assert read(add("exclude_patterns: null\n", ("b",)).text).excludes == ("b",)


def test_a_comment_beside_an_entry_of_ours_stays() -> None:
    edited = add("exclude_patterns:\n  - a\n", ("b", "c"))
    text = edited.text.replace('- "b"', '- "b"  # mine')
    gone = take_out(Edited(text, edited.origin), ("b",), last=False).text
    assert gone == 'exclude_patterns:\n  - a\n    # mine\n  - "c"\n'


def test_the_defaults_stay_when_the_user_has_added_to_them() -> None:
    edited = add("a: 1\n", ("b",))
    text = edited.text + "  - mine\n"
    gone = take_out(Edited(text, edited.origin), ("b",), last=True).text
    assert read(gone).excludes == (*DEFAULT_EXCLUDES, "mine")


def test_the_original_is_back_when_the_user_has_edited_another_key() -> None:
    edited = add("a: 1\n", ("b",))
    text = edited.text.replace("a: 1", "a: 2 # changed")
    assert take_out(Edited(text, edited.origin), ("b",), last=True).text == "a: 2 # changed\n"


def test_a_list_of_which_only_ours_were_left_becomes_an_empty_one() -> None:
    text = 'exclude_patterns:  # c\n  - "b"\nd: 1\n'
    gone = take_out(Edited(text, Origin("list")), ("b",), last=True).text
    assert gone == "exclude_patterns: []  # c\nd: 1\n"


def test_entries_that_another_program_has_requoted_still_go() -> None:
    folded = "- '**/a very long name that was folded over\n  two lines'\n"
    text = f"exclude_patterns:\n- a\n- '**/b/**'\n{folded}"
    ours = ("**/b/**", "**/a very long name that was folded over two lines")
    assert (
        take_out(Edited(text, Origin("list")), ours, last=True).text == "exclude_patterns:\n- a\n"
    )


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")))
def test_any_pattern_is_read_back_as_it_was(pattern: str) -> None:
    written = quote(pattern)
    assert written.isascii()
    assert read(f"exclude_patterns:\n  - {written}\n").excludes == (pattern,)


# --- generated files --------------------------------------------------------------------------

_entries = st.lists(
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1),
    min_size=1,
    max_size=4,
    unique=True,
).map(lambda names: tuple(f"ours/{name}" for name in names))


@given(text=settings_texts(), ours=_entries, more=_entries)
def test_edits_of_any_file_add_and_take_out_exactly_ours(
    text: str, ours: tuple[str, ...], more: tuple[str, ...]
) -> None:
    more = tuple(one for one in more if one not in ours)
    kept = read(text).excludes
    edited = add(text, ours)
    if more:
        found = read(edited.text)
        edited = edit(found, Change(frozenset(), more), edited.origin)
    assert sorted(read(edited.text).excludes) == sorted((*kept, *ours, *more))
    if more:
        edited = take_out(edited, ours, last=False)
        assert sorted(read(edited.text).excludes) == sorted((*kept, *more))
    assert take_out(edited, (*ours, *more), last=True).text == text

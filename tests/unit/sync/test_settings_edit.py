"""Entries come and go, and every other byte of settings.yml stays."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from settings_texts import REFUSED, TEXTS, settings_texts
from vera_ccc_tools.errors import Failure
from vera_ccc_tools.sync.settings import DEFAULT_EXCLUDES, read
from vera_ccc_tools.sync.settings_edit import Edited, Origin, edit, quote

OURS = ("**/é \n\t/**", "{!}x", "😀", "on", 'q"\\', "#", "- a", "\x7f\x85\u2028")


def change(edited: Edited, ours: tuple[str, ...], wanted: tuple[str, ...]) -> Edited:
    """Make *wanted* of the entries *ours* in a text that was edited before."""
    found = read(edited.text)
    items = {index: one for index, one in enumerate(found.excludes) if one in ours and found.items}
    return edit(found, items, wanted, edited.origin)


def add(text: str, ours: tuple[str, ...]) -> Edited:
    return change(Edited(text, Origin()), (), ours)


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_the_original_is_back_byte_for_byte_when_the_last_of_ours_has_gone(text: str) -> None:
    kept = read(text).excludes
    edited = add(text, OURS)
    assert read(edited.text).excludes == (*kept, *OURS)
    fewer = change(edited, OURS, OURS[4:])
    assert read(fewer.text).excludes == (*kept, *OURS[4:])
    assert change(fewer, OURS, ()).text == text


@pytest.mark.parametrize(("text", "line"), REFUSED.values(), ids=REFUSED)
def test_a_layout_that_is_not_edited_is_refused_with_its_line(text: str, line: int) -> None:
    read(text)  # nothing is wrong with it as long as nothing has to be added
    with pytest.raises(Failure, match=f"line {line}:") as caught:
        add(text, OURS)
    assert caught.value.code == "settings_refused"


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_what_is_added_is_ascii(text: str) -> None:
    edited = add(text, OURS).text
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


def test_a_list_in_brackets_becomes_a_block_as_long_as_something_of_ours_is_there() -> None:
    edited = add("exclude_patterns: ['a', b] # c\n", ("d",))
    assert edited.text == "exclude_patterns:\n  - 'a'\n  - b # c\n  - \"d\"\n"
    text = edited.text.replace("- b", "- b\n  - mine")
    gone = change(Edited(text, edited.origin), ("d",), ()).text
    assert gone == "exclude_patterns:\n  - 'a'\n  - b\n  - mine # c\n"


def test_a_comment_beside_an_entry_of_ours_stays() -> None:
    edited = add("exclude_patterns:\n  - a\n", ("b", "c"))
    text = edited.text.replace('- "b"', '- "b"  # mine')
    gone = change(Edited(text, edited.origin), ("b", "c"), ("c",)).text
    assert gone == 'exclude_patterns:\n  - a\n    # mine\n  - "c"\n'


def test_the_defaults_stay_when_the_user_has_added_to_them() -> None:
    edited = add("a: 1\n", ("b",))
    gone = change(Edited(edited.text + "  - mine\n", edited.origin), ("b",), ()).text
    assert read(gone).excludes == (*DEFAULT_EXCLUDES, "mine")


def test_the_original_is_back_when_the_user_has_edited_another_key() -> None:
    edited = add("a: 1\n", ("b",))
    text = edited.text.replace("a: 1", "a: 2 # changed")
    assert change(Edited(text, edited.origin), ("b",), ()).text == "a: 2 # changed\n"


def test_a_list_of_which_only_ours_were_left_becomes_an_empty_one() -> None:
    text = 'exclude_patterns:  # c\n  - "b"\nd: 1\n'
    gone = change(Edited(text, Origin()), ("b",), ()).text
    assert gone == "exclude_patterns: []  # c\nd: 1\n"


def test_entries_that_another_program_has_requoted_still_go() -> None:
    folded = "- '**/a very long name that was folded over\n  two lines'\n"
    text = f"exclude_patterns:\n- a\n- '**/b/**'\n{folded}"
    ours = ("**/b/**", "**/a very long name that was folded over two lines")
    assert change(Edited(text, Origin()), ours, ()).text == "exclude_patterns:\n- a\n"


def test_entries_that_the_first_version_put_into_brackets_still_go() -> None:
    text = 'exclude_patterns: [\n    "b",\n    "c"]\nd: 1\n'
    origin = Origin("exclude_patterns:", "exclude_patterns: null")
    fewer = change(Edited(text, origin), ("b", "c"), ("c", "e"))
    assert read(fewer.text).excludes == ("c", "e")
    gone = change(fewer, ("c", "e"), ())
    assert gone.text == "exclude_patterns: null\nd: 1\n"


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
    edited = change(edited, ours, (*ours, *more))
    assert read(edited.text).excludes == (*kept, *ours, *more)
    edited = change(edited, (*ours, *more), more)
    assert read(edited.text).excludes == (*kept, *more) or not more
    assert change(edited, more, ()).text == text

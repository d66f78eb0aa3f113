"""Entries come and go, and every other byte of settings.yml stays."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vera_ccc_tools.settings import DEFAULT_EXCLUDES, Settings, read
from vera_ccc_tools.settings_edit import Change, Edited, Origin, edit, quote

OURS = ("**/é \n\t/**", "{!}x", "😀", "on", 'q"\\', "#", "- a", "\x7f\x85\u2028")
TEXTS = {
    "empty": "",
    "a comment alone": "# c\n",
    "a byte order mark alone": "\ufeff",
    "a document mark": "---\n",
    "a document mark without a line end": "---",
    "a document's end": "a: 1 # x\n# end\n\n...\n# after\n",
    "another key": "a: 1\n",
    "another key without a line end": "a: 1",
    "a block scalar at the end": "a: |\n  x",
    "a kept block scalar at the end": "a: |+\n  x\n\n",
    "CRLF": "a: 1\r\nb: 2\r\n",
    "CR alone": "a: 1\rb: 2\r",
    "a flow mapping": "{a: 1}\n",
    "an empty flow mapping": "{}",
    "JSON": '{"a": 1,\n "exclude_patterns": ["x"]\n}\n',
    "an indented mapping": "  a: 1\n  b: 2\n",
    "null": "exclude_patterns: null # c\n",
    "a tagged null": "exclude_patterns: !!null null\n",
    "nothing": "exclude_patterns:\nb: 1\n",
    "nothing but a comment": "exclude_patterns:   # c\n\n# d\nb: ~\n",
    "a tilde": "exclude_patterns: ~",
    "an empty list": "exclude_patterns: []\n",
    "an empty list with a comment": "exclude_patterns: [ # c\n]\n",
    "a flow list": "exclude_patterns: [a, 'b',]\n",
    "a flow list with comments": "exclude_patterns: [a, # c\n b # d\n]\n",
    "a zero-indent list": "exclude_patterns:\n- x # c\n- |\n  foo\nz: 1\n",
    "a list of four": "exclude_patterns:\n    - a\n    # c\n    - b # d\n    # e\n\n# f\nz: 1\n",
    "BOM, CRLF, marks": "\ufeff# q\r\n---\r\n'exclude_patterns':\r\n  - a\r\n...\r\n",
    "a list without a line end": "exclude_patterns:\n  - a",
    "anchors": "b: &x foo\nexclude_patterns: &l\n- *x\n- !!str 12\n- &y z\nc: *y\n",
    "an explicit key": "? exclude_patterns\n: - a\n  - b\n",
    "a kept block scalar in the list": "exclude_patterns:\n  - |+\n    a\n\n\nb: 1\n",
    "a tagged list": "exclude_patterns: !!seq\n - a\n",
    "items below their dashes": "exclude_patterns:\n  -\n    a\n  - # c\n    b\n",
    "a folded item": "exclude_patterns:\n  - a\n   b\n  - 'c\n\n    d'\n",
    "a directive": "%YAML 1.1\n---\nexclude_patterns: [a]\n",
    "dashes in comments": "exclude_patterns: # - no\n  # - neither\n  - a # - nor\n",
    "a mark within a line": "exclude_patterns:\n  - 'a\u2028b'\n  - c\n",
}


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

_plain = st.sampled_from(["a/x", "a b", "é", "'q'", '"w\\t"', "!no", "x:y", "'#'", "|-\n{}  block"])
_comment = st.sampled_from(["", "", " # c", "  # - 'a', [b]"])
_gap = st.sampled_from(["", "", "\n", "# gap\n", "  # deep\n"])
_other = st.sampled_from(
    [
        "a: 1\n",
        "include_patterns:\n  - '**/*.py'\n",
        "b: &x [1, {c: d}]\ne: *x\n",
        "f: |\n  - not\n  exclude_patterns: []\n",
        "'g': >-\n  folded\n  text\n\n",
        "# exclude_patterns: []\n",
        "h: {exclude_patterns: [1]}\n",
    ]
)


EMPTY_WITH_COMMENT = "[ # c\n ]"


@st.composite
def _lists(draw: st.DrawFn) -> str:
    kind = draw(st.sampled_from(["block", "block", "flow", "null", "empty", "absent"]))
    key = draw(st.sampled_from(["exclude_patterns", "'exclude_patterns'", '"exclude_patterns"']))
    comment = draw(_comment)
    if kind == "absent":
        return ""
    if kind == "null":
        return f"{key}: {draw(st.sampled_from(['null', '~', '']))}{comment}\n"
    items = draw(st.lists(_plain, min_size=1, max_size=5))
    if kind == "empty":
        return f"{key}: {draw(st.sampled_from(['[]', '[ ]', EMPTY_WITH_COMMENT]))}{comment}\n"
    if kind == "flow":
        inner = [item for item in items if not item.startswith(("|", "!", "x:"))] or ["z"]
        glue = draw(st.sampled_from([", ", ",\n  ", ", # c\n  "]))
        end = draw(st.sampled_from(["", ",", " ", "\n "]))
        return f"{key}: [{glue.join(inner)}{end}]{comment}\n"
    pad = " " * draw(st.sampled_from([0, 2, 4]))
    lines = [f"{key}:{comment}\n"]
    for item in items:
        quoted = f"'{item}'" if item.startswith("!") else item.format(pad)
        tail = "" if quoted.startswith("|") else draw(_comment)
        lines.append(f"{draw(_gap)}{pad}- {quoted}{tail}\n")
    return "".join(lines)


@st.composite
def settings_texts(draw: st.DrawFn) -> str:
    before = draw(st.lists(_other, max_size=3, unique=True))
    after = [one for one in draw(st.lists(_other, max_size=2, unique=True)) if one not in before]
    text = "".join([*before, draw(_lists()), *after])
    if draw(st.booleans()):
        text = f"---\n{text}"
    if draw(st.integers(0, 4)) == 0:
        text = f"\ufeff{text}"
    if draw(st.booleans()):
        text = text.removesuffix("\n")
    if draw(st.booleans()):
        text = text.replace("\n", "\r\n")
    return text


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

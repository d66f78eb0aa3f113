"""Settings files of the layouts that are edited, some by hand and any number made."""

from __future__ import annotations

from hypothesis import strategies as st

TEXTS = {
    "empty": "",
    "a comment alone": "# c\n",
    "a byte order mark alone": "\ufeff",
    "a document mark": "---\n",
    "a document mark without a line end": "---",
    "another key": "a: 1\n",
    "another key without a line end": "a: 1",
    "a kept block scalar at the end": "a: |+\n  x\n\n",
    "CRLF": "a: 1\r\nb: 2\r\n",
    "CR alone": "a: 1\rb: 2\r",
    "an indented mapping": "  a: 1\n  b: 2\n",
    "null": "exclude_patterns: null # c\n",
    "a tagged null": "exclude_patterns: !!null null\n",
    "nothing": "exclude_patterns:\nb: 1\n",
    "nothing but a comment": "exclude_patterns:   # c\n\n# d\nb: ~\n",
    "a tilde": "exclude_patterns: ~",
    "an empty list": "exclude_patterns: []\n",
    "an empty list and a comment": "exclude_patterns: [] # c\nb: 1\n",
    "a flow list": "exclude_patterns: [a, 'b',] # c\n",
    "a flow list of more lines": "exclude_patterns: [\n    \"a\",\n    'b'\n]\nc: 1\n",
    "a zero-indent list": "exclude_patterns:\n- |\n  foo\n- x # c\nz: 1\n",
    "a list of four": "exclude_patterns:\n    - a\n    # c\n    - b # d\n    # e\n\n# f\nz: 1\n",
    "BOM, CRLF, marks": "\ufeff# q\r\n---\r\n'exclude_patterns':\r\n  - a\r\n...\r\n",
    "a list without a line end": "exclude_patterns:\n  - a",
    "anchors elsewhere": "b: &x [1]\nexclude_patterns:\n- a\nc: *x\n",
    "a tagged list": "exclude_patterns: !!seq\n - a\n",
    "items below their dashes": "exclude_patterns:\n  -\n    a\n  -\n    b\n",
    "a folded item": "exclude_patterns:\n  - a\n   b\n  - 'c\n\n    d'\n",
    "a directive": "%YAML 1.1\n---\nexclude_patterns: [a]\n",
    "dashes in comments": "exclude_patterns: # - no\n  # - neither\n  - a # - nor\n",
    "a mark within a line": "exclude_patterns:\n  - 'a\u2028b'\n  - c\n",
}
REFUSED = {
    "a document's end": ("a: 1 # x\n# end\n\n...\n# after\n", 1),
    "a block scalar that would get a line end": ("a: |\n  x", 1),
    "an empty flow mapping": ("# c\n{}", 2),
    "JSON": ('{"a": 1,\n "exclude_patterns": ["x"]\n}\n', 1),
    "a comment in an empty list": ("a: 1\nexclude_patterns: [ # c\n]\n", 2),
    "comments in a flow list": ("exclude_patterns: [a, # c\n b # d\n]\n", 1),
    "a flow list with a folded item": ("exclude_patterns: [a, 'b\n  c']\n", 1),
    "an explicit key": ("? exclude_patterns\n: - a\n  - b\n", 2),
    "a block scalar at the list's end": ("exclude_patterns:\n  - |+\n    a\n\n\nb: 1\n", 1),
}

_plain = st.sampled_from(["a/x", "a b", "é", "'q'", '"w\\t"', "!no", "x:y", "'#'"])
_comment = st.sampled_from(["", "", " # c", "  # - 'a', [b]"])
_gap = st.sampled_from(["", "", "\n", "# gap\n", "  # deep\n"])
_empty = st.sampled_from(["[]", "[ ]", "[\n ]"])
_other = st.sampled_from(
    [
        "a: 1\n",
        "include_patterns:\n  - '**/*.py'\n",
        "b: &x [1, {c: d}]\ne: *x\n",
        "f: |-\n  - not\n  exclude_patterns: []\n",
        "'g': >-\n  folded\n  text\n\n",
        "# exclude_patterns: []\n",
        "h: {exclude_patterns: [1]}\n",
    ]
)


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
        return f"{key}: {draw(_empty)}{comment}\n"
    if kind == "flow":
        inner = [item for item in items if not item.startswith(("!", "x:"))] or ["z"]
        glue = draw(st.sampled_from([", ", ",\n  "]))
        end = draw(st.sampled_from(["", ",", " ", "\n "]))
        return f"{key}: [{glue.join(inner)}{end}]{comment}\n"
    pad = " " * draw(st.sampled_from([0, 2, 4]))
    lines = [f"{key}:{comment}\n"]
    for item in items:
        quoted = f"'{item}'" if item.startswith("!") else item
        lines.append(f"{draw(_gap)}{pad}- {quoted}{draw(_comment)}\n")
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

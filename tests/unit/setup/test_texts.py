"""What init does to texts: what is put in can be taken out without a trace."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from vera_ccc_tools.errors import Failure, Front
from vera_ccc_tools.phrases import tell
from vera_ccc_tools.setup import blocks, guidance, json_edit, launch, toml_edit
from vera_ccc_tools.setup.json_edit import Place

ENTRY = {"command": "python3", "args": ["/opt/v/vera_ccc_tools/bootstrap.py", "mcp", "--dir", "."]}
MOVED = {"command": "vera-ccc", "args": ["mcp", "--dir", "/ü \\ \x7f"]}
STRICT = Place(".mcp.json", "mcpServers", "cce", comments=False, is_ours=launch.is_ours)
LENIENT = Place(".vscode/mcp.json", "servers", "cce", comments=True, is_ours=launch.is_ours)
TOML = Place(".codex/config.toml", "mcp_servers", "cce", comments=False, is_ours=launch.is_ours)

# --- texts of all sorts -------------------------------------------------------------------------

NAMES = st.sampled_from(["a", "b", "c", "ü", 'q"', "//", "/*", "{", "é\U0001f600", "servers2"])
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.floats(-1, 1) | NAMES,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(NAMES, inner, max_size=2),
    max_leaves=4,
)


@st.composite
def configurations(draw: Callable[..., Any], place: Place) -> str:
    """A configuration with servers or without, laid out in any way."""
    top = draw(st.dictionaries(NAMES, VALUES, max_size=3))
    if draw(st.booleans()):
        pairs = [*top.items(), (place.servers, draw(st.dictionaries(NAMES, VALUES, max_size=2)))]
        top = dict(draw(st.permutations(pairs)))
    plainly = draw(st.sampled_from(["any", "any", "compact", "pretty", "tabs"]))
    if plainly == "any":
        text = Layout(draw, comments=place.comments).lay_out(top)
    else:
        indent = {"compact": None, "pretty": 2, "tabs": "\t"}[plainly]
        text = json.dumps(top, indent=indent, ensure_ascii=draw(st.booleans()))
    end = draw(st.sampled_from(["", "\n", "\r\n", " "]))
    text = text.replace("\n", draw(st.sampled_from(["\n", "\r\n"]))) + end
    return str(draw(st.sampled_from(["", "\ufeff"])) + text)


class Layout:
    """Writes JSON with white space, and comments if they are allowed, wherever they may be."""

    def __init__(self, draw: Callable[..., Any], *, comments: bool) -> None:
        self.draw = draw
        gaps = ["", "", " ", "\n", "\n  ", "\t", "\r", "\n\n"]
        self.gaps = [*gaps, " // x, {\n", "/* y\n } */", '\n  // "z": 1,\n'] if comments else gaps
        self.commas = ["", ","] if comments else [""]

    def lay_out(self, value: Any) -> str:
        return self.gap() + self.value(value) + self.gap()

    def value(self, value: Any) -> str:
        if isinstance(value, dict):
            pairs = (
                f"{json.dumps(name)}{self.gap()}:{self.lay_out(inner)}"
                for name, inner in value.items()
            )
            return self.inside("{", pairs, "}")
        if isinstance(value, list):
            return self.inside("[", (self.value(inner) for inner in value), "]")
        return json.dumps(value)

    def inside(self, opening: str, parts: Any, closing: str) -> str:
        laid = [f"{self.gap()}{part}{self.gap()}" for part in parts]
        comma = self.draw(st.sampled_from(self.commas)) if laid else ""
        return opening + ",".join(laid) + comma + self.gap() + closing

    def gap(self) -> str:
        return str(self.draw(st.sampled_from(self.gaps)))


COMMENTS = ("// x, {", "/* y\n } */", '// "z": 1,')

LINES = st.sampled_from(["", "a", " b ", "\t", "# c", "ü", "x\x0c\u2028y", "```"])
ENDS = st.sampled_from(["\n", "\r\n", "\r"])


@st.composite
def line_texts(draw: Callable[..., Any], lines: st.SearchStrategy[str] = LINES) -> str:
    """Lines with one kind of line end or several, with one at the end or none."""
    ends = draw(st.sampled_from([st.just("\n"), st.just("\r\n"), ENDS]))
    text = "".join(draw(lines) + draw(ends) for _ in range(draw(st.integers(0, 4))))
    return str(draw(st.sampled_from(["", "\ufeff"])) + text + draw(lines))


STATEMENTS = st.sampled_from(
    [
        "", "# note", "[x]", "[x.y]", "[[z]]", '[mcp_servers."a b"]', "[mcp_servers]", "s.t = 2",
        'm = """\n[mcp_servers.cce]\n"""', "l = [\n 1, # ]\n 2,\n]", "n = nan", "'q.r' = 1",
    ]
)  # fmt: skip


@st.composite
def tomls(draw: Callable[..., Any]) -> str:
    lines = draw(st.lists(STATEMENTS, max_size=5, unique=True))
    end = draw(st.sampled_from(["\n", "\r\n"]))
    text = "\n".join(lines).replace("\n", end) + draw(st.sampled_from(["", end]))
    return str(draw(st.sampled_from(["", "\ufeff"])) + text)


# --- JSON ---------------------------------------------------------------------------------------


def said(text: str, place: Place) -> dict[str, Any]:
    """What a configuration says, by another way than the code's: by Python's own reader."""
    plain = text.removeprefix("\ufeff")
    if place.comments:
        plain = re.sub(r'("(?:[^"\\]|\\.)*")|//[^\r\n]*|/\*.*?\*/', r"\1", plain, flags=re.DOTALL)
        plain = re.sub(r'("(?:[^"\\]|\\.)*")|,(?=\s*[}\]])', r"\1", plain)
    found: dict[str, Any] = json.loads(plain)
    return found


@pytest.mark.parametrize("place", [STRICT, LENIENT], ids=["strict", "comments"])
@given(data=st.data())
def test_a_server_is_put_into_json_and_taken_out_and_all_else_stays(
    place: Place, data: st.DataObject
) -> None:
    prior = data.draw(configurations(place))
    before = {place.servers: {}, **said(prior, place)}
    text = json_edit.put(prior, place, ENTRY)
    assert said(text, place) == {
        **before, place.servers: {**before[place.servers], "cce": ENTRY}
    }  # fmt: skip
    assert json_edit.put(text, place, ENTRY) == text
    assert json_edit.holds(text, place)
    moved = said(json_edit.put(text, place, MOVED), place)
    assert moved[place.servers]["cce"] == MOVED
    for comment in COMMENTS:
        assert text.count(comment) == prior.count(comment)
    rest = json_edit.remove(text, place)
    assert (said(rest, place) if rest else {}) | {place.servers: before[place.servers]} == before
    assert rest is not None or not any(comment in prior for comment in COMMENTS)
    if rest is not None:
        for comment in COMMENTS:
            assert rest.count(comment) == prior.count(comment)


@given(configurations(STRICT))
def test_each_line_of_a_laid_out_file_stays(prior: str) -> None:
    prior = json.dumps(json.loads(prior.removeprefix("\ufeff")), indent=3)
    assume(prior != "{}" and '"mcpServers": {}' not in prior)
    lines = iter(json_edit.put(prior, STRICT, ENTRY).split("\n"))
    assert all(line in lines for line in prior.split("\n"))


@given(st.text(alphabet='{}[]",:0e-.tn\\u \n/*', max_size=12))
def test_what_python_takes_for_no_json_is_refused(text: str) -> None:
    try:
        right = isinstance(json.loads(text, parse_constant=pytest.fail), dict)
    except ValueError:
        right = False
    if right:
        assert json_edit.holds(json_edit.put(text, STRICT, ENTRY), STRICT)
    else:
        with pytest.raises(Failure, match="left as it is"):
            json_edit.put(text, STRICT, ENTRY)


def test_a_number_of_any_length_is_no_error() -> None:
    number = "-" + "9" * 5000
    assert number in json_edit.put(f'{{"a": {number}}}', STRICT, ENTRY)


def test_a_new_file_is_two_space_json_and_goes_when_nothing_else_is_in_it() -> None:
    text = json_edit.put(None, STRICT, ENTRY)
    assert text == json.dumps({"mcpServers": {"cce": ENTRY}}, indent=2) + "\n"
    assert json_edit.remove(text, STRICT) is None
    reformatted = json.dumps(json.loads(text), indent=8)
    assert json_edit.remove(reformatted, STRICT) is None


def test_an_entry_is_laid_out_as_the_one_beside_it() -> None:
    prior = '{\n\t"servers": {\n\t\t"a": {}, // mine\n\t}\n}'
    text = json_edit.put(prior, LENIENT, {"command": "vera-ccc", "args": ["mcp"]})
    assert text == (
        '{\n\t"servers": {\n\t\t"cce": {\n\t\t\t"command": "vera-ccc",\n'
        '\t\t\t"args": [\n\t\t\t\t"mcp"\n\t\t\t]\n\t\t},\n\t\t"a": {}, // mine\n\t}\n}'
    )
    assert json_edit.remove(text, LENIENT) == prior


def test_a_moved_checkout_is_updated_and_the_users_own_settings_of_the_entry_stay() -> None:
    theirs = {**MOVED, "env": {"A": "b"}, "exposure": "codemode"}
    prior = json.dumps({"mcpServers": {"cce": theirs, "z": {}}})
    text = json_edit.put(prior, STRICT, {**ENTRY, "exposure": "direct"})
    assert json.loads(text)["mcpServers"] == {"cce": {**theirs, **ENTRY}, "z": {}}


@pytest.mark.parametrize(
    "text",
    [
        '{"servers": {"cce": {"command": "vera-ccc", "args": ["mcp"]}, "b": 1}}',
        '{"servers": {"a": 1, "cce": {"command": "vera-ccc", "args": ["mcp"]}, }}',
        '{"servers": {\n// c\n"cce": {"command": "vera-ccc", "args": ["mcp"]},}}',
        '{ "servers": {\n  "cce": {"command": "vera-ccc", "args": ["mcp"]},\n  "b": 1\n}}',
        '{"servers": {\n "a": 1, // c\n "cce": {"command": "vera-ccc", "args": ["mcp"]}\n}}',
        '{"servers": {\n "cce": {"command": "vera-ccc", "args": ["mcp"]}, // c\n "a": 1\n}}',
    ],
)
def test_an_entry_is_taken_out_of_wherever_the_user_moved_it(text: str) -> None:
    rest = json_edit.remove(text, LENIENT)
    assert rest is not None
    assert "cce" not in rest
    assert rest.count("// c") == text.count("// c")
    before = said(text, LENIENT)
    del before["servers"]["cce"]
    assert {"servers": {}, **said(rest, LENIENT)} == before


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", ".mcp.json, line 1: it is no JSON: Expecting value."),
        ("{\n  'a': 1}", "line 2: it is no JSON: "),
        ('{"a": 1,\n}', "it is no JSON: "),
        ('{"a": 1}\nx', "line 2: it is no JSON: Extra data."),
        ("{\n// c\n}", "line 2: it is no JSON: "),
        ('{"a": NaN}', "it is no JSON: NaN is no value"),
        ("[" * 100_000, "it is no JSON: "),
        ("[]", "line 1: it cannot be edited: the file is no object there."),
        ('{"mcpServers":\n[]}', "line 2: it cannot be edited: mcpServers is no object there."),
        ('{"mcpServers": null}', "mcpServers is no object there"),
        ('{"mcpServers": {}, "mcpServers": {}}', "mcpServers is there twice"),
        ('{"mcpServers": {"cce": 1, "cc\\u0065": 2}}', "cce is there twice"),
        ('{"mcpServers": {"cce": 1}}', "it has a server cce that init did not put there"),
        ('{"mcpServers": {"cce": {"command": "cce", "args": ["mcp"]}}}', "did not put there"),
        ('{"mcpServers": {"cce": {"url": "http://127.0.0.1"}}}', "did not put there"),
    ],
)  # fmt: skip
def test_json_that_is_no_configuration_is_refused_with_the_line(text: str, says: str) -> None:
    with pytest.raises(Failure) as caught:
        json_edit.put(text, STRICT, ENTRY)
    assert caught.value.code == "config_refused"
    assert says in caught.value.message
    assert caught.value.message.endswith("It was left as it is.")
    assert "run init again" in tell(caught.value, Front.MODEL)


def test_a_server_of_that_name_that_is_not_ours_is_not_taken_out() -> None:
    text = '{"mcpServers": {"cce": {"command": "cce", "args": ["mcp", "--dir", "."]}}}'
    assert json_edit.remove(text, STRICT) == text


# --- TOML ---------------------------------------------------------------------------------------


@given(tomls())
def test_a_server_that_is_put_into_toml_can_be_taken_out_without_a_trace(prior: str) -> None:
    try:
        before = tomllib.loads(prior.removeprefix("\ufeff"), parse_float=str)
    except tomllib.TOMLDecodeError:
        return  # such as one table twice
    text = toml_edit.put(prior, TOML, ENTRY)
    after = tomllib.loads(text.removeprefix("\ufeff"), parse_float=str)
    assert after["mcp_servers"].pop("cce") == ENTRY
    assert after == {"mcp_servers": {}, **before}
    assert toml_edit.put(text, TOML, ENTRY) == text
    assert toml_edit.holds(text, TOML)
    assert toml_edit.remove(text, TOML) == prior
    assert toml_edit.put(text, TOML, MOVED) == toml_edit.put(prior, TOML, MOVED)


def test_a_new_toml_file_goes_when_nothing_else_is_in_it() -> None:
    text = toml_edit.put(None, TOML, {"command": "vera-ccc", "args": ["mcp"]})
    assert text == '[mcp_servers.cce]\ncommand = "vera-ccc"\nargs = ["mcp"]\n'
    assert toml_edit.remove(text, TOML) is None


def test_what_the_user_adds_to_the_table_stays_with_it_and_goes_with_it() -> None:
    text = (
        "a = 1\n\n[mcp_servers.cce] # ours\n"
        'command = "vera-ccc" # "mine" #\nargs = [\n  "mcp", # ]\n]\n'
        'startup_timeout_sec = 60\n\n[mcp_servers.cce.env]\nA = "b"\n\n# next\n[other]\n'
    )
    moved = toml_edit.put(text, TOML, MOVED)
    said = tomllib.loads(moved)["mcp_servers"]["cce"]
    assert said == {**MOVED, "startup_timeout_sec": 60, "env": {"A": "b"}}
    assert '# "mine" #\n' in moved
    assert toml_edit.remove(moved, TOML) == "a = 1\n\n# next\n[other]\n"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("a = ", ".codex/config.toml is no TOML: Invalid value"),
        ("mcp_servers = 1", "cannot be edited: mcp_servers is no table there"),
        ("[[mcp_servers]]", "cannot be edited: mcp_servers is no table there"),
        ("[mcp_servers]\ncce = 1", "mcp_servers.cce is no table there"),
        ("mcp_servers = {a = {}}", "is no TOML: Cannot"),
        ("[mcp_servers.cce]\nurl = 'x'", "has a server cce that init did not put there"),
        ("a = " + "9" * 5000, "is no TOML: Exceeds the limit"),
        (".".join("a" * 5000) + " = 1", "cannot be edited"),
        ("mcp_servers.cce = {command = 'vera-ccc', args = ['mcp']}", "cannot be edited"),
    ],
)
def test_toml_that_is_no_configuration_is_refused(text: str, says: str) -> None:
    with pytest.raises(Failure) as caught:
        toml_edit.put(text, TOML, ENTRY)
    assert caught.value.code == "config_refused"
    assert says in caught.value.message
    assert "run init again" in tell(caught.value, Front.MODEL)


# --- blocks -------------------------------------------------------------------------------------

BODY = guidance.block("### Output compression\n\nBe brief.\n")


@given(line_texts(), st.booleans(), st.sampled_from([BODY, "# ours\nx/*"]))
def test_a_block_can_be_taken_out_without_a_trace(prior: str, gap: bool, body: str) -> None:  # noqa: FBT001
    text = blocks.append(prior, body, gap=gap)
    span = blocks.find_lines(text, body)
    assert span is not None
    assert blocks.replace(text, span, body) == text
    assert blocks.cut(text, span, gap=gap) == prior


@given(line_texts())
def test_the_marked_block_is_found_among_any_lines(prior: str) -> None:
    text = blocks.append(prior, BODY, gap=True)
    span = blocks.find_marked(text, guidance.BEGIN, guidance.END, "CLAUDE.md")
    assert span == blocks.find_lines(text, BODY)
    assert blocks.find_marked(prior, guidance.BEGIN, guidance.END, "CLAUDE.md") is None


@given(line_texts(), line_texts())
def test_what_is_written_after_a_block_stays_when_it_goes(prior: str, later: str) -> None:
    prior += blocks.line_end(prior)
    text = blocks.append(prior, BODY, gap=True) + later
    span = blocks.find_marked(text, guidance.BEGIN, guidance.END, "CLAUDE.md")
    assert span is not None
    assert blocks.cut(text, span, gap=True) == prior + later


def test_a_file_that_was_made_for_a_block_goes_and_an_empty_one_stays() -> None:
    for prior in (None, "", "\n"):
        text = blocks.append(prior, BODY, gap=True)
        span = blocks.find_lines(text, BODY)
        assert span is not None
        assert blocks.cut(text, span, gap=True) == prior


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (f"a\n{guidance.BEGIN}\n", "CLAUDE.md: there has to be one line"),
        (f"a\n{guidance.END}\nb\n{guidance.BEGIN}\n", "such lines are: 2, 4."),
        (f"{BODY}\n{BODY}\n", "such lines are: 1, "),
        (f"{guidance.BEGIN}\n{guidance.BEGIN}\n{guidance.END}", "such lines are: 1, 2, 3."),
        (
            f"a\n{guidance.BEGIN} x\n{guidance.END}",
            "CLAUDE.md, line 2: <!-- BEGIN CCE MCP --> is not",
        ),
    ],
)
def test_broken_markers_are_refused_with_their_lines(text: str, says: str) -> None:
    with pytest.raises(Failure) as caught:
        blocks.find_marked(text, guidance.BEGIN, guidance.END, "CLAUDE.md")
    assert caught.value.code == "markers_broken"
    assert says in caught.value.message
    assert "run init again" in tell(caught.value, Front.MODEL)


@pytest.mark.parametrize("data", [b"a\nb\xff", b"a\n\0b\0"])
def test_a_file_that_is_not_utf_8_is_refused_with_the_line(data: bytes) -> None:
    with pytest.raises(Failure) as caught:
        blocks.decode(data, "CLAUDE.md")
    assert caught.value.code == "not_utf8"
    assert caught.value.message.startswith("CLAUDE.md, line 2: the file is not UTF-8")

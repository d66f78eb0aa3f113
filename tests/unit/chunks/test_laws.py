"""What holds of units, details and served chunks in any text, broken ones too."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from helpers import ROOT
from vera_ccc_tools.ccc.replies import Hit
from vera_ccc_tools.chunks import detail, grammars, served, units

SOURCES = [
    (path.name, path.read_text("utf-8"))
    for pattern in (
        "vera_ccc_tools/chunks/*.py",
        "vera_ccc_tools/import_graph/*.py",
        "extension/*/*.js",
        "*.md",
        "tests/e2e/*.py",
    )
    for path in sorted(ROOT.glob(pattern))
]
ANY_LANGUAGE = [f"a.{extension}" for extension in "c cpp cs go java js md php py rb rs tsx".split()]


@st.composite
def broken_source(draw: st.DrawFn) -> tuple[str, str]:
    """A real file with a piece taken out of it or put in twice, of its language or of another."""
    path, text = draw(st.sampled_from(SOURCES))
    path = draw(st.sampled_from([path, path, *ANY_LANGUAGE]))
    at = draw(st.integers(0, len(text)))
    to = at + draw(st.integers(0, 60))
    kept = draw(st.sampled_from(["", text[at:to] * 2, "{", '"""', "\r\n", "\u2028é"]))
    return path, text[:at] + kept + text[to:]


def served_for(path: str, text: str, first: int, last: int) -> units.Served:
    content = "\n".join(text.split("\n")[first - 1 : last])
    hit = Hit(path, grammars.language_of(path) or "text", content, first, last, 0.5)
    (result,) = units.serve([hit], {path: text.encode()}.get)
    return result


@given(broken_source(), st.data())
def test_what_is_served_holds_most_of_the_hit(source: tuple[str, str], data: st.DataObject) -> None:
    path, text = source
    lines = text.split("\n")
    first = data.draw(st.integers(1, len(lines)))
    last = data.draw(st.integers(first, min(len(lines), first + 40)))
    chunk = served_for(path, text, first, last).chunk
    verbatim = "\n".join(lines[chunk.start_line - 1 : chunk.end_line])
    assert chunk.content == verbatim.removesuffix("\r")
    if not chunk.is_unit:
        assert (chunk.start_line, chunk.end_line) == (first, last)
    else:
        within = range(max(first, chunk.start_line), min(last, chunk.end_line) + 1)
        held = sum(len(lines[number - 1].encode()) + 1 for number in within)
        whole = sum(len(lines[number - 1].encode()) + 1 for number in range(first, last + 1))
        assert 2 * held > whole - 2


@given(broken_source())
def test_the_chunks_of_a_file_hold_each_line_once(source: tuple[str, str]) -> None:
    path, text = source
    lines = text.split("\n")
    row = 0
    for chunk in units.units_of(path, None, text.encode()):
        assert not "".join(lines[row : chunk.start_line - 1]).strip()
        row = chunk.end_line
        assert chunk.start_line <= chunk.end_line
    assert not "".join(lines[row:]).strip()


@given(broken_source(), st.data())
def test_less_detail_is_never_more_text(source: tuple[str, str], data: st.DataObject) -> None:
    path, text = source
    lines = text.count("\n") + 1
    first = data.draw(st.integers(1, lines))
    chunk = served_for(path, text, first, min(lines, first + 25)).chunk
    signature, compact, full = (
        len(detail.render(chunk, level).encode()) for level in detail.LEVELS
    )
    assert compact <= full == len(chunk.content.encode())
    assert signature <= full


@given(broken_source())
def test_a_chunk_is_found_again_where_nothing_changed(source: tuple[str, str]) -> None:
    path, text = source
    read = {path: text.encode()}.get
    for chunk in units.units_of(path, None, text.encode()):
        found = served.current(served.place(chunk), read)
        assert found is not None
        assert found.content == chunk.content

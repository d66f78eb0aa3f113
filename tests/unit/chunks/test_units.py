"""From ccc's windows to whole units."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from vera_ccc_tools.ccc.replies import Hit
from vera_ccc_tools.chunks import grammars, units
from vera_ccc_tools.chunks.chunk import Chunk

SERVICE = '''\
"""A service."""

import os


class Service:
    """Does it all."""

    def find(self, key):
        value = self.cache.get(key)
        if value is None:
            value = self.repo.get(key)
            self.cache.put(key, value)
        return value

    @property
    # How many there are,
    # counted each time.
    def size(self):
        return len(self.cache)

    def save(self, key, value):
        self.repo.put(key, value)
        self.cache.put(key, value)
        self.log.info("saved %s", key)


LIMIT = 10
NAMES = {
    "one": 1,
    "two": 2,
}
'''


def hit(
    source: str | bytes,
    first: int,
    last: int,
    *,
    path: str = "a.py",
    score: float = 0.5,
    language: str | None = None,
) -> Hit:
    text = source.decode("utf-8", "replace") if isinstance(source, bytes) else source
    content = "\n".join(text.split("\n")[first - 1 : last])
    named = language or grammars.language_of(path) or "text"
    return Hit(path, named, content, first, last, score)


def served(files: Mapping[str, str | bytes], *hits: Hit) -> list[tuple[str, int, int, str, float]]:
    def read(path: str) -> bytes | None:
        found = files.get(path)
        return found.encode() if isinstance(found, str) else found

    return [
        (each.chunk.kind, each.chunk.start_line, each.chunk.end_line, each.chunk.path, each.score)
        for each in units.serve(hits, read)
    ]


def span(source: str | bytes, first: int, last: int, path: str = "a.py") -> tuple[str, int, int]:
    """What is served for a hit on these lines."""
    return served({path: source}, hit(source, first, last, path=path))[0][:3]


# --- which unit ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ((9, 14), ("function_definition", 9, 14)),
        ((10, 12), ("function_definition", 9, 14)),  # within it
        ((6, 14), ("function_definition", 9, 14)),  # with a little more around it
        ((19, 20), ("function_definition", 16, 20)),  # the decorator and comments are part of it
        ((16, 18), ("function_definition", 16, 20)),  # even if they are all of the hit
        ((12, 24), ("class_definition", 6, 25)),  # no method holds most of it
        ((6, 25), ("class_definition", 6, 25)),
        ((1, 4), ("module", 1, 4)),  # outside of any unit
        ((27, 32), ("module", 27, 32)),
    ],
)
def test_the_smallest_unit_that_holds_most_of_a_hit_is_served(
    lines: tuple[int, int], expected: tuple[str, int, int]
) -> None:
    assert span(SERVICE, *lines) == expected


def test_a_unit_is_served_as_it_stands_in_the_file() -> None:
    read = {"a.py": SERVICE.encode()}.get
    (result,) = units.serve([hit(SERVICE, 10, 12)], read)
    assert result.chunk == Chunk(
        "a.py",
        9,
        14,
        "function",
        "function_definition",
        "\n".join(SERVICE.split("\n")[8:14]),
    )


def test_hits_in_one_unit_are_one_result_with_the_best_score_at_the_first_s_place() -> None:
    other = "def lonely():\n    return 1 + 1\n"
    results = served(
        {"a.py": SERVICE, "b.py": other},
        hit(SERVICE, 9, 12, score=0.6),
        hit(other, 1, 2, path="b.py", score=0.7),
        hit(SERVICE, 11, 14, score=0.8),
        hit(SERVICE, 9, 14, score=0.5),
    )
    assert results == [
        ("function_definition", 9, 14, "a.py", 0.8),
        ("function_definition", 1, 2, "b.py", 0.7),
    ]


UNITS = {
    "a.js": ("// Says it.\nexport const say = (a) => {\n  log(a);\n};\n", "arrow_function", 1, 4),
    "b.js": ("app.get('/x', async (req) => {\n  log(req);\n});\n", "arrow_function", 1, 3),
    "c.ts": ("@Injectable()\nexport class A {\n  x = 1;\n}\n", "class_declaration", 1, 4),
    "d.tsx": ("export interface Props {\n  a: string;\n}\n", "interface_declaration", 1, 3),
    "e.go": ("// A is one.\ntype A struct {\n\tX int\n}\n", "type_declaration", 1, 4),
    "f.rs": ("/// One.\n#[derive(Debug)]\npub struct A {\n  x: u8,\n}\n", "struct_item", 1, 5),
    "G.java": ("/** One. */\n@Deprecated\nrecord A(int x) {\n}\n", "record_declaration", 1, 4),
    "h.rb": ("# One.\nmodule A\n  X = 1\nend\n", "module", 1, 4),
    "i.c": ("/* One. */\ntypedef struct {\n  int x;\n} A;\n", "struct_specifier", 1, 4),
    "j.cpp": ("template <class T>\nT one(T x) {\n  return x;\n}\n", "function_definition", 1, 4),
    "K.cs": ("/// One.\n[Obsolete]\nstruct A {\n  int x;\n}\n", "struct_declaration", 1, 5),
    "l.php": ("<?php\n/** One. */\ntrait A {\n  private $x;\n}\n", "trait_declaration", 2, 5),
    "m.md": ("# One\n\nWords.\n\n- more\n\n", "section", 1, 5),
}


@pytest.mark.parametrize("path", UNITS)
def test_every_language_has_its_units_with_what_belongs_to_them(path: str) -> None:
    source, kind, first, last = UNITS[path]
    assert span(source, first, last, path) == (kind, first, last)


def test_a_mention_of_a_struct_is_no_unit() -> None:
    source = "struct point *move(struct point *p);\nextern struct point origin;\n"
    assert span(source, 1, 2, "a.c") == ("module", 1, 2)


def test_a_keyword_is_no_unit() -> None:
    assert not list(units.every_unit("a.rb", None, b"module_function\nclass_eval { 1 }\n"))


def test_a_comment_behind_other_code_or_a_blank_line_belongs_to_no_unit() -> None:
    source = "x = 1  # about x\ndef one():\n    return 1\n\n# alone\n\ndef two():\n    return 2\n"
    assert [
        (each.start_line, each.end_line) for each in units.every_unit("a.py", None, source.encode())
    ] == [(2, 3), (7, 8)]


def test_a_comment_that_begins_behind_other_code_belongs_to_no_unit() -> None:
    source = "let x = 1; /* about x\n * and more */\nfunction one() {\n  return 1;\n}\n"
    assert span(source, 3, 5, "a.js") == ("function_declaration", 3, 5)


def test_a_document_s_smallest_section_is_served() -> None:
    source = "# Title\n\nIntro.\n\n## One\n\nFirst words.\n\n## Two\n\nSecond words.\n"
    assert span(source, 5, 7, "a.md") == ("section", 5, 7)
    assert span(source, 1, 11, "a.md") == ("section", 1, 11)
    assert span("Words only.\n\nNo heading.\n", 1, 3, "a.md") == ("module", 1, 3)


# --- where the window stays ----------------------------------------------------------------------


def test_a_file_that_changed_since_it_was_indexed_keeps_the_window() -> None:
    old = hit(SERVICE, 9, 14)
    changed = SERVICE.replace("cache", "store")
    (result,) = units.serve([old], {"a.py": changed.encode()}.get)
    assert (result.chunk.kind, result.chunk.content) == ("module", old.content)
    shorter = "\n".join(SERVICE.split("\n")[:5])
    assert served({"a.py": shorter}, old)[0][:3] == ("module", 9, 14)


def test_a_file_that_cannot_be_read_keeps_the_window() -> None:
    assert served({}, hit(SERVICE, 9, 14))[0][:3] == ("module", 9, 14)


def test_a_language_without_a_grammar_keeps_the_window_with_its_lines_whole() -> None:
    source = "[tool]\n    name = 'x'\n    size = 1\n"
    cut = Hit("a.toml", "toml", "name = 'x'\n    size", 2, 3, 0.5)
    (result,) = units.serve([cut], {"a.toml": source.encode()}.get)
    assert result.chunk == Chunk("a.toml", 2, 3, "module", "module", "    name = 'x'\n    size = 1")


def test_a_unit_that_is_too_large_keeps_the_window() -> None:
    body = "".join(f"    value_{number} = compute({number})\n" for number in range(1000))
    assert span(f"def huge():\n{body}", 100, 120) == ("module", 100, 120)


def test_a_file_that_is_too_large_keeps_the_window() -> None:
    small = "def one():\n    return 1\n"
    large = small + "# filler\n" * (units.MAX_FILE // 9)
    assert span(large, 1, 2) == ("module", 1, 2)


def test_a_window_in_a_line_without_end_stays_as_ccc_cut_it() -> None:
    line = "x=1;" * 20_000
    cut = Hit("a.js", "javascript", line[400:1400], 1, 1, 0.5)
    (result,) = units.serve([cut], {"a.js": f"{line}\n".encode()}.get)
    assert (result.chunk.kind, result.chunk.content) == ("module", cut.content)


def test_a_one_line_function_does_not_stand_for_a_line_that_it_is_little_of() -> None:
    source = "const names = people.filter((each) => each.age > limit).map(nameOf).sort(byLength);\n"
    assert span(source, 1, 1, "a.js") == ("module", 1, 1)


# --- odd texts -----------------------------------------------------------------------------------


def test_line_ends_of_windows_stay_within_a_unit() -> None:
    source = "import os\r\n\r\ndef one():\r\n    x = 1\r\n    return x\r\n"
    (result,) = units.serve([hit(source, 3, 5)], {"a.py": source.encode()}.get)
    assert result.chunk.content == "def one():\r\n    x = 1\r\n    return x"


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_a_byte_order_mark_is_no_part_of_the_text(encoding: str) -> None:
    source = "def one():\n    x = 'é'\n    return x\n"
    (result,) = units.serve([hit(source, 1, 3)], {"a.py": source.encode(encoding)}.get)
    assert (result.chunk.kind, result.chunk.content) == ("function_definition", source.strip())


def test_bytes_that_are_no_text_are_replaced_as_ccc_does_it() -> None:
    source = b"def one():\n    x = '\xff\xfe'\n    return x\n"
    assert span(source, 1, 3) == ("function_definition", 1, 3)


def test_a_syntax_error_costs_only_what_it_breaks() -> None:
    source = "def one():\n    x = (\n\n\ndef two():\n    a = 1\n    return a\n"
    assert span(source, 5, 7) == ("function_definition", 5, 7)


@pytest.mark.parametrize("source", ["", "\n", "\n\n", " "])
def test_a_file_with_nothing_in_it_has_no_chunks(source: str) -> None:
    assert units.units_of("a.py", "python", source.encode()) == ()


@pytest.mark.parametrize(
    ("path", "source"),
    [
        ("a.js", "function f() {\n" * 8000),
        ("a.js", "[(\n" * 60_000),
        ("a.py", "if x:\n" * 40_000),
        ("a.md", "> " * 100_000),
        ("a.c", "{" * 200_000),
    ],
)
def test_text_that_nests_without_end_is_read_to_its_end(path: str, source: str) -> None:
    assert span(source, 1, min(30, source.count("\n") + 1), path)[0]
    assert units.units_of(path, None, source.encode())
    assert all(each.is_unit for each in units.every_unit(path, None, source.encode()))


# --- a whole file --------------------------------------------------------------------------------


def test_a_file_is_its_outermost_units_and_what_stands_between_them() -> None:
    chunks = units.units_of("a.py", "python", SERVICE.encode())
    assert [(each.kind, each.start_line, each.end_line) for each in chunks] == [
        ("module", 1, 3),
        ("class_definition", 6, 25),
        ("module", 28, 32),
    ]


def test_a_class_that_is_too_large_is_taken_apart() -> None:
    methods = "".join(
        f"    def m{number}(self):\n        return {'1 + ' * 90}{number}\n\n"
        for number in range(60)
    )
    chunks = units.units_of("a.py", "python", f"class A:\n{methods}".encode())
    assert [each.kind for each in chunks] == ["module", *["function_definition"] * 60]


def test_text_without_a_grammar_is_cut_at_line_ends() -> None:
    source = "".join(f"line {number}\n" for number in range(5000))
    chunks = units.units_of("a.txt", "text", source.encode())
    assert len(chunks) > 1
    assert all(len(each.content.encode()) <= units.MAX_UNIT for each in chunks)
    assert "\n".join(each.content for each in chunks) == source.strip("\n")

"""How much of a chunk is shown: the values of the reference engine, and every language."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vera_ccc_tools.ccc.replies import Hit
from vera_ccc_tools.chunks import detail, units
from vera_ccc_tools.chunks.chunk import MODULE, Chunk

SERVICE = '''\
class Service:
    """A tiny service over a repo."""

    def find(self, id):
        return self.repo.get(id)

    def save(self, x):
        return self.repo.put(x)
'''
PARSE_AMOUNT = '''\
def parse_amount(raw):
    """Parse a currency amount from raw text."""
    cleaned = raw.strip().replace("$", "")
    value = float(cleaned)
    return round(value, 2)
'''
AUTH = '''\
"""Passwords."""

import hashlib


def hash_password(password: str, salt: str) -> str:
    """Hash a password with a salt using SHA-256.

    This is the single place passwords are hashed; callers never
    hash inline. Returns the hex digest.
    """
    digest = hashlib.sha256((salt + password).encode()).hexdigest()
    return digest


def verify_password(password: str, salt: str, expected: str) -> bool:
    """Return True when the password hashes to the expected digest."""
    return hash_password(password, salt) == expected
'''


def chunks(path: str, source: str) -> list[Chunk]:
    return list(units.every_unit(path, None, source.encode()))


def first(path: str, source: str, level: detail.Level) -> str:
    return detail.render(chunks(path, source)[0], level)


# --- compact -------------------------------------------------------------------------------------


def test_a_container_shows_its_header_its_documentation_and_each_member() -> None:
    assert first("service.py", SERVICE, "compact").split("\n") == [
        "class Service:",
        '"""A tiny service over a repo."""',
        "def find(self, id):",
        "… (+1 lines)",
        "def save(self, x):",
        "… (+1 lines)",
    ]


def test_a_leaf_shows_its_signature_its_documentation_and_its_first_statement() -> None:
    assert first("money.py", PARSE_AMOUNT, "compact").split("\n") == [
        "def parse_amount(raw):",
        '"""Parse a currency amount from raw text."""',
        'cleaned = raw.strip().replace("$", "")',
        "… (+2 lines)",
    ]


def test_the_functions_of_the_contract_s_example_look_as_they_do_there() -> None:
    hashing, verifying = chunks("auth.py", AUTH)
    assert [(each.start_line, each.end_line) for each in (hashing, verifying)] == [
        (6, 13),
        (16, 18),
    ]
    assert (hashing.type, hashing.kind) == ("function", "function_definition")
    assert (hashing.id, verifying.id) == ("04578fe98cec59bd", "ae61011b82d7a777")
    assert detail.render(hashing, "compact").split("\n") == [
        "def hash_password(password: str, salt: str) -> str:",
        '"""Hash a password with a salt using SHA-256.',
        "digest = hashlib.sha256((salt + password).encode()).hexdigest()",
        "… (+5 lines)",
    ]
    assert detail.render(verifying, "compact").split("\n") == [
        "def verify_password(password: str, salt: str, expected: str) -> bool:",
        '"""Return True when the password hashes to the expected digest."""',
        "return hash_password(password, salt) == expected",
    ]
    assert detail.render(hashing, "full") == "\n".join(AUTH.split("\n")[5:13])


LEAVES = {
    "money.rb": (
        (
            'def parse_amount(raw)\n  cleaned = raw.strip.delete("$")\n'
            "  value = cleaned.to_f\n  value.round(2)\nend\n"
        ),
        "def parse_amount(raw)",
        'cleaned = raw.strip.delete("$")',
    ),
    "money.rs": (
        (
            "pub fn parse_amount(raw: &str) -> f64 {\n    let cleaned = raw.trim();\n"
            "    let value: f64 = cleaned.parse().unwrap_or(0.0);\n    value.round()\n}\n"
        ),
        "pub fn parse_amount(raw: &str) -> f64",
        "let cleaned = raw.trim();",
    ),
    "money.ts": (
        (
            "function parseAmount(raw: string): number {\n  const cleaned = raw.trim();\n"
            "  const value = parseFloat(cleaned);\n  return Math.round(value);\n}\n"
        ),
        "function parseAmount(raw: string): number",
        "const cleaned = raw.trim();",
    ),
    "money.js": (
        (
            "const parseAmount = (raw) => {\n  const cleaned = raw.trim();\n"
            "  const value = parseFloat(cleaned);\n  return Math.round(value);\n};\n"
        ),
        "const parseAmount = (raw) =>",
        "const cleaned = raw.trim();",
    ),
    "money.c": (
        (
            "double parse_amount(const char *raw) {\n    double value = atof(raw);\n"
            "    double cents = value * 100.0;\n    return cents / 100.0;\n}\n"
        ),
        "double parse_amount(const char *raw)",
        "double value = atof(raw);",
    ),
    "money.go": (
        (
            "func (p *Parser) ParseAmount(raw string) float64 {\n\tcleaned := clean(raw)\n"
            "\tvalue := parse(cleaned)\n\treturn value\n}\n"
        ),
        "func (p *Parser) ParseAmount(raw string) float64",
        "cleaned := clean(raw)",
    ),
    "Money.java": (
        (
            "class A {\n  @Override\n  double parse(String raw) {\n    var value = of(raw);\n"
            "    var cents = value * 100;\n    return cents / 100;\n  }\n}\n"
        ),
        "@Override\ndouble parse(String raw)",
        "var value = of(raw);",
    ),
    "Money.cs": (
        (
            "class A {\n  public double Parse(string raw)\n  {\n    var value = Of(raw);\n"
            "    var cents = value * 100;\n    return cents / 100;\n  }\n}\n"
        ),
        "public double Parse(string raw)",
        "var value = Of(raw);",
    ),
    "money.php": (
        (
            "<?php\nfunction parse_amount(string $raw): float\n{\n    $value = (float) $raw;\n"
            "    $cents = $value * 100;\n    return $cents / 100;\n}\n"
        ),
        "function parse_amount(string $raw): float",
        "$value = (float) $raw;",
    ),
    "money.cpp": (
        (
            "template <class T>\ndouble Parser<T>::parse(const T& raw) const {\n"
            "  auto value = of(raw);\n  auto cents = value * 100;\n  return cents / 100;\n}\n"
        ),
        "template <class T>\ndouble Parser<T>::parse(const T& raw) const",
        "auto value = of(raw);",
    ),
}


@pytest.mark.parametrize("path", LEAVES)
def test_a_signature_goes_up_to_the_body_in_every_language(path: str) -> None:
    source, signature, statement = LEAVES[path]
    chunk = next(each for each in chunks(path, source) if each.type == "function")
    assert detail.render(chunk, "signature") == signature
    lines = chunk.end_line - chunk.start_line + 1
    hidden = lines - len(signature.split("\n")) - 1
    assert detail.render(chunk, "compact") == f"{signature}\n{statement}\n… (+{hidden} lines)"


CONTAINERS = {
    "case.rb": (
        (
            "class Case < ApplicationRecord\n  belongs_to :assignee, class_name: 'User'\n"
            "  scope :open, -> { where(closed: false) }\n\n  def close!\n    self.closed = true\n"
            "    save!\n  end\nend\n"
        ),
        (
            "class Case < ApplicationRecord\nbelongs_to :assignee, class_name: 'User'\n"
            "scope :open, -> { where(closed: false) }\ndef close!\n… (+3 lines)"
        ),
    ),
    "store.rs": (
        (
            "pub struct Store {\n    data: HashMap<String, u32>,\n    /// what it is called\n"
            "    name: String,\n    dirty: bool,\n}\n"
        ),
        "pub struct Store\ndata: HashMap<String, u32>\nname: String\ndirty: bool",
    ),
    "service.ts": (
        (
            "class Service {\n  private repo: Repo;\n  limit: number = 10;\n\n"
            "  find(id: string): Case {\n    return this.repo.get(id);\n  }\n}\n"
        ),
        (
            "class Service\nprivate repo: Repo\nlimit: number = 10\nfind(id: string): Case {\n"
            "… (+2 lines)"
        ),
    ),
    "service.js": (
        (
            "class Service {\n  count = 0;\n\n  find(id) {\n    return this.repo.get(id);\n  }\n\n"
            "  save(x) {\n    return this.repo.put(x);\n  }\n}\n"
        ),
        "class Service\ncount = 0\nfind(id) {\n… (+2 lines)\nsave(x) {\n… (+2 lines)",
    ),
    "point.c": (
        "struct Point {\n    int x;\n    double y;\n    char *label;\n};\n",
        "struct Point\nint x;\ndouble y;\nchar *label;",
    ),
    "typedef.c": (
        "typedef struct {\n    int x;\n    double y;\n    char *label;\n} Point;\n",
        "typedef struct\nint x;\ndouble y;\nchar *label;\n} Point;",
    ),
    "point.go": (
        '// Point is one.\ntype Point struct {\n\tX int `json:"x"`\n\tY int\n}\n',
        'type Point struct\n// Point is one.\nX int `json:"x"`\nY int',
    ),
    "shape.go": (
        "type Shape interface {\n\tio.Reader\n\tArea() float64\n}\n",
        "type Shape interface\nio.Reader\nArea() float64",
    ),
    "Level.java": (
        (
            "public enum Level {\n  LOW, HIGH;\n\n  @Override\n  public String toString() {\n"
            "    return name().toLowerCase(Locale.ROOT);\n  }\n}\n"
        ),
        "public enum Level\nLOW\nHIGH\n@Override\npublic String toString() {\n… (+2 lines)",
    ),
    "models.py": (
        (
            "@dataclass\nclass Model:\n    size: int\n\n    @property\n    def big(self) -> bool:\n"
            "        # many\n        return self.size > 1000 * 1000\n"
        ),
        "@dataclass\nclass Model:\nsize: int\n@property\ndef big(self) -> bool:\n… (+2 lines)",
    ),
}


@pytest.mark.parametrize("path", CONTAINERS)
def test_no_member_of_a_container_is_lost_in_any_language(path: str) -> None:
    source, compact = CONTAINERS[path]
    assert first(path, source, "compact") == compact


def test_a_comment_above_a_function_is_its_documentation() -> None:
    source = (
        "/**\n * Says hello.\n * @param name who\n */\nexport async function hello(name) {\n"
        "  const text = `Hello ${name}`;\n  console.log(text);\n  return text;\n}\n"
    )
    assert first("a.js", source, "compact").split("\n") == [
        "export async function hello(name)",
        "* Says hello.",
        "const text = `Hello ${name}`;",
        "… (+6 lines)",
    ]
    assert first("a.js", source, "signature") == "export async function hello(name)"


def test_a_comment_before_the_body_is_no_part_of_the_signature() -> None:
    source = (
        "def one(a):  # noqa: X1\n    # Adds a few numbers, then some.\n    a += 1\n    a += 2\n"
        "    return a + 1\n"
    )
    assert first("a.py", source, "signature") == "def one(a):"
    assert first("a.py", source, "compact").split("\n") == [
        "def one(a):",
        "# Adds a few numbers, then some.",
        "a += 1",
        "… (+2 lines)",
    ]


def test_a_section_shows_its_heading_and_its_first_line_or_what_is_in_it() -> None:
    text = (
        "# Title\n\nWords that are many,\nand more.\n\n## One\n\nBody.\n\nOther words here.\n"
        "\n## Two\n"
    )
    whole, one, _ = chunks("a.md", text)
    assert detail.render(one, "compact") == "## One\nBody.\n… (+3 lines)"
    assert detail.render(whole, "compact") == (
        "# Title\nWords that are many,\n… (+1 lines)\n## One\n… (+4 lines)\n## Two"
    )
    assert detail.render(whole, "signature") == "# Title"


def test_lines_that_are_no_unit_show_what_stands_on_them() -> None:
    source = (
        "import os\nimport sys\nfrom a import (\n    b,\n    c,\n)\n\n# About it.\n"
        "LIMIT = 10; MORE = 11\nTABLE = {\n    1: 2,\n}\n\n\n"
        "def one():\n    return LIMIT\n\n\n@cached\ndef two():\n    return TABLE\n"
    )
    window = Hit("a.py", "python", source.rstrip("\n"), 1, 21, 0.5)
    (result,) = units.serve([window], {"a.py": source.encode()}.get)
    assert not result.chunk.is_unit
    assert detail.render(result.chunk, "compact").split("\n") == [
        "import os",
        "… (+5 lines)",
        "LIMIT = 10; MORE = 11",
        "TABLE = {",
        "… (+2 lines)",
        "def one():",
        "… (+1 lines)",
        "@cached",
        "def two():",
        "… (+1 lines)",
    ]
    assert detail.render(result.chunk, "signature") == "import os\n… (+20 lines)"


def test_a_unit_that_a_window_cuts_shows_the_part_that_is_in_it() -> None:
    body = "".join(f"    if x == {number}:\n        act({number})\n" for number in range(900))
    source = f"def huge(x):\n{body}"
    content = "\n".join(source.split("\n")[2:7])  # from within one statement into another
    (result,) = units.serve(
        [Hit("a.py", "python", content, 3, 7, 0.5)], {"a.py": source.encode()}.get
    )
    assert detail.render(result.chunk, "compact").split("\n") == [
        "act(0)",
        "if x == 1:",
        "… (+1 lines)",
        "if x == 2:",
        "… (+1 lines)",
    ]


def test_text_without_a_parser_shows_its_first_line_with_something_on_it() -> None:
    chunk = Chunk("a.toml", 4, 8, MODULE, MODULE, "\n  [tool.thing]\nname = 1\nsize = 2\nlast = 3")
    assert detail.render(chunk, "compact") == "[tool.thing]\n… (+4 lines)"
    assert detail.render(chunk, "signature") == "[tool.thing]\n… (+4 lines)"
    assert detail.render(chunk, "full") == chunk.content


def test_a_note_s_last_line_end_begins_no_line() -> None:
    chunk = Chunk("notes.md", 1, 3, MODULE, MODULE, "# Notes\nFixture for the fallback path.\n")
    assert detail.render(chunk, "compact") == "# Notes\n… (+1 lines)"


def test_what_would_be_no_shorter_is_shown_whole() -> None:
    source = "function f(a) {\n  return a;\n}\n"
    assert first("a.js", source, "compact") == source.rstrip("\n")


# --- max_tokens ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "tokens", "expected"),
    [
        ("abcdefgh" * 10, 4, ("abcdefgh" * 2, True)),
        ("hi", 100, ("hi", False)),
        ("abcdefg", 1, ("abcdefg", False)),  # seven bytes are one token
        ("anything", 0, ("", True)),
        ("anything", -1, ("", True)),
        ("éééé" * 2, 1, ("éé", True)),
        ("aéééé", 1, ("aé", True)),
    ],
)
def test_a_text_is_cut_between_characters(
    text: str, tokens: int, expected: tuple[str, bool]
) -> None:
    assert detail.cut(text, tokens) == expected


@given(st.text(), st.integers(0, 50))
def test_a_cut_text_is_a_beginning_that_fits(text: str, tokens: int) -> None:
    kept, less = detail.cut(text, tokens)
    assert text.startswith(kept)
    assert less == (kept != text) or not text
    assert len(kept.encode()) < 4 * (tokens + 1)

"""The one line that is shown of a result."""

from __future__ import annotations

import pytest

from vera_ccc_tools.ranking.preview import MOST, preview


@pytest.mark.parametrize(
    ("language", "content", "told"),
    [
        (
            "python",
            "import os\nfrom a import b\n\n\ndef retry(file):\n    pass",
            "def retry(file):",
        ),
        ("python", "@cached(1)\n# how often\ndef wait():", "def wait():"),
        ("python", "from a import (\n    b,\n    c,\n)\nLIMIT = 3", "LIMIT = 3"),
        ("python", "    }\n)\n\n    return wait * 2", "return wait * 2"),
        ("python", '"""Uploads."""\nimport os', '"""Uploads."""'),
        ("python", "use = 3", "use = 3"),
        ("go", '// why\nimport (\n\t"context"\n)\nfunc Retry() {', "func Retry() {"),
        ("javascript", "import {\n  a,\n} from 'b';\nexport const x = 1;", "export const x = 1;"),
        ("javascript", "'use strict';\n/**\n * Why.\n */\nclass A {", "class A {"),
        ("rust", "#[derive(Debug)]\nuse std::io;\npub struct Policy {", "pub struct Policy {"),
        ("c", "#include <a.h>\n#define MOST 3", "#define MOST 3"),
        ("c", "*wait = 3;", "*wait = 3;"),
        ("c_sharp", "[Test]\npublic void Retries()", "public void Retries()"),
        ("ruby", "# frozen_string_literal: true\nrequire 'a'\nmodule A", "module A"),
        ("markdown", "\n# Uploads\n\nText.", "# Uploads"),
        ("python", "# only\n# words", "# only"),
        ("json", "{\n}\n", "{"),
        ("python", "失敗したら再試行する", "失敗したら再試行する"),
    ],
)
def test_code_comes_before_words_and_words_before_imports_and_braces(
    language: str, content: str, told: str
) -> None:
    assert preview(content, language) == told


def test_a_preview_is_one_harmless_line_of_bounded_length() -> None:
    told = preview("\n\t\x1b[31mred\x1b[0m\u2028a\tb\u202e" + "x" * 500, "python")
    assert told.startswith("red a b")
    assert len(told) == MOST


@pytest.mark.parametrize("content", ["", "\n \n\t\n"])
def test_a_chunk_of_nothing_has_no_preview(content: str) -> None:
    assert preview(content, "python") == ""


@pytest.mark.parametrize(
    ("language", "content", "told"),
    [
        ("ruby", "  param = nil\nend\n\ndef parse(query)\n", "def parse(query)"),
        ("ruby", "param = nil\ncount = 0\n# why\nwhile i = at('=')", "while i = at('=')"),
        ("python", "while 1:\n    line = read()", "line = read()"),
        ("c", "return 0;\nint i = 0;\nwait(i);", "wait(i);"),
        ("ruby", "module Rack\n  class Builder\n", "class Builder"),
        ("ruby", "  end\n  it 'retries' do\n", "it 'retries' do"),
        ("html", "</style>\n</head>\n<h1 id='x'>Uploads</h1>", "<h1 id='x'>Uploads</h1>"),
        ("html", "<!doctype html>\n<hr/>\n<p>How uploads go</p>", "<p>How uploads go</p>"),
        ("css", "  color: red;\n}\n/* wide,\n   wider */\n.button a {", ".button a {"),
        (
            "go",
            "\treturn nil\n}\n\nfunc (m *Mux) Route(p string) {",
            "func (m *Mux) Route(p string) {",
        ),
        ("go", "x := 1\ntype Routes interface {", "type Routes interface {"),
        ("rust", "    })\n}\nimpl<T> From<T> for Body {", "impl<T> From<T> for Body {"),
        ("rust", "let a = 1;\npub(crate) async fn go() {", "pub(crate) async fn go() {"),
        ("java", "return 1;\n}\npublic int size(int a) {", "public int size(int a) {"),
        ("c", "/* a\n   of b */\n#ifndef A_H\n#define A_H\nint f(char *a)", "int f(char *a)"),
        ("c", "of b */\nstatic void\nusage(int a) {", "usage(int a) {"),
        ("javascript", "const glob = 'a/*.js'\nfunction go() {", "function go() {"),
        ("c", "if (a) {\n    b(c);\n}", "if (a) {"),
        ("bash", "fi\ndone\n  ;;\nesac\nretry() {", "retry() {"),
        (
            "javascript",
            "  });\n  return a;\n}\nexport const go = async (a) => {",
            "export const go = async (a) => {",
        ),
        (
            "typescript",
            "x = 1;\n  async stop(now: boolean): Promise<void> {",
            "async stop(now: boolean): Promise<void> {",
        ),
        ("markdown", "and so on.\n\n```\n## Retries\n", "## Retries"),
        ("markdown", "[![CI](a)](b)\n\nIt retries.", "It retries."),
        ("yaml", "---\n- 3\nretries: 4", "retries: 4"),
        ("json", '{\n  },\n  "name": "x"', '"name": "x"'),
        ("python", "    type = a\n    class_of = b\ndef f(", "def f("),
        ("lua", "end\nelse\nlocal function go()", "local function go()"),
    ],
)
def test_a_line_that_defines_something_comes_first(language: str, content: str, told: str) -> None:
    assert preview(content, language) == told


@pytest.mark.parametrize(
    "bare", ["end", "end)", "});", "</div>", "fi", "done;", "} else {", "try:"]
)
def test_what_only_ends_or_begins_a_block_is_shown_where_there_is_nothing_else(bare: str) -> None:
    assert preview(f"{bare}\nwait(3)", "ruby") == "wait(3)"
    assert preview(f"{bare}\n# why", "ruby") == "# why"
    assert preview(bare, "ruby") == bare


@pytest.mark.parametrize("words", ["class of errors that", "type of the thing", "module.x = 1"])
def test_words_of_prose_define_nothing(words: str) -> None:
    assert preview(f"wait = 1\n{words}", "python") == "wait = 1"

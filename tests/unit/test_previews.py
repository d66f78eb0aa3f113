"""The one line that is shown of a result."""

from __future__ import annotations

import pytest

from vera_ccc_tools.previews import MOST, preview


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

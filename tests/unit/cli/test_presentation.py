"""What a person sees: taken from what a model reads, said in the words of the command line."""

from __future__ import annotations

import ast
import io
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from core_helpers import MakeExecutable, answer, environment, fake_ccc, make_project, row
from helpers import ROOT, write_file
from vera_ccc_tools.ccc import faults
from vera_ccc_tools.cli import presentation
from vera_ccc_tools.cli.terminal import Terminal
from vera_ccc_tools.errors import Failure
from vera_ccc_tools.system.call import Call
from vera_ccc_tools.tools import table
from vera_ccc_tools.tools.session import Session

PLAIN = Terminal(None, {})
COLOURED = Terminal(io.TextIOWrapper(io.BytesIO()), {"FORCE_COLOR": "1"})


def details(*rows: dict[str, Any]) -> dict[str, Any]:
    return {"results": list(rows), "elapsed_ms": {"total": 210.4}}


def placed(path: str, first: int, last: int, score: float = 0.5) -> dict[str, Any]:
    lines = {"start_line": first, "end_line": last}
    counted = {"lines": last - first + 2}
    return {"file_path": path, "language": "python", "score": score, **lines, **counted}


TEXT = """\
src/a.py:9-10 [python] 0.812
def a():
\treturn 1

../b b.py:1-3 [python] 0.500
x = 1

[Result 1; no more.]

[Results 1 to 2; there are more: go on with offset 2.]

Note: Files changed; use rg."""
ROWS = (placed("src/a.py", 9, 10, 0.8121), placed("b b.py", 1, 3))


def test_a_search_is_taken_apart_into_what_was_found() -> None:
    found, tail = presentation.results(TEXT, ROWS)
    assert [(one.path, one.content) for one in found] == [
        ("src/a.py", "def a():\n\treturn 1"),
        ("../b b.py", "x = 1\n\n[Result 1; no more.]"),
    ]
    assert tail.startswith("[Results 1 to 2;")
    assert found[0].to_json()["file_path"] == "src/a.py"
    assert found[1].to_json()["path"] == "../b b.py"


def test_a_search_is_laid_out_with_line_numbers_and_the_option_to_go_on() -> None:
    assert presentation.search(TEXT, details(*ROWS), PLAIN) == (
        "src/a.py:9-10  python  0.812\n"
        " 9  def a():\n"
        "10      return 1\n"
        "\n"
        "../b b.py:1-3  python  0.500\n"
        "1  x = 1\n"
        "2\n"
        "3  [Result 1; no more.]\n"
        "\n"
        "Results 1 to 2; there are more: go on with --offset 2. (0.2 s)\n"
        "\n"
        "Note: Files changed; use rg."
    )


def test_colours_change_nothing_but_the_colour() -> None:
    coloured = presentation.search(TEXT, details(*ROWS), COLOURED)
    assert coloured != presentation.search(TEXT, details(*ROWS), PLAIN)
    plain = re.sub(r"\x1b\[[0-9;]+m", "", coloured)
    assert plain == presentation.search(TEXT, details(*ROWS), PLAIN)


def test_a_search_that_found_nothing_says_so() -> None:
    text = "No results. Try without `languages` and `path`. Describe what the code does."
    assert presentation.search(text, details(), PLAIN) == (
        "No results. Try without `--lang` and `--path`. Describe what the code does. (0.2 s)"
    )


def test_every_result_of_a_real_search_text_is_found_again(
    fake_executable: MakeExecutable, tmp_path: Path
) -> None:
    root = make_project(tmp_path / "p")
    rows = []
    for name in ("a.py", "odd [python] 0.5.py", "日本.py", "c:1-2.py"):
        content = f"first = '{name}'\n\n    deeper = [1]"
        write_file(root / name, f"{content}\n")
        rows.append(row(name, content))
    fake = fake_ccc(fake_executable, tmp_path, f"print({answer(*rows)!r})")
    session = Session(environment(VERA_CCC_EXECUTABLE=str(fake.path), VERA_CCC_GITIGNORE_SYNC="0"))
    given = {"query": "x", "refresh_index": False, "rank": "ccc"}
    result = table.call_tool(session, "ccc_search", given, Call(root))
    text, rows = result["content"][0]["text"], result["details"]["results"]
    found, tail = presentation.results(text, rows)
    assert [one.path for one in found] == [each["file_path"] for each in rows]
    assert all(one.content == f"first = '{one.path}'\n\n    deeper = [1]" for one in found)
    assert tail == "[Results 1 to 4; no more.]"


@pytest.mark.parametrize(
    ("state", "root", "head"),
    [
        ("ready", "/p", "✓ /p"),
        ("indexing", "/p", "● /p"),
        ("unindexed", "/p", "✗ /p"),
        ("none", None, "✗ No project"),
        ("unavailable", None, "✗ No project"),
    ],
)
def test_an_overview_begins_with_its_state(state: str, root: str | None, head: str) -> None:
    seen: dict[str, Any] = {"state": state, "root": root, "message": "So it is.", "languages": {}}
    hint = "To build it, call ccc_index."
    text = presentation.overview({**seen, "hint": hint, "progress": None}, PLAIN)
    assert text == f"{head}\n  So it is.\n  To build it, run `vera-ccc index`."


def test_an_overview_names_languages_and_a_run_that_goes_on() -> None:
    languages = {f"l{number}": 1000 - number for number in range(10)}
    seen = {"state": "ready", "root": "/p", "message": "M.", "hint": "", "languages": languages}
    lines = presentation.overview({**seen, "progress": {"done": 1204}}, PLAIN).splitlines()
    assert lines[2].startswith("  Chunks: l0 1,000, l1 999,")
    assert lines[2].endswith(" and 2 more")
    assert lines[3] == "  An index run goes on: 1,204 files done."


def test_a_report_keeps_its_words_and_gets_colours() -> None:
    text = "✓ git: fine\n✗ project: no index\n    → Call ccc_index.\n\nFirst problem: project"
    assert presentation.doctor(text, COLOURED).splitlines()[:3] == [
        "\x1b[1;32m✓\x1b[0m git: fine",
        "\x1b[1;31m✗\x1b[0m project: no index",
        "\x1b[33m    → Run `vera-ccc index`.\x1b[0m",
    ]
    lines = presentation.sync("exclude\nWarning: w\n--- a\n+x\n-y\n z\n", COLOURED).splitlines()
    assert [line[:5] for line in lines] == [
        "exclu", "\x1b[33m", "\x1b[31m", "\x1b[32m", "\x1b[31m", " z",
    ]  # fmt: skip
    text = presentation.indexed("Indexed /p: 1 file.\nThis run: 1 added.", PLAIN)
    assert text == "✓ Indexed /p: 1 file.\n  This run: 1 added."


@pytest.mark.parametrize(
    ("told", "said"),
    [
        ("Call ccc_index to build it; use rg meanwhile.", "Run `vera-ccc index` to build it."),
        (
            "Call ccc_init, then ccc_index; use rg meanwhile.",
            "Run `vera-ccc call ccc_init`, then `vera-ccc index`.",
        ),
        (
            "Use rg meanwhile, and search again later; ccc-status tells when it is ready.",
            "Search again later; `vera-ccc status` tells when it is ready.",
        ),
        (
            "Ask the user to run `ccc daemon restart` in a terminal, then try again.",
            "Run `ccc daemon restart` in a terminal, then try again.",
        ),
        (
            "If it stays so, ask the user to run `ccc daemon restart`. Use rg meanwhile.",
            "If it stays so, run `ccc daemon restart`.",
        ),
        (
            "Ask the user to start the embedding service, or to correct the settings; it helps.",
            "Start the embedding service, or correct the settings; it helps.",
        ),
        (
            faults.named("no_embedding_model").remedy,
            (
                """Run `vera-ccc call ccc_init '{"litellm_model": "openai/NAME"}'`, """
                "or `ccc init` once in a terminal."
            ),
        ),
        (
            "Try again; if it happens again, call ccc_doctor.",
            "Try again; if it happens again, run `vera-ccc doctor`.",
        ),
    ],
)
def test_a_person_is_told_what_to_type(told: str, said: str) -> None:
    assert presentation.for_a_person(told) == said
    assert presentation.failure(Failure("x", "It broke.", told), PLAIN) == f"It broke.\n{said}"


def texts(path: Path) -> Iterator[str]:
    """The texts in a source but its docstrings; ``X`` for what is filled in."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    passed = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if id(node) in passed or not isinstance(node, ast.Constant | ast.JoinedStr):
            continue
        if isinstance(node, ast.Constant):
            yield str(node.value)
        else:
            passed |= {id(part) for part in node.values}
            parts = (part.value if isinstance(part, ast.Constant) else "X" for part in node.values)
            yield "".join(map(str, parts))


TOOL = r"\bccc[_-](?:index|init|search|doctor|status)\b"
CORE = {
    "vera_ccc_tools",
    "cli",
    "tools",
    "refresh",
    "sync",
    "ranking",
    "git",
    "ccc",
    "boot",
    "system",
}
FOR_A_MODEL = {"table", "status", "verbs", "presentation"}
TOLD = [
    text
    for path in sorted((ROOT / "vera_ccc_tools").rglob("*.py"))
    if path.stem not in FOR_A_MODEL and path.parent.name in CORE
    for text in texts(path)
    if " " in text and re.search(rf"{TOOL}|the user|rg meanwhile|or to", text)
]


def test_the_texts_that_speak_to_a_model_are_found() -> None:
    assert len(TOLD) > 40
    assert {fault.remedy for fault in faults.FAULTS if "ccc_" in fault.remedy} <= set(TOLD)


@pytest.mark.parametrize("text", TOLD)
def test_no_text_speaks_of_tools_or_of_a_user_to_a_person(text: str) -> None:
    said = presentation.for_a_person(text)
    words = rf"(?<!vera-ccc call ){TOOL}|\brg meanwhile\b|\b[Tt]he user\b|\b(?:or|then) to\b"
    arguments = r"`(?:languages|path|force|verbose|litellm_model|refresh_index|background)`"
    assert not re.search(rf"{words}|{arguments}", said)
    assert said[:1] == said[:1].upper() or text[:1] == text[:1].lower()

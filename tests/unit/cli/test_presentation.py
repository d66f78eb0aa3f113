"""What a person sees: taken from what a model reads, said in the words of the command line."""

from __future__ import annotations

import io
import re
from pathlib import Path
from typing import Any

import pytest

from core_helpers import MakeExecutable, answer, environment, fake_ccc, make_project, row
from helpers import write_file
from vera_ccc_tools.cli import presentation
from vera_ccc_tools.cli.terminal import Terminal
from vera_ccc_tools.errors import Do, Failure, Step
from vera_ccc_tools.system.call import Call
from vera_ccc_tools.tools import table
from vera_ccc_tools.tools.session import Session

PLAIN = Terminal(None, {})
COLOURED = Terminal(io.TextIOWrapper(io.BytesIO()), {"FORCE_COLOR": "1"})


def details(*rows: dict[str, Any]) -> dict[str, Any]:
    return {"lead": 0, "results": list(rows), "elapsed_ms": {"total": 210.4}}


def placed(path: str, first: int, last: int, score: float = 0.5) -> dict[str, Any]:
    lines = {"start_line": first, "end_line": last}
    counted = {"lines": last - first + 2}
    return {
        "file_path": path,
        "path": path,
        "language": "python",
        "score": score,
        **lines,
        **counted,
    }


TEXT = """\
src/a.py:9-10 [python] 0.812
def a():
\treturn 1

../b b.py:1-3 [python] 0.500
x = 1

[Result 1; no more.]

[Results 1 to 2; there are more: go on with --offset 2.]

Note: Files changed; use rg."""
ROWS = (placed("src/a.py", 9, 10, 0.8121), placed("../b b.py", 1, 3))


def test_a_search_is_taken_apart_into_what_was_found() -> None:
    found, tail = presentation.results(TEXT, details(*ROWS))
    assert [(one.row["path"], one.content) for one in found] == [
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
    text = "No results. Try without `languages` and `path`."
    assert presentation.search(text, details(), PLAIN) == (
        "No results. Try without `--lang` and `--path`. (0.2 s)"
    )


def test_an_answer_by_words_says_so_first() -> None:
    row = {key: value for key, value in ROWS[0].items() if key != "score"}
    text = f"By words, not by meaning: no ccc.\n\n{TEXT}"
    shown = presentation.search(text, {**details(row, ROWS[1]), "lead": 2}, PLAIN)
    assert shown.startswith(
        "By words, not by meaning: no ccc.\n\nsrc/a.py:9-10  python  by words\n 9  def a():\n"
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
    found, tail = presentation.results(result["content"][0]["text"], result["details"])
    assert [one.row["path"] for one in found] == [str(each["file_path"]) for each in rows]
    assert all(one.content == f"first = '{one.row['path']}'\n\n    deeper = [1]" for one in found)
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
    hint = "Run `vera-ccc index`."
    text = presentation.overview({**seen, "hint": hint, "progress": None}, PLAIN)
    assert text == f"{head}\n  So it is.\n  Run `vera-ccc index`."


def test_an_overview_names_languages_and_a_run_that_goes_on() -> None:
    languages = {f"l{number}": 1000 - number for number in range(10)}
    seen = {"state": "ready", "root": "/p", "message": "M.", "hint": "", "languages": languages}
    lines = presentation.overview({**seen, "progress": {"done": 1204}}, PLAIN).splitlines()
    assert lines[2].startswith("  Chunks: l0 1,000, l1 999,")
    assert lines[2].endswith(" and 2 more")
    assert lines[3] == "  An index run goes on: 1,204 files done."


def test_a_report_keeps_its_words_and_gets_colours() -> None:
    text = "✓ git: fine\n✗ project: no index\n    → Run `vera-ccc index`.\n\nFirst problem: project"
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


def test_a_failure_is_shown_with_its_step() -> None:
    error = Failure("x", "It broke.", Step(Do.RETRY_OR_DOCTOR))
    step = "Try again; if it happens again, run `vera-ccc doctor`."
    assert presentation.failure(error, PLAIN) == f"It broke.\n{step}"

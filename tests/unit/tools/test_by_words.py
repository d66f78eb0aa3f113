"""A search answers by words where ccc cannot, and says why; where ccc can, the words join it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from conftest import MakeExecutable, MakeRepository
from core_helpers import answer, environment, fake_ccc, make_project, row
from helpers import write_file
from vera_ccc_tools.errors import Front
from vera_ccc_tools.system.call import Call
from vera_ccc_tools.tools import table
from vera_ccc_tools.tools.session import Session

THROTTLE = "def throttle(request):\n    return limit(request)\n"
FILES = {
    "limits.py": THROTTLE,
    "build/made.py": THROTTLE,
    ".gitignore": "build/\n",
    "web/server.py": "def serve(request):\n    throttle(request)\n",
}
QUERY = "where are requests throttled"
SETTINGS = "FileNotFoundError: Global settings not found: /home/u/.cocoindex_code/global.yml"


@pytest.fixture
def root(git_repo: MakeRepository) -> Path:
    return make_project(git_repo(FILES))


def ask(
    root: Path, environ: Mapping[str, str], front: Front = Front.MODEL, **given: Any
) -> tuple[str, Mapping[str, Any]]:
    session = Session(environ)
    result = table.call_tool(
        session, "ccc_search", {"query": QUERY, **given}, Call(root, front=front)
    )
    session.close()
    assert result["isError"] is False, result
    return result["content"][0]["text"], result["details"]


def without_ccc() -> dict[str, str]:
    return environment(VERA_CCC_EXECUTABLE="/nowhere/ccc")


def paths(details: Mapping[str, Any]) -> list[str]:
    return [each["file_path"] for each in details["results"]]


def test_without_ccc_the_words_answer_and_the_first_line_says_why(root: Path) -> None:
    text, details = ask(root, without_ccc())
    lead, empty, head = text.split("\n")[:3]
    assert lead.startswith("By words, not by meaning: ")
    assert "/nowhere/ccc" in lead
    assert (empty, head) == ("", "web/server.py:1-2 [python] by words")
    assert paths(details) == ["web/server.py", "limits.py"]
    assert (details["by"], details["instead"], details["lead"]) == ("words", "ccc_missing", 2)
    assert all("score" not in each for each in details["results"])


def test_each_cause_is_named_with_its_step_to_each_reader(
    root: Path, tmp_path: Path, fake_executable: MakeExecutable
) -> None:
    broken = fake_ccc(fake_executable, tmp_path, f"sys.exit({SETTINGS!r})")
    environ = environment(VERA_CCC_EXECUTABLE=str(broken.path))
    text, details = ask(root, environ)
    assert details["instead"] == "no_global_settings"
    assert "Call ccc_init with `litellm_model`" in text.split("\n")[0]
    (root / ".cocoindex_code" / "target_sqlite.db").unlink()
    text, details = ask(root, environ, Front.TERMINAL)
    assert details["instead"] == "not_indexed"
    assert "has no index yet. Run `vera-ccc index`" in text.split("\n")[0]
    (root / ".cocoindex_code" / "settings.yml").unlink()
    text, details = ask(root, environ, Front.PERSON)
    assert details["instead"] == "not_initialized"
    assert "Use /ccc-index, which makes a project of" in text.split("\n")[0]


def test_a_ccc_that_does_not_answer_in_time_is_not_waited_for(
    root: Path, tmp_path: Path, fake_executable: MakeExecutable
) -> None:
    slow = fake_ccc(fake_executable, tmp_path, "time.sleep(60)")
    given = {"VERA_CCC_EXECUTABLE": str(slow.path), "VERA_CCC_TIMEOUT_WORDS": "0.5"}
    text, details = ask(root, environment(**given))
    assert text.startswith("By words, not by meaning: ccc's daemon is starting. Try again in a few")
    assert (details["by"], details["instead"]) == ("words", "daemon_starting")


def test_what_the_words_find_joins_what_ccc_found(
    root: Path, tmp_path: Path, fake_executable: MakeExecutable
) -> None:
    found = answer(row("web/server.py", FILES["web/server.py"].rstrip()))
    fake = fake_ccc(fake_executable, tmp_path, f"print({found!r})")
    text, details = ask(root, environment(VERA_CCC_EXECUTABLE=str(fake.path)))
    assert sorted(paths(details)) == ["limits.py", "web/server.py"]
    assert {each["file_path"]: each.get("score") for each in details["results"]} == {
        "limits.py": None,
        "web/server.py": 0.5,
    }
    assert "limits.py:1-2 [python] by words\n" in text
    assert "web/server.py:1-2 [python] 0.500\n" in text
    assert (details["by"], details["instead"], details["lead"]) == ("both", None, 0)


def test_the_order_of_ccc_alone_has_nothing_of_the_words(
    root: Path, tmp_path: Path, fake_executable: MakeExecutable
) -> None:
    found = answer(row("web/server.py", FILES["web/server.py"].rstrip()))
    fake = fake_ccc(fake_executable, tmp_path, f"print({found!r})")
    environ = environment(VERA_CCC_EXECUTABLE=str(fake.path))
    _, details = ask(root, environ, rank="ccc")
    assert (paths(details), details["by"]) == (["web/server.py"], "meaning")
    wrong = {"query": QUERY, "rank": "ccc"}
    result = table.call_tool(Session(without_ccc()), "ccc_search", wrong, Call(root))
    assert (result["isError"], result["details"]) == (True, {"code": "ccc_missing"})


def test_a_path_a_language_and_an_offset_hold_for_words_too(root: Path) -> None:
    for number in range(8):
        write_file(root / "more" / f"throttle{number}.go", f"// request {number} is throttled\n")
    assert paths(ask(root, without_ccc(), path="web")[1]) == ["web/server.py"]
    _, details = ask(root, without_ccc(), languages=["go"], limit=100)
    assert len(paths(details)) == 8
    pages = [
        paths(ask(root, without_ccc(), languages=["go"], limit=3, offset=offset)[1])
        for offset in (0, 3, 6)
    ]
    assert [path for page in pages for path in page] == paths(details)
    text, details = ask(root, without_ccc(), path="web", languages=["go"])
    assert details["results"] == []
    assert text.split("\n")[2].startswith("No results. Try without `languages` and `path`.")


def test_nothing_that_is_ignored_is_shown_and_nothing_is_written(root: Path) -> None:
    before = sorted(path for path in root.rglob("*") if ".git" not in path.parts)
    text, details = ask(root, without_ccc(), limit=100)
    assert "build/made.py" not in text
    assert details["refreshed"] is False
    assert sorted(path for path in root.rglob("*") if ".git" not in path.parts) == before


def test_a_directory_without_git_is_searched_too_but_no_home(
    tmp_path: Path, isolated_user: Path
) -> None:
    directory = write_file(tmp_path / "plain" / "limits.py", THROTTLE).parent
    assert paths(ask(directory, without_ccc())[1]) == ["limits.py"]
    write_file(isolated_user / "limits.py", THROTTLE)
    result = table.call_tool(
        Session(without_ccc()), "ccc_search", {"query": QUERY}, Call(isolated_user)
    )
    assert (result["isError"], result["details"]) == (True, {"code": "ccc_missing"})


def test_a_wrong_path_is_refused_with_or_without_ccc(root: Path) -> None:
    given = {"query": QUERY, "path": "../elsewhere"}
    result = table.call_tool(Session(without_ccc()), "ccc_search", given, Call(root))
    assert (result["isError"], result["details"]) == (True, {"code": "invalid_argument"})

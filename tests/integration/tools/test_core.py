"""The four tools with the real git and the real ccc, one after another as an agent would."""

from __future__ import annotations

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from core_helpers import places, until
from helpers import POSIX, run_git, stop_daemon, write_file, write_global_settings
from vera_ccc_tools.ccc import project
from vera_ccc_tools.system.call import Call
from vera_ccc_tools.tools import status, table
from vera_ccc_tools.tools.session import Session

FILES: dict[str, str] = {
    "top.py": "def topmost_banana(): return 'banana'\n",
    "top.ts": "export const cherry = 'topmost cherry'\n",
    "sub/one.py": "def one_walnut(): return 'walnut'\n",
    "sub/deep/two.py": "def two_walnut(): return 'walnut'\n",
    "sub/alpha/three.md": "# three walnut\n",
    "sub/beta.py": "def beta_walnut(): return 'walnut'\n",
    "subway/four.py": "def four_walnut(): return 'walnut'\n",
    "app/[id].py": "def page_walnut(): return 'walnut'\n",
    "app/i.py": "def other_walnut(): return 'walnut'\n",
    "help.md": "# Options\n\n`--help` prints the help and ends.\n",
    "日本/検索.py": "# 日本語 の 検索 を する\nx = 1\n",
    "lines.py": "first_hazelnut = 1\n\nsecond_hazelnut = 2\n",
    "escape.py": "x = '\x1b[2Jhidden\x1b]0;title'\nzebra = '\u202ereversed'\n",
    ".gitignore": "secret/\n*.log.py\n",
}
IGNORED = {"secret/key.py": "def secret_walnut(): pass\n", "a.log.py": "log_walnut = 1\n"}
PYTHON = {
    "top.py", "sub/one.py", "sub/deep/two.py", "sub/beta.py", "subway/four.py", "app/[id].py",
    "app/i.py", "日本/検索.py", "lines.py", "escape.py",
}  # fmt: skip


def call(
    environ: dict[str, str], tool: str, cwd: Path, **given: Any
) -> tuple[str, dict[str, Any], dict[str, Any]]:
    result = table.call_tool(Session(environ), tool, given, Call(cwd))
    return result["content"][0]["text"], result["details"], result


def files_of(details: dict[str, Any]) -> list[str]:
    return [each["file_path"] for each in details["results"]]


@pytest.fixture(scope="module")
def root(ccc_home: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository that ``ccc_index`` has initialized from below, with a file that is ignored."""
    top = tmp_path_factory.mktemp("core").resolve() / "repo"
    top.mkdir()
    run_git(top, "init", "-q")
    for name, text in (FILES | IGNORED).items():
        write_file(top / name, text)
    text, details, result = call(ccc_home, "ccc_index", top / "sub" / "deep")
    assert not result["isError"], text
    assert text.startswith(f"Initialized {top} for ccc.\nIndexed {top}: ")
    assert details["root"] == str(top)
    assert details["languages"]["python"] == len(PYTHON)
    return top


def test_an_index_below_the_root_syncs_what_git_ignores_first(root: Path) -> None:
    settings = project.settings_path(root).read_text(encoding="utf-8")
    assert "secret" in settings
    assert not project.settings_path(root / "sub" / "deep").exists()


def test_a_search_finds_what_is_meant_and_never_what_is_ignored(
    root: Path, ccc_home: dict[str, str]
) -> None:
    text, details, _ = call(ccc_home, "ccc_search", root, query="secret walnut log", limit=100)
    assert text.split("\n")[0].startswith(("sub/", "subway/", "app/"))
    assert not set(files_of(details)) & set(IGNORED)
    assert text.endswith("; no more.]")


def test_from_a_subdirectory_a_root_file_is_found_under_a_path_that_opens_from_there(
    root: Path, ccc_home: dict[str, str]
) -> None:
    cwd = root / "sub" / "deep"
    text, details, _ = call(ccc_home, "ccc_search", cwd, query="topmost banana", limit=1)
    path = text.split(":")[0]
    assert path == "../../top.py"
    assert (cwd / path).read_text(encoding="utf-8") == FILES["top.py"]
    assert files_of(details) == ["top.py"]


SUB = {"sub/one.py", "sub/deep/two.py", "sub/alpha/three.md", "sub/beta.py"}


@pytest.mark.parametrize(
    ("cwd", "path", "found"),
    [
        ("", "sub", SUB),
        ("", "./sub/", SUB),
        ("", "@sub", SUB),
        ("", "ROOT/sub", SUB),
        ("", "sub/**/*.py", SUB - {"sub/alpha/three.md"}),
        ("", "sub/{a,b}*", {"sub/alpha/three.md", "sub/beta.py"}),
        ("", "**/*.py", PYTHON),
        ("", "*.py", PYTHON),
        ("", "top.*", {"top.py", "top.ts"}),
        ("", "app/[id].py", {"app/[id].py"}),
        ("", "日本", {"日本/検索.py"}),
        ("sub", "deep", {"sub/deep/two.py"}),
        ("sub", "*.py", SUB - {"sub/alpha/three.md"}),
        ("sub", "../app/i.py", {"app/i.py"}),
    ],
)
def test_a_path_finds_what_it_says(
    root: Path, ccc_home: dict[str, str], *, cwd: str, path: str, found: set[str]
) -> None:
    given = {"query": "walnut", "path": path.replace("ROOT", str(root)), "limit": 100}
    _, details, result = call(ccc_home, "ccc_search", root / cwd, refresh_index=False, **given)
    assert not result["isError"]
    assert set(files_of(details)) == found


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("--help", "help.md"),
        ("日本語 の 検索", "日本/検索.py"),
        ("first hazelnut\nsecond hazelnut", "lines.py"),
        ("-- banana", "top.py"),
        ("$(touch x) `banana` topmost", "top.py"),
    ],
)
def test_a_query_is_searched_for_as_it_is(
    root: Path, ccc_home: dict[str, str], query: str, first: str
) -> None:
    _, details, _ = call(ccc_home, "ccc_search", root, query=query, limit=1, refresh_index=False)
    assert files_of(details) == [first]


def test_languages_by_their_usual_names_and_an_unknown_one(
    root: Path, ccc_home: dict[str, str]
) -> None:
    def ask(*languages: str) -> tuple[set[str], str]:
        given = {"query": "walnut", "limit": 100, "languages": list(languages)}
        text, details, _ = call(ccc_home, "ccc_search", root, refresh_index=False, **given)
        return set(files_of(details)) if "results" in details else set(), text

    assert ask("PY")[0] == PYTHON
    assert ask("ts", "Markdown")[0] == {"top.ts", "sub/alpha/three.md", "help.md"}
    found, text = ask("klingon")
    assert found == set()
    assert "'klingon' is no language of this index, which holds: python" in text


def test_pages_follow_one_another_without_a_gap_or_a_double(
    root: Path, ccc_home: dict[str, str]
) -> None:
    seen: list[str] = []
    text = "go on with offset 0.]"
    while "go on with offset" in text:
        assert text.endswith(f"go on with offset {len(seen)}.]")
        given = {"query": "walnut", "limit": 4, "offset": len(seen), "refresh_index": False}
        text, details, _ = call(ccc_home, "ccc_search", root, **given)
        seen += files_of(details)
    assert text.endswith("; no more.]")
    assert sorted(seen) == sorted(FILES.keys() - {".gitignore"})
    text, _, _ = call(ccc_home, "ccc_search", root, query="x", offset=500, refresh_index=False)
    assert text.startswith("No results from offset 500 on")


def test_escapes_and_direction_marks_of_a_file_are_not_shown(
    root: Path, ccc_home: dict[str, str]
) -> None:
    given = {"query": "zebra reversed hidden", "path": "escape.py", "refresh_index": False}
    text, _, _ = call(ccc_home, "ccc_search", root, **given)
    assert "x = 'hidden0;title'\nzebra = 'reversed'" in text


def test_the_status_is_ready_and_twice_the_same_bytes(root: Path, ccc_home: dict[str, str]) -> None:
    session = Session({**ccc_home, "VERA_CCC_TIMEOUT_STATUS": "30"})
    texts = {status.text(session, Call(root / each)) for each in ("", "sub", "sub/deep")}
    (text,) = texts
    assert text.startswith("Semantic code search is ready (ccc_search): 13 files, 13 chunks.\n")


def test_many_at_once_and_an_index_run_beside_them_each_get_their_own_answer(
    root: Path, ccc_home: dict[str, str]
) -> None:
    queries = {"topmost banana": "top.py", "topmost cherry": "top.ts", "hazelnut": "lines.py"}
    session = Session(ccc_home)

    def search(query: str) -> list[str]:
        given = {"query": query, "limit": 1, "refresh_index": False}
        result = table.call_tool(session, "ccc_search", given, Call(root))
        return files_of(result["details"])

    with ThreadPoolExecutor(8) as pool:
        index = pool.submit(table.call_tool, session, "ccc_index", {}, Call(root))
        found = list(pool.map(search, [*queries, *queries]))
        assert not index.result(timeout=60)["isError"]
    assert found == [[each] for each in [*queries.values(), *queries.values()]]


def test_doctor_finds_no_problem_and_names_no_variable(
    root: Path, ccc_home: dict[str, str]
) -> None:
    text, details, result = call(ccc_home, "ccc_doctor", root)
    assert not result["isError"], text
    assert text.endswith("No problem found.")
    assert all(check["ok"] for check in details["checks"])
    assert "Other env vars" not in text
    assert "PYTHONIOENCODING" not in text
    assert "[OK] Model Check" in text


def test_an_init_below_the_root_names_it(root: Path, ccc_home: dict[str, str]) -> None:
    text, details, _ = call(ccc_home, "ccc_init", root / "app")
    assert details == {"code": "parent_project"}
    assert str(root) in text


def test_a_model_is_refused_where_one_has_been_chosen(
    tmp_path: Path, ccc_home: dict[str, str]
) -> None:
    text, details, _ = call(ccc_home, "ccc_init", tmp_path, litellm_model="openai/other")
    assert details == {"code": "model_already_chosen"}
    assert ccc_home["COCOINDEX_CODE_DIR"] in text
    assert "Leave the model out" in text


def test_a_project_outside_of_git_is_initialized_indexed_and_searched(
    tmp_path: Path, ccc_home: dict[str, str]
) -> None:
    root = tmp_path.resolve()
    write_file(root / "plain.py", "def outside_pecan(): pass\n")
    text, details, _ = call(ccc_home, "ccc_search", root, query="pecan")
    assert details["instead"] == "not_initialized"
    assert "ccc_index" in text.split("\n")[0]
    assert files_of(details) == ["plain.py"]
    text, _, result = call(ccc_home, "ccc_init", root)
    assert not result["isError"]
    assert text.split("\n")[0] == (
        f"Initialized {root}. Call ccc_index, which builds the index; use rg meanwhile."
    )
    _, details, _ = call(ccc_home, "ccc_search", root, query="pecan")
    assert details["instead"] == "not_indexed"
    _, details, result = call(ccc_home, "ccc_index", root)
    assert (result["isError"], details["files"]) == (False, 1)
    _, details, _ = call(ccc_home, "ccc_search", root, query="pecan")
    assert files_of(details) == ["plain.py"]


@pytest.mark.parametrize(
    ("settings", "code", "says"),
    [
        ("exclude_patterns: ['**/[id/**']\n", "bad_glob", "'**/[id/**'"),
        ("exclude_patterns: [\n", "bad_settings", "settings.yml"),
    ],
)
def test_settings_that_ccc_cannot_read_are_told_with_the_remedy(
    tmp_path: Path, ccc_home: dict[str, str], settings: str, code: str, says: str
) -> None:
    write_file(tmp_path / "a.py", "x = 1\n")
    write_file(project.settings_path(tmp_path), settings)
    environ = {**ccc_home, "VERA_CCC_GITIGNORE_SYNC": "0"}
    text, details, _ = call(environ, "ccc_index", tmp_path)
    assert details == {"code": code}
    assert says in text
    assert "settings.yml" in text
    assert len(text) < 900


@pytest.fixture
def user(ccc_home: dict[str, str], short_directory: Path) -> Iterator[dict[str, str]]:
    """Another user of the same ccc, who has set up nothing; their daemon is stopped at the end."""
    number = len(list(short_directory.iterdir()))
    directory = short_directory / f"user{number}"
    directory.mkdir()
    environ = {**ccc_home, "COCOINDEX_CODE_DIR": str(directory)}
    yield environ
    stop_daemon(Path(environ["VERA_CCC_EXECUTABLE"]), environ)


def test_without_global_settings_nothing_waits_for_an_answer(
    user: dict[str, str], tmp_path: Path
) -> None:
    repository = tmp_path / "repo"
    repository.mkdir()
    run_git(repository, "init", "-q")
    for tool in ("ccc_init", "ccc_index"):
        text, details, _ = call(user, tool, repository)
        assert details == {"code": "no_embedding_model"}
        assert "has no embedding model yet" in text
        assert "Call ccc_init with `litellm_model`" in text
    assert not project.settings_path(repository).exists()


KEY = "sk-proj-0123456789abcdefghij"


def test_a_model_that_cannot_be_reached_is_the_doctors_first_problem(
    user: dict[str, str], tmp_path: Path
) -> None:
    settings = write_global_settings(Path(user["COCOINDEX_CODE_DIR"]), "http://127.0.0.1:9/v1")
    settings.write_text(settings.read_text("utf-8").replace("KEY: none", f"KEY: {KEY}"), "utf-8")
    text, details, result = call(user, "ccc_doctor", tmp_path, verbose=True)
    assert result["isError"]
    assert "ccc doctor" in {check["name"] for check in details["checks"] if not check["ok"]}
    assert "✗ ccc doctor: ccc cannot reach or load its embedding model: " in text
    assert "Other env vars" not in text
    assert KEY[:8] not in json.dumps(result)


def test_settings_that_cannot_be_read_do_not_tell_the_key_beside_them(
    user: dict[str, str], tmp_path: Path
) -> None:
    directory = Path(user["COCOINDEX_CODE_DIR"])
    broken = f"embedding: {{provider: litellm, model: x}}\nenvs:\n  OPENAI_API_KEY: {KEY}: x\n"
    write_file(directory / "global_settings.yml", broken)
    write_file(project.settings_path(tmp_path), "{}\n")
    write_file(places().index(tmp_path), "x")
    told = [call(user, "ccc_doctor", tmp_path)[2]]
    told.append(call(user, "ccc_search", tmp_path, query="x", rank="ccc")[2])
    session = Session({**user, "VERA_CCC_TIMEOUT_STATUS": "20"})
    text = json.dumps([told, status.text(session, Call(tmp_path))])
    assert all(each["isError"] for each in told)
    for at in range(len(KEY) - 8):
        assert KEY[at : at + 8] not in text
    assert "global_settings.yml" in text


@pytest.mark.skipif(not POSIX, reason="such names are POSIX's")
def test_file_names_with_line_ends_and_escapes_stay_on_their_line(
    tmp_path: Path, ccc_home: dict[str, str]
) -> None:
    root = tmp_path.resolve()
    write_file(root / "two\nlines.py", "two_filbert = 1\n")
    write_file(root / "esc\x1b[2J.py", "esc_filbert = 1\n")
    for tool in ("ccc_init", "ccc_index"):
        assert not call(ccc_home, tool, root)[2]["isError"]
    text, details, _ = call(ccc_home, "ccc_search", root, query="filbert")
    assert set(files_of(details)) == {"two\nlines.py", "esc\x1b[2J.py"}
    assert "two lines.py:1-1 [python]" in text
    assert "\x1b" not in text


def test_an_index_in_the_background_ends_in_the_status(
    tmp_path: Path, ccc_home: dict[str, str]
) -> None:
    root = tmp_path.resolve()
    run_git(root, "init", "-q")
    write_file(root / "a.py", "x = 1\n")
    session = Session({**ccc_home, "VERA_CCC_TIMEOUT_STATUS": "20"})
    result = table.call_tool(session, "ccc_index", {"background": True}, Call(root))
    assert result["details"] == {"root": str(root), "background": True}
    job = session.job(root)
    assert job is not None
    until(lambda: job.done, 60)
    text = status.text(session, Call(root))
    assert "ready (ccc_search): 1 file, 1 chunk" in text
    assert text.endswith("ccc_index in the background is done.")

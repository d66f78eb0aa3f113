"""``ccc_index`` and ``ccc_init``: which directory, what is told, and what goes on in between."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from core_helpers import FakeCcc, MakeExecutable, environment, fake_ccc, make_project, places, until
from vera_ccc_tools.ccc.daemon import Daemon
from vera_ccc_tools.errors import Front
from vera_ccc_tools.system.call import Call
from vera_ccc_tools.system.tasks import Cancel
from vera_ccc_tools.tools import index, status, table
from vera_ccc_tools.tools.arguments import IndexArguments
from vera_ccc_tools.tools.session import Session

STATS = "Index stats:\n  Chunks: 1200\n  Files:  30\n  Languages:\n    python: 1200 chunks\n"
RUN = "30 files listed | 3 added, 1 deleted, 2 reprocessed, 25 unchanged, error: 0"
INIT = """
if argv[0] == "init":
    os.makedirs(".cocoindex_code", exist_ok=True)
    open(".cocoindex_code/settings.yml", "a").close()
    sys.exit()
"""
INDEX = f"""
if argv[0] == "index":
    open(".cocoindex_code/target_sqlite.db", "a").write("index")
    print({STATS!r})
    print("Indexing: {RUN}", file=sys.stderr)
    sys.exit()
"""

Make = Callable[..., tuple[Session, FakeCcc]]


@pytest.fixture
def make(fake_executable: MakeExecutable, tmp_path: Path) -> Make:
    def build(body: str = INIT + INDEX, **environ: str) -> tuple[Session, FakeCcc]:
        fake = fake_ccc(fake_executable, tmp_path, body)
        variables = {"VERA_CCC_EXECUTABLE": str(fake.path), "VERA_CCC_GITIGNORE_SYNC": "0"}
        return Session(environment(**variables | environ)), fake

    return build


def call(session: Session, tool: str, cwd: Path, **given: Any) -> tuple[str, dict[str, Any]]:
    cwd.mkdir(parents=True, exist_ok=True)
    result = table.call_tool(session, tool, given, Call(cwd))
    return result["content"][0]["text"], result


@pytest.fixture
def watched(monkeypatch: pytest.MonkeyPatch) -> None:
    """Progress is told at once, of a daemon that is up."""
    monkeypatch.setattr(index, "PROGRESS_PERIOD", 0.05)
    monkeypatch.setattr(Daemon, "is_up", True)


def lasting(seen: Path, status: str, told: str = "") -> str:
    """A ccc whose index run goes on until *seen* is there and then tells *told*."""
    return f"""
        if argv[0] == "status":
            {status}
            sys.exit()
        while not os.path.exists({str(seen)!r}):
            time.sleep(0.01)
        print({STATS!r})
        print({told!r}, file=sys.stderr)
    """


GOING_ON = f"print({STATS!r} + '\\nIndexing in progress: {RUN}')"


def test_an_index_of_a_project_is_told_with_what_changed(make: Make, tmp_path: Path) -> None:
    session, fake = make()
    root = make_project(tmp_path / "p")
    text, result = call(session, "ccc_index", root / "sub")
    lines = text.split("\n")
    assert lines[0].startswith(f"Indexed {root}: 30 files, 1,200 chunks (")
    assert lines[1:] == [
        "This run: 3 added, 2 changed, 1 deleted, 25 unchanged.",
        "Chunks by language: python 1,200.",
    ]
    assert not result["isError"]
    details = result["details"]
    assert (details["root"], details["files"], details["chunks"]) == (str(root), 30, 1200)
    assert fake.argvs() == [["index"]]
    assert fake.calls()[0]["cwd"] == str(root)


def test_a_repository_without_settings_is_initialized_at_its_root_first(
    make: Make, tmp_path: Path
) -> None:
    session, fake = make()
    (tmp_path / "r" / ".git").mkdir(parents=True)
    text, result = call(session, "ccc_index", tmp_path / "r" / "a" / "b")
    assert text.startswith(f"Initialized {tmp_path / 'r'} for ccc.\nIndexed {tmp_path / 'r'}: ")
    assert not result["isError"]
    assert fake.argvs() == [["init", "--force"], ["index"]]
    assert {each["cwd"] for each in fake.calls()} == {str(tmp_path / "r")}


def test_outside_of_a_repository_there_is_nothing_to_index(make: Make, tmp_path: Path) -> None:
    session, fake = make()
    text, result = call(session, "ccc_index", tmp_path / "x")
    assert result["isError"]
    assert result["details"] == {"code": "not_initialized"}
    assert "lies in no git repository" in text
    assert "ccc_init" in text
    assert fake.calls() == []


def test_a_home_directory_under_git_is_not_indexed_by_itself(
    make: Make, isolated_user: Path
) -> None:
    session, fake = make()
    (isolated_user / ".git").mkdir()
    _, result = call(session, "ccc_index", isolated_user / "notes")
    assert result["details"] == {"code": "not_initialized"}
    assert fake.calls() == []


@pytest.mark.parametrize("above", [False, True])
@pytest.mark.parametrize("tool", ["ccc_index", "ccc_search", "ccc_init"])
def test_a_home_directory_that_was_made_a_project_is_not_indexed_for_a_repository(
    make: Make, isolated_user: Path, monkeypatch: pytest.MonkeyPatch, tool: str, *, above: bool
) -> None:
    session, fake = make()
    root = make_project(isolated_user)
    if above:
        monkeypatch.setenv("HOME", str(isolated_user / "me"))
        monkeypatch.setenv("USERPROFILE", str(isolated_user / "me"))
    repository = isolated_user / "me" / "code"
    (repository / ".git").mkdir(parents=True)
    given = {"query": "x"} if tool == "ccc_search" else {}
    text, result = call(session, tool, repository / "src", **given)
    assert result["details"] == {"code": "home_project"}
    assert f"{root} is a ccc project" in text or f"{root}, which holds the home directory" in text
    assert str(repository) in text
    assert f"remove {root / '.cocoindex_code' / 'settings.yml'}, then call ccc_index" in text
    assert fake.calls() == []


def test_the_home_directory_itself_is_neither_made_a_project_nor_indexed(
    make: Make, isolated_user: Path
) -> None:
    session, fake = make()
    for given in ({}, {"force": True}):
        text, result = call(session, "ccc_init", isolated_user, **given)
        assert result["details"] == {"code": "home_directory"}
        assert "ask the user to run `ccc init` there" in text
    make_project(isolated_user)
    text, result = call(session, "ccc_index", isolated_user)
    assert result["details"] == {"code": "home_project"}
    assert "then to start the agent in a git repository" in text
    assert fake.calls() == []


def test_a_project_of_several_repositories_is_indexed_as_a_whole(
    make: Make, tmp_path: Path
) -> None:
    session, fake = make()
    root = make_project(tmp_path / "all")
    (root / "one" / ".git").mkdir(parents=True)
    text, _ = call(session, "ccc_index", root / "one")
    assert text.startswith(f"Indexed {root}: ")
    assert fake.calls()[0]["cwd"] == str(root)


NOTHING = "30 files listed | 0 added, 0 deleted, 0 reprocessed, 30 unchanged, error: 0"


def test_a_first_index_that_the_daemon_has_made_as_it_loaded_the_project_has_added_all(
    make: Make, tmp_path: Path
) -> None:
    session, _ = make(INDEX.replace(RUN, NOTHING))
    root = make_project(tmp_path / "p", indexed=False)
    text, result = call(session, "ccc_index", root)
    assert "This run: 30 added." in text
    assert result["details"]["changes"]["added"] == 30
    text, result = call(session, "ccc_index", root)
    assert "This run: 30 unchanged." in text
    assert result["details"]["changes"]["added"] == 0


def test_what_changed_is_not_told_where_ccc_counts_the_run_after_it(
    make: Make, tmp_path: Path, watched: None
) -> None:
    seen = tmp_path / "seen"
    session, _ = make(lasting(seen, GOING_ON, f"Indexing: {NOTHING}"))
    root = make_project(tmp_path / "p")

    def progress(text: str, _numbers: object) -> None:
        if "30 files" in text:
            seen.touch()

    result = table.call_tool(session, "ccc_index", {}, Call(root, progress=progress))
    assert "This run" not in result["content"][0]["text"]
    assert result["details"]["changes"] is None


def test_files_that_failed_are_told(make: Make, tmp_path: Path) -> None:
    session, _ = make(INDEX.replace("error: 0", "error: 4"))
    text, _ = call(session, "ccc_index", make_project(tmp_path / "p"))
    log = places(session.environment.variables).daemon_log
    assert f"4 files could not be indexed; {log} says why." in text


def test_files_without_chunks_are_told(make: Make, tmp_path: Path) -> None:
    for files, told in ((29, "1 file holds nothing to index: it is"), (28, "2 files hold nothing")):
        session, _ = make(INDEX.replace("Files:  30", f"Files:  {files}"))
        text, _ = call(session, "ccc_index", make_project(tmp_path / f"p{files}"))
        assert f"25 unchanged. {told}" in text


def test_the_wait_for_the_model_is_told_while_ccc_does_not_answer(
    make: Make, tmp_path: Path, watched: None
) -> None:
    seen = tmp_path / "seen"
    session, _ = make(lasting(seen, "sys.exit(1)"))
    told: list[str] = []

    def progress(text: str, _numbers: object) -> None:
        told.append(text)
        if len(told) > 2:
            seen.touch()

    root = make_project(tmp_path / "p")
    table.call_tool(session, "ccc_index", {}, Call(root, progress=progress))
    assert all("no file is done yet (the model is loaded first)" in text for text in told)


def test_progress_is_told_while_an_index_run_goes_on(
    make: Make, tmp_path: Path, watched: None
) -> None:
    seen = tmp_path / "seen"
    session, fake = make(lasting(seen, GOING_ON))
    told: list[str] = []

    def progress(text: str, _numbers: object) -> None:
        told.append(text)
        if len(told) > 1:
            seen.touch()

    root = make_project(tmp_path / "p")
    table.call_tool(session, "ccc_index", {}, Call(root, progress=progress))
    assert told[0] == "Indexing: no file is done yet (the model is loaded first), 0 s"
    assert told[1].startswith("Indexing: 30 files done (3 added, 2 changed, 1 deleted, 25 unch")
    assert ["index"] in fake.argvs()


@pytest.mark.parametrize(
    ("status_says", "says"),
    [
        (f"print({STATS!r} + '\\nIndexing in progress: {RUN}')", "goes on in ccc's daemon: 30 fi"),
        (f"print({STATS!r})", "The index is there now. Call ccc_search."),
    ],
)
def test_an_index_that_outlasts_its_deadline_is_told_as_that(
    make: Make, tmp_path: Path, status_says: str, says: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index, "GLANCE", 20.0)
    body = f"if argv[0] == 'index': time.sleep(600)\n{status_says}"
    session, _ = make(body, VERA_CCC_TIMEOUT_INDEX="0.4")
    text, result = call(session, "ccc_index", make_project(tmp_path / "p"))
    assert not result["isError"]
    assert says in text
    assert "did not answer within 0.4 s" in text


def test_what_was_seen_of_an_index_run_is_told_where_the_daemon_is_too_busy_at_its_deadline(
    make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index, "PROGRESS_PERIOD", 0.05)
    monkeypatch.setattr(Daemon, "is_up", True)
    body = f"""
        if argv[0] == "status" and sum('"status"' in line for line in open(log.name)) == 1:
            print({STATS!r} + "\\nIndexing in progress: {RUN}")
            sys.exit()
        time.sleep(600)
    """
    session, _ = make(body, VERA_CCC_TIMEOUT_INDEX="3", VERA_CCC_TIMEOUT_STATUS="60")
    started = time.monotonic()
    text, result = call(session, "ccc_index", make_project(tmp_path / "p"))
    assert time.monotonic() - started < 4.0
    assert not result["isError"]
    assert "goes on in ccc's daemon: 30 files done so far" in text


def test_a_daemon_that_does_not_answer_then_either_is_a_failure(make: Make, tmp_path: Path) -> None:
    session, _ = make(
        "time.sleep(600)", VERA_CCC_TIMEOUT_INDEX="0.4", VERA_CCC_TIMEOUT_STATUS="0.3"
    )
    text, result = call(session, "ccc_index", make_project(tmp_path / "p"))
    assert result["details"] == {"code": "timeout"}
    assert text.startswith("`ccc index` did not answer within 0.4 s.")


def test_an_index_in_the_background_answers_at_once_and_its_end_is_in_the_status(
    make: Make, tmp_path: Path
) -> None:
    go = tmp_path / "go"
    wait = f"""
        while argv[0] == "index" and not os.path.exists({str(go)!r}):
            time.sleep(0.01)
        print({STATS!r})
    """
    session, fake = make(wait)
    root = make_project(tmp_path / "p")
    text, result = call(session, "ccc_index", root, background=True)
    assert text.startswith(f"ccc_index runs in the background for {root}.")
    assert result["details"] == {"root": str(root), "background": True}
    until(lambda: ["index"] in fake.argvs())
    assert "ccc_index is running in the background." in status.text(session, Call(root))
    go.touch()
    assert session.finish(Front.MODEL) == ["ccc_index in the background is done."]
    assert "ccc_index in the background is done." in status.text(session, Call(root))


def test_the_end_of_a_session_ends_what_runs_in_the_background(make: Make, tmp_path: Path) -> None:
    session, fake = make("time.sleep(600)")
    root = make_project(tmp_path / "p")
    call(session, "ccc_index", root, background=True)
    until(fake.calls)
    session.close()
    job = session.job(root)
    assert job is not None
    assert job.done
    assert "cancelled" in job.line(Front.MODEL)


def test_a_second_one_in_the_background_is_not_started(make: Make, tmp_path: Path) -> None:
    session, fake = make("time.sleep(600)")
    root = make_project(tmp_path / "p")
    call(session, "ccc_index", root, background=True)
    until(fake.calls)
    text, _ = call(session, "ccc_init", root, background=True)
    assert text.startswith(f"ccc_index already runs in the background for {root}, since ")
    assert len(fake.calls()) == 1
    session.close()


def test_an_init_makes_a_project_of_the_directory(make: Make, tmp_path: Path) -> None:
    session, fake = make()
    text, result = call(session, "ccc_init", tmp_path / "p")
    assert text.startswith(f"Initialized {tmp_path / 'p'}. Call ccc_index, which builds the index")
    assert result["details"] == {"root": str(tmp_path / "p"), "created": True}
    text, result = call(session, "ccc_init", tmp_path / "p", litellm_model="a/b", force=True)
    assert text.startswith(f"{tmp_path / 'p'} is a ccc project already.")
    assert result["details"]["created"] is False
    assert fake.argvs() == [["init"], ["init", "--force", "--litellm-model=a/b"]]


def test_below_a_git_root_an_init_names_that_root_and_how_to_go_on(
    make: Make, tmp_path: Path
) -> None:
    session, fake = make()
    (tmp_path / "r" / ".git").mkdir(parents=True)
    text, result = call(session, "ccc_init", tmp_path / "r" / "sub")
    assert result["isError"]
    assert f"lies inside the git repository {tmp_path / 'r'}." in text
    assert "Call ccc_index" in text
    assert "`force`" in text
    assert fake.calls() == []
    _, result = call(session, "ccc_init", tmp_path / "r" / "sub", force=True)
    assert not result["isError"]
    assert fake.argvs() == [["init", "--force"]]


def test_inside_a_project_an_init_names_that_project(make: Make, tmp_path: Path) -> None:
    session, fake = make()
    root = make_project(tmp_path / "p")
    text, result = call(session, "ccc_init", root / "sub")
    assert result["details"] == {"code": "parent_project"}
    assert f"lies inside the ccc project {root}" in text
    assert fake.calls() == []


def test_a_model_that_does_not_work_is_a_failure(make: Make, tmp_path: Path) -> None:
    session, _ = make(f"{INIT.replace('sys.exit()', '')}\n    print('  [FAIL] Model Check')")
    text, result = call(session, "ccc_init", tmp_path / "p", litellm_model="a/b")
    assert result["isError"]
    assert "could not use the embedding model" in text
    assert "[FAIL] Model Check" in text


def test_a_cancelled_index_ends_within_a_second(make: Make, tmp_path: Path) -> None:
    session, fake = make("time.sleep(600)")
    cancel = Cancel()
    root = make_project(tmp_path / "p")
    job = session.start(
        root, "x", lambda _: index.index(session, Call(root, cancel), IndexArguments())
    )
    until(fake.calls)
    cancel.press()
    until(lambda: job.done, 1.0)
    assert "was cancelled" in job.line(Front.MODEL)

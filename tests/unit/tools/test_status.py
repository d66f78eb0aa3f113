"""What a model is told about the index: short, and the same bytes while little changed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from core_helpers import FakeCcc, MakeExecutable, environment, fake_ccc, make_project, until
from vera_ccc_tools.errors import Failure
from vera_ccc_tools.system.call import Call
from vera_ccc_tools.system.tasks import Cancel, Cancelled
from vera_ccc_tools.tools import status
from vera_ccc_tools.tools.answer import Answer
from vera_ccc_tools.tools.session import Session


def stats(files: int, chunks: int, *languages: str) -> str:
    listed = "".join(f"    {name}: {100 - at} chunks\n" for at, name in enumerate(languages))
    return f"Index stats:\n  Chunks: {chunks}\n  Files:  {files}\n  Languages:\n{listed}"


def running(added: int, changed: int, same: int = 0) -> str:
    listed = added + changed + same
    return (
        f"Indexing in progress: {listed} files listed | {added} added, 0 deleted, "
        f"{changed} reprocessed, {same} unchanged, error: 0\n"
    )


Told = Callable[..., str]


@pytest.fixture
def fake(fake_executable: MakeExecutable, tmp_path: Path) -> FakeCcc:
    body = f"print(open({str(tmp_path / 'status')!r}, encoding='utf-8').read())"
    return fake_ccc(fake_executable, tmp_path, body)


@pytest.fixture
def told(fake: FakeCcc, tmp_path: Path) -> Told:
    def tell(cwd: Path, printed: str = "", session: Session | None = None, **environ: str) -> str:
        cwd.mkdir(parents=True, exist_ok=True)
        (tmp_path / "status").write_text(printed, encoding="utf-8")
        variables = {"VERA_CCC_EXECUTABLE": str(fake.path), "VERA_CCC_GITIGNORE_SYNC": "0"}
        used = session or Session(environment(**variables | environ))
        text = status.text(used, Call(cwd))
        assert 1 <= len(text.split("\n")) <= status.MAX_LINES
        return text

    return tell


def test_without_ccc_the_text_says_how_to_install_it(told: Told, tmp_path: Path) -> None:
    text = told(tmp_path, VERA_CCC_EXECUTABLE="", PATH="")
    assert "not installed" in text
    assert "pipx install 'cocoindex-code" in text


@pytest.mark.parametrize(
    ("repository", "cwd", "call"),
    [
        (None, "a", "call ccc_init, then ccc_index;"),
        ("a", "a", "call ccc_index;"),
        ("a", "a/b", "call ccc_index;"),
    ],
)
def test_where_there_is_no_project_it_says_what_to_call_and_starts_nothing(
    told: Told, fake: FakeCcc, tmp_path: Path, *, repository: str | None, cwd: str, call: str
) -> None:
    if repository is not None:
        (tmp_path / repository / ".git").mkdir(parents=True)
    text = told(tmp_path / cwd)
    assert "no ccc project" in text
    assert call in text
    assert fake.calls() == []


def test_a_project_without_an_index_starts_no_process(
    told: Told, fake: FakeCcc, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def none_at_all(*_: object, **__: object) -> None:
        pytest.fail("a process was started")

    monkeypatch.setattr("subprocess.Popen.__init__", none_at_all)
    root = make_project(tmp_path / "p", indexed=False)
    text = told(root / "sub", VERA_CCC_GITIGNORE_SYNC="1")
    assert "no index yet" in text
    assert "call ccc_index" in text
    assert fake.calls() == []


def test_a_ready_index_is_told_with_its_size(told: Told, tmp_path: Path) -> None:
    text = told(make_project(tmp_path / "p"), stats(5712, 17_234, "python", "rust"))
    assert text == (
        "Semantic code search is ready (ccc_search): about 5.7k files, 17k chunks.\n"
        "Chunks by language: about python 100, rust 99."
    )


def test_at_most_six_languages_are_named(told: Told, tmp_path: Path) -> None:
    text = told(make_project(tmp_path / "p"), stats(9, 9, *"abcdefgh"))
    assert text.endswith("a 100, b 99, c 98, d 97, e 96, f 95 and 2 more.")


def test_the_text_is_the_same_bytes_while_little_changes(told: Told, tmp_path: Path) -> None:
    root = make_project(tmp_path / "p")
    first = told(root, stats(5712, 17_234, "python"))
    assert told(root, stats(5733, 17_260, "python")) == first
    assert told(root, stats(5712, 17_234, "python") + running(3, 20, 5000)) == first
    assert told(root, stats(5712, 17_234, "python") + running(0, 0)) == first
    assert told(root / "sub", stats(5712, 17_234, "python")) == first


def test_a_large_index_run_is_told(told: Told, tmp_path: Path) -> None:
    root = make_project(tmp_path / "p")
    for printed in (stats(900, 9000, "python") + running(500, 0), stats(0, 0) + running(1, 0)):
        text = told(root, printed)
        assert "is being built now" in text
        assert "use rg as well" in text


def test_an_empty_index_is_told(told: Told, tmp_path: Path) -> None:
    assert "is empty" in told(make_project(tmp_path / "p"), stats(0, 0))


def test_a_daemon_that_does_not_answer_is_told(
    tmp_path: Path, fake_executable: MakeExecutable, told: Told
) -> None:
    slow = fake_executable("ccc", "import time; time.sleep(600)", directory=tmp_path / "slow")
    text = told(
        make_project(tmp_path / "p"), VERA_CCC_EXECUTABLE=str(slow), VERA_CCC_TIMEOUT_STATUS="0.3"
    )
    assert "not available now" in text
    assert "within 0.3 s" in text
    assert "ccc daemon restart" in text


def test_a_command_in_the_background_is_told_until_its_end(
    told: Told, fake: FakeCcc, tmp_path: Path
) -> None:
    root = make_project(tmp_path / "p")
    environ = environment(VERA_CCC_EXECUTABLE=str(fake.path), VERA_CCC_GITIGNORE_SYNC="0")
    session, go = Session(environ), Cancel()

    def run(_cancel: Cancel) -> Answer:
        go.wait(30)
        return Answer("done")

    job = session.start(root, "ccc_index", run)
    printed = stats(9, 9, "python")
    assert told(root, printed, session).endswith("\nccc_index is running in the background.")
    go.press()
    until(lambda: job.done)
    assert told(root, printed, session).endswith("\nccc_index in the background is done.")

    def fail(_cancel: Cancel) -> Answer:
        raise Failure("x", "It broke\nin two lines.", "Do this.")

    job = session.start(root, "ccc_index", fail)
    until(lambda: job.done)
    last = told(root, printed, session).split("\n")[-1]
    assert last == "ccc_index in the background failed: It broke in two lines. Do this."


def test_a_cancel_is_no_text(fake: FakeCcc, tmp_path: Path) -> None:
    cancel = Cancel()
    cancel.press()
    environ = environment(VERA_CCC_EXECUTABLE=str(fake.path), VERA_CCC_GITIGNORE_SYNC="0")
    with pytest.raises(Cancelled):
        status.text(Session(environ), Call(make_project(tmp_path / "p"), cancel))

"""The person's commands in the real Pi: over RPC, in print mode, and in its terminal."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from e2e.conftest import FakeWorker
from e2e.model_stub import ModelStub
from e2e.pi import Event, Pi, Session
from helpers import POSIX, ROOT

newest_pi = pytest.mark.parametrize("pi_version", ["1.6.0"], indirect=True)
NOT_COMPARED = "Not compared with the files yet; the next search does that."
FIRST_LINE = "ccc: no semantic index here yet; /ccc-index builds one."


def asks(session: Session, method: str) -> Event:
    """The next thing that an extension wants shown or asked."""
    return session.wait(
        lambda record: record.get("type") == "extension_ui_request" and record["method"] == method,
        method,
    )


def told(session: Session, command: str) -> str:
    """What a person is told next after a *command*."""
    session.send("prompt", message=command)
    text: str = asks(session, "notify")["message"]
    return text


def answer(session: Session, request: Event, *, confirmed: bool) -> None:
    session.send("extension_ui_response", id=request["id"], confirmed=confirmed)


def footers(session: Session) -> list[Any]:
    return [record.get("statusText") for record in session.seen if is_footer(record)]


def is_footer(record: Event) -> bool:
    return record.get("method") == "setStatus" and record["statusKey"] == "ccc"


def test_a_person_sets_a_project_up_and_searches_it_over_rpc(
    pi: Pi, model: ModelStub, project: Path
) -> None:
    with pi.rpc(project) as session:
        assert asks(session, "notify")["message"] == FIRST_LINE
        assert "belongs to no ccc project" in told(session, "/ccc")
        session.send("prompt", message="/ccc-index")
        answer(session, asks(session, "confirm"), confirmed=False)
        session.send("prompt", message="/ccc-index")
        question = asks(session, "confirm")
        assert str(project) in question["message"]
        assert not (project / ".cocoindex_code").exists()
        answer(session, question, confirmed=True)
        assert asks(session, "notify")["message"].startswith("Indexing.")
        assert f"Indexed {project}: 2 files" in asks(session, "notify")["message"]
        session.wait(lambda record: record.get("statusText") == "ccc ✓ 2 files", "footer")
        assert told(session, "/ccc").startswith(f"ccc ✓ 2 files, 2 chunks in {project}\n")
        assert f"{project} is a ccc project already" in told(session, "/ccc-init")
        assert "already chosen" in told(session, "/ccc-init openai/other")
        assert "src/upload.py:1-2 [python]" in told(session, "/ccc-search retry a failed upload")
        assert "secrets/" in told(session, "/ccc-sync")
        assert "No problem found." in told(session, "/ccc-doctor")
    assert "ccc ● indexing" in " ".join(filter(None, footers(session)))
    assert model.requests == []


@newest_pi
def test_commands_that_can_do_nothing_say_so_and_ask_nothing(
    pi: Pi, project: Path, tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    with pi.rpc(outside) as session:
        assert told(session, "/ccc-index").endswith(
            "Use /ccc-init, then /ccc-index, if this directory is to be indexed."
        )
        assert "Use /ccc-init, then /ccc-index" in told(session, "/ccc-sync")
    with pi.rpc(project / "src") as session:
        assert asks(session, "notify")["message"] == FIRST_LINE
        assert "/ccc-init force to make a project" in told(session, "/ccc-init")
        session.send("prompt", message="/ccc-init force")
        question = asks(session, "confirm")
        assert question["title"] == "Make a project of this directory alone?"
        answer(session, question, confirmed=False)
        refused = told(session, "/ccc-init openai/other")
        assert f"lies inside the git repository {project}" in refused
    with pi.rpc(project) as session:
        refused = told(session, "/ccc-init openai/other")
        assert "already chosen" in refused
        assert refused.endswith("Leave the model out, or edit that file.")
    assert not list(project.rglob("settings.yml"))


def test_print_mode_prints_what_is_asked_for_and_does_nothing_costly(pi: Pi, project: Path) -> None:
    done = pi.print("/ccc", project)
    assert (done.returncode, done.stderr) == (0, "")
    assert (
        "ccc ✗ This directory belongs to no ccc project.\n"
        f"Use /ccc-index, which makes a project of the git repository {project}" in done.stdout
    )
    for command in ("/ccc-index", "/ccc-init"):
        done = pi.print(command, project)
        assert (done.returncode, done.stdout) == (1, "")
        assert "Nobody is here to say yes, so nothing was done" in done.stderr
    assert not (project / ".cocoindex_code").exists()


@newest_pi
def test_json_mode_keeps_its_stream(pi: Pi, fake_worker: FakeWorker, project: Path) -> None:
    fake_worker.sees(state="ready", root="/p", files=7)
    pi.env["VERA_CCC_PYTHON"] = str(fake_worker.python)
    done = pi.run(["--mode", "json", "/ccc"], project)
    records = [json.loads(line) for line in done.stdout.splitlines()]
    said = [record["entry"]["data"]["content"] for record in records if "entry" in record]
    assert said == [f"ccc ✓ 7 files, 0 chunks in /p\n{NOT_COMPARED}"]


@newest_pi
def test_the_footer_and_the_first_line_can_be_turned_off(
    pi: Pi, fake_worker: FakeWorker, project: Path
) -> None:
    pi.env.update(VERA_CCC_PYTHON=str(fake_worker.python), VERA_CCC_FOOTER="0")
    with pi.rpc(project) as session:
        fake_worker.sees(state="ready", root="/p", files=7)
        assert told(session, "/ccc") == f"ccc ✓ 7 files, 0 chunks in /p\n{NOT_COMPARED}"
        session.prompt("hello")
    assert footers(session) == []


@newest_pi
def test_a_reload_does_not_repeat_the_first_line(
    pi: Pi, fake_worker: FakeWorker, project: Path, tmp_path: Path
) -> None:
    reloading = tmp_path / "reloading.js"
    reloading.write_text(
        "export default (pi) => pi.registerCommand('again', "
        "{ description: 'reload', handler: async (_args, ctx) => { await ctx.reload(); } });"
    )
    pi.configure(ROOT, reloading)
    pi.env["VERA_CCC_PYTHON"] = str(fake_worker.python)
    fake_worker.sees(state="unindexed", root=str(project))
    with pi.rpc(project) as session:
        assert asks(session, "notify")["message"] == FIRST_LINE
        session.send("prompt", message="/again")
        session.wait(is_footer, "footer of the session after the reload")
    told_lines = [record for record in session.seen if record.get("message") == FIRST_LINE]
    assert len(told_lines) == 1


@pytest.mark.skipif(not POSIX, reason="the terminal is a pseudo-terminal")
def test_what_a_command_shows_in_the_terminal_never_reaches_the_model(
    pi: Pi, model: ModelStub, project: Path
) -> None:
    from e2e.terminal import ENTER, EXPAND, opened

    with opened(pi, project) as terminal:
        terminal.wait("/ccc-index builds one.")
        terminal.type("/ccc-index", "Build the code index")
        terminal.wait("Build the index for code search?")
        terminal.press(ENTER)
        terminal.wait("ccc ✓ 2 files")
        terminal.type("/ccc-search retry a failed upload")
        terminal.wait("2 results · ")
        shown = [line.strip() for line in terminal.lines]
        title = shown.index('/ccc-search "retry a failed upload"')
        assert shown[title + 1].startswith("src/upload.py:1-2  python 0.")
        assert shown[title + 1].endswith("  def retry_upload(file):")
        terminal.press(EXPAND)
        terminal.wait("2      '''retry a failed upload'''")
        terminal.type("hello, model")
        terminal.wait("Done.")
    (request,) = model.requests
    assert "retry_upload" not in json.dumps(request.body)
    assert "hello, model" in json.dumps(request.body)


@newest_pi
@pytest.mark.skipif(not POSIX, reason="the terminal is a pseudo-terminal")
def test_a_command_can_be_cancelled_in_the_terminal(
    pi: Pi, fake_worker: FakeWorker, project: Path, tmp_path: Path
) -> None:
    from e2e.terminal import ESCAPE, opened

    begun = tmp_path / "begun"
    fake_worker.sees(state="ready", root="/p", files=7)
    fake_worker.behaves(f"import time; open({str(begun)!r}, 'w'); time.sleep(99)")
    pi.env["VERA_CCC_PYTHON"] = str(fake_worker.python)
    with opened(pi, project) as terminal:
        terminal.wait("ccc ✓ 7 files")
        terminal.type("/ccc-search something")
        terminal.wait("Searching…")
        terminal.press(ESCAPE)
        terminal.wait(lambda: "Searching…" not in terminal.text)
        terminal.type("/ccc-search")
        terminal.wait("Search the code for")

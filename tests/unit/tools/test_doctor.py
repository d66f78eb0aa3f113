"""``ccc_doctor``: checks from the outside in, the first problem first and last."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from core_helpers import FakeCcc, MakeExecutable, answer, environment, fake_ccc, make_project
from helpers import POSIX, write_file
from vera_ccc_tools.ccc import client
from vera_ccc_tools.ccc.daemon import Daemon
from vera_ccc_tools.system.call import Call
from vera_ccc_tools.tools import doctor, table
from vera_ccc_tools.tools.session import Session

VERSION = "if argv == ['version']: print('0.2.42'); sys.exit()\n"
FINE = "\n  Model Check\n  [OK] Model Check\n    dim: 64\n  Other env vars in daemon: SECRET_NAME\n"

Make = Callable[..., tuple[Session, FakeCcc]]


@pytest.fixture
def make(
    fake_executable: MakeExecutable, tmp_path: Path, isolated_user: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Make:  # fmt: skip
    monkeypatch.setattr(Daemon, "is_up", True)
    write_file(isolated_user / ".cocoindex_code" / "global_settings.yml", "embedding: {}\n")

    def build(said: str = FINE, error: str = "", body: str = VERSION) -> tuple[Session, FakeCcc]:
        script = (
            f"{body}\nif argv[0] == 'doctor': print({said!r}); sys.stderr.write({error!r})\n"
            f"if argv[0] == 'search': print({answer()!r})"
        )
        fake = fake_ccc(fake_executable, tmp_path, script)
        return Session(environment(VERA_CCC_EXECUTABLE=str(fake.path))), fake

    return build


def ask(session: Session, cwd: Path, **given: Any) -> tuple[str, dict[str, Any]]:
    result = table.call_tool(session, "ccc_doctor", given, Call(cwd))
    return result["content"][0]["text"], result


def names(result: dict[str, Any]) -> dict[str, bool]:
    return {check["name"]: check["ok"] for check in result["details"]["checks"]}


def test_where_all_is_well_each_check_says_what_it_saw(make: Make, tmp_path: Path) -> None:
    session, fake = make()
    root = make_project(tmp_path / "p")
    text, result = ask(session, root)
    assert not result["isError"]
    expected = (
        "ccc, SQLite extensions, git, global settings, daemon, ccc doctor, project, ignore rules, "
        "search"
    )
    assert list(names(result)) == expected.split(", ")
    assert all(names(result).values())
    assert text.startswith(f"✓ ccc: {fake.path}, version 0.2.42\n")
    assert f"✓ project: {root}, indexed" in text
    assert "\n✓ daemon: answers; 0 projects loaded" in text
    assert "What `ccc doctor` says:" in text
    assert "[OK] Model Check" in text
    assert text.endswith("\n\nNo problem found.")


def test_the_names_of_the_daemons_variables_are_left_out(make: Make, tmp_path: Path) -> None:
    session, _ = make()
    text, _ = ask(session, make_project(tmp_path / "p"))
    assert "SECRET_NAME" not in text


def test_a_failed_check_is_a_failure_with_the_first_problem_first_and_last(
    make: Make, tmp_path: Path
) -> None:
    error = (
        "    ERROR: litellm.APIConnectionError: cannot connect\n"
        "    ERROR: the second one\n"
        "    Run `ccc doctor -v` for the full traceback.\n"
    )
    session, _ = make("  [FAIL] Model Check\n", error)
    text, result = ask(session, make_project(tmp_path / "p"))
    assert result["isError"]
    first = "First problem: ccc doctor: ccc cannot reach or load its embedding model: litellm.APIC"
    assert text.startswith(f"2 checks failed. {first}")
    assert first in text.split("\n\n")[-1]
    assert "→ Ask the user to start the embedding service" in text
    assert "✗ ccc doctor: the second one" in text


def test_a_failure_without_an_error_line_is_named_by_its_check(make: Make, tmp_path: Path) -> None:
    session, _ = make("  [FAIL] File Walk\n")
    text, result = ask(session, make_project(tmp_path / "p"))
    assert result["isError"]
    assert text.startswith("1 check failed. First problem: ccc doctor: File Walk")


def test_without_ccc_the_other_checks_are_made_all_the_same(tmp_path: Path) -> None:
    text, result = ask(Session(environment(PATH="")), tmp_path)
    assert result["isError"]
    assert text.startswith("4 checks failed. First problem: ccc: CocoIndex Code (`ccc`) is not ins")
    assert list(names(result)) == ["ccc", "git", "global settings", "project"]
    assert text.count("is not installed") == 3  # at the top, at its check and at the end
    assert "pipx install 'cocoindex-code" in text
    assert "✗ git: not found on PATH" in text


def test_a_ccc_that_is_too_old_is_the_first_problem(make: Make, tmp_path: Path) -> None:
    session, _ = make(body="if argv == ['version']: print('0.2.37'); sys.exit()\n")
    text, result = ask(session, make_project(tmp_path / "p"))
    assert result["isError"]
    assert "First problem: ccc: " in text.split("\n")[0]
    assert "version 0.2.37" in text.split("\n")[0]
    assert "pipx upgrade cocoindex-code" in text


def test_what_is_not_there_yet_is_said_with_what_to_call(make: Make, tmp_path: Path) -> None:
    session, _ = make()
    (tmp_path / "a").mkdir()
    text, result = ask(session, tmp_path / "a")
    assert f"✗ project: {tmp_path / 'a'} belongs to none" in text
    assert result["isError"]
    text, _ = ask(session, make_project(tmp_path / "b", indexed=False))
    assert f"✗ project: {tmp_path / 'b'} has no index\n    → Call ccc_index, which" in text


def test_a_hanging_command_costs_its_check_only(
    make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    session, _ = make(body=f"{VERSION}\nif argv[0] == 'doctor': time.sleep(600)")
    session.environment.variables["VERA_CCC_TIMEOUT_DOCTOR"] = "0.4"
    text, result = ask(session, make_project(tmp_path / "p"))
    assert names(result)["ccc doctor"] is False
    assert "`ccc doctor` did not answer within 0.4 s" in text.split("\n")[0]


def test_a_daemon_that_does_not_answer_is_not_waited_for_twice(
    make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(doctor, "_PATIENCE", {"VERA_CCC_TIMEOUT_STATUS": "2"})
    monkeypatch.setattr(client, "START_SECONDS", 0.4)
    session, fake = make(body=f"{VERSION}\nif argv[0] == 'daemon': time.sleep(600)")
    text, result = ask(session, make_project(tmp_path / "p"))
    assert "First problem: daemon: `ccc daemon` did not answer within 2 s" in text.split("\n")[0]
    assert "ccc daemon restart" in text
    assert "ccc doctor" not in names(result)
    assert ["doctor"] not in fake.argvs()


def test_a_daemon_that_does_not_come_up_is_told_with_the_last_words_of_its_log(
    make: Make, tmp_path: Path, isolated_user: Path
) -> None:
    log = write_file(isolated_user / ".cocoindex_code" / "daemon.log", "x\nValueError: the cause\n")
    said = "Error: Daemon process exited before it became ready."
    session, _ = make(body=f"{VERSION}\nif argv[0] == 'daemon': sys.exit({said!r})")
    text, _ = ask(session, make_project(tmp_path / "p"))
    assert f"{log} ends: 'ValueError: the cause'" in text.split("\n")[0]


def test_a_full_disk_is_told_before_ccc_fails_of_it(
    make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    full = shutil.disk_usage(tmp_path)._replace(free=0)
    monkeypatch.setattr(shutil, "disk_usage", lambda _path: full)
    session, _ = make()
    text, result = ask(session, make_project(tmp_path / "p"))
    assert names(result)["project"] is False
    assert "ccc cannot write: the disk is full.\n    → Ask the user to make room" in text


def test_a_git_that_is_too_old_is_told(
    make: Make, tmp_path: Path, fake_executable: MakeExecutable
) -> None:
    body = "import sys; print('git version 2.17.1') if '--version' in sys.argv else sys.exit(129)"
    session, _ = make()
    session.environment.variables["PATH"] = str(
        fake_executable("git", body, directory=tmp_path / "git").parent
    )
    text, result = ask(session, make_project(tmp_path / "p"))
    assert names(result)["git"] is False
    assert "git version 2.17.1, no repository here\n    → Install git 2.18 or later" in text


def test_each_problem_comes_with_a_remedy(make: Make, tmp_path: Path) -> None:
    session, _ = make("  [FAIL] File Walk\n", "    ERROR: a new one\n    ERROR: map full\n")
    session.environment.variables["PATH"] = ""
    text, _ = ask(session, tmp_path)
    lines = text.split("\n")
    problems = [at for at, line in enumerate(lines) if line.startswith("✗ ")]
    assert len(problems) == 4
    assert all(lines[at + 1].startswith("    → ") for at in problems)


def test_verbose_asks_ccc_for_tracebacks(make: Make, tmp_path: Path) -> None:
    session, fake = make()
    ask(session, tmp_path, verbose=True)
    assert ["doctor", "--verbose"] in fake.argvs()


def test_a_long_report_is_cut_once_and_its_verdict_stays(
    make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spool = tmp_path / "spool"
    spool.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(spool))
    session, _ = make("  [FAIL] Model Check\n" + "a line of the report\n" * 9000)
    text, _ = ask(session, make_project(tmp_path / "p"))
    assert text.startswith("1 check failed. First problem: ")
    assert len(text.encode()) <= 50 * 1024
    (saved,) = spool.iterdir()
    assert str(saved) in text
    assert saved.read_text(encoding="utf-8").count("a line of the report") == 9000


def test_no_key_of_the_global_settings_is_told(
    make: Make, tmp_path: Path, isolated_user: Path
) -> None:
    key = "sk-live-0123456789"
    session, _ = make("  [FAIL] Model Check\n", f"    ERROR: bad key {key}\n")
    settings = f"envs:\n  OPENAI_API_KEY: {key}\n"
    write_file(isolated_user / ".cocoindex_code" / "global_settings.yml", settings)
    _, result = ask(session, make_project(tmp_path / "p"))
    assert key[:8] not in json.dumps(result)
    assert "bad key ***" in json.dumps(result)


def test_each_check_is_told_as_it_is_made(make: Make, tmp_path: Path) -> None:
    session, _ = make()
    told: list[str] = []
    table.call_tool(
        session,
        "ccc_doctor",
        {},
        Call(make_project(tmp_path / "p"), progress=lambda text, _: told.append(text)),
    )
    assert told[:2] == ["Checked ccc", "Checked SQLite extensions"]
    assert told[-1] == "Checked search"


@pytest.mark.skipif(not POSIX, reason="a first line names the interpreter on POSIX")
def test_the_python_of_a_console_script_is_found(tmp_path: Path) -> None:
    python = write_file(tmp_path / "venv" / "bin" / "python", "")
    script = write_file(tmp_path / "bin" / "ccc", f"#!{python}\nimport x\n")
    assert doctor.interpreter(script) == python
    write_file(script, "#!/bin/sh\nexec x\n")
    assert doctor.interpreter(script) is None
    beside = write_file(tmp_path / "bin" / "python3", "")
    assert doctor.interpreter(script) == beside
    assert doctor.interpreter(tmp_path / "missing") is None


def test_a_home_directory_that_is_a_project_is_a_problem(make: Make, isolated_user: Path) -> None:
    session, _ = make()
    make_project(isolated_user)
    (isolated_user / "code" / ".git").mkdir(parents=True)
    text, result = ask(session, isolated_user / "code")
    assert [name for name, ok in names(result).items() if not ok] == ["project"]
    assert f"The home directory {isolated_user} is a ccc project" in text
    assert "ignore rules" not in names(result)

"""The ``ccc`` executable: how it is found and called, and what its ends are told as."""

from __future__ import annotations

import os
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psutil
import pytest

from core_helpers import (
    COMMANDS,
    STATUS,
    MakeCcc,
    MakeExecutable,
    alive,
    answer,
    ccc_maker,
    environment,
    failing,
    pid_in,
    printing,
)
from vera_ccc_tools.ccc.client import DEADLINES, Ccc, Query, deadline_of
from vera_ccc_tools.errors import Front
from vera_ccc_tools.phrases import tell
from vera_ccc_tools.system.environment import Environment
from vera_ccc_tools.system.tasks import Cancel, Cancelled

SETTING = {"version": "STATUS", "daemon": "STATUS"}


@pytest.fixture
def make(fake_executable: MakeExecutable, tmp_path: Path) -> MakeCcc:
    return ccc_maker(fake_executable, tmp_path)


def test_each_command_is_given_its_arguments(make: MakeCcc, tmp_path: Path) -> None:
    ccc, fake = make(printing(f"{answer()}\n{STATUS}"))
    ccc.version()
    ccc.init(tmp_path, force=False, model=None, cancel=None)
    ccc.init(tmp_path, force=True, model="ollama/x", cancel=None)
    ccc.index(tmp_path)
    ccc.search(tmp_path, Query("where", 6))
    ccc.search(tmp_path, Query("-x", 3, 4, ("python", "go"), "a/*", refresh=True))
    ccc.status(tmp_path)
    ccc.loaded_projects()
    ccc.doctor(tmp_path, verbose=False)
    ccc.doctor(tmp_path, verbose=True)
    assert fake.argvs() == [
        ["version"],
        ["init"],
        ["init", "--force", "--litellm-model=ollama/x"],
        ["index"],
        ["search", "--json", "--limit=6", "--offset=0", "--", "where"],
        [
            *("search", "--json", "--limit=3", "--offset=4", "--lang=python", "--lang=go"),
            *("--path=a/*", "--refresh", "--", "-x"),
        ],
        ["status"],
        ["daemon", "status"],
        ["doctor"],
        ["doctor", "--verbose"],
    ]


@pytest.mark.parametrize("name", COMMANDS)
def test_each_runs_in_utf_8_with_standard_input_closed(
    make: MakeCcc, tmp_path: Path, name: str
) -> None:
    ccc, fake = make(printing(f"{answer()}\n{STATUS}"), FORCE_COLOR="1", LANG="C")
    COMMANDS[name](ccc, tmp_path)
    (call,) = fake.calls()
    assert call["stdin"] == ""
    assert call["env"]["PYTHONUTF8"] == "1"
    assert call["env"]["PYTHONIOENCODING"] == "utf-8"
    assert "FORCE_COLOR" not in call["env"]
    if name not in ("version", "daemon"):
        assert call["cwd"] == str(tmp_path)


@pytest.mark.parametrize("text", ["--help", "-h", "--", "日本語の検索", "two\nlines", "$(id) *"])
def test_a_query_arrives_as_it_is_and_never_as_an_option(
    make: MakeCcc, tmp_path: Path, text: str
) -> None:
    ccc, fake = make(printing(answer()))
    ccc.search(tmp_path, Query(text, 5))
    assert fake.argvs()[0][-2:] == ["--", text]


def test_the_executable_that_is_named_is_taken(make: MakeCcc, tmp_path: Path) -> None:
    ccc, fake = make("", PATH="")
    assert ccc.executable == fake.path


@pytest.mark.parametrize("named", ["ccc", "./ccc", "bin/ccc", "~nobody-at-all/ccc", "/no/ccc"])
def test_a_named_executable_that_is_none_is_said_so(named: str) -> None:
    failure = failing(lambda: Ccc.locate(Environment(environment(VERA_CCC_EXECUTABLE=named))))
    assert failure.code == "ccc_missing"
    assert f"'{named}'" in failure.message
    assert "VERA_CCC_EXECUTABLE" in failure.message


def test_path_comes_before_the_users_own_directory(
    fake_executable: MakeExecutable, tmp_path: Path, isolated_user: Path
) -> None:
    own = fake_executable("ccc", "", directory=isolated_user / ".local" / "bin")
    assert Ccc.locate(Environment(environment(PATH=""))).executable == own
    listed = fake_executable("ccc", "", directory=tmp_path / "listed")
    assert Ccc.locate(Environment(environment(PATH=str(listed.parent)))).executable == listed


def test_one_that_is_planted_in_the_project_is_not_run(
    fake_executable: MakeExecutable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for place in ("", "bin", ".venv/bin"):
        fake_executable("ccc", "", directory=tmp_path / place)
    monkeypatch.chdir(tmp_path)
    path = os.pathsep.join(["", ".", "bin", ".venv/bin"])
    failure = failing(lambda: Ccc.locate(Environment(environment(PATH=path))))
    assert failure.code == "ccc_missing"
    assert "pipx install 'cocoindex-code" in tell(failure, Front.MODEL)


@pytest.mark.parametrize("command", DEADLINES)
def test_a_deadline_is_a_number_of_seconds_zero_for_none(command: str) -> None:
    variable = f"VERA_CCC_TIMEOUT_{command.upper()}"
    for unset in ({}, {variable: ""}, {variable: "  "}):
        assert deadline_of(command, Environment(unset)) == DEADLINES[command]
    for text, seconds in (("2.5", 2.5), (" 7 ", 7.0), ("0", None), ("0.0", None), ("1e99", 1e99)):
        assert deadline_of(command, Environment({variable: text})) == seconds
    for junk in ("soon", "-1", "nan", "inf", "1s", "1,5", "x" * 9999):
        failure = failing(lambda junk=junk: deadline_of(command, Environment({variable: junk})))  # type: ignore[misc]
        assert failure.code == "bad_setting"
        assert failure.message.startswith(f"{variable} is '{junk[:5]}"[:40])
        assert len(failure.message) < 200


@pytest.mark.parametrize("name", COMMANDS)
def test_a_hanging_command_is_told_at_its_deadline(
    make: MakeCcc, tmp_path: Path, name: str
) -> None:
    variable = f"VERA_CCC_TIMEOUT_{SETTING.get(name, name.upper())}"
    ccc, _ = make("time.sleep(600)", **{variable: "0.3"})
    started = time.monotonic()
    failure = failing(lambda: COMMANDS[name](ccc, tmp_path))
    assert time.monotonic() - started < 1.3
    assert failure.code == "timeout"
    assert f"`ccc {name}` did not answer within 0.3 s" in failure.message
    assert "`ccc daemon restart`" in tell(failure, Front.MODEL)
    assert variable in tell(failure, Front.MODEL)


DAEMON = """
import subprocess
command = [sys.executable, "-c", "import time; time.sleep(600)", {name!r}]
daemon = subprocess.Popen(command, start_new_session=True, stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL)
open({path!r}, "w").write(f"{{daemon.pid}}\\n")
time.sleep(600)
"""


def test_a_deadline_ends_the_client_and_leaves_a_new_daemon(make: MakeCcc, tmp_path: Path) -> None:
    path = tmp_path / "pid"
    ccc, _ = make(DAEMON.format(name="run-daemon", path=str(path)), VERA_CCC_TIMEOUT_SEARCH="1")
    failure = failing(lambda: ccc.search(tmp_path, Query("x", 5)))
    pid = pid_in(path)
    assert failure.code == "timeout"
    assert alive(pid)
    psutil.Process(pid).kill()


def test_a_cancel_ends_the_client_and_leaves_a_new_daemon(make: MakeCcc, tmp_path: Path) -> None:
    path, cancel = tmp_path / "pid", Cancel()
    ccc, _ = make(DAEMON.format(name="run-daemon", path=str(path)))
    with ThreadPoolExecutor(1) as pool:
        call = pool.submit(ccc.index, tmp_path, cancel=cancel)
        pid = pid_in(path)
        started = time.monotonic()
        cancel.press()
        failure = call.exception(timeout=5)
    assert isinstance(failure, Cancelled)
    assert time.monotonic() - started < 1.0
    assert alive(pid)
    psutil.Process(pid).kill()

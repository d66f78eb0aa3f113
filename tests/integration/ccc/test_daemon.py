"""The real daemon of ccc: started once, spared at its birth, waited for no longer than allowed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psutil
import pytest

from core_helpers import alive, daemon_of, places, until
from helpers import POSIX, ROOT, run_git, stop_daemon, write_file, write_global_settings
from vera_ccc_tools.ccc import project
from vera_ccc_tools.ccc.client import Ccc, Query
from vera_ccc_tools.errors import Failure, Front
from vera_ccc_tools.phrases import tell
from vera_ccc_tools.system.call import Call
from vera_ccc_tools.system.environment import Environment
from vera_ccc_tools.tools import status, table
from vera_ccc_tools.tools.session import Session

pytestmark = pytest.mark.skipif(not POSIX, reason="a process is stopped by a POSIX signal")


@pytest.fixture
def user(
    ccc_home: dict[str, str], hashing_embedder: str, short_directory: Path
) -> Iterator[dict[str, str]]:
    """A user whose ccc is set up, and whose daemon does not run yet.

    Their directory's name is too long for a socket, which ccc makes elsewhere then.
    """
    directory = short_directory / f"{len(list(short_directory.iterdir()))}{'long' * 30}"
    write_global_settings(directory, hashing_embedder)
    environ = {**ccc_home, "COCOINDEX_CODE_DIR": str(directory)}
    yield environ
    stop_daemon(Path(environ["VERA_CCC_EXECUTABLE"]), environ)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A project with one file, which no daemon knows yet."""
    top = tmp_path.resolve() / "repo"
    write_file(top / "a.py", "def only_almond(): pass\n")
    write_file(project.settings_path(top), "include_patterns: ['**/*.py']\n")
    run_git(top, "init", "-q")
    return top


def located(environ: dict[str, str], **changes: str) -> Ccc:
    return Ccc.locate(Environment({**environ, **changes}))


def daemons(environ: dict[str, str]) -> list[int]:
    """The process ids of the daemons of one user."""
    found = []
    for process in psutil.process_iter():
        try:
            mine = process.environ().get("COCOINDEX_CODE_DIR") == environ["COCOINDEX_CODE_DIR"]
            if mine and "run-daemon" in process.cmdline():
                found.append(process.pid)
        except psutil.Error:
            continue
    return found


def clients(environ: dict[str, str]) -> list[str]:
    """What runs as a command of one user's ccc, without the daemon."""
    found = []
    for process in psutil.Process().children(recursive=True):
        try:
            line = process.cmdline()
        except psutil.Error:
            continue
        if environ["VERA_CCC_EXECUTABLE"] in line and "run-daemon" not in line:
            found.append(" ".join(line))
    return found


def test_a_deadline_of_a_second_without_a_daemon_leaves_one_that_comes_up(
    user: dict[str, str], root: Path
) -> None:
    write_file(places().index(root), "x")
    session = Session({**user, "VERA_CCC_TIMEOUT_STATUS": "1", "VERA_CCC_GITIGNORE_SYNC": "0"})
    started = time.monotonic()
    text = status.text(session, Call(root))
    assert time.monotonic() - started < 2.5
    assert "ccc's daemon was not running, and is starting now" in text
    until(lambda: daemons(user))
    (born,) = daemons(user)
    while not daemon_of(user).is_up:  # asking again meanwhile starts no second one
        assert "is starting now" in status.text(session, Call(root)) or daemon_of(user).is_up
        assert time.monotonic() - started < 60
    assert daemon_of(user).process_id == born
    assert not (Path(user["COCOINDEX_CODE_DIR"]) / "daemon.sock").exists()
    assert located(user, VERA_CCC_TIMEOUT_STATUS="30").loaded_projects() is not None
    assert daemons(user) == [born]
    until(lambda: clients(user) == [])


def test_a_command_that_ends_before_the_daemon_is_up_leaves_one_that_the_next_command_finds(
    user: dict[str, str], root: Path
) -> None:
    write_file(places().index(root), "x")
    environ = {**os.environ, **user, "VERA_CCC_TIMEOUT_STATUS": "0.5"}
    command = [sys.executable, "-m", "vera_ccc_tools", "status", "--cwd", str(root)]
    first, second = (
        subprocess.run(
            command, cwd=ROOT, env=environ, capture_output=True, timeout=60, check=False
        ).stdout.decode()
        for _ in range(2)
    )
    assert "is starting now" in first
    assert "is starting now" not in second
    assert daemons(user) == [daemon_of(user).process_id]
    assert daemon_of(user).is_up


def test_a_daemon_whose_socket_is_gone_is_replaced_as_soon_as_ccc_does_it(
    user: dict[str, str], root: Path
) -> None:
    located(user).index(root)
    old = daemon_of(user).process_id
    assert old is not None
    try:
        daemon_of(user)._socket.unlink()
        started = time.monotonic()
        found = located(user).search(root, Query("almond", 5)).hits
        assert [hit.file_path for hit in found] == ["a.py"]
        assert time.monotonic() - started < 30  # ccc by itself takes 4 s on an idle machine
        assert daemon_of(user).process_id != old
    finally:  # nothing reaches it any more
        psutil.Process(old).kill()


def test_calls_at_once_on_a_cold_machine_leave_one_daemon(user: dict[str, str], root: Path) -> None:
    ccc = located(user, VERA_CCC_TIMEOUT_STATUS="60")
    with ThreadPoolExecutor(4) as pool:
        first = [pool.submit(ccc.loaded_projects) for _ in range(3)]
        index = pool.submit(ccc.index, root)
        assert all(each.result(timeout=90) is not None for each in first)
        assert index.result(timeout=90).files == 1
    assert daemons(user) == [daemon_of(user).process_id]


def test_a_daemon_that_is_stopped_or_killed_costs_one_call_at_most(
    user: dict[str, str], root: Path
) -> None:
    assert located(user).index(root).files == 1
    (pid,) = daemons(user)

    psutil.Process(pid).suspend()
    hasty = {"VERA_CCC_TIMEOUT_STATUS": "1", "VERA_CCC_TIMEOUT_SEARCH": "1"}
    started = time.monotonic()
    with pytest.raises(Failure) as caught:
        located(user, **hasty).search(root, Query("almond", 5))
    assert time.monotonic() - started < 2.0
    assert caught.value.code == "timeout"
    assert "within 1 s" in caught.value.message
    assert "`ccc daemon restart`" in tell(caught.value, Front.MODEL)
    assert clients(user) == []
    assert alive(pid)
    text = status.text(Session({**user, **hasty, "VERA_CCC_GITIGNORE_SYNC": "0"}), Call(root))
    assert "not available now" in text

    with ThreadPoolExecutor(1) as pool:  # the daemon dies while a search waits for it
        search = pool.submit(located(user).search, root, Query("almond", 5))
        until(lambda: any("search" in line for line in clients(user)))
        client = psutil.Process().children(recursive=True)
        until(lambda: any(_waits(each) for each in client))
        psutil.Process(pid).send_signal(signal.SIGKILL)
        assert [hit.file_path for hit in search.result(timeout=60).hits] == ["a.py"]
    (second,) = daemons(user)
    assert second != pid


def _waits(process: psutil.Process) -> bool:
    """Whether a client has connected to the daemon's socket."""
    try:
        return bool(process.net_connections(kind="unix"))
    except psutil.Error:
        return False


def test_an_index_that_was_reset_under_the_daemon_is_built_anew_or_told_with_the_remedy(
    ccc_home: dict[str, str], root: Path
) -> None:
    located(ccc_home).index(root)
    located(ccc_home)._run(["reset", "-f"], root, "index", None)
    result = table.call_tool(Session(ccc_home), "ccc_index", {}, Call(root))
    if result["isError"]:  # where the daemon has not let go of the old index by itself
        assert result["details"] == {"code": "index_open_elsewhere"}
        assert "ccc daemon restart" in result["content"][0]["text"]
    else:
        assert result["details"]["files"] == 1

"""What a search does while ccc builds or renews its index."""

from __future__ import annotations

import json
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from helpers import run_git, stop_daemon, write_file, write_global_settings
from vera_ccc_tools.ccc.client import Ccc
from vera_ccc_tools.errors import Failure, Front
from vera_ccc_tools.system.call import Call
from vera_ccc_tools.system.environment import Environment
from vera_ccc_tools.tools import table
from vera_ccc_tools.tools.session import Session

SLOW = "treacle"
"""A word whose chunks are embedded slowly, or not at all, while the gate is not open."""
MANY = 3000
"""Files that take ccc much longer to index than a search takes. Slow embeddings would not do: the
daemon asks for one thing at a time, and a query waits for its turn."""
SOON = 30.0
"""Seconds that are less than an index run behind a closed gate takes, on a busy machine too."""


class Gate:
    """An embedding server that is slow with chunks that hold a certain word."""

    def __init__(self) -> None:
        self.open = threading.Event()
        self.seconds = 0.0
        self.reached = threading.Event()
        gate = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["input"]
                texts = [asked] if isinstance(asked, str) else asked
                if any(SLOW in text for text in texts):
                    gate.reached.set()
                    gate.open.wait(gate.seconds)
                self._answer([[1.0, len(text) / 1000] for text in texts])

            def _answer(self, vectors: list[list[float]]) -> None:
                rows = [{"index": n, "embedding": v} for n, v in enumerate(vectors)]
                body = json.dumps({"object": "list", "model": "m", "data": rows}).encode()
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_arguments: Any) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server.server_address[1]}/v1"

    def close(self) -> None:
        self.open.set()
        self.server.shutdown()
        self.server.server_close()


@pytest.fixture(scope="module")
def gate() -> Iterator[Gate]:
    made = Gate()
    yield made
    made.close()


@pytest.fixture(scope="module")
def slow_user(
    gate: Gate, ccc_home: dict[str, str], ccc_executable: Path, short_directory: Path
) -> Iterator[dict[str, str]]:
    """The environment of a user whose embeddings come from the gate."""
    directory = short_directory / "slow"
    write_global_settings(directory, gate.address)
    environ = {**ccc_home, "COCOINDEX_CODE_DIR": str(directory)}
    yield environ
    gate.open.set()
    stop_daemon(ccc_executable, environ)


@pytest.fixture
def session(slow_user: dict[str, str], gate: Gate) -> Iterator[Session]:
    gate.open.clear()
    gate.reached.clear()
    made = Session(slow_user)
    yield made
    gate.open.set()
    made.finish(Front.MODEL)
    made.close()


def call(session: Session, root: Path, tool: str, **arguments: Any) -> tuple[dict[str, Any], float]:
    started = time.monotonic()
    result = table.call_tool(session, tool, arguments, Call(root))
    return result, time.monotonic() - started


def text(result: dict[str, Any]) -> str:
    return str(result["content"][0]["text"])


def write_files(root: Path, count: int, word: str) -> None:
    for number in range(count):
        write_file(root / f"{word}{number}.py", f"def {word}_{number}():\n    return '{word}'\n")


def until(true: Callable[[], bool]) -> None:
    """Wait for ccc to come so far, at most a minute."""
    ended = time.monotonic() + 60
    tick = threading.Event()
    while not true():
        assert time.monotonic() < ended
        tick.wait(0.05)


def test_a_search_during_the_first_index_is_answered_soon_by_words(
    session: Session, gate: Gate, tmp_path: Path
) -> None:
    root = tmp_path / "first"
    root.mkdir()
    run_git(root, "init", "-q")
    write_files(root, 3, "quick")
    write_files(root, 3, SLOW)
    gate.seconds = 2 * SOON
    started, _ = call(session, root, "ccc_index", background=True)
    assert not started["isError"]
    assert gate.reached.wait(60)
    for refresh in (True, False):
        result, seconds = call(session, root, "ccc_search", query="quick", refresh_index=refresh)
        assert result["details"]["instead"] == "indexing"
        assert "being built" in text(result).split("\n")[0]
        assert "quick0.py" in text(result)
        assert seconds < SOON
    gate.open.set()
    assert session.finish(Front.MODEL) == ["ccc_index in the background is done."]
    result, _ = call(session, root, "ccc_search", query="quick", limit=10)
    assert len(result["details"]["results"]) == 6


def search_while_another_indexes(
    session: Session, root: Path, environ: dict[str, str]
) -> dict[str, Any]:
    """The result of a search that ended before another process's index run did.

    A fast machine may be through with the files first; then there are more of them.
    """
    for count in (MANY, 3 * MANY, 9 * MANY):
        write_files(root, count, SLOW)
        with index_elsewhere(root, environ) as other:
            until(lambda: is_indexing(session, root))
            result, _ = call(session, root, "ccc_search", query="quick", limit=10)
            still = other.poll() is None
            assert other.wait(300) == 0
        if still:
            return result
    raise AssertionError("no index run took longer than a search")


def index_elsewhere(root: Path, environ: dict[str, str]) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [str(Ccc.locate(Environment(environ)).executable), "index"],
        cwd=root,
        env=environ,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def is_indexing(session: Session, root: Path) -> bool:
    with suppress(Failure):  # a status that is late on a busy machine
        return session.ccc().status(root).progress is not None
    return False


def test_a_search_during_a_later_index_answers_soon_from_what_is_there_and_says_so(
    session: Session, gate: Gate, tmp_path: Path, slow_user: dict[str, str]
) -> None:
    root = tmp_path / "later"
    root.mkdir()
    run_git(root, "init", "-q")
    write_files(root, 3, "quick")
    result, _ = call(session, root, "ccc_index")
    assert not result["isError"], text(result)
    gate.open.set()
    result = search_while_another_indexes(session, root, slow_user)
    assert not result["isError"], text(result)
    assert result["details"]["refreshed"] is False
    assert "Note: The index is being brought up to date" in text(result)
    until(lambda: "Note:" not in text(call(session, root, "ccc_search", query="quick")[0]))
    result, _ = call(session, root, "ccc_search", query="quick", path=f"{SLOW}39*")
    assert result["details"]["results"]


def test_after_a_reset_the_user_is_told_to_restart_the_daemon(
    ccc_user: dict[str, str], tmp_path: Path
) -> None:
    root = tmp_path / "reset"
    root.mkdir()
    run_git(root, "init", "-q")
    write_files(root, 2, "quick")
    session = Session(ccc_user)
    assert not call(session, root, "ccc_index")[0]["isError"]
    assert not call(session, root, "ccc_search", query="quick")[0]["isError"]
    ccc = str(session.ccc().executable)
    subprocess.run([ccc, "reset", "-f"], cwd=root, env=ccc_user, check=True, timeout=60)
    result, _ = call(session, root, "ccc_index")
    # ccc closes what it has open when its garbage happens to be collected; mostly it is not.
    assert not result["isError"] or "ccc daemon restart" in text(result)
    subprocess.run([ccc, "daemon", "restart"], cwd=root, env=ccc_user, check=True, timeout=60)
    assert not call(session, root, "ccc_index")[0]["isError"]
    result, _ = call(session, root, "ccc_search", query="quick")
    assert len(result["details"]["results"]) == 2
    session.close()


def test_a_model_that_fails_at_the_first_files_is_told_once_a_run_has_ended(
    ccc_home: dict[str, str], short_directory: Path, tmp_path: Path
) -> None:
    directory = short_directory / "dead"
    gate = Gate()
    write_global_settings(directory, gate.address)
    environ = {**ccc_home, "COCOINDEX_CODE_DIR": str(directory)}
    root = tmp_path / "dead"
    root.mkdir()
    run_git(root, "init", "-q")
    session = Session(environ)
    assert not call(session, root, "ccc_index")[0]["isError"]
    gate.close()
    write_files(root, 5, "quick")

    def search() -> dict[str, Any]:
        return call(session, root, "ccc_search", query="quick", rank="ccc")[0]

    try:
        assert search()["isError"]
        until(lambda: search()["details"]["code"] == "model_unreachable")
    finally:
        session.close()
        stop_daemon(Ccc.locate(Environment(environ)).executable, environ)

"""What no call may be hung, flooded or fooled by: forced under the real git, ccc and daemon."""

from __future__ import annotations

import json
import os
import shutil
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import psutil
import pytest

from core_helpers import MakeExecutable, alive, until
from helpers import POSIX, run_git, stop_daemon, write_file, write_global_settings
from running_worker import Running, start, text_of
from vera_ccc_tools import daemon, doctor, project, status, tools, worker
from vera_ccc_tools.session import Call, Session

posix_only = pytest.mark.skipif(not POSIX, reason="the fault is forced by POSIX signals or modes")
SECOND = {"VERA_CCC_TIMEOUT_STATUS": "1", "VERA_CCC_TIMEOUT_SEARCH": "1"}
FILES = {"almond.py": "def only_almond(): pass\n", "walnut.py": "def only_walnut(): pass\n"}


def make(root: Path, files: Mapping[str, str | bytes] = FILES) -> Path:
    """A git repository of an indexed kind of project, which no daemon knows yet."""
    for name, content in files.items():
        write_file(root / name, content)
    write_file(project.settings_path(root), "include_patterns: ['**/*.py']\n")
    run_git(root, "init", "-q")
    return root.resolve()


def call(session: Session, cwd: Path, tool: str, **given: Any) -> tuple[str, dict[str, Any]]:
    result = tools.call_tool(session, tool, given, Call(cwd))
    return str(result["content"][0]["text"]), result


def clients(environ: Mapping[str, str]) -> list[str]:
    """The commands of one user's ccc that run, without the daemon."""
    found = []
    for process in psutil.process_iter():
        try:
            mine = process.environ().get("COCOINDEX_CODE_DIR") == environ["COCOINDEX_CODE_DIR"]
            line = process.cmdline()
        except psutil.Error:
            continue
        if mine and environ["VERA_CCC_EXECUTABLE"] in line and "run-daemon" not in line:
            found.append(" ".join(line))
    return found


def daemons(environ: Mapping[str, str], *, end: bool = False) -> list[int]:
    """The process ids of the daemons of one user; *end* ends them."""
    found = []
    for process in psutil.process_iter():
        try:
            mine = process.environ().get("COCOINDEX_CODE_DIR") == environ["COCOINDEX_CODE_DIR"]
            if mine and "run-daemon" in process.cmdline():
                found.append(process.pid)
                if end:
                    process.kill()
        except psutil.Error:
            continue
    return found


@pytest.fixture(scope="module")
def user(
    ccc_home: dict[str, str], hashing_embedder: str, short_directory: Path
) -> Iterator[dict[str, str]]:
    """A user with a daemon of their own, which may be stopped and killed."""
    directory = short_directory / "faults"
    write_global_settings(directory, hashing_embedder)
    environ = {**ccc_home, "COCOINDEX_CODE_DIR": str(directory)}
    yield environ
    stop_daemon(Path(environ["VERA_CCC_EXECUTABLE"]), environ)


@pytest.fixture(scope="module")
def root(user: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project of that user's, indexed."""
    top = make(tmp_path_factory.mktemp("faults") / "repo")
    text, result = call(Session(user), top, "ccc_index")
    assert not result["isError"], text
    return top


@posix_only
def test_behind_a_stopped_daemon_every_call_ends_within_a_second_of_its_deadline(
    user: dict[str, str], root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(doctor, "_PATIENCE", {"VERA_CCC_TIMEOUT_STATUS": "1"})
    pid = daemon.process_id(user)
    assert pid is not None
    session = Session({**user, **SECOND, "VERA_CCC_TIMEOUT_INDEX": "1"})
    psutil.Process(pid).suspend()
    try:
        for tool, given in (
            ("ccc_search", {"query": "almond"}),
            ("ccc_search", {"query": "almond", "refresh_index": False}),
            ("ccc_index", {}),
            ("ccc_doctor", {}),
        ):
            started = time.monotonic()
            text, result = call(session, root, tool, **given)
            # The doctor runs ccc and ccc's Python before it asks the daemon.
            assert time.monotonic() - started < (2.0 if tool != "ccc_doctor" else 4.0), tool
            assert result["isError"]
            assert "did not answer within 1 s" in text
            assert "`ccc daemon restart`" in text
            assert clients(user) == []
        assert "did not answer within 1 s" in status.text(session, Call(root))
        text, _ = call(session, tmp_path, "ccc_init")
        assert text.startswith(f"Initialized {tmp_path}.")
        assert alive(pid)
    finally:
        psutil.Process(pid).resume()
    text, result = call(Session(user), root, "ccc_search", query="almond", limit=1)
    assert text.startswith("almond.py:1-1"), text


class Killer:
    """Kills each daemon of a user that a client is talking to."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self.killed: list[int] = []
        self._environ = environ
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch)
        self._thread.start()

    def _watch(self) -> None:
        while not self._stop.wait(0.01):
            pid = daemon.process_id(self._environ)
            if pid is not None and pid not in self.killed and daemon.is_up(self._environ):
                until(lambda: clients(self._environ) or self._stop.is_set(), 60)
                self.killed.append(pid)
                psutil.Process(pid).kill()

    def stop(self) -> None:
        self._stop.set()
        self._thread.join(70)


@posix_only
def test_a_daemon_that_dies_again_and_again_is_told_with_its_log(
    user: dict[str, str], root: Path
) -> None:
    killer = Killer(user)
    try:
        text, result = call(Session(user), root, "ccc_search", query="almond")
    finally:
        killer.stop()
        daemons(user, end=True)  # clients of ccc that lose a daemon at one time start one each
    assert len(killer.killed) > 1
    assert result["isError"], text
    assert result["details"]["code"] in ("daemon_lost", "daemon_failed")
    assert f"{Path(user['COCOINDEX_CODE_DIR']) / 'daemon.log'} ends: '" in text
    assert '")' not in text
    assert len(text) < 900
    text, _ = call(Session(user), root, "ccc_search", query="almond", limit=1)
    assert text.startswith("almond.py:1-1"), text


OLDER = "import cocoindex_code._version as it\nit.__version__ = '0.2.41'\n"


def test_a_daemon_from_before_an_upgrade_is_replaced_within_the_call(
    user: dict[str, str], root: Path, tmp_path: Path
) -> None:
    stop_daemon(Path(user["VERA_CCC_EXECUTABLE"]), user)
    write_file(tmp_path / "sitecustomize.py", OLDER)
    ccc = Path(shutil.copy(user["VERA_CCC_EXECUTABLE"], tmp_path / "ccc"))
    newer = {**user, "VERA_CCC_EXECUTABLE": str(ccc), "VERA_CCC_TIMEOUT_STATUS": "60"}
    assert Session({**newer, "PYTHONPATH": str(tmp_path)}).ccc().loaded_projects() == {}
    old = daemon.process_id(user)
    assert daemon.is_up(user)
    ccc.touch()  # as an upgrade does
    text, _ = call(Session(newer), root, "ccc_search", query="almond", limit=1)
    assert text.startswith("almond.py:1-1"), text
    assert daemons(user) == [daemon.process_id(user)]
    assert daemon.process_id(user) != old


KEY = "sk-proj-0123456789abcdefghij"


class _Refusing(BaseHTTPRequestHandler):
    """An embedding service that takes no key, and quotes it."""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        said = f"Incorrect API key provided: {self.headers['Authorization']}, {KEY[:12]}****."
        body = json.dumps({"error": {"message": said, "code": "invalid_api_key"}}).encode()
        self.send_response(401)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_arguments: Any) -> None:
        pass


def test_a_key_that_the_service_refuses_and_quotes_is_told_by_nobody(
    user: dict[str, str], root: Path, hashing_embedder: str
) -> None:
    directory = Path(user["COCOINDEX_CODE_DIR"])
    with ThreadingHTTPServer(("127.0.0.1", 0), _Refusing) as server:
        threading.Thread(target=server.serve_forever).start()
        settings = write_global_settings(directory, f"http://127.0.0.1:{server.server_port}/v1")
        settings.write_text(settings.read_text("utf-8").replace("KEY: none", f"KEY: {KEY}"))
        session = Session({**user, "VERA_CCC_TIMEOUT_STATUS": "60"})
        told = [
            call(session, root, tool, **given)[1]
            for tool, given in (
                ("ccc_search", {"query": "almond"}),
                ("ccc_doctor", {"verbose": True}),
            )
        ]
        text = json.dumps([told, status.text(session, Call(root))])
        server.shutdown()
    write_global_settings(directory, hashing_embedder)
    assert all(each["isError"] for each in told)
    assert daemons(user) == [daemon.process_id(user)]
    assert told[0]["details"] == {"code": "model_refused"}
    assert "The embedding service refused ccc's key" in text
    assert not [at for at in range(len(KEY) - 7) if KEY[at : at + 8] in text]


@posix_only
def test_what_a_cancelled_or_killed_worker_ran_is_gone_and_the_daemon_lives(
    running: list[Running], ccc_home: dict[str, str], tmp_path: Path
) -> None:
    files: dict[str, str | bytes] = {f"{n}.py": f"def almond_{n}(): pass\n" for n in range(600)}
    top = make(tmp_path / "many", files)
    started = start(running, ccc_home)
    asked = started.request("tools/call", name="ccc_index", arguments={}, cwd=str(top))
    until(lambda: any(line.endswith(" index") for line in clients(ccc_home)), 60)
    pid = daemon.process_id(ccc_home)
    pressed = time.monotonic()
    started.send(b'{"method":"cancel","params":{"id":%d}}\n' % asked)
    answer = started.read()
    assert time.monotonic() - pressed < 1.0
    assert (answer["id"], answer["error"]["code"]) == (asked, worker.CANCELLED)
    until(lambda: clients(ccc_home) == [], 2.0)

    started.request("tools/call", name="ccc_index", arguments={}, cwd=str(top))
    until(lambda: any(line.endswith(" index") for line in clients(ccc_home)), 60)
    children = psutil.Process(started.process.pid).children(recursive=True)
    started.process.kill()
    until(lambda: clients(ccc_home) == [], 2.0)
    until(lambda: not any(alive(child.pid) for child in children), 2.0)
    assert pid is not None
    assert alive(pid)


def test_two_sessions_at_once_on_one_project_each_get_their_own_answers(
    running: list[Running], ccc_home: dict[str, str], tmp_path: Path
) -> None:
    words = ("almond", "walnut", "hazelnut", "pecan", "filbert")
    top = make(tmp_path / "shared", {f"{word}.py": f"def only_{word}(): 0\n" for word in words})
    both = [start(running, ccc_home) for _ in range(2)]
    for each in both:
        each.request("tools/call", name="ccc_index", arguments={}, cwd=str(top))
        assert not each.read()["result"]["isError"]
    write_file(top / "late.py", "def late(): 0\n")
    asked: list[dict[int, str]] = []
    for each in both:
        index = each.request("tools/call", name="ccc_index", arguments={}, cwd=str(top))
        asked.append({index: f"Indexed {top}: 6 files"})
        for word in words * 2:
            given = {"query": f"only_{word}", "limit": 1}
            number = each.request("tools/call", name="ccc_search", arguments=given, cwd=str(top))
            asked[-1][number] = f"{word}.py:1-1 [python]"
    for each, expected in zip(both, asked, strict=True):
        for _ in range(len(expected)):
            answer = each.read()
            assert text_of(answer).startswith(expected.pop(answer["id"])), answer
        assert expected == {}


# --- a disk that refuses ----------------------------------------------------------------------

UNPRIVILEGED = """
import ctypes, os, resource, sys
# Modes hold for root too, once it may not override them: CAP_DAC_OVERRIDE and _READ_SEARCH.
if sys.platform == "linux":
    libc = ctypes.CDLL(None)
    for capability in (1, 2):
        libc.prctl(24, capability, 0, 0, 0)
if sys.argv[1] == "full":
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
os.execv(sys.executable, [sys.executable, "-m", "vera_ccc_tools", "worker"])
"""
"""Starts a worker as a user without rights over the files of others, or on a full disk."""


def searched(started: Running, cwd: Path, query: str) -> dict[str, Any]:
    given = {"query": query, "limit": 1}
    started.request("tools/call", name="ccc_search", arguments=given, cwd=str(cwd))
    return started.read()


@posix_only
@pytest.mark.parametrize("disk", ["full", "read-only"])
def test_where_the_sync_cannot_write_the_search_answers_with_one_line_more(
    running: list[Running], ccc_home: dict[str, str], tmp_path: Path, disk: str
) -> None:
    top = make(tmp_path / "repo")
    assert not call(Session(ccc_home), top, "ccc_index")[1]["isError"]
    write_file(top / ".gitignore", "/.cocoindex_code/\nwalnut.py\n")
    directory, settings = top / project.DIRECTORY, project.settings_path(top)
    before = settings.read_bytes(), sorted(path.name for path in directory.iterdir())
    if disk == "read-only":
        settings.chmod(0o444)
        directory.chmod(0o555)
    started = start(running, {**ccc_home, "PYTHONDONTWRITEBYTECODE": "1"}, "-c", UNPRIVILEGED, disk)
    try:
        text = text_of(searched(started, top, "only almond"))
        started.request("tools/call", name="ccc_doctor", arguments={}, cwd=str(top))
        checked = text_of(started.read())
    finally:
        directory.chmod(0o755)
    assert text.startswith("almond.py:1-1 [python]"), text
    # A second line may say that the daemon, whom the modes bind too, failed at a file.
    said = "Note: The ignore rules could not be brought up to date: "
    (note,) = [line for line in text.split("\n") if line.startswith(said)]
    assert ("File too large" if disk == "full" else "Permission denied") in note
    unwritable = f"✗ project: {top}: ccc cannot write into the project's directory"
    assert (unwritable in checked) == (disk == "read-only")
    after = settings.read_bytes(), sorted(path.name for path in directory.iterdir())
    assert after[0] == before[0]
    assert not [name for name in after[1] if "tmp" in name]


@posix_only
def test_a_directory_that_may_not_be_read_is_an_error_with_its_path(
    running: list[Running], ccc_home: dict[str, str], tmp_path: Path
) -> None:
    closed = tmp_path / "closed"
    (closed / "inside").mkdir(parents=True)
    started = start(running, ccc_home, "-c", UNPRIVILEGED, "closed")
    closed.chmod(0)
    try:
        told = [searched(started, each, "almond") for each in (closed, closed / "inside")]
    finally:
        closed.chmod(0o755)
    for answer in told:
        assert answer["result"]["isError"]
        assert f"'{closed}" in text_of(answer)
        assert "Permission denied" in text_of(answer)


def test_a_directory_that_goes_away_is_an_error_with_its_path(
    running: list[Running], ccc_home: dict[str, str], tmp_path: Path
) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    started = start(running, ccc_home)
    assert "belongs to no ccc project" in text_of(searched(started, gone, "almond"))
    gone.rmdir()
    assert f"{str(gone)!r} cannot be used: No such file" in text_of(searched(started, gone, "x"))


# --- what a project may hold ------------------------------------------------------------------


@posix_only
def test_nothing_that_a_project_plants_is_run(
    running: list[Running],
    ccc_home: dict[str, str],
    tmp_path: Path,
    fake_executable: MakeExecutable,
) -> None:
    top = make(tmp_path / "repo")
    planted = f"open({str(tmp_path / 'ran')!r}, 'a').write(repr(__import__('sys').argv))\n"
    for place in ("", "bin"):
        for name in ("ccc", "git", "python", "python3"):
            fake_executable(name, planted, directory=top / place)
    for module in ("json", "psutil", "sitecustomize", "vera_ccc_tools", "cocoindex_code"):
        write_file(top / f"{module}.py", planted)
    real = Path(ccc_home["VERA_CCC_EXECUTABLE"]).parent
    path = os.pathsep.join(["", ".", "bin", str(real), ccc_home["PATH"]])
    environ = {name: value for name, value in ccc_home.items() if name != "VERA_CCC_EXECUTABLE"}
    started = start(running, {**environ, "PATH": path, "VERA_CCC_PYTHON": sys.executable})
    for tool, given in (("ccc_index", {}), ("ccc_search", {"query": "almond"}), ("ccc_doctor", {})):
        started.request("tools/call", name=tool, arguments=given, cwd=str(top))
        answer = started.read()
        assert not answer["result"]["isError"], answer
    assert str(real / "ccc") in text_of(answer)
    assert not (tmp_path / "ran").exists()


@pytest.mark.skipif(sys.platform != "linux", reason="other systems take no such name")
def test_a_name_that_is_not_utf_8_is_the_cause_that_is_told(
    ccc_home: dict[str, str], tmp_path: Path
) -> None:
    top = make(tmp_path / "repo")
    odd = write_file(Path(os.fsdecode(os.fsencode(top) + b"/by\xfftes.py")), "bytes_almond = 1\n")
    text, result = call(Session(ccc_home), top, "ccc_index")
    assert result["details"] == {"code": "odd_name"}
    assert "whose name is not UTF-8" in text
    odd.unlink()
    assert not call(Session(ccc_home), top, "ccc_index")[1]["isError"]


@posix_only
def test_odd_bytes_in_names_and_contents_come_out_as_clean_text(
    running: list[Running], ccc_home: dict[str, str], tmp_path: Path
) -> None:
    odd: dict[str, str | bytes] = {
        "latin.py": b"latin_almond = 'caf\xe9'\n",
        "nul.py": b"nul_almond = 'a\x00b'\n",
        "c1.py": "c1_almond = '\x9b2Jx\x85y'\n",
        "esc\x1b]0;title\x07.py": "title_almond = 1\n",
        "\u202egnp.py": "bidi_almond = 1\n",
        "c1\x9b31m.py": "name_almond = 1\n",
    }
    top = make(tmp_path / "odd\x1b[2J\u2066", odd)
    started = start(running, ccc_home)
    said = []
    for tool, given in (
        ("ccc_index", {}),
        ("ccc_search", {"query": "almond", "limit": 50}),
        ("ccc_search", {"query": "almond", "path": "no\x1b[2Jne"}),
        ("ccc_doctor", {}),
    ):
        started.request("tools/call", name=tool, arguments=given, cwd=str(top))
        said.append(text_of(started.read()))
    started.request("status", cwd=str(top))
    said.append(started.read()["result"]["text"])
    for word in ("latin_almond", "c1_almond", "title_almond", "bidi_almond", "name_almond"):
        assert word in said[1]
    for text in said:
        assert not set(text) & {chr(each) for each in range(32) if chr(each) not in "\t\n"}
        assert not set(text) & set("\x7f\x85\x9b\u202e\u2066\ufffe")

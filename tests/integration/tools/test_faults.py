"""What no call may be hung, flooded or fooled by: forced under the real git, ccc and daemon."""

from __future__ import annotations

import json
import shutil
import threading
import time
from collections.abc import Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import psutil
import pytest

from core_helpers import alive, daemon_of, until
from faulty import call, make, posix_only
from helpers import stop_daemon, write_file, write_global_settings
from running_worker import Running, start, text_of
from vera_ccc_tools import worker
from vera_ccc_tools.system.call import Call
from vera_ccc_tools.tools import doctor, status
from vera_ccc_tools.tools.session import Session

SECOND = {"VERA_CCC_TIMEOUT_STATUS": "1", "VERA_CCC_TIMEOUT_SEARCH": "1"}


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
    pid = daemon_of(user).process_id
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
            assert result["isError"] is (tool != "ccc_search")
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
            pid = daemon_of(self._environ).process_id
            if pid is not None and pid not in self.killed and daemon_of(self._environ).is_up:
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
        text, result = call(Session(user), root, "ccc_search", query="almond", rank="ccc")
    finally:
        killer.stop()
        daemons(user, end=True)  # clients of ccc that lose a daemon at one time start one each
    assert len(killer.killed) > 1
    assert result["isError"], text
    assert result["details"]["code"] in ("daemon_lost", "daemon_failed")
    assert f"{Path(user['COCOINDEX_CODE_DIR']) / 'daemon.log'} ends: '" in text
    assert '")' not in text
    assert len(text) < 900
    session = Session(user)
    until(
        lambda: call(session, root, "ccc_search", query="almond")[1]["details"]["by"] == "both", 60
    )


OLDER = "import cocoindex_code._version as it\nit.__version__ = '0.2.41'\n"


def test_a_daemon_from_before_an_upgrade_is_replaced_within_the_call(
    user: dict[str, str], root: Path, tmp_path: Path
) -> None:
    stop_daemon(Path(user["VERA_CCC_EXECUTABLE"]), user)
    write_file(tmp_path / "sitecustomize.py", OLDER)
    ccc = Path(shutil.copy(user["VERA_CCC_EXECUTABLE"], tmp_path / "ccc"))
    newer = {**user, "VERA_CCC_EXECUTABLE": str(ccc), "VERA_CCC_TIMEOUT_STATUS": "60"}
    assert Session({**newer, "PYTHONPATH": str(tmp_path)}).ccc().loaded_projects() == {}
    old = daemon_of(user).process_id
    assert daemon_of(user).is_up
    ccc.touch()  # as an upgrade does
    text, _ = call(Session(newer), root, "ccc_search", query="almond", limit=1)
    assert text.startswith("almond.py:1-1"), text
    assert daemons(user) == [daemon_of(user).process_id]
    assert daemon_of(user).process_id != old


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
                ("ccc_search", {"query": "almond", "rank": "ccc"}),
                ("ccc_doctor", {"verbose": True}),
            )
        ]
        text = json.dumps([told, status.text(session, Call(root))])
        server.shutdown()
    write_global_settings(directory, hashing_embedder)
    assert all(each["isError"] for each in told)
    assert daemons(user) == [daemon_of(user).process_id]
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
    pid = daemon_of(ccc_home).process_id
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


class _Failing(BaseHTTPRequestHandler):
    """An embedding service that answers with an error."""

    status, said = 404, ""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        body = json.dumps({"error": {"message": type(self).said}}).encode()
        self.send_response(type(self).status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_arguments: object) -> None:
        pass


@pytest.mark.parametrize(
    "answer",
    [
        (404, "The model `nope` does not exist", "model_unknown"),
        (413, "input is too large to process", "chunk_too_long"),
    ],
)
def test_what_the_service_says_is_the_cause_of_a_first_index_run_that_fails(
    user: dict[str, str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    answer: tuple[int, str, str],
) -> None:
    status, said, code = answer
    monkeypatch.setattr(_Failing, "status", status)
    monkeypatch.setattr(_Failing, "said", said)
    top = make(tmp_path / "failing", {"almond.py": "def only_almond(): pass\n"})
    settings = Path(user["COCOINDEX_CODE_DIR"]) / "global_settings.yml"
    before = settings.read_bytes()
    with ThreadingHTTPServer(("127.0.0.1", 0), _Failing) as server:
        threading.Thread(target=server.serve_forever).start()
        write_global_settings(settings.parent, f"http://127.0.0.1:{server.server_port}/v1")
        text, result = call(Session(user), top, "ccc_index")
        server.shutdown()
    settings.write_bytes(before)
    assert result["details"] == {"code": code}
    assert said in text


class _Sized(BaseHTTPRequestHandler):
    """An embedding service behind whose name another model may come."""

    size = 2

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["input"]
        texts = [asked] if isinstance(asked, str) else asked
        rows = [{"index": n, "embedding": [1.0] * type(self).size} for n in range(len(texts))]
        body = json.dumps({"object": "list", "model": "m", "data": rows}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_arguments: object) -> None:
        pass


def test_a_model_of_another_size_is_named_by_the_search_the_index_run_and_the_doctor(
    user: dict[str, str], tmp_path: Path, hashing_embedder: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    directory = Path(user["COCOINDEX_CODE_DIR"])
    top = make(tmp_path / "sized", {"almond.py": "def only_almond(): pass\n"})
    with ThreadingHTTPServer(("127.0.0.1", 0), _Sized) as server:
        threading.Thread(target=server.serve_forever).start()
        write_global_settings(directory, f"http://127.0.0.1:{server.server_port}/v1")
        session = Session(user)
        assert not call(session, top, "ccc_index")[1]["isError"]
        monkeypatch.setattr(_Sized, "size", 3)
        write_file(top / "pecan.py", "def only_pecan(): pass\n")
        searched = call(session, top, "ccc_search", query="almond")
        told = [call(session, top, tool)[1] for tool in ("ccc_index", "ccc_doctor")]
        server.shutdown()
    write_global_settings(directory, hashing_embedder)
    cause = "The index was built with another embedding model: its vectors have 2 dimensions"
    assert cause in searched[0].split("\n")[0]
    assert searched[1]["details"]["instead"] == "other_vectors"
    assert [row["file_path"] for row in searched[1]["details"]["results"]] == ["almond.py"]
    assert told[0]["details"] == {"code": "other_vectors"}
    assert all(each["isError"] for each in told)
    for each in told:
        text = each["content"][0]["text"]
        assert cause in text
        assert "`ccc reset -f`" in text
